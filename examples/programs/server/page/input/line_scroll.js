// Scrolling the lines of a long table: by its bar, by the wheel, and by one finger.

/** The greatest height of the content of a scrollbar that browsers can show. */
const MOST_HEIGHT = 8_000_000;

/** The place of a table of any length, all of whose lines have the same height. */
export class LineScroll {
  #bar;
  #lines;
  #row;
  #onScroll;
  #isMoving = false;
  #rest = 0;

  /**
   * @param {object} options `bar`, an element with a child that is as high as all lines; `table`, with
   *   the wheel; `lines`, the element of the lines; `row`, the height of a line in pixels; `onScroll`,
   *   which is called when the user has scrolled
   */
  constructor({ bar, table, lines, row, onScroll }) {
    this.#bar = bar;
    this.#lines = lines;
    this.#row = row;
    this.#onScroll = onScroll;
    /** The number of the first line in view. */
    this.first = 0;
    /** The number of lines. */
    this.size = 0;
    bar.addEventListener('scroll', () => this.#barMoved());
    table.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    this.#followTouch();
  }

  /** The number of lines that fit. */
  get visible() {
    return Math.max(Math.floor(this.#lines.clientHeight / this.#row), 1);
  }

  /** Returns the nearest number that the first line can have. */
  #within(first) {
    return Math.max(0, Math.min(first, this.size - this.visible));
  }

  /** Brings the first line within the table, and the bar to its place; in long tables it goes by shares. */
  settle() {
    this.first = this.#within(this.first);
    const height = Math.min(this.size * this.#row, MOST_HEIGHT);
    this.#bar.firstChild.style.height = `${height}px`;
    const room = Math.max(height - this.#bar.clientHeight, 0);
    const last = Math.max(this.size - this.visible, 1);
    const top = Math.round((this.first / last) * room);
    if (Math.abs(this.#bar.scrollTop - top) < 1) return;
    this.#isMoving = true;
    this.#bar.scrollTop = top;
  }

  #scrollTo(first) {
    const before = this.first;
    this.first = this.#within(first);
    if (this.first !== before) this.#onScroll();
  }

  #barMoved() {
    if (this.#isMoving) {
      this.#isMoving = false;
      return;
    }
    const room = Math.max(this.#bar.scrollHeight - this.#bar.clientHeight, 1);
    this.#scrollTo(Math.round((this.#bar.scrollTop / room) * Math.max(this.size - this.visible, 0)));
  }

  #wheel(event) {
    if (event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    this.#rest += event.deltaMode === 1 ? event.deltaY : event.deltaY / this.#row;
    const whole = Math.trunc(this.#rest);
    this.#rest -= whole;
    if (whole !== 0) this.#scrollTo(this.first + whole);
  }

  #followTouch() {
    let last = null;
    this.#lines.addEventListener('pointerdown', (event) => {
      last = event.pointerType === 'touch' ? event.clientY : null;
    });
    this.#lines.addEventListener('pointermove', (event) => {
      if (last === null) return;
      const rows = Math.trunc((last - event.clientY) / this.#row);
      if (rows === 0) return;
      last -= rows * this.#row;
      this.#scrollTo(this.first + rows);
    });
  }
}
