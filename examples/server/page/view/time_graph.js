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
import { graphKey } from '../input/graph_keys.js';
import { followScroll } from '../input/row_scroll.js';
import { ThreadColumns, isSameThread } from '../model/columns.js';
import { RowView } from '../model/row_view.js';
import { Tree } from '../model/tree.js';
import { button, el } from './dom.js';

const SORTS = {
  tree: { label: 'as a tree', order: null },
  name: { label: 'by name', order: (a, b) => (a.labels[0] ?? '').localeCompare(b.labels[0] ?? '') },
};

/** A chart of states. */
export class TimeGraph {
  #arrowColors = [];
  #looks = [];
  #view = new RowView();
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
    this.bar = el('div', { class: 'scrollbar', 'aria-hidden': 'true' }, el('div'));
    this.chart.element.append(this.bar);
    followScroll(this.chart.element, this.bar, { top: () => this.#view.top, scrollTo: (top) => this.#scrollTo(top) });
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
    const view = this.#view;
    Object.assign(view, { count: this.rows.length, visible: this.chart.surface.height });
    view.scrollTo(view.top);
    const { height, top } = view;
    this.bar.firstChild.style.height = `${view.total}px`;
    if (Math.abs(this.bar.scrollTop - top) >= 1) this.bar.scrollTop = top;
    this.labels.element.classList.toggle('is-small', height < 11);
    this.labels.show({
      rows: this.rows, ...view.range(0), height, top, selected: this.selected,
      isFolded: (id) => this.tree.isFolded(id),
    });
  }

  #scrollTo(top) {
    if (!this.#view.scrollTo(top)) return;
    this.#placeLabels();
    this.#load();
    this.chart.redraw();
  }

  get #canLoad() {
    return this.output !== undefined && this.chart.surface.width > 0 && this.panel.isShown;
  }

  #load() {
    if (!this.#canLoad || this.rows.length === 0) return;
    const { width, ratio } = this.chart.surface;
    const { first, last } = this.#view.range();
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
        key: `${this.#view.top} ${this.#view.height} ${this.rows.length} ${this.#sort}`,
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
    context.fillRect(0, this.#view.y(at), width, this.#view.height);
  }

  /** Returns where the rows in view are drawn, in pixels of the display. */
  #rowsToDraw(ratio) {
    return this.#view.bands(ratio).map(({ row, ...band }) => ({ ...band, index: this.data.placeOf(this.rows[row].entry.id) }));
  }

  #drawArrows(context, scale, width, height) {
    const { arrows } = this.data;
    const middles = new Map(this.rows.map((row, at) => [row.entry.id, this.#view.y(at + 0.5)]));
    const base = Number(arrows.origin - scale.from);
    const perNs = scale.pixels / scale.width;
    drawArrows(context, arrows, middles, (offset) => (offset + base) * perNs, {
      width, height, selected: this.selected, cssOf: (style) => this.#arrowColors[style],
    });
  }

  #rowAt(y) {
    return this.rows[this.#view.at(y)] ?? null;
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
    if (at >= 0) this.#scrollTo(this.#view.placeOf(at, isCentred));
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
    const entry = this.tree.find(this.selected, direction, ({ labels }) => labels.some(
      (label, at) => (at === this.columns.tid ? label.trim() === text : label.toLowerCase().includes(text)),
    ));
    this.finder.classList.toggle('is-missing', !entry);
    if (!entry) {
      this.app.say(`No row contains “${this.finder.value}”`);
      return;
    }
    this.tree.reveal(entry.id);
    this.#showsAll = true;
    this.#changed();
    const row = this.rows.find((one) => one.entry.id === entry.id);
    if (row) this.select(row);
  }

  changeHeight(by) {
    this.#view.changeHeight(by);
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

  /** The number of rows by which a page up or down moves. */
  get page() {
    return this.#view.page;
  }

  /** Handles a key. Returns `true` if it has a meaning here. */
  key(key) {
    return graphKey(this, key);
  }

  /** Shows rows without life in the window, or hides them. */
  toggleAll() {
    this.#showsAll = !this.#showsAll;
    this.#changed();
  }

  /** Sorts rows by name, or as a tree. */
  toggleSort() {
    this.#sort = this.#sort === 'tree' ? 'name' : 'tree';
    this.tile.forget();
    this.#changed();
  }

  /** Folds or unfolds the selected row. */
  foldSelected() {
    const row = this.rows[this.#selectedAt];
    if (row) this.fold(row);
  }

  /** Unfolds all rows below the selected one. */
  unfoldSelected() {
    if (this.#selectedAt < 0) return;
    this.tree.unfoldBelow(this.selected);
    this.#changed();
  }
}
