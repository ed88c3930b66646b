// What compact charts of numbers over time share: loading the series of the window, and drawing them.

import { Chart } from './chart.js';
import { Panel } from './panel.js';
import { Loader } from '../data/loader.js';
import { drawGrid, drawSelection } from '../draw/marks.js';
import { el, setText } from './dom.js';
import { sampling } from '../model/scale.js';

/** The part of the window that is loaded before and after it, as a share of its width. */
const MARGIN = 0.1;

/** A compact view of the numbers of one output over time. */
export class SeriesPanel {
  #asked = '';
  #draw;
  #items;
  #filter;
  #pixels;

  /**
   * @param {object} app what all views share
   * @param {object} options `id`, `key`, `title`, `isShownAtFirst` of the panel, of which more is in `panel`;
   *   `label`, the name of the chart; `pixels` for each sample; `items()`, the ids of the series; `filter()`;
   *   `draw(context, data, column, surface)`, where `data` are the series as `packSeries` returns them and the
   *   `step` of their samples; `chart`, more options of the chart
   */
  constructor(app, { label, pixels, items, filter = () => '', draw, chart = {}, ...panel }) {
    this.app = app;
    this.#draw = draw;
    this.#items = items;
    this.#filter = filter;
    this.#pixels = pixels;
    /** The series that are loaded, or null. */
    this.data = null;
    const { shared, theme } = app;
    this.panel = new Panel({ isCompact: true, ...panel, onChange: (isShown) => isShown && this.#shown() });
    this.loader = new Loader((error) => this.panel.report(error));
    this.treeLoader = new Loader((error) => this.panel.report(error));
    this.chart = new Chart(app, {
      label,
      draw: (context, scale, surface) => this.#drawAll(context, scale, surface),
      onPoint: ({ time }) => shared.setTime(time),
      onResize: () => this.load(),
      ...chart,
    });
    this.label = el('span');
    this.detail = el('span', { class: 'quiet' });
    this.chart.labels.append(this.label, this.detail);
    this.panel.body.append(this.chart.element);
    shared.on(['window', 'time', 'range'], this.chart.redraw);
    shared.on(['window', 'span', 'filter', 'thread'], () => this.load());
    theme.addEventListener('change', this.chart.redraw);
  }

  /** The element of the view. */
  get element() {
    return this.panel.element;
  }

  /** Sets the texts beside the chart. */
  setLabels(label, detail) {
    setText(this.label, label);
    setText(this.detail, detail);
  }

  /** Shows an output. `accept` receives its tree; a hidden view asks for it when it is shown. */
  start(output, accept) {
    this.output = output;
    this.#accept = accept;
    this.#hasTree = false;
    this.data = null;
    this.#asked = '';
    this.#shown();
  }

  #accept;
  #hasTree = false;

  #shown() {
    if (this.output && !this.#hasTree && this.panel.isShown) {
      this.#hasTree = true;
      this.treeLoader.load({
        fetch: (signal) => this.app.experiment.tree('XY', this.output, null, signal),
        accept: ({ model }) => {
          if (!model) return;
          this.#accept(model);
          this.#asked = '';
          this.load();
        },
      });
    }
    this.load();
  }

  /** Loads the series of the window, unless they are there. */
  load() {
    const { width } = this.chart.surface;
    const items = this.#items();
    if (!this.output || items.length === 0 || width === 0 || !this.panel.isShown) return;
    const { shared, experiment } = this.app;
    const samples = sampling(shared.window, Math.ceil(width / this.#pixels), shared.span, MARGIN);
    const filter = this.#filter();
    const asked = `${samples.start} ${samples.end} ${samples.step} ${items} ${filter}`;
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.loader.load({
      fetch: (signal) => experiment.series(this.output, samples, items, filter, signal),
      isSeen: () => samples.start < shared.window.to && samples.end > shared.window.from,
      accept: ({ model }) => {
        this.data = { ...model, step: samples.step };
        this.chart.redraw();
      },
    });
  }

  #drawAll(context, scale, surface) {
    const { shared, theme } = this.app;
    drawGrid(context, shared, scale, theme, surface.height);
    const { data } = this;
    if (data) {
      const base = Number(data.origin - scale.from);
      const perNs = scale.pixels / scale.width;
      this.#draw(context, data, (offset) => (offset + base) * perNs, surface);
    }
    drawSelection(context, shared, scale, theme, surface.height);
  }
}
