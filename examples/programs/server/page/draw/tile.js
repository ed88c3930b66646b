// An image of states that is somewhat wider than the chart, so that moving the window only copies
// it. It is drawn again when the states, rows or the resolution change.

import { drawColumns, drawStates, writeLabels } from './states.js';

/** The part of the width that is drawn on each side of the window. */
const MARGIN = 0.25;

/** The image of the rows in view. */
export class Tile {
  #canvas = document.createElement('canvas');
  #labels = document.createElement('canvas');
  #hasLabels = false;
  #shift = 0;
  #image = null;
  #pixels = null;
  #drawn = null;

  /** Makes the next call draw the image again. */
  forget() {
    this.#drawn = null;
  }

  /**
   * Draws the states of a window, but not their labels.
   * @param {CanvasRenderingContext2D} context in CSS pixels
   * @param {object} what `window`, `surface`, `states`, `step` of their columns in ns, `looks`, `hasSigns`, `font`; `rows()` returns
   *   where they are drawn; `key` tells whether they are the same as before
   */
  draw(context, what) {
    const { window, surface } = what;
    const perColumn = Number(window.to - window.from) / (surface.width * surface.ratio);
    let shift = this.#drawn ? Number(this.#drawn.from - window.from) / perColumn : 0;
    if (!this.#covers(what, perColumn, shift)) {
      this.#render(what, perColumn);
      shift = Number(this.#drawn.from - window.from) / perColumn;
    }
    this.#shift = Math.round(shift);
    this.#copy(this.#canvas, context);
  }

  /** Draws the labels of the states that were drawn last, over what was drawn since. */
  drawLabels(context) {
    if (this.#hasLabels) this.#copy(this.#labels, context);
  }

  #copy(canvas, context) {
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(canvas, this.#shift, 0);
    context.restore();
  }

  #covers({ states, key, surface, hasSigns }, perColumn, shift) {
    const drawn = this.#drawn;
    if (!drawn || drawn.states !== states || drawn.key !== key || drawn.hasSigns !== hasSigns) return false;
    if (this.#canvas.height !== surface.canvas.height || drawn.columns !== surface.canvas.width) return false;
    if (Math.abs(drawn.perColumn / perColumn - 1) > 1e-6) return false;
    return shift <= 0 && shift + this.#canvas.width >= surface.canvas.width;
  }

  #render({ window, surface, states, step, looks, hasSigns, font, key, rows }, perColumn) {
    const columns = surface.canvas.width;
    const margin = Math.round(columns * MARGIN);
    const [width, height] = [columns + 2 * margin, surface.canvas.height];
    if (this.#image?.width !== width || this.#image?.height !== height) {
      for (const canvas of [this.#canvas, this.#labels]) Object.assign(canvas, { width, height });
      this.#image = new ImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
    } else {
      this.#pixels.fill(0);
    }
    const from = window.from - BigInt(Math.round(margin * perColumn));
    const scale = { offset: Number(from - states.origin), perColumn };
    const places = rows();
    drawStates({ pixels: this.#pixels, width, height }, states, places, scale, looks, { hasPatterns: hasSigns, gap: 0 });
    drawColumns({ pixels: this.#pixels, width, height }, states, places, { ...scale, step }, looks);
    this.#canvas.getContext('2d').putImageData(this.#image, 0, 0);
    const context = this.#labels.getContext('2d');
    if (this.#hasLabels) context.clearRect(0, 0, width, height);
    context.font = font.replace(/^[\d.]+px/, `${11 * surface.ratio}px`);
    this.#hasLabels = writeLabels(context, states, places, scale, looks, { ratio: surface.ratio, width, hasSigns }) > 0;
    this.#drawn = { from, perColumn, states, key, hasSigns, columns };
  }
}
