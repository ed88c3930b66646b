// The tools in the heading of a chart of states: finding rows, their height, arrows.

import { button, el } from './dom.js';

/** The tools of a chart of states. */
export class GraphTools {
  /**
   * @param {TimeGraph} graph the chart
   * @param {object} options `title`; `hasArrows` if there are arrows to show or hide
   */
  constructor(graph, { title, hasArrows }) {
    this.finder = el('input', { type: 'search', placeholder: 'Find rows', 'aria-label': `Find rows in ${title}`, size: '12', spellcheck: 'false', autocomplete: 'off' });
    this.finder.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') graph.find(event.shiftKey ? -1 : 1);
      if (event.key === 'ArrowDown') graph.find(1);
      if (event.key === 'ArrowUp') graph.find(-1);
      if (event.key !== 'Escape') return;
      this.finder.value = '';
      graph.filter();
      graph.focus();
    });
    this.finder.addEventListener('input', () => graph.filter());
    this.arrows = hasArrows ? button('↗', `Arrows in ${title} (M)`, () => graph.toggleArrows(), { 'aria-pressed': 'true' }) : null;
    this.elements = [
      this.finder,
      button('⇅', `Order of rows in ${title} (R)`, () => graph.nextOrder()),
      button('−', `Lower rows in ${title} (E)`, () => graph.changeHeight(-1)),
      button('+', `Higher rows in ${title} (e)`, () => graph.changeHeight(1)),
      ...(this.arrows ? [this.arrows] : []),
      button('SVG', `SVG: save ${title} as a picture`, () => graph.save('svg')),
      button('PNG', `PNG: save ${title} as a picture`, () => graph.save('png')),
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
