// The list of events: a table of any length, of which only the lines in view are loaded.

import { Panel } from './panel.js';
import { Loader } from '../data/loader.js';
import { TAGS } from '../data/pack.js';
import { LineScroll } from '../input/line_scroll.js';
import { columnOf } from '../model/columns.js';
import { contextOf, partsOf } from '../model/event_fields.js';
import { LinePages } from '../model/line_pages.js';
import { formatTime, parseTime } from '../model/time.js';
import { readSetting, writeSetting } from '../draw/theme.js';
import { button, el, setAttribute, setText } from './dom.js';

const ROW = 20;
/** The number of lines that are loaded at once. */
const PAGE = 100;

/** The table of events. */
export class Events {
  #pages = new LinePages(PAGE);
  #elements = [];
  #selected = -1;
  #columns = [];
  #timeColumn = -1;
  #tidColumn = -1;
  #contentsColumn = -1;
  #cpuColumn = -1;
  #searchText = '';
  #isOwnTime = false;

  constructor(app) {
    this.app = app;
    const { shared } = app;
    this.panel = new Panel({ id: 'events', key: '5', title: 'Events', onChange: () => this.#show() });
    this.loader = new Loader((error) => this.panel.report(error));
    this.seeker = new Loader((error) => this.panel.report(error));
    this.head = el('div', { class: 'head', role: 'row' });
    this.lines = el('div', { class: 'lines', role: 'rowgroup' });
    this.table = el('div', { class: 'table', role: 'grid', tabindex: '0', 'aria-label': 'Events', 'aria-readonly': 'true' },
      el('div', { role: 'rowgroup', class: 'heads' }, this.head), this.lines);
    this.bar = el('div', { class: 'scrollbar', 'aria-hidden': 'true' }, el('div'));
    this.details = el('div', { class: 'details', tabindex: '0', role: 'region', 'aria-label': 'Details of the selected event' });
    this.panel.body.append(el('div', { class: 'events' }, this.table, this.bar, this.details));
    this.element = this.panel.element;
    this.#addSearch();
    this.#showDetails(readSetting('lttv-details') !== 'false');
    this.scroll = new LineScroll({ bar: this.bar, table: this.table, lines: this.lines, row: ROW, onScroll: () => this.#show() });
    this.lines.addEventListener('click', (event) => this.#click(event));
    this.lines.addEventListener('dblclick', (event) => this.#click(event, true));
    new ResizeObserver(() => this.#show()).observe(this.lines);
    shared.on(['time'], () => this.#isOwnTime || this.seekTime());
    shared.on(['window'], () => this.#followWindow());
    shared.on(['filter', 'span'], () => {
      this.#forget();
      this.seekTime();
    });
    shared.on(['thread'], () => this.#show());
    app.addEventListener('notation', () => this.#show());
  }

  #addSearch() {
    this.search = el('input', {
      type: 'search', placeholder: 'Search events', size: '18', spellcheck: 'false', autocomplete: 'off',
      'aria-label': 'Search events by a regular expression',
    });
    this.where = el('select', { 'aria-label': 'Column to search' });
    this.search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.find(event.shiftKey ? 'PREVIOUS' : 'NEXT');
      if (event.key === 'Escape') this.table.focus();
    });
    this.search.addEventListener('input', () => this.search.classList.remove('is-missing'));
    this.detailsButton = button('Details', 'Details: all fields of the selected event', () => this.#showDetails(this.details.hidden), { 'aria-pressed': 'true' });
    this.panel.tools.append(this.search, this.where,
      button('↑', 'Previous event found', () => this.find('PREVIOUS')),
      button('↓', 'Next event found', () => this.find('NEXT')), this.detailsButton);
  }

  #showDetails(areShown) {
    this.details.hidden = !areShown;
    this.detailsButton.setAttribute('aria-pressed', String(areShown));
    writeSetting('lttv-details', String(areShown));
  }

  async start(output) {
    this.output = output;
    const { model } = await this.app.experiment.columns(output);
    this.#columns = model;
    const named = model.map((column) => ({ name: column.name }));
    this.#tidColumn = columnOf(named, ['TID']);
    this.#contentsColumn = columnOf(named, ['Contents', 'Fields']);
    const exact = columnOf(named, ['Timestamp ns']);
    this.#timeColumn = exact >= 0 ? exact : columnOf(named, ['Timestamp', 'Time']);
    this.#cpuColumn = columnOf(named, ['CPU']);
    // Where an event was recorded is among its details: the list has room for what happened.
    this.#hidden = new Set([columnOf(named, ['Trace']), columnOf(named, ['Tracefile']), ...(exact >= 0 ? [columnOf(named, ['Timestamp'])] : [])]);
    const shown = this.#shown;
    this.head.replaceChildren(...shown.map((at) => el('div', {
      role: 'columnheader', class: this.#classOf(at), text: at === this.#timeColumn ? 'Time' : model[at].name, title: model[at].description || null,
    })));
    this.where.replaceChildren(...model.map((_, at) => at).filter((at) => at !== this.#timeColumn).map((at) => el('option', { value: String(model[at].id), text: model[at].name })));
    const kind = columnOf(named, ['Event type', 'Event', 'Name']);
    if (kind >= 0) this.where.value = String(model[kind].id);
    this.seekTime();
  }

  #hidden = new Set();

  /** Returns the columns to show: the time first, and long texts last. */
  get #shown() {
    const all = this.#columns.map((_, at) => at).filter((at) => !this.#hidden.has(at) && at !== this.#timeColumn);
    return this.#timeColumn >= 0 ? [this.#timeColumn, ...all] : all;
  }

  #classOf(at) {
    const plain = this.#columns[at].name.toLowerCase();
    if (at === this.#timeColumn) return 'cell time';
    if (/contents|fields|description/.test(plain)) return 'cell wide';
    if (/event|type/.test(plain)) return 'cell middle';
    if (/cpu|tid|pid|prio|index/.test(plain)) return 'cell short';
    return 'cell';
  }

  #forget() {
    this.#pages.clear();
    this.loader.stop();
  }

  /** Shows the events around the current time. */
  seekTime(time = this.#place) {
    if (!this.output || !this.panel.isShown) return;
    const { shared, experiment } = this.app;
    this.#sought = time;
    this.seeker.load({
      fetch: (signal) => experiment.lines(this.output, { time, count: 1, filter: shared.filter }, signal),
      accept: ({ model, status }) => {
        if (!model) return;
        this.#setSize(model.size, status);
        this.#selected = model.lines.length > 0 ? model.lowIndex : -1;
        const at = model.lowIndex - this.scroll.first;
        if (at < 1 || at >= this.scroll.visible - 1) this.scroll.first = model.lowIndex - Math.floor(this.scroll.visible / 3);
        this.#show();
      },
    });
  }

  /** The time from which events are shown: the current one, or the begin of the window if it is elsewhere. */
  get #place() {
    const { time, window } = this.app.shared;
    return time >= window.from && time <= window.to ? time : window.from;
  }

  #sought = null;
  #timer = 0;

  /** Shows the events of the window, once it rests. */
  #followWindow() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#place !== this.#sought && !this.#isInView() && this.seekTime(), 200);
  }

  /** Returns `true` if the first line in view is in the window. */
  #isInView() {
    const line = this.#pages.line(this.scroll.first);
    const time = line ? this.timeOf(line) : null;
    const { window } = this.app.shared;
    return time !== null && time >= window.from && time <= window.to;
  }

  #setSize(size, status) {
    if (size < this.scroll.size) this.#forget();
    this.scroll.size = size;
    const { filter } = this.app.shared;
    const parts = [`${size.toLocaleString('en')} events${filter ? ' pass the filter' : ''}`];
    if (status === 'RUNNING') parts.push('reading…');
    this.panel.say(parts.join(', '));
    setAttribute(this.table, 'aria-rowcount', size + 1);
  }

  /** Shows the lines from the first one on, and loads those that are missing. */
  #show() {
    if (!this.panel.isShown || this.#columns.length === 0) return;
    this.scroll.settle();
    const { visible } = this.scroll;
    const count = Math.min(visible, this.scroll.size - this.scroll.first);
    this.#fit(Math.max(count, 0));
    for (let at = 0; at < count; at += 1) this.#fill(this.#elements[at], this.scroll.first + at);
    const isThere = this.#selected >= this.scroll.first && this.#selected < this.scroll.first + count;
    setAttribute(this.table, 'aria-activedescendant', isThere ? `event-${this.#selected}` : null);
    this.#loadMissing(visible);
  }

  #fit(count) {
    const shown = this.#shown;
    while (this.#elements.length < count) {
      const cells = shown.map((at) => el('div', { role: 'gridcell', class: this.#classOf(at) }));
      const element = el('div', { role: 'row', class: 'line' }, ...cells);
      element.cells = cells;
      this.#elements.push(element);
      this.lines.append(element);
    }
    this.#elements.forEach((element, at) => {
      element.hidden = at >= count;
      if (at >= count) element.removeAttribute('id');
    });
  }

  #fill(element, index) {
    const line = this.#pages.line(index);
    setAttribute(element, 'id', `event-${index}`);
    setAttribute(element, 'aria-rowindex', index + 2);
    setAttribute(element, 'aria-selected', String(index === this.#selected));
    element.index = index;
    const { thread } = this.app.shared;
    const isOfThread = thread !== null && line !== null && this.#isOf(line, thread);
    if (index === this.#selected) this.#fillDetails(line);
    element.classList.toggle('is-thread', isOfThread);
    element.classList.toggle('is-found', line !== null && ((line.tags ?? 0) & TAGS.found) !== 0);
    element.classList.toggle('is-missing', line === null);
    this.#shown.forEach((column, at) => setText(element.cells[at], line ? this.#text(line, column) : at === 0 ? '…' : ''));
    setAttribute(element, 'title', line ? this.#columns.map((column, at) => `${column.name}: ${this.#cell(line, at)}`).join('\n') : null);
  }

  /** Returns `true` if a thread recorded an event. Idle threads are told apart by their CPUs. */
  #isOf(line, { tid, label }) {
    if (this.#tidOf(line) !== tid) return false;
    const cpu = tid === '0' ? /\/(\d+)$/.exec(label)?.[1] : undefined;
    return cpu === undefined || this.#cpuColumn < 0 || this.#cell(line, this.#cpuColumn) === cpu;
  }

  #detailed = null;

  /** Shows all that is known of an event. */
  #fillDetails(line) {
    if (line === this.#detailed) return;
    this.#detailed = line;
    if (!line) {
      this.details.replaceChildren();
      return;
    }
    const table = (rows) => el('table', {}, el('tbody', {}, ...rows.map(([name, value]) => el('tr', {}, el('th', { scope: 'row', text: name }), el('td', { text: value })))));
    const { fields, contexts } = partsOf(this.#cell(line, this.#contentsColumn));
    const plain = this.#columns.map((_, at) => at).filter((at) => at !== this.#contentsColumn).map((at) => [at === this.#timeColumn ? 'Time' : this.#columns[at].name, this.#text(line, at)]);
    const folded = contexts.length === 0 ? [] : [el('details', {}, el('summary', { text: `${contexts.length} contexts` }), table(contexts))];
    this.details.replaceChildren(table(fields), ...folded, table(plain));
  }

  /** Returns the number of the thread that recorded an event, as text; empty if it is not told. */
  #tidOf(line) {
    if (this.#tidColumn >= 0) return this.#cell(line, this.#tidColumn);
    return contextOf(partsOf(this.#cell(line, this.#contentsColumn)), ['tid', 'vtid', 'perf_tid']);
  }

  #cell(line, column) {
    return line.cells[column]?.content ?? '';
  }

  #text(line, column) {
    if (column === this.#contentsColumn) return partsOf(this.#cell(line, column)).payload;
    if (column !== this.#timeColumn) return this.#cell(line, column);
    const time = this.timeOf(line);
    if (time === null) return this.#cell(line, column);
    return formatTime(time, { notation: this.app.notation, begin: this.app.shared.span.from });
  }

  /** Returns the time of a line; null if it cannot be told. */
  timeOf(line) {
    const text = this.#cell(line, this.#timeColumn).replace(/[\s,_]/g, '');
    if (/^-?\d+$/.test(text)) return BigInt(text);
    return parseTime(text, this.app.shared.span);
  }

  #loadMissing(visible) {
    const page = this.#pages.missing(this.scroll.first, Math.min(this.scroll.first + visible, this.scroll.size));
    if (page === null || !this.output) return;
    const { experiment, shared } = this.app;
    const index = page * PAGE;
    this.loader.load({
      fetch: (signal) => experiment.lines(this.output, { index, count: PAGE, filter: shared.filter, search: this.#tagging() }, signal),
      isSeen: () => index < this.scroll.first + this.scroll.visible && index + PAGE > this.scroll.first,
      accept: ({ model }) => {
        if (!model) return;
        this.#pages.add(model.lowIndex, model.lines);
        this.#show();
      },
    });
  }

  /** Returns the search that marks lines. */
  #tagging() {
    const expressions = this.#expressions();
    return expressions ? { expressions } : undefined;
  }

  #expressions() {
    const text = this.#searchText;
    return text === '' ? null : { [this.where.value]: text };
  }

  /** Goes to the next or previous event that the search finds. */
  find(direction) {
    if (this.search.value !== this.#searchText) {
      this.#searchText = this.search.value;
      this.#pages.clear();
    }
    const expressions = this.#expressions();
    if (expressions) this.#findBy(expressions, direction, () => this.search.classList.add('is-missing'));
    else this.#show();
  }

  /** Goes to the next or previous event of the selected thread. */
  findOfThread(direction) {
    const { thread } = this.app.shared;
    if (!thread) this.app.say('No thread is selected');
    else if (this.#tidColumn >= 0) this.#findBy({ [this.#columns[this.#tidColumn].id]: `^${thread.tid}$` }, direction);
    else this.#findBy({ [this.#columns[this.#contentsColumn].id]: `\\b(v?tid|prev_tid|next_tid) = ${thread.tid}\\b` }, direction);
  }

  #findBy(expressions, direction, onNothing = () => {}) {
    const { experiment, shared } = this.app;
    const from = this.#selected < 0 ? this.scroll.first : this.#selected + (direction === 'NEXT' ? 1 : -1);
    const nothing = () => {
      onNothing();
      this.app.say(`No ${direction === 'NEXT' ? 'later' : 'earlier'} event is found`);
      this.#show();
    };
    if (from < 0 || from >= this.scroll.size) {
      nothing();
      return;
    }
    this.seeker.load({
      fetch: (signal) => experiment.lines(this.output, { index: from, count: 1, filter: shared.filter, search: { expressions, direction } }, signal),
      accept: ({ model }) => {
        if (!model || model.lines.length === 0) nothing();
        else this.select(model.lowIndex, model.lines[0]);
      },
    });
  }

  /** Selects a line: its time becomes the current time. */
  select(index, line = this.#pages.line(index)) {
    this.#selected = index;
    if (index < this.scroll.first || index >= this.scroll.first + this.scroll.visible) {
      const step = index < this.scroll.first ? 0 : this.scroll.visible - 1;
      const isFar = Math.abs(index - this.scroll.first) > 2 * this.scroll.visible;
      this.scroll.first = index - (isFar ? Math.floor(this.scroll.visible / 3) : step);
    }
    const time = line ? this.timeOf(line) : null;
    if (time !== null) {
      this.#isOwnTime = true;
      this.app.shared.setTime(time, { reveal: true });
      this.#isOwnTime = false;
    }
    this.#show();
  }

  /** Selects the thread of the selected event. */
  selectThread() {
    const line = this.#pages.line(this.#selected);
    const tid = line ? this.#tidOf(line) : '';
    if (!/^\d+$/.test(tid)) return;
    const named = columnOf(this.#columns.map(({ name }) => ({ name })), ['Command', 'Process', 'Thread', 'Comm']);
    const name = named >= 0 ? this.#cell(line, named) : contextOf(partsOf(this.#cell(line, this.#contentsColumn)), ['procname', 'comm', 'perf_comm']);
    this.app.shared.selectThread({ tid, label: name || (tid === '0' ? `swapper/${this.#cell(line, this.#cpuColumn)}` : 'thread') });
  }

  #click(event, withThread = false) {
    const element = event.target.closest('.line');
    if (!element) return;
    this.select(element.index);
    if (withThread) this.selectThread();
  }

  /** Handles a key. Returns `true` if it has a meaning here. */
  key(key) {
    const page = Math.max(this.scroll.visible - 1, 1);
    const steps = { ArrowUp: -1, ArrowDown: 1, k: -1, j: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    if (key in steps) {
      const at = this.#selected < 0 ? this.scroll.first : this.#selected;
      const to = Math.max(0, Math.min(at + steps[key], this.scroll.size - 1));
      this.#selectLoaded(to);
    } else if (key === 'P' || key === 'Enter') this.selectThread();
    else if (key === 'F') this.search.focus();
    else if (key === ';') this.find('NEXT');
    else if (key === ',') this.find('PREVIOUS');
    else return false;
    return true;
  }

  /** Selects a line that may not be loaded yet. */
  #selectLoaded(index) {
    if (this.#pages.line(index)) {
      this.select(index);
      return;
    }
    const { experiment, shared } = this.app;
    this.seeker.load({
      fetch: (signal) => experiment.lines(this.output, { index, count: 1, filter: shared.filter }, signal),
      accept: ({ model }) => model?.lines[0] && this.select(model.lowIndex, model.lines[0]),
    });
  }
}
