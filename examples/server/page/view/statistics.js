// Statistics of the window, or of the whole trace, as a tree.

import { Panel } from './panel.js';
import { Loader } from '../data/loader.js';
import { ThreadColumns, isSameThread } from '../model/columns.js';
import { Tree } from '../model/tree.js';
import { formatDuration } from '../model/time.js';
import { button, el, setAttribute, setText } from './dom.js';

const ROW = 20;
/** How long the window must rest before statistics are asked for, in ms. */
const REST = 150;

/** Returns a cell as it is shown: numbers with separators, durations with units. */
export function cellText(text, dataType) {
  if (text === '') return '';
  if (dataType === 'DURATION' && /^-?\d+$/.test(text)) return formatDuration(BigInt(text));
  if ((dataType === 'NUMBER' || dataType === 'BINARY_NUMBER') && /^-?\d+$/.test(text)) return BigInt(text).toLocaleString('en');
  return text;
}

/** The tree of statistics. */
export class Statistics {
  #tree = new Tree();
  #headers = [];
  #rows = [];
  #elements = [];
  #selected = null;
  #isOfWindow = true;
  #timer = 0;

  constructor(app) {
    this.app = app;
    const { shared } = app;
    this.panel = new Panel({ id: 'statistics', number: 6, title: 'Statistics', onChange: () => this.load() });
    this.loader = new Loader((error) => this.panel.report(error));
    this.head = el('div', { class: 'head', role: 'row' });
    this.lines = el('div', { class: 'lines', role: 'rowgroup' });
    this.sizer = el('div', { class: 'sizer', role: 'presentation' }, this.lines);
    this.table = el('div', { class: 'table scrolls', role: 'treegrid', tabindex: '0', 'aria-label': 'Statistics', 'aria-readonly': 'true' },
      el('div', { role: 'rowgroup', class: 'heads' }, this.head), this.sizer);
    this.panel.body.append(this.table);
    this.element = this.panel.element;
    this.scope = button('Window', 'Statistics of the window, or of the whole trace (A)', () => this.toggleScope(), { 'aria-pressed': 'true' });
    this.panel.tools.append(this.scope);
    this.table.addEventListener('scroll', () => this.#show());
    this.lines.addEventListener('click', (event) => {
      const element = event.target.closest('.line');
      if (!element) return;
      if (event.target.classList.contains('twist')) this.#fold(element.row.entry.id);
      else this.#select(element.row);
    });
    new ResizeObserver(() => this.#show()).observe(this.table);
    shared.on(['window'], () => this.#isOfWindow && this.#loadSoon());
    shared.on(['span'], () => this.#loadSoon());
    shared.on(['thread'], () => this.#followThread());
  }

  start(output) {
    this.output = output;
    this.load();
  }

  #loadSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.load(), REST);
  }

  load() {
    if (!this.output || !this.panel.isShown) return;
    const { shared, experiment } = this.app;
    const window = this.#isOfWindow ? shared.window : null;
    this.loader.load({
      fetch: (signal) => experiment.tree('data', this.output, window, signal),
      accept: ({ model, status }) => {
        if (model) this.#setTree(model);
        this.panel.say(status === 'RUNNING' ? 'reading…' : `of the ${this.#isOfWindow ? 'window' : 'whole trace'}`);
      },
    });
  }

  #setTree(model) {
    const before = this.#tree;
    this.#tree = new Tree(model.entries);
    if (before.entries.size === 0) this.#tree.foldBelow(model.autoExpandLevel ?? 1);
    else this.#tree.keepFolds(before);
    this.columns = new ThreadColumns(model.headers);
    if (model.headers.map((header) => header.name).join() !== this.#headers.map((header) => header.name).join()) {
      this.#headers = model.headers;
      this.head.replaceChildren(...model.headers.map((header, at) => el('div', {
        role: 'columnheader', class: at === 0 ? 'cell wide' : 'cell number', text: header.name, title: header.tooltip || null,
      })));
      this.#elements = [];
      this.lines.replaceChildren();
    }
    this.#headers = model.headers;
    this.#changed();
    this.#followThread();
  }

  #changed() {
    this.#rows = this.#tree.rows();
    this.sizer.style.height = `${this.#rows.length * ROW}px`;
    setAttribute(this.table, 'aria-rowcount', this.#rows.length + 1);
    this.#show();
  }

  #show() {
    const top = this.table.scrollTop;
    const first = Math.max(Math.floor(top / ROW) - 2, 0);
    const last = Math.min(first + Math.ceil(this.table.clientHeight / ROW) + 4, this.#rows.length);
    while (this.#elements.length < last - first) {
      const cells = this.#headers.map((_, at) => el('div', { role: 'gridcell', class: at === 0 ? 'cell wide' : 'cell number' }));
      const twist = el('span', { class: 'twist', 'aria-hidden': 'true' });
      const name = el('span');
      cells[0]?.append(twist, name);
      const element = el('div', { role: 'row', class: 'line' }, ...cells);
      Object.assign(element, { cells, twist, name });
      this.#elements.push(element);
      this.lines.append(element);
    }
    this.lines.style.transform = `translateY(${first * ROW}px)`;
    this.#elements.forEach((element, at) => {
      const row = this.#rows[first + at];
      element.hidden = first + at >= last;
      if (element.hidden) element.removeAttribute('id');
      else this.#fill(element, row, first + at);
    });
    const isThere = this.#rows.slice(first, last).some((row) => row.entry.id === this.#selected);
    setAttribute(this.table, 'aria-activedescendant', isThere ? `statistic-${this.#selected}` : null);
  }

  #fill(element, row, index) {
    element.row = row;
    const isFolded = this.#tree.isFolded(row.entry.id);
    setAttribute(element, 'id', `statistic-${row.entry.id}`);
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
      setText(element.cells[at], cellText(row.entry.labels[at] ?? '', this.#headers[at].dataType));
    }
    setAttribute(element, 'title', row.entry.labels[0] ?? '');
  }

  /** Returns the thread of an entry: by its column, or by the number in its name. */
  #threadOf(entry) {
    const byColumn = this.columns?.thread(entry);
    if (byColumn) return byColumn;
    const found = /^(.*?)\s*[([]?(?:TID )?(\d+)[)\]]?$/.exec(entry.labels[0] ?? '');
    return found && found[1] !== '' && !/^(cpu|irq|softirq|trap)/i.test(found[1]) ? { tid: found[2], label: found[1] } : null;
  }

  #select(row) {
    this.#selected = row.entry.id;
    const thread = this.#threadOf(row.entry);
    if (thread) this.app.shared.selectThread(thread);
    this.#show();
  }

  #followThread() {
    const { thread } = this.app.shared;
    if (!thread) return;
    const current = this.#tree.entries.get(this.#selected);
    if (current && isSameThread(this.#threadOf(current) ?? undefined, thread)) return;
    const entry = [...this.#tree.entries.values()].find((one) => isSameThread(this.#threadOf(one) ?? undefined, thread));
    if (!entry) return;
    this.#tree.reveal(entry.id);
    this.#selected = entry.id;
    this.#changed();
    this.#reveal();
  }

  #reveal() {
    const at = this.#rows.findIndex((row) => row.entry.id === this.#selected);
    if (at < 0) return;
    const room = this.table.clientHeight - 2 * ROW;
    if (at * ROW < this.table.scrollTop) this.table.scrollTop = at * ROW;
    else if (at * ROW > this.table.scrollTop + room) this.table.scrollTop = at * ROW - room;
    this.#show();
  }

  #fold(id, isFolded = !this.#tree.isFolded(id)) {
    this.#tree.fold(id, isFolded);
    this.#changed();
  }

  toggleScope() {
    this.#isOfWindow = !this.#isOfWindow;
    this.scope.setAttribute('aria-pressed', String(this.#isOfWindow));
    this.load();
  }

  /** Handles a key. Returns `true` if it has a meaning here. */
  key(key) {
    const page = Math.max(Math.floor(this.table.clientHeight / ROW) - 2, 1);
    const steps = { ArrowUp: -1, ArrowDown: 1, k: -1, j: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    const at = this.#rows.findIndex((row) => row.entry.id === this.#selected);
    if (key in steps && this.#rows.length > 0) {
      this.#select(this.#rows[Math.max(0, Math.min(at + steps[key], this.#rows.length - 1))]);
      this.#reveal();
    } else if ((key === 'Enter' || key === ' ') && at >= 0) this.#fold(this.#selected);
    else if (key === '*' && at >= 0) {
      this.#tree.unfoldBelow(this.#selected);
      this.#changed();
    } else if (key === 'A') this.toggleScope();
    else return false;
    return true;
  }
}
