// The rows of a chart of states: a tree with folded branches, in an order, and the selected one.

import { Tree } from './tree.js';

const byName = (a, b) => (a.labels[0] ?? '').localeCompare(b.labels[0] ?? '');

/** Returns `true` if an entry lives at some time of a window. */
function lives(entry, { from, to }) {
  return entry.start === undefined || (BigInt(entry.start) <= to && BigInt(entry.end) >= from);
}

/** The rows of a tree of entries. */
export class GraphRows {
  tree = new Tree();
  /** The rows that are shown, as `Tree.rows` returns them. */
  shown = [];
  /** The id of the selected entry, or null. */
  selected = null;
  /** Rows are sorted by name, instead of as a tree. */
  isByName = false;
  /** Rows that do not live in the window are shown, too. */
  showsAll = true;

  /** Replaces the entries by those of a newer model. Folded branches stay folded. */
  setTree(model) {
    const before = this.tree;
    this.tree = new Tree(model.entries);
    if (before.entries.size === 0) this.tree.foldBelow(model.autoExpandLevel ?? -1);
    else this.tree.keepFolds(before);
  }

  /** Determines the rows that are shown in a window. */
  update(window) {
    const keep = this.showsAll ? null : (entry) => lives(entry, window);
    this.shown = this.tree.rows({ order: this.isByName ? byName : null, keep });
  }

  get isEmpty() {
    return this.tree.entries.size === 0;
  }

  /** What is shown, in words. */
  get words() {
    const hidden = this.tree.entries.size - this.shown.length;
    const order = this.isByName ? 'by name' : 'as a tree';
    const rest = !this.showsAll && hidden > 0 ? `, ${hidden} without life in the window are hidden (A)` : '';
    return `${this.shown.length} rows ${order}${rest}`;
  }

  /** The place of the selected row among those that are shown; -1 if there is none. */
  get selectedAt() {
    return this.shown.findIndex((row) => row.entry.id === this.selected);
  }

  /** Returns the row that is some places away from the selected one, or the nearest one that exists. */
  step(by) {
    const at = this.selectedAt;
    const from = at < 0 && by > 0 ? -1 : at < 0 ? this.shown.length : at;
    return this.shown[Math.max(0, Math.min(from + by, this.shown.length - 1))];
  }

  /**
   * Returns the entry of those for which a test holds that lives at a time; the first one if none of
   * them does, and undefined if there are none.
   */
  alive(test, time) {
    const all = [...this.tree.entries.values()].filter(test);
    return all.find((entry) => entry.start !== undefined && lives(entry, { from: time, to: time })) ?? all[0];
  }
}
