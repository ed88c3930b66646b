// The tools in the heading of a chart of states: finding rows, their height, arrows.

import { button, el } from './dom.js';

/** The tools of a chart of states. */
export class GraphTools {
  /**
   * @param {TimeGraph} graph the chart
   * @param {object} options `title`; `hasArrows` if there are arrows to show or hide
   */
  constructor(graph, { title, hasArrows }) {
    this.finder = el('input', { type: 'search', placeholder: 'Find row', 'aria-label': `Find a row in ${title}`, size: '12', spellcheck: 'false', autocomplete: 'off' });
    this.finder.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') graph.find(event.shiftKey ? -1 : 1);
      if (event.key === 'Escape') graph.focus();
    });
    this.arrows = hasArrows ? button('↗', `Arrows in ${title} (M)`, () => graph.toggleArrows(), { 'aria-pressed': 'true' }) : null;
    this.elements = [
      this.finder,
      button('−', `Lower rows in ${title} (E)`, () => graph.changeHeight(-1)),
      button('+', `Higher rows in ${title} (e)`, () => graph.changeHeight(1)),
      ...(this.arrows ? [this.arrows] : []),
    ];
  }

  /** The text to find, in lower case. */
  get text() {
    return this.finder.value.trim().toLowerCase();
  }

  /** Tells whether the text was found. */
  found(isFound) {
    this.finder.classList.toggle('is-missing', !isFound);
  }

  /** Tells whether arrows are shown. */
  showsArrows(areShown) {
    this.arrows?.setAttribute('aria-pressed', String(areShown));
  }
}
