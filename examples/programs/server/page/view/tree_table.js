// A tree with columns, of which only the rows in view exist.

import { Tree } from '../model/tree.js';
import { formatDuration } from '../model/time.js';
import { el, setAttribute, setText } from './dom.js';

/** The heights of a line and of the heading with its border, as in the style sheet. */
const ROW = 20, HEAD = 21;

/** Returns a cell as it is shown: numbers with separators, durations with units. */
export function cellText(text, dataType) {
  if (text === '') return '';
  if (dataType === 'DURATION' && /^-?\d+$/.test(text)) return formatDuration(BigInt(text));
  if ((dataType === 'NUMBER' || dataType === 'BINARY_NUMBER') && /^-?\d+$/.test(text)) return BigInt(text).toLocaleString('en');
  return text;
}

/** A table of the entries of a tree. Columns of ranges of time are not shown: rows lead there. */
export class TreeTable {
  #tree = new Tree();
  #headers = [];
  #columns = [];
  #rows = [];
  #elements = [];
  #selected = null;

  /**
   * @param {object} options `id`, unique in the page; `label`; `onSelect(entry)`; `onEnter(entry)`, which
   *   returns `true` if the key Enter has done something
   */
  constructor({ id, label, onSelect, onEnter = () => false }) {
    this.id = id;
    this.onSelect = onSelect;
    this.onEnter = onEnter;
    this.head = el('div', { class: 'head', role: 'row' });
    this.lines = el('div', { class: 'lines', role: 'rowgroup' });
    this.sizer = el('div', { class: 'sizer', role: 'presentation' }, this.lines);
    this.element = el('div', { class: 'table scrolls', role: 'treegrid', tabindex: '0', 'aria-label': label, 'aria-readonly': 'true' },
      el('div', { role: 'rowgroup', class: 'heads' }, this.head), this.sizer);
    this.element.addEventListener('scroll', () => this.#show());
    this.lines.addEventListener('click', (event) => {
      const element = event.target.closest('.line');
      if (!element) return;
      if (event.target.classList.contains('twist')) this.#fold(element.row.entry.id);
      else this.#select(element.row);
    });
    this.lines.addEventListener('dblclick', (event) => {
      const element = event.target.closest('.line');
      if (element) this.onEnter(element.row.entry);
    });
    new ResizeObserver(() => this.#show()).observe(this.element);
  }

  /** The headers of the columns, as the server has them. */
  get headers() {
    return this.#headers;
  }

  /** Shows the entries of a model. Folded branches stay folded. */
  setTree(model) {
    const before = this.#tree;
    this.#tree = new Tree(model.entries);
    if (before.entries.size === 0) this.#tree.foldBelow(model.autoExpandLevel ?? 1);
    else this.#tree.keepFolds(before);
    this.#setHeaders(model.headers);
    this.#changed();
  }

  #setHeaders(headers) {
    const names = (all) => all.map((header) => header.name).join();
    const isSame = names(headers) === names(this.#headers);
    this.#headers = headers;
    if (isSame) return;
    this.#columns = headers.map((_, at) => at).filter((at) => headers[at].dataType !== 'TIME_RANGE');
    this.head.replaceChildren(...this.#columns.map((at) => el('div', {
      role: 'columnheader', class: at === 0 ? 'cell wide' : 'cell number', text: headers[at].name, title: headers[at].tooltip || null,
    })));
    this.#elements = [];
    this.lines.replaceChildren();
  }

  #changed() {
    this.#rows = this.#tree.rows();
    this.sizer.style.height = `${this.#rows.length * ROW}px`;
    setAttribute(this.element, 'aria-rowcount', this.#rows.length + 1);
    this.#show();
  }

  #show() {
    const top = this.element.scrollTop;
    const first = Math.max(Math.floor(top / ROW) - 2, 0);
    const last = Math.min(first + Math.ceil(this.element.clientHeight / ROW) + 4, this.#rows.length);
    while (this.#elements.length < last - first) this.#create();
    this.lines.style.transform = `translateY(${first * ROW}px)`;
    this.#elements.forEach((element, at) => {
      const row = this.#rows[first + at];
      element.hidden = first + at >= last;
      if (element.hidden) element.removeAttribute('id');
      else this.#fill(element, row, first + at);
    });
    const isThere = this.#rows.slice(first, last).some((row) => row.entry.id === this.#selected);
    setAttribute(this.element, 'aria-activedescendant', isThere ? this.#idOf(this.#selected) : null);
  }

  #idOf(entry) {
    return `${this.id}-${entry}`;
  }

  #create() {
    const cells = this.#columns.map((at) => el('div', { role: 'gridcell', class: at === 0 ? 'cell wide' : 'cell number' }));
    const twist = el('span', { class: 'twist', 'aria-hidden': 'true' });
    const name = el('span');
    cells[0]?.append(twist, name);
    const element = el('div', { role: 'row', class: 'line' }, ...cells);
    Object.assign(element, { cells, twist, name });
    this.#elements.push(element);
    this.lines.append(element);
  }

  #fill(element, row, index) {
    element.row = row;
    const isFolded = this.#tree.isFolded(row.entry.id);
    setAttribute(element, 'id', this.#idOf(row.entry.id));
    setAttribute(element, 'aria-rowindex', index + 2);
    setAttribute(element, 'aria-level', row.depth + 1);
    setAttribute(element, 'aria-posinset', row.position);
    setAttribute(element, 'aria-setsize', row.siblings);
    setAttribute(element, 'aria-selected', String(row.entry.id === this.#selected));
    setAttribute(element, 'aria-expanded', row.hasChildren ? String(!isFolded) : null);
    if (element.cells[0]) element.cells[0].style.paddingInlineStart = `${4 + Math.min(row.depth, 12) * 12}px`;
    setText(element.twist, row.hasChildren ? (isFolded ? '▸' : '▾') : '');
    setText(element.name, row.entry.labels[0] ?? '');
    for (let at = 1; at < element.cells.length; at += 1) {
      const column = this.#columns[at];
      setText(element.cells[at], cellText(row.entry.labels[column] ?? '', this.#headers[column].dataType));
    }
    setAttribute(element, 'title', row.entry.labels[0] ?? '');
  }

  #select(row) {
    this.#selected = row.entry.id;
    this.onSelect(row.entry);
    this.#show();
  }

  /** Selects the first entry for which a test holds, unless it holds for the selected one. */
  follow(test) {
    const current = this.#tree.entries.get(this.#selected);
    if (current && test(current)) return;
    const entry = [...this.#tree.entries.values()].find(test);
    if (!entry) return;
    this.#tree.reveal(entry.id);
    this.#selected = entry.id;
    this.#changed();
    this.#reveal();
  }

  #reveal() {
    const at = this.#rows.findIndex((row) => row.entry.id === this.#selected);
    if (at < 0) return;
    const room = Math.floor((this.element.clientHeight - HEAD) / ROW - 1) * ROW;
    if (at * ROW < this.element.scrollTop) this.element.scrollTop = at * ROW;
    else if (at * ROW > this.element.scrollTop + room) this.element.scrollTop = at * ROW - room;
    this.#show();
  }

  #fold(id, isFolded = !this.#tree.isFolded(id)) {
    this.#tree.fold(id, isFolded);
    this.#changed();
  }

  /** Handles a key. Returns `true` if it has a meaning here. */
  key(key) {
    const page = Math.max(Math.floor(this.element.clientHeight / ROW) - 2, 1);
    const steps = { ArrowUp: -1, ArrowDown: 1, k: -1, j: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    const at = this.#rows.findIndex((row) => row.entry.id === this.#selected);
    if (key in steps && this.#rows.length > 0) {
      this.#select(this.#rows[Math.max(0, Math.min(at + steps[key], this.#rows.length - 1))]);
      this.#reveal();
    } else if (key === 'Enter' && at >= 0 && this.onEnter(this.#rows[at].entry)) return true;
    else if ((key === 'Enter' || key === ' ') && at >= 0) this.#fold(this.#selected);
    else if (key === '*' && at >= 0) {
      this.#tree.unfoldBelow(this.#selected);
      this.#changed();
    } else return false;
    return true;
  }
}
