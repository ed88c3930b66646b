// The parts that all charts over time share: a column of labels, a canvas, the pointer.

import { el } from './dom.js';
import { Surface } from '../draw/surface.js';
import { Scale } from '../model/scale.js';
import { followPointer } from '../input/pointer.js';

/** A canvas over the time window, beside a column of labels. */
export class Chart {
  /**
   * @param {object} app what all views share
   * @param {object} options `label`, the name of the canvas; `draw(context, scale, surface)`;
   *   `onPoint({x, y, time})` for clicks; `onHover` for the pointer, null when it leaves;
   *   `window()`, the window if it is not the shared one; `onResize`
   */
  constructor(app, { label, draw, onPoint = () => {}, onHover = () => {}, onResize = () => {}, window: windowOf = null, gestures = {} }) {
    this.app = app;
    this.#draw = draw;
    this.windowOf = windowOf ?? (() => app.shared.window);
    this.canvas = el('canvas', { role: 'img', 'aria-label': label });
    this.labels = el('div', { class: 'labels' });
    this.element = el('div', { class: 'chart' }, this.labels, el('div', { class: 'plot' }, this.canvas));
    this.surface = new Surface(this.canvas, () => {
      onResize();
      this.redraw();
    });
    const hover = (at, event) => {
      if (!windowOf) app.pointerTime = at ? at.time : null;
      onHover(at, event);
    };
    followPointer(this.canvas, app, { scale: () => this.scale, onPoint, onHover: hover, ...gestures });
  }

  #draw;

  get scale() {
    return new Scale(this.windowOf(), this.surface.width);
  }

  /** Draws in the next frame. */
  redraw = () => this.app.frames.want(this.drawNow);

  drawNow = () => {
    if (this.surface.width === 0) return;
    this.#draw(this.surface.begin(), this.scale, this.surface);
  };
}
