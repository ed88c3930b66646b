// The divider between labels and charts, and those between views.

import { el } from './dom.js';
import { readSetting, writeSetting } from '../draw/theme.js';

const KEY = 'lttv-labels';
const [LEAST, MOST] = [90, 520];

/** Sets the width of labels, in pixels, and returns it. */
export function setLabelWidth(width) {
  const inside = Math.max(LEAST, Math.min(width, MOST, window.innerWidth * 0.6));
  document.documentElement.style.setProperty('--labels', `${Math.round(inside)}px`);
  writeSetting(KEY, String(Math.round(inside)));
  return inside;
}

/** Returns the width of labels that was set last. */
export function labelWidth() {
  const written = Number(readSetting(KEY));
  return written > 0 ? written : window.innerWidth < 700 ? 130 : 230;
}

/** A divider that the pointer moves; keys `(` and `)` do the same. */
export class Divider {
  constructor() {
    this.width = setLabelWidth(labelWidth());
    this.element = el('div', { class: 'divider', 'aria-hidden': 'true' });
    this.element.addEventListener('pointerdown', (event) => {
      const start = event.clientX - this.width;
      this.element.setPointerCapture(event.pointerId);
      this.element.onpointermove = (move) => {
        this.width = setLabelWidth(move.clientX - start);
      };
      this.element.onpointerup = () => {
        this.element.onpointermove = null;
      };
    });
  }

  change(by) {
    this.width = setLabelWidth(this.width + by);
  }
}
