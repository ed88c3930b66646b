// What all views share: the time window, the current time, the marked range, the selected thread
// and the filter. Whoever changes one of them calls a method; all views listen.

import { isSameThread } from './columns.js';
import { isSame, moved, showing, spanOf, within, zoomed } from './window.js';

const MAX_HISTORY = 200;

/** The shared selection. It emits an event named after what has changed. */
export class Shared extends EventTarget {
  #past = [];
  #future = [];

  constructor() {
    super();
    this.span = spanOf(0n, 1n);
    this.window = this.span;
    /** The current time. */
    this.time = 0n;
    /** The marked range `{from, to}`, or null. */
    this.range = null;
    /** The time at which a range begins that is not ended yet, or null. */
    this.mark = null;
    /** The selected thread `{tid, label}`, or null; `tid` is text. */
    this.thread = null;
    /** The filter that is applied; empty if there is none. */
    this.filter = '';
  }

  #emit(name) {
    this.dispatchEvent(new Event(name));
  }

  /** Calls a function for each of the named changes. */
  on(names, listener) {
    for (const name of names) this.addEventListener(name, listener);
  }

  /** Sets the times of the trace. A window that showed all of it still does. */
  setSpan(from, to) {
    const wasAll = isSame(this.window, this.span);
    this.span = spanOf(from, to);
    this.#emit('span');
    this.#replace(wasAll ? this.span : within(this.window, this.span));
    if (this.time < this.span.from || this.time > this.span.to) this.setTime(this.span.from);
  }

  #replace(window) {
    if (isSame(window, this.window)) return false;
    this.window = window;
    this.#emit('window');
    return true;
  }

  /**
   * Shows a window. A change `isPart` of a gesture makes no entry of its own in the list of earlier
   * windows.
   */
  show(window, { isPart = false } = {}) {
    const before = this.window;
    if (!this.#replace(within(window, this.span))) return;
    if (!isPart) this.remember(before);
  }

  /** Makes a window one that `back` returns to. */
  remember(window) {
    if (isSame(window, this.window)) return;
    this.#past.push(window);
    if (this.#past.length > MAX_HISTORY) this.#past.shift();
    this.#future = [];
  }

  zoom(factor, around = this.time, options) {
    const inside = around >= this.window.from && around <= this.window.to;
    const middle = (this.window.from + this.window.to) / 2n;
    this.show(zoomed(this.window, factor, inside ? around : middle, this.span), options);
  }

  move(by, options) {
    this.show(moved(this.window, by, this.span), options);
  }

  showAll() {
    this.show(this.span);
  }

  /** Returns to the window before, or with `isForward` to the one after it. */
  back(isForward = false) {
    const [from, to] = isForward ? [this.#future, this.#past] : [this.#past, this.#future];
    const window = from.pop();
    if (!window) return;
    to.push(this.window);
    this.#replace(within(window, this.span));
  }

  /** Sets the current time. With `reveal` the window moves there. */
  setTime(time, { reveal = false } = {}) {
    const inside = time < this.span.from ? this.span.from : time > this.span.to ? this.span.to : time;
    if (inside !== this.time) {
      this.time = inside;
      if (this.mark !== null) this.setRange(this.mark, inside);
      this.#emit('time');
    }
    if (reveal) this.show(showing(this.window, inside, this.span));
  }

  /** Marks a range, whose ends may come in any order. */
  setRange(a, b) {
    this.range = a === b ? null : a < b ? { from: a, to: b } : { from: b, to: a };
    this.#emit('range');
  }

  /** Shows and marks the time that something took. */
  markDuration(from, to) {
    this.mark = null;
    this.setTime(from, { reveal: true });
    this.setRange(from, to);
  }

  /** Begins a range at the current time, or ends the one that has begun. */
  setMark() {
    this.mark = this.mark === null ? this.time : null;
    if (this.mark !== null) this.range = null;
    this.#emit('range');
  }

  clearRange() {
    this.range = null;
    this.mark = null;
    this.#emit('range');
  }

  selectThread(thread) {
    if (isSameThread(thread, this.thread)) return;
    this.thread = thread;
    this.#emit('thread');
  }

  /** Completes the selected thread, of which a link has only the number. */
  nameThread(thread) {
    if (this.thread?.tid === thread.tid) this.thread = thread;
  }

  setFilter(filter) {
    if (filter === this.filter) return;
    this.filter = filter;
    this.#emit('filter');
  }
}
