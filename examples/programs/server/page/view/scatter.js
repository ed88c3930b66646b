// Durations over time, as points.

import { Chart } from './chart.js';
import { Loader } from '../data/loader.js';
import { DurationScale, SHAPES, drawPoints, nearestPoint, nextPoint } from '../draw/points.js';
import { drawGrid, drawSelection } from '../draw/marks.js';
import { Palette } from '../draw/palette.js';
import { sampling } from '../model/scale.js';
import { formatDuration } from '../model/time.js';
import { el } from './dom.js';

/** The distance, in pixels, from which a click means a point. */
const NEAR = 8;

/** The chart of the durations of one analysis. */
export class Scatter {
  #data = null;
  #items = [];
  #asked = '';
  #output = null;
  #isWanted;
  #report;

  /**
   * @param {object} app what all views share
   * @param {object} options `isWanted()`, whether the chart is shown; `report(error)`; `say(text)`
   */
  constructor(app, { isWanted, report, say }) {
    this.app = app;
    this.say = say;
    this.#isWanted = isWanted;
    this.#report = report;
    this.palette = new Palette(app.theme);
    this.loader = new Loader(report);
    this.treeLoader = new Loader(report);
    const { shared, theme } = app;
    this.chart = new Chart(app, {
      label: 'Durations over time: each point is at the end of a duration',
      draw: (context, scale, surface) => this.#draw(context, scale, surface),
      onPoint: (at) => this.#point(at),
      onResize: () => this.load(),
    });
    this.legend = el('ul', { class: 'kinds', 'aria-label': 'Kinds of durations' });
    this.chart.labels.append(this.legend);
    this.element = el('div', { class: 'chart-place', role: 'group', tabindex: '0', 'aria-label': 'Durations over time; , and ; go to the previous and next one' }, this.chart.element);
    shared.on(['window'], () => this.load());
    shared.on(['window', 'time', 'range'], this.chart.redraw);
    theme.addEventListener('change', () => {
      this.palette.setTheme(theme);
      this.#showLegend();
      this.chart.redraw();
    });
  }

  /** Shows another output. */
  start(output) {
    if (output === this.#output) {
      this.load();
      return;
    }
    this.#output = output;
    this.#data = null;
    this.#items = [];
    this.#asked = '';
    this.loader.stop();
    this.say('reading…');
    const { experiment } = this.app;
    experiment.style(output).then(({ model }) => {
      if (output !== this.#output) return;
      this.palette.setStyles(model?.styles);
      this.chart.redraw();
    }, this.#report);
    this.treeLoader.load({
      fetch: (signal) => experiment.tree('XY', output, null, signal),
      accept: ({ model }) => {
        if (!model) return;
        this.#items = model.entries.filter((entry) => entry.hasData).map((entry) => entry.id);
        this.load();
      },
    });
  }

  /** Loads the durations in the window, unless they are there. */
  load() {
    const { width } = this.chart.surface;
    if (this.#items.length === 0 || width === 0 || !this.#isWanted()) return;
    const { shared, experiment } = this.app;
    const samples = sampling(shared.window, Math.ceil(width / 2), shared.span, 0.1);
    const asked = `${samples.start} ${samples.end} ${samples.step} ${this.#output}`;
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.loader.load({
      fetch: (signal) => experiment.series(this.#output, samples, this.#items, '', signal),
      isSeen: () => samples.start < shared.window.to && samples.end > shared.window.from,
      accept: ({ model, status }) => {
        this.#data = model;
        const count = model.series.reduce((sum, { xs }) => sum + xs.length, 0);
        this.say(status === 'RUNNING' ? 'reading…' : `${count.toLocaleString('en')} durations, the longest of each moment`);
        this.#showLegend();
        this.chart.redraw();
      },
    });
  }

  #showLegend() {
    const { series = [] } = this.#data ?? {};
    this.legend.replaceChildren(...series.map((one, kind) => {
      const sign = el('span', { class: 'sign', 'aria-hidden': 'true', text: SHAPES[kind % SHAPES.length] });
      sign.style.color = this.#cssOf(one);
      const most = one.ys.reduce((longest, value) => Math.max(longest, value), 0);
      return el('li', { title: `${one.name}: at most ${formatDuration(BigInt(Math.round(most)))}` }, sign, el('span', { text: one.name }));
    }));
  }

  #cssOf = (series) => this.palette.look(series.style)?.css ?? this.app.theme.bar;

  #column(scale) {
    const base = Number(this.#data.origin - scale.from);
    const perNs = scale.pixels / scale.width;
    return (offset) => (offset + base) * perNs;
  }

  #draw(context, scale, { width, height }) {
    const { shared, theme } = this.app;
    drawGrid(context, shared, scale, theme, height);
    if (this.#data) {
      const { series } = this.#data;
      const durations = new DurationScale(series, height);
      context.font = theme.font;
      context.textBaseline = 'bottom';
      for (const { duration, y } of durations.marks()) {
        context.fillStyle = theme.grid;
        context.fillRect(0, Math.round(y), width, 1);
        context.fillStyle = theme.dim;
        if (y > 12) context.fillText(formatDuration(duration).replace(/\.0+/, ''), 3, y);
      }
      drawPoints(context, series, this.#column(scale), durations, { width, cssOf: this.#cssOf });
    }
    drawSelection(context, shared, scale, theme, height);
  }

  /** Marks the duration at a place; or sets the current time, if there is none. */
  #point({ x, y, time }) {
    const found = this.#data && nearestPoint(this.#data.series, this.#column(this.chart.scale), new DurationScale(this.#data.series, this.chart.surface.height), { x, y }, NEAR);
    if (found) this.#mark(found);
    else this.app.shared.setTime(time);
  }

  #mark({ kind, at }) {
    const { shared } = this.app;
    const { name, xs, ys } = this.#data.series[kind];
    const end = this.#data.origin + BigInt(xs[at]);
    const duration = BigInt(Math.round(ys[at]));
    shared.markDuration(end - duration, end);
    this.app.say(`${name}: ${formatDuration(duration)}`);
  }

  /** Marks the next duration after the one that is marked, or with a direction of -1 the one before it. */
  #step(direction) {
    if (!this.#data) return;
    const { shared } = this.app;
    const from = shared.range?.to ?? shared.time;
    const found = nextPoint(this.#data.series, Number(from - this.#data.origin), direction);
    if (found) this.#mark(found);
    else this.app.say(`No ${direction > 0 ? 'later' : 'earlier'} duration is loaded`);
  }

  /** Handles a key. Returns `true` if it has a meaning here. */
  key(key) {
    if (key === ';') this.#step(1);
    else if (key === ',') this.#step(-1);
    else return false;
    return true;
  }
}
