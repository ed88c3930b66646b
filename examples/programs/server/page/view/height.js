// The height of a view, which the pointer changes at its lower edge.

import { readSetting, writeSetting } from '../draw/theme.js';
import { el } from './dom.js';

/** The least height of a view, in pixels. */
const LEAST = 56;

/** Adds an edge to a view that changes its height; a double click gives it the usual one again. */
export function followHeight(element, id) {
  const key = `lttv-height-${id}`;
  const set = (height) => {
    element.style.flex = height > 0 ? `0 0 ${height}px` : '';
  };
  set(Number(readSetting(key)));
  const edge = el('div', { class: 'edge', 'aria-hidden': 'true', title: 'Drag to change the height; double click for the usual one' });
  edge.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
    const start = element.getBoundingClientRect().height - event.clientY;
    edge.onpointermove = (move) => {
      const height = Math.max(Math.round(start + move.clientY), LEAST);
      set(height);
      writeSetting(key, String(height));
    };
    edge.onpointerup = () => {
      edge.onpointermove = null;
    };
  });
  edge.addEventListener('dblclick', () => {
    set(0);
    writeSetting(key, '0');
  });
  element.append(edge);
}
