// Figures of durations, by what took the time, in the window or in the whole trace.

import { TreeTable } from './tree_table.js';
import { WindowLoader } from '../data/window_loader.js';
import { columnOf } from '../model/columns.js';
import { formatDuration, parseTimeRange } from '../model/time.js';

/** The table of the figures of one analysis. */
export class Figures {
  #output = null;

  /**
   * @param {object} app what all views share
   * @param {object} options `isWanted()`, whether the table is shown; `report(error)`; `say(text)`
   */
  constructor(app, { isWanted, report, say }) {
    this.app = app;
    this.table = new TreeTable({
      id: 'figure', label: 'Figures of durations; Enter marks the longest one', onSelect: () => {}, onEnter: (entry) => this.#markLongest(entry),
    });
    this.element = this.table.element;
    this.loader = new WindowLoader(app.shared, {
      report,
      isWanted: () => this.#output !== null && isWanted(),
      fetch: (window, signal) => app.experiment.tree('data', this.#output, window, signal),
      accept: ({ model, status }) => {
        if (model) this.table.setTree(model);
        say(status === 'RUNNING' ? 'reading…' : `of the ${this.loader.isOfWindow ? 'window' : 'whole trace'}; Enter marks the longest one`);
      },
    });
  }

  /** Shows another output. */
  start(output) {
    this.#output = output;
    this.load();
  }

  load() {
    this.loader.load();
  }

  #markLongest(entry) {
    const column = columnOf(this.table.headers, ['Max Time Range']);
    const range = column < 0 ? null : parseTimeRange(entry.labels[column] ?? '');
    if (!range) return false;
    this.app.shared.markDuration(range.from, range.to);
    this.app.say(`${entry.labels[0]}: ${formatDuration(range.to - range.from)}`);
    return true;
  }

  /** Handles a key. Returns `true` if it has a meaning here. */
  key(key) {
    return this.table.key(key);
  }
}
