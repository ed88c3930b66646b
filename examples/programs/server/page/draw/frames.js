// One frame at a time: views say that they have changed, and all of them draw in the next frame.

/** Collects what is to be drawn in the next frame. */
export class Frames {
  #wanted = new Set();
  #isScheduled = false;

  /** Calls `draw` in the next frame, once. */
  want(draw) {
    this.#wanted.add(draw);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      const now = [...this.#wanted];
      this.#wanted.clear();
      for (const one of now) one();
    });
  }
}
