// The histogram of the whole trace, with the window in it.

import { Chart } from './chart.js';
import { Loader } from '../data/loader.js';
import { drawBars } from '../draw/bars.js';
import { sampling } from '../model/scale.js';
import { within } from '../model/window.js';
import { el, setText } from './dom.js';

/** Returns the ids of the entries of a histogram that count events. */
export function countersOf(tree) {
  const counts = tree.entries.filter((entry) => entry.hasData !== false && !/lost/i.test(entry.labels[0] ?? ''));
  const total = counts.filter((entry) => /total/i.test(entry.labels[0] ?? ''));
  return (total.length > 0 ? total : counts).map((entry) => entry.id);
}

/** The overview: a click or drag moves the window. */
export class Overview {
  #data = null;
  #loader = new Loader();
  #items = null;
  #asked = '';

  constructor(app) {
    this.app = app;
    const { shared } = app;
    this.chart = new Chart(app, {
      label: 'Overview: events of the whole trace over time, with the window that the other views show',
      window: () => shared.span,
      draw: (context, scale, surface) => this.#draw(context, scale, surface),
      onResize: () => this.load(),
      onPoint: ({ time }) => this.#center(time),
      gestures: { drag: (event, at) => this.#drag(at) },
    });
    this.total = el('span', { class: 'quiet' });
    this.chart.labels.append(el('span', { text: 'Whole trace' }), this.total);
    this.element = el('section', { class: 'overview', 'aria-label': 'Overview' }, this.chart.element);
    shared.on(['window', 'time', 'range'], this.chart.redraw);
    shared.on(['span', 'filter'], () => this.load());
    app.theme.addEventListener('change', this.chart.redraw);
  }

  #center(time) {
    const { window } = this.app.shared;
    const from = time - (window.to - window.from) / 2n;
    this.app.shared.show({ from, to: from + (window.to - window.from) });
  }

  /** Moves an edge of the window if the pointer is near it, or else the window. */
  #drag({ x }) {
    const { shared } = this.app;
    const { scale } = this.chart;
    const { from, to } = shared.window;
    const [left, right] = [scale.x(from), scale.x(to)];
    const isAll = from === shared.span.from && to === shared.span.to;
    if (isAll || x < left - 6 || x > right + 6) {
      // A new window from here on.
      return (at, gesture) => shared.show(ordered(gesture.start.time, at.time), { isPart: true });
    }
    if (x - left < 6 && right - x > 6) return (at) => shared.show(ordered(at.time, to), { isPart: true });
    if (right - x < 6) return (at) => shared.show(ordered(from, at.time), { isPart: true });
    return (at, gesture) => {
      const by = at.time - gesture.start.time;
      shared.show(within({ from: from + by, to: to + by }, shared.span), { isPart: true });
    };
  }

  async start(output) {
    this.output = output;
    const answer = await this.app.experiment.tree('XY', output, null);
    this.#items = countersOf(answer.model);
    this.load();
  }

  load() {
    if (!this.#items || this.chart.surface.width === 0) return;
    const { shared, experiment } = this.app;
    const samples = sampling(shared.span, Math.ceil(this.chart.surface.width / 2), shared.span);
    const asked = `${samples.start} ${samples.end} ${samples.nbTimes} ${shared.filter}`;
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.#loader.load({
      fetch: (signal) => experiment.series(this.output, samples, this.#items, shared.filter, signal),
      accept: ({ model }) => {
        this.#data = model;
        let sum = 0;
        for (const { ys } of model.series) for (const value of ys) sum += value;
        setText(this.total, `${sum.toLocaleString('en')} events`);
        this.chart.redraw();
      },
    });
  }

  #draw(context, scale, { width, height }) {
    const { shared, theme } = this.app;
    const data = this.#data;
    if (data) {
      const base = Number(data.origin - scale.from);
      const perNs = scale.pixels / scale.width;
      drawBars(context, data.series, (offset) => (offset + base) * perNs, { width, height, css: theme.bar, top: 3 });
    }
    const x0 = scale.x(shared.window.from), x1 = scale.x(shared.window.to);
    context.fillStyle = theme.veil;
    context.fillRect(0, 0, x0, height);
    context.fillRect(x1, 0, width - x1, height);
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
    context.strokeRect(Math.max(x0, 1), 1, Math.max(Math.min(x1, width - 1) - Math.max(x0, 1), 2), height - 2);
    const x = Math.round(scale.x(shared.time)) + 0.5;
    context.strokeStyle = theme.cursor;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
  }
}

function ordered(a, b) {
  return a < b ? { from: a, to: b } : { from: b, to: a };
}
