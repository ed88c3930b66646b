// The states and arrows of a chart: loading those that are seen, and looking them up.

import { Loader } from '../data/loader.js';
import { firstAfter } from '../draw/states.js';
import { sampling } from '../model/scale.js';

/** The part of the window that is loaded before and after it, as a share of its width. */
const MARGIN = 0.25;

/** Loads states and arrows of one output. */
export class GraphData {
  /** The states as `packStates` returns them, or null. */
  states = null;
  /** The arrows as `packArrows` returns them, or null. */
  arrows = null;
  #places = new Map();
  #loaded = null;
  #asked = '';
  #loadedArrows = null;
  #askedArrows = '';
  #app;
  #output;
  #parameters = {};
  #onStates;
  #onArrows;

  /**
   * @param {object} app what all views share
   * @param {object} listeners `onStates`, `onArrows`: new ones have come; `report(error)`
   */
  constructor(app, { onStates, onArrows, report }) {
    this.#app = app;
    this.#onStates = onStates;
    this.#onArrows = onArrows;
    this.stateLoader = new Loader(report);
    this.arrowLoader = new Loader(report);
  }

  /** Loads from an output from now on, with parameters of its own. What is loaded of others is forgotten. */
  start(output, parameters = {}) {
    const before = JSON.stringify([this.#output, this.#parameters]);
    this.#output = output;
    this.#parameters = parameters;
    if (before === JSON.stringify([output, parameters])) return;
    this.stateLoader.stop();
    this.arrowLoader.stop();
    this.states = this.arrows = this.#loaded = this.#loadedArrows = null;
    this.#askedArrows = '';
    this.forget();
  }

  /** Makes the next call load states again, for example since entries have changed. */
  forget() {
    this.#asked = '';
  }

  #isSeen(samples) {
    const { window } = this.#app.shared;
    return samples.start < window.to && samples.end > window.from;
  }

  /** Loads the states of entries in the window, unless they are there, in a resolution of pixels. */
  load(items, pixels) {
    const { shared, experiment } = this.#app;
    const samples = sampling(shared.window, pixels, shared.span, MARGIN);
    if (this.#isLoaded(samples, items)) return;
    const asked = `${samples.start} ${samples.end} ${samples.step} ${items}`;
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.stateLoader.load({
      fetch: (signal) => experiment.states(this.#output, samples, items, signal, this.#parameters),
      isSeen: () => this.#isSeen(samples),
      accept: ({ model, status }) => {
        this.states = model;
        this.#loaded = { samples, items: new Set(items), isComplete: status !== 'RUNNING' };
        this.#places = new Map(model.entries.map((entry, at) => [entry, at]));
        this.#onStates();
      },
    });
  }

  /** Returns `true` if what is loaded covers the window, in the same resolution, and the entries. */
  #isLoaded(samples, items) {
    const loaded = this.#loaded;
    if (!loaded?.isComplete || this.#asked === '' || loaded.samples.step !== samples.step) return false;
    const { window, span } = this.#app.shared;
    const margin = (window.to - window.from) / 16n;
    const low = window.from - margin < span.from ? span.from : window.from - margin;
    const high = window.to + margin > span.to ? span.to : window.to + margin;
    if (loaded.samples.start > low || loaded.samples.end < high) return false;
    return items.every((item) => loaded.items.has(item));
  }

  /** Loads the arrows in the window, unless they are there. */
  loadArrows(pixels) {
    const { shared, experiment } = this.#app;
    const samples = sampling(shared.window, pixels, shared.span, MARGIN);
    const loaded = this.#loadedArrows;
    if (loaded && loaded.step === samples.step && loaded.start <= shared.window.from && loaded.end >= shared.window.to) return;
    const asked = `${samples.start} ${samples.end} ${samples.step}`;
    if (asked === this.#askedArrows) return;
    this.#askedArrows = asked;
    this.arrowLoader.load({
      fetch: (signal) => experiment.arrows(this.#output, samples, signal, this.#parameters),
      isSeen: () => this.#isSeen(samples),
      accept: ({ model }) => {
        this.arrows = model;
        this.#loadedArrows = samples;
        this.#onArrows();
      },
    });
  }

  /** Returns the index of an entry in the states; -1 if nothing is known of it. */
  placeOf(entry) {
    return this.#places.get(entry) ?? -1;
  }

  /** The nanoseconds of a column of the states that are loaded. */
  get step() {
    return this.#loaded ? Number(this.#loaded.samples.step) : 1;
  }

  /** Returns the shares of the states in the column of a time, of 0 to 1; null if it has not several. */
  sharesAt(entry, time) {
    const { states, step } = this;
    const index = this.placeOf(entry);
    if (!states || index < 0) return null;
    const number = Math.floor(Number(time - states.origin) / step);
    const { columns, columnFirsts, shareFirsts, shareStyles, shareTimes } = states;
    let [low, high] = [columnFirsts[index], columnFirsts[index + 1]];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (columns[middle] < number) low = middle + 1;
      else high = middle;
    }
    if (low >= columnFirsts[index + 1] || columns[low] !== number) return null;
    const shares = [];
    for (let at = shareFirsts[low]; at < shareFirsts[low + 1]; at += 1) shares.push({ style: shareStyles[at], share: shareTimes[at] / step });
    return shares.sort((a, b) => b.share - a.share);
  }

  /** Returns the state of an entry at a time: its style, label, start and end; null if unknown. */
  stateAt(entry, time) {
    const { states } = this;
    const index = this.placeOf(entry);
    if (!states || index < 0) return null;
    const offset = Number(time - states.origin);
    const end = states.firsts[index + 1];
    const at = firstAfter(states.ends, states.firsts[index], end, offset);
    if (at >= end || states.starts[at] > offset) return null;
    const exact = (value) => states.origin + BigInt(value);
    return {
      style: states.styleOf[at], label: states.labels[states.labelOf[at]],
      start: exact(states.starts[at]), end: exact(states.ends[at]),
    };
  }
}
