// Loading what a view shows: only the latest wish counts, and requests for what is no longer
// shown are aborted.

/** The delays before an answer that is still growing is asked for again, in ms. */
const AGAIN = [150, 300, 600, 1000];

/**
 * Loads one thing at a time. While a request is under way whose result would still be seen, a newer
 * wish waits for it, so that a gesture shows something all the time; otherwise it is aborted.
 */
export class Loader {
  #running = null;
  #waiting = null;
  #report;

  constructor(report = () => {}) {
    this.#report = report;
  }

  get isBusy() {
    return this.#running !== null;
  }

  /** Aborts what is under way, and forgets what waits. */
  stop() {
    this.#waiting = null;
    this.#running?.controller.abort();
    this.#running = null;
  }

  /**
   * Loads something.
   * @param {object} wish
   * @param {(signal: AbortSignal) => Promise} wish.fetch returns an answer. While its `status` is
   *   RUNNING, it is accepted and fetched again.
   * @param {(answer: object) => void} wish.accept
   * @param {() => boolean} [wish.isSeen] returns `true` while the result would be seen
   */
  load(wish) {
    const running = this.#running;
    if (running && running.turn === 0 && running.wish.isSeen?.()) {
      this.#waiting = wish;
      return;
    }
    this.stop();
    this.#start(wish);
  }

  async #start(wish) {
    const running = { wish, controller: new AbortController(), turn: 0 };
    const { signal } = running.controller;
    this.#running = running;
    try {
      for (;;) {
        const answer = await wish.fetch(signal);
        if (signal.aborted) return;
        wish.accept(answer);
        if (answer?.status !== 'RUNNING' || this.#waiting) break;
        await new Promise((resolve) => setTimeout(resolve, AGAIN[Math.min(running.turn, AGAIN.length - 1)]));
        running.turn += 1;
        if (signal.aborted) return;
      }
      this.#report(null);
    } catch (error) {
      if (signal.aborted) return;
      this.#report(error);
    }
    this.#running = null;
    const next = this.#waiting;
    this.#waiting = null;
    if (next) this.#start(next);
  }
}
