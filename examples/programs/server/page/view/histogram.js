// The number of events over time in the window.

import { countersOf } from './overview.js';
import { SeriesPanel } from './series_panel.js';
import { drawBars } from '../draw/bars.js';
import { formatDuration } from '../model/time.js';

/** The width of a bar, in pixels. */
const BAR = 4;

/** The histogram of the window. */
export class Histogram {
  #items = [];

  constructor(app) {
    this.app = app;
    this.series = new SeriesPanel(app, {
      id: 'histogram', key: '1', title: 'Histogram', label: 'Histogram: events over time in the window', pixels: BAR,
      items: () => this.#items, filter: () => app.shared.filter,
      draw: (context, data, column, surface) => this.#draw(context, data, column, surface),
    });
    this.panel = this.series.panel;
    this.element = this.series.element;
  }

  start(output) {
    this.series.start(output, (tree) => {
      this.#items = countersOf(tree);
    });
  }

  #draw(context, data, column, { width, height }) {
    const most = drawBars(context, data.series, column, { width, height, css: this.app.theme.bar, top: 4 });
    this.series.setLabels(`${most.toLocaleString('en')} at most`, `per ${formatDuration(data.step)}`);
  }
}
