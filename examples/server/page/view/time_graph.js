// Rows of states over time, with arrows: control flow and resources.

import { Chart } from './chart.js';
import { GraphData } from './graph_data.js';
import { Panel } from './panel.js';
import { RowLabels } from './rows.js';
import { Legend } from './legend.js';
import { Tile } from '../draw/tile.js';
import { drawArrows } from '../draw/arrows.js';
import { drawGrid, drawSelection } from '../draw/marks.js';
import { Palette } from '../draw/palette.js';
import { Loader } from '../data/loader.js';
import { ThreadColumns, isSameThread } from '../model/columns.js';
import { Tree } from '../model/tree.js';
import { button, el } from './dom.js';

const HEIGHTS = [2, 4, 8, 12, 18, 24, 32];
/** The number of rows that are loaded above and below those in view. */
const MORE_ROWS = 6;

const SORTS = {
  tree: { label: 'as a tree', order: null },
  name: { label: 'by name', order: (a, b) => (a.labels[0] ?? '').localeCompare(b.labels[0] ?? '') },
};

/** A chart of states. */
export class TimeGraph {
  #arrowColors = [];
  #looks = [];
  #scroll = 0;
  #heightAt = 4;
  #sort = 'tree';
  #showsAll = true;
  #hasArrows;

  /**
   * @param {object} app what all views share
   * @param {object} options `id`, `number`, `title`, `hasArrows`, and `isOfThreads` if rows are
   *   threads, which are then selected together with those of other views
   */
  constructor(app, { id, number, title, hasArrows = false, isOfThreads = false }) {
    this.app = app;
    this.isOfThreads = isOfThreads;
    this.#hasArrows = hasArrows;
    this.tree = new Tree();
    this.rows = [];
    this.selected = null;
    this.palette = new Palette(app.theme);
    this.panel = new Panel({ id, number, title, onChange: (isShown) => isShown && this.#changed() });
    const report = (error) => this.panel.report(error);
    this.treeLoader = new Loader(report);
    this.data = new GraphData(app, {
      report,
      onStates: () => {
        this.#newLooks();
        app.dispatchEvent(new Event('states'));
      },
      onArrows: () => this.#newLooks(),
    });
    this.chart = new Chart(app, {
      label: `${title}: states over time. The rows are listed beside it; Enter tells the state of a row`,
      draw: (context, scale, surface) => this.#draw(context, scale, surface),
      onPoint: ({ y, time }) => {
        app.shared.setTime(time);
        const row = this.#rowAt(y);
        if (row) this.select(row);
      },
      onHover: (at, event) => this.#hover(at, event),
      onResize: () => this.#changed(),
    });
    this.labels = new RowLabels({
      id, label: title, cells: (entry) => this.#cells(entry),
      onSelect: (row) => this.select(row), onFold: (row) => this.fold(row),
    });
    this.chart.labels.append(this.labels.element);
    this.chart.element.classList.add('has-rows');
    this.chart.element.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    this.bar = el('div', { class: 'scrollbar', 'aria-hidden': 'true' }, el('div'));
    this.bar.addEventListener('scroll', () => this.#scrollTo(this.bar.scrollTop));
    this.chart.element.append(this.bar);
    this.#followTouch();
    this.legend = new Legend();
    this.tile = new Tile();
    this.panel.body.append(this.chart.element, this.legend.element);
    this.element = this.panel.element;
    this.#addTools(title);
    this.#listen();
  }

  #addTools(title) {
    const { tools } = this.panel;
    this.finder = el('input', { type: 'search', placeholder: 'Find row', 'aria-label': `Find a row in ${title}`, size: '12', spellcheck: 'false', autocomplete: 'off' });
    this.finder.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.find(event.shiftKey ? -1 : 1);
      if (event.key === 'Escape') this.labels.element.focus();
    });
    tools.append(this.finder,
      button('−', `Lower rows in ${title} (E)`, () => this.changeHeight(-1)),
      button('+', `Higher rows in ${title} (e)`, () => this.changeHeight(1)));
    if (this.#hasArrows) {
      this.arrowButton = button('↗', `Arrows in ${title} (M)`, () => this.toggleArrows(), { 'aria-pressed': 'true' });
      tools.append(this.arrowButton);
    }
  }

  #listen() {
    const { shared, theme } = this.app;
    shared.on(['window'], () => this.#changed());
    shared.on(['time', 'range'], this.chart.redraw);
    if (this.isOfThreads) shared.on(['thread'], () => this.#followThread());
    theme.addEventListener('change', () => {
      this.palette.setTheme(theme);
      this.#newLooks();
    });
    this.app.addEventListener('signs', () => {
      this.tile.forget();
      this.legend.show(this.app.hasSigns);
      this.chart.redraw();
    });
  }

  get rowHeight() {
    return HEIGHTS[this.#heightAt];
  }

  get #visibleHeight() {
    return this.chart.surface.height;
  }

  async start(output) {
    this.output = output;
    this.data.start(output);
    const { experiment } = this.app;
    experiment.style(output).then(({ model }) => {
      this.palette.setStyles(model?.styles);
      this.#newLooks();
    }, (error) => this.panel.report(error));
    this.reload();
  }

  /** Loads the tree again, for example when the trace has grown. */
  reload() {
    this.treeLoader.load({
      fetch: (signal) => this.app.experiment.tree('timeGraph', this.output, null, signal),
      accept: ({ model, status }) => {
        if (model) this.#setTree(model, status === 'RUNNING');
        else this.panel.say('reading…');
      },
    });
  }

  #setTree(model, isRunning) {
    const before = this.tree;
    this.columns = new ThreadColumns(model.headers);
    this.headers = model.headers;
    this.tree = new Tree(model.entries);
    if (before.entries.size === 0) this.tree.foldBelow(model.autoExpandLevel ?? -1);
    else this.tree.keepFolds(before);
    this.isRunning = isRunning;
    this.data.forget();
    this.#changed();
    this.#followThread();
  }

  #cells(entry) {
    const name = entry.labels[this.columns.name] ?? '';
    const number = this.columns.tid < 0 ? '' : entry.labels[this.columns.tid] ?? '';
    const title = this.headers.map((header, at) => `${header.name}: ${entry.labels[at] ?? ''}`).join('\n');
    return [name, number, title];
  }

  /** Determines the rows, and loads and draws what is missing. */
  #changed() {
    const { shared } = this.app;
    const { from, to } = shared.window;
    const lives = (entry) => entry.start === undefined || (BigInt(entry.start) <= to && BigInt(entry.end) >= from);
    this.rows = this.tree.rows({ order: SORTS[this.#sort].order, keep: this.#showsAll ? null : lives });
    const hidden = this.tree.entries.size - this.rows.length;
    if (this.tree.entries.size > 0) {
      const parts = [`${this.rows.length} rows ${SORTS[this.#sort].label}`];
      if (!this.#showsAll && hidden > 0) parts.push(`${hidden} without life in the window are hidden (A)`);
      if (this.isRunning) parts.push('reading…');
      this.panel.say(parts.join(', '));
    }
    this.#placeLabels();
    this.#load();
    this.#loadArrows();
    this.chart.redraw();
  }

  #placeLabels() {
    const height = this.rowHeight;
    const total = this.rows.length * height;
    this.#scroll = Math.max(0, Math.min(this.#scroll, total - this.#visibleHeight));
    this.bar.firstChild.style.height = `${total}px`;
    if (Math.abs(this.bar.scrollTop - this.#scroll) >= 1) this.bar.scrollTop = this.#scroll;
    const { first, last } = this.#inView(0);
    this.labels.element.classList.toggle('is-small', height < 11);
    this.labels.show({
      rows: this.rows, first, last, height, top: this.#scroll, selected: this.selected,
      isFolded: (id) => this.tree.isFolded(id),
    });
  }

  /** Returns the range of rows in view, with more on both sides. */
  #inView(more = MORE_ROWS) {
    const height = this.rowHeight;
    const first = Math.max(Math.floor(this.#scroll / height) - more, 0);
    const last = Math.min(Math.ceil((this.#scroll + this.#visibleHeight) / height) + more, this.rows.length);
    return { first, last };
  }

  #scrollTo(top) {
    const limit = Math.max(this.rows.length * this.rowHeight - this.#visibleHeight, 0);
    const inside = Math.max(0, Math.min(top, limit));
    if (Math.abs(inside - this.#scroll) < 0.5) return;
    this.#scroll = inside;
    this.#placeLabels();
    this.#load();
    this.chart.redraw();
  }

  /** The wheel scrolls over labels; in the chart it zooms, which `followPointer` does. */
  #wheel(event) {
    if (event.defaultPrevented || event.ctrlKey || event.target === this.bar) return;
    event.preventDefault();
    this.#scrollTo(this.#scroll + event.deltaY * (event.deltaMode === 1 ? 18 : 1));
  }

  /** One finger up or down scrolls rows. */
  #followTouch() {
    let last = null;
    this.chart.element.addEventListener('pointerdown', (event) => {
      last = event.pointerType === 'touch' && event.isPrimary ? event.clientY : null;
    });
    this.chart.element.addEventListener('pointermove', (event) => {
      if (last === null || !event.isPrimary) return;
      this.#scrollTo(this.#scroll + last - event.clientY);
      last = event.clientY;
    });
  }

  get #canLoad() {
    return this.output !== undefined && this.chart.surface.width > 0 && this.panel.isShown;
  }

  #load() {
    if (!this.#canLoad || this.rows.length === 0) return;
    const { width, ratio } = this.chart.surface;
    const { first, last } = this.#inView();
    this.data.load(this.rows.slice(first, last).map((row) => row.entry.id), Math.round(width * Math.min(ratio, 2)));
  }

  #loadArrows() {
    if (this.#canLoad && this.#hasArrows) this.data.loadArrows(this.chart.surface.width);
  }

  #newLooks() {
    const { states, arrows } = this.data;
    this.#looks = (states?.styles ?? []).map((style) => this.palette.look(style));
    this.#arrowColors = (arrows?.styles ?? []).map((style) => this.palette.look(style)?.css ?? this.app.theme.dim);
    this.legend.add(this.#looks, this.app.hasSigns);
    this.tile.forget();
    this.chart.redraw();
  }

  #draw(context, scale, surface) {
    const { shared, theme, hasSigns } = this.app;
    const { width, height } = surface;
    this.#drawSelectedRow(context, width);
    drawGrid(context, shared, scale, theme, height);
    const { states, arrows } = this.data;
    if (states) {
      this.tile.draw(context, {
        window: shared.window, surface, states, looks: this.#looks, hasSigns, font: theme.font,
        key: `${this.#scroll} ${this.rowHeight} ${this.rows.length} ${this.#sort}`,
        rows: () => this.#rowsToDraw(surface.ratio),
      });
    }
    if (arrows && this.#hasArrows) this.#drawArrows(context, scale, width, height);
    drawSelection(context, shared, scale, theme, height);
  }

  #drawSelectedRow(context, width) {
    const at = this.rows.findIndex((row) => row.entry.id === this.selected);
    if (at < 0) return;
    context.fillStyle = this.app.theme.row;
    context.fillRect(0, at * this.rowHeight - this.#scroll, width, this.rowHeight);
  }

  /** Returns where the rows in view are drawn, in pixels of the display. */
  #rowsToDraw(ratio) {
    const { first, last } = this.#inView(0);
    const height = this.rowHeight;
    const gap = height >= 8 ? 2 : height >= 4 ? 1 : 0;
    const limit = Math.round(this.#visibleHeight * ratio);
    return this.rows.slice(first, last).map((row, at) => {
      const top = (first + at) * height - this.#scroll;
      return {
        top: Math.min(Math.max(Math.round((top + gap / 2) * ratio), 0), limit),
        bottom: Math.min(Math.round((top + height - gap / 2) * ratio), limit),
        index: this.data.placeOf(row.entry.id),
      };
    });
  }

  #drawArrows(context, scale, width, height) {
    const { arrows } = this.data;
    const middles = new Map(this.rows.map((row, at) => [row.entry.id, (at + 0.5) * this.rowHeight - this.#scroll]));
    const base = Number(arrows.origin - scale.from);
    const perNs = scale.pixels / scale.width;
    drawArrows(context, arrows, middles, (offset) => (offset + base) * perNs, {
      width, height, selected: this.selected, cssOf: (style) => this.#arrowColors[style],
    });
  }

  #rowAt(y) {
    return this.rows[Math.floor((y + this.#scroll) / this.rowHeight)] ?? null;
  }

  /** Returns the state of an entry at a time, with its look; null if unknown, or a gap. */
  stateAt(entry, time) {
    const state = this.data.stateAt(entry, time);
    const look = state && this.#looks[state.style];
    return look ? { ...state, look } : null;
  }

  #hover(at) {
    const row = at ? this.#rowAt(at.y) : null;
    if (!row) {
      this.app.tip.hide();
      return;
    }
    const state = this.stateAt(row.entry.id, at.time);
    const [name, number] = this.#cells(row.entry);
    this.app.tip.show(this.chart.canvas, at, { name: number ? `${name} (${number})` : name, state, time: at.time });
  }

  /** Selects a row, and its thread in all views. */
  select(row) {
    this.selected = row.entry.id;
    if (this.isOfThreads) {
      const thread = this.columns.thread(row.entry);
      if (thread) this.app.shared.selectThread(thread);
    }
    this.reveal();
    this.app.selectRow(this, row.entry);
  }

  get #selectedAt() {
    return this.rows.findIndex((row) => row.entry.id === this.selected);
  }

  /** Scrolls to the selected row, or with `isCentred` to a place where its neighbours are seen as well. */
  reveal({ isCentred = false } = {}) {
    const at = this.#selectedAt;
    if (at >= 0) {
      const [top, height] = [at * this.rowHeight, this.rowHeight];
      if (isCentred) this.#scrollTo(top - (this.#visibleHeight - height) / 2);
      else if (top < this.#scroll) this.#scrollTo(top);
      else if (top + height > this.#scroll + this.#visibleHeight) this.#scrollTo(top + height - this.#visibleHeight);
    }
    this.#placeLabels();
    this.chart.redraw();
  }

  /** Selects the row of the shared thread. Of several lives, one at the current time is preferred. */
  #followThread() {
    const { thread, time } = this.app.shared;
    if (!this.isOfThreads || !this.columns) return;
    if (!thread) {
      this.selected = null;
      this.reveal();
      return;
    }
    const isOf = (entry) => isSameThread(this.columns.thread(entry) ?? undefined, thread);
    const current = this.tree.entries.get(this.selected);
    if (current && isOf(current)) return;
    const lives = [...this.tree.entries.values()].filter(isOf);
    const alive = lives.find((entry) => entry.start !== undefined && BigInt(entry.start) <= time && BigInt(entry.end) >= time);
    const entry = alive ?? lives[0];
    if (!entry) return;
    this.app.shared.nameThread(this.columns.thread(entry));
    this.tree.reveal(entry.id);
    this.selected = entry.id;
    this.#changed();
    this.reveal({ isCentred: true });
    this.app.selectRow(this, entry);
  }

  fold(row, isFolded = !this.tree.isFolded(row.entry.id)) {
    this.tree.fold(row.entry.id, isFolded);
    this.tile.forget();
    this.#changed();
  }

  /** Finds the next row, in a direction, whose labels contain the text of the search field. */
  find(direction) {
    const text = this.finder.value.trim().toLowerCase();
    if (text === '') return;
    const rows = this.tree.rowsUnfolded();
    const start = rows.findIndex((entry) => entry.id === this.selected);
    for (let turn = 1; turn <= rows.length; turn += 1) {
      const entry = rows[(((start + direction * turn) % rows.length) + rows.length) % rows.length];
      const isMatch = entry.labels.some((label, at) => (at === this.columns.tid ? label.trim() === text : label.toLowerCase().includes(text)));
      if (!isMatch) continue;
      this.tree.reveal(entry.id);
      this.#showsAll = true;
      this.#changed();
      const row = this.rows.find((one) => one.entry.id === entry.id);
      if (row) this.select(row);
      this.finder.classList.remove('is-missing');
      return;
    }
    this.finder.classList.add('is-missing');
    this.app.say(`No row contains “${this.finder.value}”`);
  }

  changeHeight(by) {
    const middle = (this.#scroll + this.#visibleHeight / 2) / this.rowHeight;
    this.#heightAt = Math.max(0, Math.min(this.#heightAt + by, HEIGHTS.length - 1));
    this.#scroll = Math.max(middle * this.rowHeight - this.#visibleHeight / 2, 0);
    this.tile.forget();
    this.#changed();
  }

  toggleArrows() {
    if (!this.arrowButton) return;
    this.#hasArrows = !this.#hasArrows;
    this.arrowButton.setAttribute('aria-pressed', String(this.#hasArrows));
    this.#changed();
  }

  /** Moves the selection by rows; what keys do. */
  step(by) {
    if (this.rows.length === 0) return;
    const at = this.#selectedAt;
    const to = at < 0 ? (by > 0 ? 0 : this.rows.length - 1) : Math.max(0, Math.min(at + by, this.rows.length - 1));
    this.select(this.rows[to]);
  }

  /** Handles a key. Returns `true` if it has a meaning here. */
  key(key) {
    const page = Math.max(Math.floor(this.#visibleHeight / this.rowHeight) - 1, 1);
    const steps = { ArrowUp: -1, ArrowDown: 1, k: -1, j: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    if (key in steps) this.step(steps[key]);
    else if (key === 'Enter') this.app.describe(this);
    else if (key === ' ' || key === '*') this.#foldSelected(key === '*');
    else if (key === 'e') this.changeHeight(1);
    else if (key === 'E') this.changeHeight(-1);
    else if (key === 'M') this.toggleArrows();
    else if (key === 'A') {
      this.#showsAll = !this.#showsAll;
      this.#changed();
    } else if (key === 'R') {
      this.#sort = this.#sort === 'tree' ? 'name' : 'tree';
      this.tile.forget();
      this.#changed();
    } else if (key === 'F') this.finder.focus();
    else if (key === ';') this.find(1);
    else if (key === ',') this.find(-1);
    else return false;
    return true;
  }

  #foldSelected(unfoldsAll) {
    const row = this.rows[this.#selectedAt];
    if (!row) return;
    if (!unfoldsAll) {
      this.fold(row);
      return;
    }
    this.tree.unfoldBelow(row.entry.id);
    this.#changed();
  }
}
