// A canvas whose pixels are those of the display.

/** A canvas with its size in CSS pixels and the ratio to pixels of the display. */
export class Surface {
  constructor(canvas, onResize) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d', { alpha: true });
    this.width = 0;
    this.height = 0;
    this.ratio = 1;
    new ResizeObserver(() => {
      if (this.#fit()) onResize();
    }).observe(canvas);
  }

  #fit() {
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
    if (wide === this.canvas.width && high === this.canvas.height && ratio === this.ratio) return false;
    this.canvas.width = wide;
    this.canvas.height = high;
    this.width = clientWidth;
    this.height = clientHeight;
    this.ratio = ratio;
    return true;
  }

  /** Clears the canvas, and returns its context in CSS pixels. */
  begin() {
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    return this.context;
  }
}
