// The labels of the rows of a chart, as a tree of which only the rows in view exist.

import { el, setAttribute, setText } from './dom.js';

/** Rows of labels in a column that scrolls together with a canvas. */
export class RowLabels {
  #elements = [];

  /**
   * @param {object} options `label` names the tree; `cells(entry)` returns its texts, the first of
   *   which is the name; `onSelect(row)`, `onFold(row)`, `onPin(row)`
   */
  constructor({ id, label, cells, onSelect, onFold, onPin }) {
    this.id = id;
    this.cells = cells;
    this.onSelect = onSelect;
    this.onFold = onFold;
    this.element = el('div', { class: 'rows', role: 'tree', tabindex: '0', 'aria-label': label });
    this.element.addEventListener('click', (event) => {
      const element = event.target.closest('[role=treeitem]');
      if (!element) return;
      const row = element.row;
      this.element.focus();
      if (event.target.classList.contains('twist')) this.onFold(row);
      else if (event.target.classList.contains('pin')) onPin(row);
      else this.onSelect(row);
    });
  }

  #create() {
    const twist = el('span', { class: 'twist', 'aria-hidden': 'true' });
    const name = el('span', { class: 'name' });
    const number = el('span', { class: 'number' });
    const share = el('span', { class: 'share' });
    const pin = el('span', { class: 'pin', 'aria-hidden': 'true', title: 'Pin the row to the top, or release it (p)' });
    const element = el('div', { class: 'row', role: 'treeitem' }, twist, name, pin, number, share);
    Object.assign(element, { twist, name, number, share, pin });
    return element;
  }

  /** Shows rows from a place on, each `height` pixels high. */
  show({ rows, first, last, height, top, selected, isFolded, isPinned }) {
    const count = Math.max(last - first, 0);
    while (this.#elements.length < count) {
      const element = this.#create();
      this.#elements.push(element);
      this.element.append(element);
    }
    this.#elements.forEach((element, at) => {
      const row = rows[first + at];
      element.hidden = at >= count;
      if (at >= count) {
        element.removeAttribute('id');
        return;
      }
      const [name, number = '', title = name, share = ''] = this.cells(row.entry);
      element.row = row;
      setAttribute(element, 'id', `${this.id}-row-${row.entry.id}`);
      element.style.transform = `translateY(${(first + at) * height - top}px)`;
      element.style.height = `${height}px`;
      element.style.lineHeight = `${height}px`;
      element.style.paddingInlineStart = `${4 + Math.min(row.depth, 12) * 12}px`;
      setText(element.twist, row.hasChildren ? (isFolded(row.entry.id) ? '▸' : '▾') : '');
      setText(element.name, name);
      setText(element.number, number);
      setText(element.share, share);
      setText(element.pin, isPinned(row.entry.id) ? '★' : '☆');
      element.classList.toggle('is-pinned', isPinned(row.entry.id));
      setAttribute(element, 'title', title);
      setAttribute(element, 'aria-level', row.depth + 1);
      setAttribute(element, 'aria-posinset', row.position);
      setAttribute(element, 'aria-setsize', row.siblings);
      setAttribute(element, 'aria-selected', String(row.entry.id === selected));
      setAttribute(element, 'aria-expanded', row.hasChildren ? String(!isFolded(row.entry.id)) : null);
    });
    const isThere = rows.slice(first, last).some((row) => row.entry.id === selected);
    setAttribute(this.element, 'aria-activedescendant', isThere ? `${this.id}-row-${selected}` : null);
  }
}
