// CPU usage over time: of all threads, and of the selected one.

import { Chart } from './chart.js';
import { Panel } from './panel.js';
import { Loader } from '../data/loader.js';
import { drawLine } from '../draw/bars.js';
import { drawGrid, drawSelection } from '../draw/marks.js';
import { ThreadColumns } from '../model/columns.js';
import { sampling } from '../model/scale.js';
import { el, setText } from './dom.js';

const SAMPLE = 4;

/** The chart of CPU usage. */
export class Usage {
  #data = null;
  #asked = '';
  #defaults = [];
  #threads = new Map();

  constructor(app) {
    this.app = app;
    const { shared, theme } = app;
    this.panel = new Panel({ id: 'usage', number: 4, title: 'CPU usage', isCompact: true, onChange: () => this.load() });
    this.loader = new Loader((error) => this.panel.report(error));
    this.chart = new Chart(app, {
      label: 'CPU usage over time, of all threads and of the selected one',
      draw: (context, scale, surface) => this.#draw(context, scale, surface),
      onPoint: ({ time }) => shared.setTime(time),
      onResize: () => this.load(),
    });
    this.all = el('span');
    this.one = el('span', { class: 'quiet' });
    this.chart.labels.append(this.all, this.one);
    this.panel.body.append(this.chart.element);
    this.element = this.panel.element;
    shared.on(['window', 'time', 'range'], this.chart.redraw);
    shared.on(['window', 'span', 'thread'], () => this.load());
    theme.addEventListener('change', this.chart.redraw);
  }

  async start(output) {
    this.output = output;
    const accept = ({ model }) => {
      if (!model) return;
      const columns = new ThreadColumns(model.headers);
      const entries = model.entries.filter((entry) => entry.hasData !== false);
      const defaults = entries.filter((entry) => entry.isDefault);
      this.#defaults = (defaults.length > 0 ? defaults : entries.slice(0, 1)).map((entry) => entry.id);
      for (const entry of entries) {
        const thread = columns.thread(entry);
        if (thread && !this.#threads.has(thread.tid)) this.#threads.set(thread.tid, entry.id);
      }
      this.#asked = '';
      this.load();
    };
    new Loader((error) => this.panel.report(error)).load({
      fetch: (signal) => this.app.experiment.tree('XY', output, null, signal), accept,
    });
  }

  /** Returns the entry of the selected thread. */
  get #selected() {
    const { thread } = this.app.shared;
    return thread ? this.#threads.get(thread.tid) : undefined;
  }

  load() {
    const { width } = this.chart.surface;
    if (this.#defaults.length === 0 || width === 0 || !this.panel.isShown) return;
    const { shared, experiment } = this.app;
    const samples = sampling(shared.window, Math.ceil(width / SAMPLE), shared.span, 0.1);
    const selected = this.#selected;
    const items = [...new Set([...this.#defaults, ...(selected === undefined ? [] : [selected])])];
    const asked = `${samples.start} ${samples.end} ${samples.step} ${items}`;
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.loader.load({
      fetch: (signal) => experiment.series(this.output, samples, items, '', signal),
      isSeen: () => samples.start < shared.window.to && samples.end > shared.window.from,
      accept: ({ model }) => {
        this.#data = model;
        this.chart.redraw();
      },
    });
  }

  #draw(context, scale, { width, height }) {
    const { shared, theme } = this.app;
    drawGrid(context, shared, scale, theme, height);
    const data = this.#data;
    if (data) {
      const base = Number(data.origin - scale.from);
      const perNs = scale.pixels / scale.width;
      const column = (offset) => (offset + base) * perNs;
      let most = 0;
      for (const { ys } of data.series) for (const value of ys) most = Math.max(most, value);
      const selected = this.#selected;
      const shape = { width, height, most, top: 4 };
      for (const series of data.series) {
        if (series.id !== selected) drawLine(context, series, column, { ...shape, css: theme.bar, isArea: true });
      }
      const one = data.series.find((series) => series.id === selected);
      if (one) drawLine(context, one, column, { ...shape, css: theme.accent });
      const unit = data.series[0]?.unit || '%';
      setText(this.all, `${most.toFixed(most < 10 ? 1 : 0)} ${unit} at most`);
      setText(this.one, one ? `— ${shared.thread.label}` : 'all threads');
    }
    drawSelection(context, shared, scale, theme, height);
  }
}
