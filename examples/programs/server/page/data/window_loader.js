// Loading what is computed for a window, or for the whole trace: once the window rests.

import { Loader } from './loader.js';

/** How long the window must rest before something is asked for, in ms. */
const REST = 150;

/** Loads something that depends on the window, and again when the window has changed. */
export class WindowLoader {
  #loader;
  #timer = 0;
  #shared;
  #wish;
  /** What is loaded is that of the window, and not that of the whole trace. */
  isOfWindow = true;

  /**
   * @param {Shared} shared what all views share
   * @param {object} wish `isWanted()`, whether something would be shown; `fetch(window, signal)`, where the
   *   window is null for the whole trace; `accept(answer)`; `report(error)`
   */
  constructor(shared, wish) {
    this.#shared = shared;
    this.#wish = wish;
    this.#loader = new Loader(wish.report);
    shared.on(['window'], () => this.isOfWindow && this.#loadSoon());
    shared.on(['span'], () => this.#loadSoon());
  }

  #loadSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.load(), REST);
  }

  /** Loads now, if it is wanted. */
  load() {
    clearTimeout(this.#timer);
    if (!this.#wish.isWanted()) return;
    const window = this.isOfWindow ? this.#shared.window : null;
    this.#loader.load({ fetch: (signal) => this.#wish.fetch(window, signal), accept: this.#wish.accept });
  }

  /** Changes between the window and the whole trace. */
  toggleScope() {
    this.isOfWindow = !this.isOfWindow;
    this.load();
  }
}
