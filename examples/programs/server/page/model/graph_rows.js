// The rows of a chart of states: a tree with folded branches, in an order, and the selected one.

import { fitOf } from './fuzzy.js';
import { Tree } from './tree.js';

const byName = (a, b) => (a.labels[0] ?? '').localeCompare(b.labels[0] ?? '', 'en', { numeric: true });
const byStart = (a, b) => {
  const [first, second] = [a.start, b.start].map((time) => BigInt(time ?? 0));
  return first < second ? -1 : first > second ? 1 : 0;
};

/** The orders of rows, and what they are called. */
export const ORDERS = { tree: 'as a tree', time: 'busiest first', name: 'by name', start: 'by start' };

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
  /** The order, one of `ORDERS`. */
  order = 'tree';
  /** Rows that are not active in the window are shown, too. */
  showsAll = true;
  /** The entries that are shown at the top, whether they are active or not. */
  pinned = new Set();
  /** What rows must fit; empty for all. */
  sought = '';
  /** For how long each entry is active in the window, in ns; null if it is not known. */
  activity = null;
  /** Returns `true` for entries that are shown in any case. */
  isKept = () => false;
  #totals = new Map();

  /** Replaces the entries by those of a newer model. Folded branches stay folded. */
  setTree(model) {
    const before = this.tree;
    this.tree = new Tree(model.entries);
    if (before.entries.size === 0) this.tree.foldBelow(model.autoExpandLevel ?? -1);
    else this.tree.keepFolds(before);
    this.#addUp();
  }

  /** Sets for how long entries are active in the window. */
  setActivity(activity) {
    this.activity = activity;
    this.#addUp();
  }

  /** Adds up the activity of the entries below each one, and of itself. */
  #addUp() {
    this.#totals = new Map();
    for (const [id, time] of this.activity ?? []) {
      const seen = new Set();
      for (let at = this.tree.entries.get(id); at && !seen.has(at.id); at = this.tree.entries.get(at.parentId)) {
        seen.add(at.id);
        this.#totals.set(at.id, (this.#totals.get(at.id) ?? 0) + time);
      }
    }
  }

  /** Returns for how long an entry is active in the window, or with `withChildren` with those below it; 0 if it is not. */
  timeOf(id, withChildren = false) {
    return (withChildren ? this.#totals : this.activity)?.get(id) ?? 0;
  }

  /** Returns the comparison of entries in the order; null for that of the tree. */
  #comparison() {
    const byTime = (a, b) => this.timeOf(b.id, true) - this.timeOf(a.id, true);
    return { tree: null, time: byTime, name: byName, start: byStart }[this.order];
  }

  /** Returns `true` if an entry is shown in a window. */
  #isShown(entry, window) {
    if (this.showsAll || entry.id === this.selected || this.isKept(entry)) return true;
    return this.activity ? this.timeOf(entry.id, true) > 0 : lives(entry, window);
  }

  /** Determines the rows that are shown in a window. */
  update(window) {
    if (this.sought !== '') {
      this.shown = this.#found();
      return;
    }
    const hasOneRoot = this.activity !== null && this.tree.roots.length === 1 && !this.tree.roots[0].hasData;
    const isHidden = (entry) => this.pinned.has(entry.id) || (hasOneRoot && entry === this.tree.roots[0]);
    const keep = (entry) => !isHidden(entry) && this.#isShown(entry, window);
    const rows = this.tree.rows({ order: this.#comparison(), keep: this.activity || !this.showsAll ? keep : null });
    // Twists of rows whose children are all hidden would do nothing.
    const hasShown = (id) => this.tree.childrenOf(id).some((child) => keep(child) || hasShown(child.id));
    for (const row of rows) if (row.hasChildren && !this.showsAll) row.hasChildren = hasShown(row.entry.id);
    const pinned = [...this.pinned].map((id) => this.tree.entries.get(id)).filter((entry) => entry !== undefined);
    this.shown = [...pinned.map((entry, at) => ({ entry, depth: 0, position: at + 1, siblings: pinned.length, hasChildren: false, isPinned: true })), ...rows];
  }

  /** Returns the rows that fit what is sought, the best ones first. */
  #found() {
    const fits = [...this.tree.entries.values()].map((entry) => ({ entry, fit: entry.hasData === false ? 0 : fitOf(entry.labels.slice(0, 2), this.sought) }));
    const found = fits.filter(({ fit }) => fit > 0);
    const compare = this.#comparison() ?? (() => 0);
    found.sort((a, b) => b.fit - a.fit || compare(a.entry, b.entry));
    return found.map(({ entry }, at) => ({ entry, depth: 0, position: at + 1, siblings: found.length, hasChildren: false, isPinned: this.pinned.has(entry.id) }));
  }

  get isEmpty() {
    return this.tree.entries.size === 0;
  }

  /** What is shown, in words. */
  get words() {
    const all = [...this.tree.entries.values()].filter(({ hasData }) => hasData !== false).length;
    const shown = this.shown.filter(({ entry }) => entry.hasData !== false).length;
    if (this.sought !== '') return `${shown} of ${all} rows fit`;
    const hidden = !this.showsAll && all > shown ? ' (A: all)' : '';
    return `${shown}${shown === all ? '' : ` of ${all}`} rows ${ORDERS[this.order]}${hidden}`;
  }

  /** The place of the selected row among those that are shown; -1 if there is none. */
  get selectedAt() {
    return this.shown.findIndex((row) => row.entry.id === this.selected);
  }

  /** Pins an entry to the top, or releases it. Returns `true` if it is pinned now. */
  togglePin(id) {
    if (!this.pinned.delete(id)) this.pinned.add(id);
    return this.pinned.has(id);
  }

  /** Changes to the next order of some. */
  nextOrder(orders) {
    this.order = orders[(orders.indexOf(this.order) + 1) % orders.length];
  }

  /** Returns the row that is some places away from the selected one, or the nearest one that exists. */
  step(by) {
    const at = this.selectedAt;
    const from = at < 0 && by > 0 ? -1 : at < 0 ? this.shown.length : at;
    return this.shown[Math.max(0, Math.min(from + by, this.shown.length - 1))];
  }

  /** Returns the row of those that are shown that is some places away from the selected one, around the end. */
  cycle(by) {
    const at = this.selectedAt;
    const count = this.shown.length;
    return count === 0 ? undefined : this.shown[at < 0 ? (by > 0 ? 0 : count - 1) : (at + by + count) % count];
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
