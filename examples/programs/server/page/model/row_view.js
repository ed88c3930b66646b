// The rows of a chart that are in view: their height, and how far they are scrolled.

const HEIGHTS = [2, 4, 8, 12, 18, 24, 32];
/** The height from which only whole rows are shown: those with labels. */
const WHOLE = 12;
/** The number of rows that are loaded above and below those in view. */
const MORE_ROWS = 6;

/** A view of `count` rows of equal height, `visible` pixels high. */
export class RowView {
  #heightAt = 4;
  #room = 0;
  #top = 0;
  /** The number of rows. */
  count = 0;

  /** The height of the view, in pixels. No row is cut by its end, if there is room for one. */
  get visible() {
    const whole = Math.floor(this.#room / this.height) * this.height;
    return this.height >= WHOLE && whole > 0 ? whole : this.#room;
  }

  /** Sets the room for rows, in pixels. */
  set visible(room) {
    this.#room = room;
  }

  /** The place to which the rows are scrolled, in pixels. */
  get place() {
    return this.#top;
  }

  /** The number of pixels above the view: those of whole rows. */
  get top() {
    return this.height >= WHOLE ? Math.round(this.#top / this.height) * this.height : this.#top;
  }

  /** The height of a row, in pixels. */
  get height() {
    return HEIGHTS[this.#heightAt];
  }

  /** The height of all rows, in pixels. */
  get total() {
    return this.count * this.height;
  }

  /** The number of rows by which a page up or down moves. */
  get page() {
    return Math.max(Math.floor(this.visible / this.height) - 1, 1);
  }

  /** Returns the range of rows in view, with more on both sides. */
  range(more = MORE_ROWS) {
    const first = Math.max(Math.floor(this.top / this.height) - more, 0);
    const last = Math.min(Math.ceil((this.top + this.visible) / this.height) + more, this.count);
    return { first, last };
  }

  /** Returns the index of the row at a height in the view, which may be beyond the last one. */
  at(y) {
    return y < this.visible ? Math.floor((y + this.top) / this.height) : this.count;
  }

  /** Returns the height in the view of a place among the rows: 0.5 is the middle of the first one. */
  y(place) {
    return place * this.height - this.top;
  }

  /** Returns the top and bottom of each row in view with a gap between them, in pixels of a display. */
  bands(ratio) {
    const { first, last } = this.range(0);
    const gap = this.height >= 8 ? 2 : this.height >= 4 ? 1 : 0;
    const limit = Math.round(this.visible * ratio);
    return Array.from({ length: Math.max(last - first, 0) }, (_, at) => {
      const row = first + at;
      return {
        row,
        top: Math.min(Math.max(Math.round((this.y(row) + gap / 2) * ratio), 0), limit),
        bottom: Math.min(Math.round((this.y(row + 1) - gap / 2) * ratio), limit),
      };
    });
  }

  /** Scrolls to a place in pixels, or to the nearest one that exists. Returns `true` if it is another one. */
  scrollTo(top) {
    const before = this.top;
    this.#top = Math.max(0, Math.min(top, this.total - this.visible));
    return Math.abs(this.top - before) >= 0.5;
  }

  /** Returns the place to which to scroll so that a row is in view, or with `isCentred` in its middle. */
  placeOf(row, isCentred = false) {
    const top = row * this.height;
    if (isCentred) return top - (this.visible - this.height) / 2;
    if (top < this.top) return top;
    return Math.max(this.top, top + this.height - this.visible);
  }

  /** Makes rows higher or lower; the one in the middle stays there. */
  changeHeight(by) {
    const middle = (this.#top + this.visible / 2) / this.height;
    this.#heightAt = Math.max(0, Math.min(this.#heightAt + by, HEIGHTS.length - 1));
    this.#top = Math.max(middle * this.height - this.visible / 2, 0);
  }
}
