// The number of events over time in the window.

import { Chart } from './chart.js';
import { Panel } from './panel.js';
import { countersOf } from './overview.js';
import { Loader } from '../data/loader.js';
import { drawBars } from '../draw/bars.js';
import { drawGrid, drawSelection } from '../draw/marks.js';
import { sampling } from '../model/scale.js';
import { formatDuration } from '../model/time.js';
import { el, setText } from './dom.js';

/** The width of a bar, in pixels. */
const BAR = 4;

/** The histogram of the window. */
export class Histogram {
  #data = null;
  #items = null;
  #asked = '';
  #step = 0n;

  constructor(app) {
    this.app = app;
    const { shared, theme } = app;
    this.panel = new Panel({ id: 'histogram', number: 1, title: 'Histogram', isCompact: true, onChange: () => this.load() });
    this.loader = new Loader((error) => this.panel.report(error));
    this.chart = new Chart(app, {
      label: 'Histogram: events over time in the window',
      draw: (context, scale, surface) => this.#draw(context, scale, surface),
      onPoint: ({ time }) => shared.setTime(time),
      onResize: () => this.load(),
    });
    this.most = el('span');
    this.per = el('span', { class: 'quiet' });
    this.chart.labels.append(this.most, this.per);
    this.panel.body.append(this.chart.element);
    this.element = this.panel.element;
    shared.on(['window', 'time', 'range'], this.chart.redraw);
    shared.on(['window', 'span', 'filter'], () => this.load());
    theme.addEventListener('change', this.chart.redraw);
  }

  async start(output) {
    this.output = output;
    const answer = await this.app.experiment.tree('XY', output, null);
    this.#items = countersOf(answer.model);
    this.load();
  }

  load() {
    const { width } = this.chart.surface;
    if (!this.#items || width === 0 || !this.panel.isShown) return;
    const { shared, experiment } = this.app;
    const { window } = shared;
    const samples = sampling(window, Math.ceil(width / BAR), shared.span, 0.1);
    const asked = `${samples.start} ${samples.end} ${samples.step} ${shared.filter}`;
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.loader.load({
      fetch: (signal) => experiment.series(this.output, samples, this.#items, shared.filter, signal),
      isSeen: () => samples.start < shared.window.to && samples.end > shared.window.from,
      accept: ({ model }) => {
        this.#data = model;
        this.#step = samples.step;
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
      const most = drawBars(context, data.series, column, { width, height, css: theme.bar, top: 4 });
      setText(this.most, `${most.toLocaleString('en')} at most`);
      setText(this.per, `per ${formatDuration(this.#step)}`);
    }
    drawSelection(context, shared, scale, theme, height);
  }
}
