// The lines of a long table that are loaded, in pages.

/** The number of pages that are kept. */
const MOST_PAGES = 40;

/** Lines by their numbers. The pages used last are kept. */
export class LinePages {
  #pages = new Map();

  constructor(size) {
    this.size = size;
  }

  clear() {
    this.#pages.clear();
  }

  /** Adds lines from a number on. Those of a page that has begun replace it. */
  add(first, lines) {
    lines.forEach((line, at) => {
      const index = first + at;
      const number = Math.floor(index / this.size);
      let page = this.#pages.get(number);
      if (!page) {
        page = [];
        this.#pages.set(number, page);
      }
      page[index % this.size] = line;
    });
    // A page without lines, at the end of a table that has shrunk, counts as loaded.
    if (lines.length === 0) this.#pages.set(Math.floor(first / this.size), []);
    for (const number of this.#pages.keys()) {
      if (this.#pages.size <= MOST_PAGES) break;
      this.#pages.delete(number);
    }
  }

  /** Returns a line, or null if it is not loaded. */
  line(index) {
    return this.#pages.get(Math.floor(index / this.size))?.[index % this.size] ?? null;
  }

  /** Returns the first page of a range of lines that is not loaded; null if all are. */
  missing(from, to) {
    for (let number = Math.floor(from / this.size); number * this.size < to; number += 1) {
      const page = this.#pages.get(number);
      if (!page) return number;
      // Used last.
      this.#pages.delete(number);
      this.#pages.set(number, page);
    }
    return null;
  }
}
