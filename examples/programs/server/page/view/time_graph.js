// Rows of states over time, with arrows: control flow, resources, critical path, flame chart.

import { Chart } from './chart.js';
import { GraphData } from './graph_data.js';
import { GraphPicture } from './graph_picture.js';
import { GraphTools } from './graph_tools.js';
import { Panel } from './panel.js';
import { RowLabels } from './rows.js';
import { Loader } from '../data/loader.js';
import { graphKey } from '../input/graph_keys.js';
import { followScroll } from '../input/row_scroll.js';
import { ThreadColumns, columnOf, isSameThread } from '../model/columns.js';
import { GraphRows } from '../model/graph_rows.js';
import { byProcess } from '../model/processes.js';
import { RowView } from '../model/row_view.js';
import { formatTime } from '../model/time.js';
import { downloadPng, downloadSvg } from './download.js';
import { el } from './dom.js';

/** A chart of states. */
export class TimeGraph {
  #rows = new GraphRows();
  #view = new RowView();
  #hasArrows;
  #of;
  #isByLabel;
  #activity;
  #orders;
  #asked = null;
  #isOwnThread = false;

  /**
   * @param {object} app what all views share
   * @param {object} options `id`, `key`, `title`, `isShownAtFirst`; `hasArrows`; `isOfThreads` if rows are
   *   threads, which are then selected together with those of other views; `of(thread)` if the chart is
   *   that of the selected thread: the parameters that ask for it, or null if it has none; `isByLabel` if
   *   states are told apart by their labels, which then need no legend; `activity`, which of those of
   *   `app.activity` tells the rows that are shown; `isByProcess` if threads are below their processes;
   *   `isKept(entry)` for rows that are always shown; `orders` of rows, the first one of which is that at the start; `meaning`, the
   *   explanation of the legend
   */
  constructor(app, {
    id, title, hasArrows = false, isOfThreads = false, of = null, isByLabel = false, activity = null, isByProcess = false,
    isKept = () => false, orders = ['tree', 'name'], meaning = 'Thick: active. Thin: waiting. Several in a column: heights are shares.', ...more
  }) {
    this.app = app;
    this.isOfThreads = isOfThreads;
    this.#hasArrows = hasArrows;
    this.#of = of;
    this.#isByLabel = isByLabel;
    this.#activity = activity;
    this.#orders = orders;
    this.isByProcess = isByProcess;
    Object.assign(this.#rows, { order: orders[0], showsAll: activity === null, isKept });
    this.panel = new Panel({ id, title, ...more, onChange: (isShown) => isShown && this.#shown() });
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
    this.picture = new GraphPicture(app, this.data, meaning);
    this.chart = new Chart(app, {
      label: `${title}: states over time. The rows are listed beside it; Enter tells the state of a row`,
      draw: (context, scale, surface) => this.picture.draw(context, scale, surface, { rows: this.#rows, view: this.#view, hasArrows: this.#hasArrows }),
      onPoint: ({ y, time }) => {
        app.shared.setTime(time);
        const row = this.#rowAt(y);
        if (row) this.select(row);
        this.focus();
        if (row) app.inspect(this, row.entry, time);
      },
      onHover: (at, event) => this.#hover(at, event),
      onResize: () => this.#changed(),
    });
    this.labels = new RowLabels({
      id, label: title, cells: (entry) => this.#cells(entry),
      onSelect: (row) => this.select(row), onFold: (row) => this.fold(row), onPin: (row) => this.pin(row),
    });
    this.chart.labels.append(this.labels.element);
    this.chart.element.classList.add('has-rows');
    this.bar = el('div', { class: 'scrollbar', 'aria-hidden': 'true' }, el('div'));
    this.chart.element.append(this.bar);
    followScroll(this.chart.element, this.bar, { top: () => this.#view.place, scrollTo: (top) => this.#scrollTo(top) });
    this.panel.body.append(this.chart.element);
    if (!isByLabel) this.panel.body.append(this.picture.legend.element);
    this.element = this.panel.element;
    this.tools = new GraphTools(this, { title, hasArrows });
    this.panel.tools.append(...this.tools.elements);
    this.#listen();
  }

  #listen() {
    const { shared, theme } = this.app;
    shared.on(['window'], () => this.#changed());
    if (this.#activity) this.app.activity.addEventListener('change', () => this.#setActivity());
    shared.on(['time', 'range'], this.chart.redraw);
    if (this.#of) shared.on(['thread'], () => this.#isOwnThread || this.reload());
    else if (this.isOfThreads) shared.on(['thread'], () => this.#followThread());
    theme.addEventListener('change', this.chart.redraw);
    this.app.addEventListener('signs', this.chart.redraw);
  }

  start(output) {
    this.output = output;
    this.app.experiment.style(output).then(({ model }) => {
      this.picture.setStyles(model?.styles);
      this.chart.redraw();
    }, (error) => this.panel.report(error));
    this.reload();
  }

  #shown() {
    if (this.#asked === null) this.reload();
    this.#changed();
  }

  /** Loads the tree again, for example when the trace has grown. A hidden chart does so when it is shown. */
  reload() {
    this.#asked = null;
    if (!this.output || !this.panel.isShown) return;
    const asked = this.#of ? this.#of(this.app.shared.thread) : {};
    if (!asked) {
      this.app.say('An idle thread waits for nothing: it has no such chart');
      return;
    }
    this.#asked = asked;
    this.data.start(this.output, asked);
    this.treeLoader.load({
      fetch: (signal) => this.app.experiment.tree('timeGraph', this.output, null, signal, asked),
      accept: ({ model, status }) => {
        if (model) this.#setTree(model, status === 'RUNNING');
        else this.panel.say('reading…');
      },
    });
  }

  #setActivity() {
    const times = this.app.activity[this.#activity];
    const isFirst = !this.#hasActivity;
    this.#hasActivity = true;
    const { first, last } = this.#view.range(0);
    const at = this.#rows.selectedAt;
    const wasInView = at >= first && at < last;
    // Where nothing is known of the CPUs, all rows that live are shown.
    this.#rows.setActivity(times?.size > 0 ? times : null);
    this.#moved();
    // The selected row may have another place now.
    if (isFirst || wasInView) this.reveal({ isCentred: isFirst });
  }

  #hasActivity = false;

  #setTree(model, isRunning) {
    this.columns = new ThreadColumns(model.headers);
    this.headers = model.headers;
    const pid = columnOf(model.headers, ['PID']);
    const entries = this.isByProcess && pid >= 0 ? byProcess(model.entries, { name: this.columns.name, tid: this.columns.tid, pid }) : model.entries;
    this.#rows.setTree({ ...model, entries });
    if (this.#activity) this.#rows.setActivity(this.app.activity[this.#activity]?.size > 0 ? this.app.activity[this.#activity] : null);
    this.isRunning = isRunning;
    this.#pinWanted();
    this.data.forget();
    this.#changed();
    this.#followThread();
  }

  #cells(entry) {
    const name = entry.labels[this.columns.name] ?? '';
    const number = this.columns.tid < 0 ? '' : entry.labels[this.columns.tid] ?? '';
    const title = this.headers.map((header, at) => `${header.name}: ${entry.labels[at] ?? ''}`).join('\n');
    return [name, number, title, this.#share(entry)];
  }

  /** Returns for which part of the window an entry is active, with those below it if they are folded. */
  #share(entry) {
    if (!this.#activity || !this.#rows.activity) return '';
    const { window } = this.app.shared;
    const time = this.#rows.timeOf(entry.id, this.#rows.tree.isFolded(entry.id));
    const share = (time / Number(window.to - window.from)) * 100;
    return time === 0 ? '' : share < 0.1 ? '<0.1 %' : `${share.toFixed(share < 10 ? 1 : 0)} %`;
  }

  /** Determines the rows, and loads and draws what is missing. */
  #changed() {
    // Rows would jump when their order becomes known.
    if (this.#activity && this.app.activity[this.#activity] === null) {
      this.panel.say('reading…');
      return;
    }
    this.#rows.update(this.app.shared.window);
    if (!this.#rows.isEmpty) this.panel.say([...this.#ofWhom(), this.#rows.words, ...(this.isRunning ? ['reading…'] : [])].join(', '));
    this.#placeLabels();
    this.#load();
    this.#loadArrows();
    this.chart.redraw();
  }

  /** Returns whose chart it is, if it is that of a thread: its first row with states is this thread. */
  #ofWhom() {
    const first = this.#of ? [...this.#rows.tree.entries.values()].find((entry) => entry.hasData) : undefined;
    return first ? [`of ${this.#cells(first).slice(0, 2).join(' ')}`] : [];
  }

  /** Draws everything again: rows have moved. */
  #moved() {
    this.picture.forget();
    this.#changed();
  }

  #placeLabels() {
    const view = this.#view;
    Object.assign(view, { count: this.#rows.shown.length, visible: this.chart.surface.height });
    view.scrollTo(view.place);
    const { height, top, place } = view;
    // The bar is as high as the room for rows, of which the view may show less.
    this.bar.firstChild.style.height = `${view.total + this.chart.surface.height - view.visible}px`;
    if (Math.abs(this.bar.scrollTop - place) >= 1) this.bar.scrollTop = place;
    this.labels.element.classList.toggle('is-small', height < 11);
    this.labels.show({
      rows: this.#rows.shown, ...view.range(0), height, top, selected: this.#rows.selected,
      isFolded: (id) => this.#rows.tree.isFolded(id), isPinned: (id) => this.#rows.pinned.has(id),
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
    const { shown } = this.#rows;
    if (!this.#canLoad || shown.length === 0) return;
    const { width, ratio } = this.chart.surface;
    const { first, last } = this.#view.range();
    this.data.load(shown.slice(first, last).filter(({ entry }) => entry.hasData !== false).map((row) => row.entry.id), Math.round(width * Math.min(ratio, 2)));
  }

  #loadArrows() {
    if (this.#canLoad && this.#hasArrows) this.data.loadArrows(this.chart.surface.width);
  }

  #newLooks() {
    this.picture.changed();
    this.chart.redraw();
  }

  #rowAt(y) {
    return this.#rows.shown[this.#view.at(y)] ?? null;
  }

  /** Returns the state of an entry at a time, with its look; null if unknown, or a gap. */
  stateAt(entry, time) {
    const state = this.data.stateAt(entry, time);
    const look = state && this.picture.look(state.style);
    if (!look) return null;
    return { ...state, look: this.#isByLabel ? { ...look, name: state.label } : look };
  }

  /** Asks the server for facts about the state of an entry that begins and ends at some times. */
  async facts(entry, time, { start, end }, signal = undefined) {
    const element = { elementType: 'STATE', time: start, duration: end - start, entryId: entry.id };
    const { model } = await this.app.experiment.tooltip(this.output, { entry: entry.id, time, element }, signal, this.#asked ?? {});
    return model ?? {};
  }

  #hover(at) {
    const row = at ? this.#rowAt(at.y) : null;
    if (!row) {
      this.app.tip.hide();
      return;
    }
    const state = this.stateAt(row.entry.id, at.time);
    const shares = this.data.sharesAt(row.entry.id, at.time);
    const [name, number] = this.#cells(row.entry);
    this.app.tip.show(this.chart.canvas, at, {
      name: number ? `${name} (${number})` : name, state, shares: shares?.map(({ style, share }) => ({ look: this.picture.look(style), share })), time: at.time,
      facts: (signal) => this.app.facts.of(this, row.entry, at.time, signal),
    });
  }

  /** Selects a row, and its thread in all views. The chart of a thread stays that of this one. */
  select(row) {
    this.#rows.selected = row.entry.id;
    const thread = this.isOfThreads ? this.columns.thread(row.entry) : null;
    if (thread) {
      this.#isOwnThread = true;
      this.app.shared.selectThread(thread);
      this.#isOwnThread = false;
    }
    this.reveal();
    this.app.selectRow(this, row.entry);
  }

  /** Scrolls to the selected row, or with `isCentred` to a place where its neighbours are seen as well. */
  reveal({ isCentred = false } = {}) {
    const at = this.#rows.selectedAt;
    if (at >= 0) this.#scrollTo(this.#view.placeOf(at, isCentred));
    this.#placeLabels();
    this.chart.redraw();
  }

  /** Selects the row of the shared thread. Of several lives, one at the current time is preferred. */
  #followThread() {
    const { thread, time } = this.app.shared;
    if (!this.isOfThreads || !this.columns) return;
    if (!thread) {
      this.#rows.selected = null;
      this.reveal();
      return;
    }
    const isOf = (entry) => isSameThread(this.columns.thread(entry) ?? undefined, thread);
    const current = this.#rows.tree.entries.get(this.#rows.selected);
    if (current && isOf(current)) return;
    const entry = this.#rows.alive(isOf, time);
    if (!entry) return;
    this.app.shared.nameThread(this.columns.thread(entry));
    this.#rows.tree.reveal(entry.id);
    this.#rows.selected = entry.id;
    // A search must not hide what was selected elsewhere.
    if (this.#rows.sought !== '') this.#forgetSearch();
    this.#changed();
    this.reveal({ isCentred: true });
    if (!this.#of) this.app.selectRow(this, entry);
  }

  fold(row, isFolded = !this.#rows.tree.isFolded(row.entry.id)) {
    this.#rows.tree.fold(row.entry.id, isFolded);
    this.#moved();
  }

  #forgetSearch() {
    this.tools.finder.value = '';
    this.#rows.sought = '';
    this.picture.forget();
  }

  /** Shows only the rows that fit the text of the search field, the best ones first. */
  filter() {
    const { text } = this.tools;
    this.#rows.sought = text;
    this.#moved();
    this.tools.found(text === '' || this.#rows.shown.length > 0);
    if (text === '') this.reveal();
    else this.#scrollTo(0);
  }

  /** Selects the next of the rows that fit what is sought, in a direction. */
  find(direction) {
    if (this.tools.text === '') return;
    const row = this.#rows.cycle(direction);
    if (row) this.select(row);
    else this.app.say(`No row fits “${this.tools.text}”`);
  }

  /** Returns the process of a thread `{pid, name}`, which has the name of its first thread; null if it is unknown. */
  processOf(tid) {
    if (!this.columns || !this.isByProcess) return null;
    const entry = [...this.#rows.tree.entries.values()].find(({ labels }) => labels[this.columns.tid] === tid);
    const pid = entry?.labels[columnOf(this.headers, ['PID'])];
    if (!pid) return null;
    const first = this.#rows.tree.entries.get(entry.parentId);
    const isFirst = first?.labels[this.columns.tid] === pid;
    return { pid, name: (isFirst ? first : entry).labels[this.columns.name] };
  }

  /** Pins a row to the top, or releases it. */
  pin(row) {
    this.#rows.togglePin(row.entry.id);
    this.#moved();
    this.app.dispatchEvent(new Event('looks'));
  }

  /** The numbers of the pinned threads, and the order of the rows; null for that at the start. */
  get looks() {
    const pinned = [...this.#rows.pinned].map((id) => this.#rows.tree.entries.get(id));
    const pins = pinned.filter((entry) => entry && this.columns).map(({ labels }) => labels[this.columns.tid]);
    return { pins: pins.length > 0 ? pins : this.#wantedPins, order: this.#rows.order === this.#orders[0] ? null : this.#rows.order };
  }

  #wantedPins = [];

  /** Pins threads by their numbers, once they are known, and orders rows. */
  setLooks({ pins = [], order }) {
    this.#wantedPins = pins;
    if (this.#orders.includes(order)) this.#rows.order = order;
    this.#pinWanted();
    this.#moved();
  }

  #pinWanted() {
    if (!this.columns) return;
    for (const entry of this.#rows.tree.entries.values()) {
      if (this.#wantedPins.includes(entry.labels[this.columns.tid])) this.#rows.pinned.add(entry.id);
    }
    if (!this.isRunning) this.#wantedPins = [];
  }

  pinSelected() {
    const row = this.#rows.shown[this.#rows.selectedAt];
    if (row) this.pin(row);
  }

  /** Moves the focus to the search field. */
  focusFinder() {
    this.tools.finder.focus();
  }

  /** Moves the focus to the rows. */
  focus() {
    this.labels.element.focus();
  }

  changeHeight(by) {
    this.#view.changeHeight(by);
    this.#moved();
  }

  /** Offers the rows in view as a file of SVG or PNG. */
  save(form) {
    const { shared, theme, notation } = this.app;
    const name = `lttv-${this.panel.id}`;
    if (form === 'png') {
      downloadPng(name, { labels: this.labels.element, canvas: this.chart.canvas, theme });
      return;
    }
    const { width } = this.chart.surface;
    const { first, last } = this.#view.range(0);
    const rows = this.#rows.shown.slice(first, last).map(({ entry, depth }) => ({ name: this.#cells(entry).slice(0, 2).join(' ').trim(), depth, index: this.data.placeOf(entry.id) }));
    downloadSvg(name, this.picture.svg({
      rows, width, labels: this.labels.element.clientWidth, row: Math.max(this.#view.height, 12),
      title: `${this.panel.title}, ${formatTime(shared.window.from, { notation, begin: shared.span.from })}`, notation,
    }));
  }

  toggleArrows() {
    if (!this.tools.arrows) return;
    this.#hasArrows = !this.#hasArrows;
    this.tools.showsArrows(this.#hasArrows);
    this.#changed();
  }

  /** Moves the selection by rows; what keys do. A time that was not chosen is moved into the window. */
  step(by) {
    if (this.#rows.shown.length === 0) return;
    const { shared } = this.app;
    const { window, time, mark } = shared;
    if (mark === null && !this.app.isTimeChosen && time < window.from) shared.setTime((window.from + window.to) / 2n);
    this.select(this.#rows.step(by));
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
    this.#rows.showsAll = !this.#rows.showsAll;
    this.#changed();
  }

  /** Changes the order of the rows to the next one. */
  nextOrder() {
    this.#rows.nextOrder(this.#orders);
    this.#moved();
    this.app.dispatchEvent(new Event('looks'));
  }

  /** Folds or unfolds the selected row. */
  foldSelected() {
    const row = this.#rows.shown[this.#rows.selectedAt];
    if (row) this.fold(row);
  }

  /** Unfolds all rows below the selected one. */
  unfoldSelected() {
    if (this.#rows.selectedAt < 0) return;
    this.#rows.tree.unfoldBelow(this.#rows.selected);
    this.#changed();
  }
}
