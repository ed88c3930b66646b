// CPU usage over time: of all threads, and of the selected one.

import { SeriesPanel } from './series_panel.js';
import { drawLine, mostOf } from '../draw/bars.js';
import { ThreadColumns } from '../model/columns.js';

/** The chart of CPU usage. */
export class Usage {
  #defaults = [];
  #threads = new Map();

  constructor(app) {
    this.app = app;
    this.series = new SeriesPanel(app, {
      id: 'usage', key: '4', title: 'CPU usage', label: 'CPU usage over time, of all threads and of the selected one', pixels: 4,
      items: () => this.#items,
      draw: (context, data, column, surface) => this.#draw(context, data, column, surface),
    });
    this.panel = this.series.panel;
    this.element = this.series.element;
  }

  start(output) {
    this.series.start(output, (tree) => {
      const columns = new ThreadColumns(tree.headers);
      const entries = tree.entries.filter((entry) => entry.hasData !== false);
      const defaults = entries.filter((entry) => entry.isDefault);
      this.#defaults = (defaults.length > 0 ? defaults : entries.slice(0, 1)).map((entry) => entry.id);
      for (const entry of entries) {
        const thread = columns.thread(entry);
        if (thread && !this.#threads.has(thread.tid)) this.#threads.set(thread.tid, entry.id);
      }
    });
  }

  /** Returns the entry of the selected thread. */
  get #selected() {
    const { thread } = this.app.shared;
    return thread ? this.#threads.get(thread.tid) : undefined;
  }

  get #items() {
    const selected = this.#selected;
    return selected === undefined ? this.#defaults : [...new Set([...this.#defaults, selected])];
  }

  #draw(context, { series }, column, { width, height }) {
    const { shared, theme } = this.app;
    const most = Math.max(0, ...series.map(mostOf));
    const selected = this.#selected;
    const shape = { width, height, most, top: 4 };
    for (const one of series) {
      if (one.id !== selected) drawLine(context, one, column, { ...shape, css: theme.bar, isArea: true });
    }
    const one = series.find(({ id }) => id === selected);
    if (one) drawLine(context, one, column, { ...shape, css: theme.accent });
    this.series.setLabels(`${most.toFixed(most < 10 ? 1 : 0)} ${series[0]?.unit || '%'} at most`, one ? `— ${shared.thread.label}` : 'all threads');
  }
}
