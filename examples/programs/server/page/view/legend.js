// What the colours, heights and signs of states mean.

import { el } from './dom.js';

/** A list of the states that a chart has shown so far. */
export class Legend {
  #looks = new Map();
  #meaning;

  /** @param {string} meaning what heights and colours mean */
  constructor(meaning) {
    this.#meaning = meaning;
    this.element = el('ul', { class: 'legend', 'aria-label': 'Legend' });
  }

  /** Adds the looks of states that are shown; null is a gap. */
  add(looks, hasSigns) {
    const before = this.#looks.size;
    const isNew = looks.some((look) => look && look.thread === null && this.#looks.get(look.name) !== look);
    for (const look of looks) if (look && look.thread === null) this.#looks.set(look.name, look);
    if (isNew || this.#looks.size !== before) this.show(hasSigns);
  }

  show(hasSigns) {
    const looks = [...this.#looks.values()].sort((a, b) => b.height - a.height || a.name.localeCompare(b.name));
    this.element.replaceChildren(el('li', { class: 'meaning', text: this.#meaning }), ...looks.map((look) => {
      const swatch = el('canvas', { width: '14', height: '14', 'aria-hidden': 'true' });
      drawSwatch(swatch.getContext('2d'), look, hasSigns);
      return el('li', {}, swatch, el('span', { text: hasSigns ? `${look.sign} ${look.name}` : look.name }));
    }));
  }
}

function drawSwatch(context, look, hasSigns) {
  const lines = Math.max(2, Math.round(14 * look.height));
  const top = (14 - lines) >> 1;
  context.fillStyle = look.css;
  if ((!hasSigns || lines <= 2) && !look.isHatched) {
    context.fillRect(0, top, 14, lines);
    return;
  }
  for (let y = top; y < top + lines; y += 1) {
    for (let x = 0; x < 14; x += 1) {
      if ((look.pattern[y & 7] >> (x & 7)) & 1) context.fillRect(x, y, 1, 1);
    }
  }
}
