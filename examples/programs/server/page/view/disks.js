// Reading from and writing to disks over time.

import { SeriesPanel } from './series_panel.js';
import { drawLine, mostOf, sumOf } from '../draw/bars.js';
import { formatBytes } from '../model/numbers.js';

/** The chart of disk input and output: reads upwards as an area, writes as a dashed line. */
export class Disks {
  #items = [];
  #writes = new Set();

  constructor(app) {
    this.app = app;
    this.series = new SeriesPanel(app, {
      id: 'disks', key: 'i', title: 'Disk I/O', isShownAtFirst: false, pixels: 4,
      label: 'Bytes per second that are read from and written to all disks, over time',
      items: () => this.#items,
      draw: (context, data, column, surface) => this.#draw(context, data, column, surface),
    });
    this.panel = this.series.panel;
    this.element = this.series.element;
  }

  start(output) {
    this.series.start(output, ({ entries }) => {
      const known = entries.filter((entry) => entry.hasData);
      this.#items = known.map((entry) => entry.id);
      this.#writes = new Set(known.filter(({ labels }) => /writ/i.test(labels[0])).map((entry) => entry.id));
      if (known.length === 0) this.panel.say('no requests to disks');
    });
  }

  #draw(context, { series }, column, { width, height }) {
    const { theme } = this.app;
    const read = sumOf(series.filter(({ id }) => !this.#writes.has(id)));
    const written = sumOf(series.filter(({ id }) => this.#writes.has(id)));
    const shape = { width, height, most: Math.max(mostOf(read), mostOf(written)), top: 4 };
    drawLine(context, read, column, { ...shape, css: theme.bar, isArea: true });
    drawLine(context, written, column, { ...shape, css: theme.accent, dash: [4, 2] });
    this.series.setLabels(`▆ read ${formatBytes(mostOf(read))}/s at most`, `╌ written ${formatBytes(mostOf(written))}/s`);
  }
}
