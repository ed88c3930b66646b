// What happened in the marked range: who ran, which calls, how long things took, which events.

import { Loader } from '../data/loader.js';
import { toCsv } from '../model/csv.js';
import { eventTypes, figures, processTimes, threadTimes } from '../model/range_tables.js';
import { formatDuration, formatTime } from '../model/time.js';
import { button, el, setText } from './dom.js';

/** How long the range must rest before something is asked for, in ms. */
const REST = 200;
/** The number of rows of a table that are shown; all of them are copied. */
const SHOWN = 8;
/** The keys of families of spans, by their titles. */
const FAMILIES = {
  'System calls': 'syscall', 'Wake-up latencies': 'wake-up', 'Waits after preemption': 'preemption', 'Interrupt handlers': 'irq',
  'Handlers of interrupt vectors': 'vector', 'Softirq handlers': 'softirq', 'Raise latencies of softirqs': 'softirq-raise',
  'Disk requests in queues': 'disk-queue', 'Disk requests in devices': 'disk', 'Files opened': 'open', Reads: 'read',
  Writes: 'write', 'Flushes of files': 'sync', 'Futex waits': 'futex', Periods: 'period', 'Markers of programs': 'marker',
};

const duration = (ns) => formatDuration(BigInt(Math.round(ns)));

/** The panel of the marked range. */
export class RangePanel {
  #timer = 0;
  #outputs = null;
  #loaders = [];
  #tables = new Map();

  constructor(app) {
    this.app = app;
    this.heading = el('h2', { id: 'range-title', text: 'Marked range' });
    this.when = el('p', { class: 'quiet' });
    this.sections = el('div', {});
    this.spans = el('div', {});
    this.element = el('aside', { class: 'inspector', id: 'range', 'aria-labelledby': 'range-title', hidden: true, tabindex: '-1' },
      el('header', {}, this.heading, button('×', 'Close the panel, and remove the range', () => app.shared.clearRange())),
      this.when,
      el('div', { class: 'actions' },
        button('Zoom', 'Zoom to the range (z)', () => app.zoomToRange()),
        button('Copy CSV', 'Copy CSV of the tables', () => this.#copy(this.csv, 'The tables are copied')),
        button('Copy link', 'Copy link to this view', () => this.#copy(app.link(), 'The link is copied'))),
      this.spans, this.sections);
    app.shared.on(['range'], () => this.#changed());
    app.addEventListener('notation', () => this.#showTimes());
  }

  /** Sets the outputs: `usage`, `statistics`, and `latencies` as `latenciesOf` returns them. */
  start(outputs) {
    this.#outputs = outputs;
    this.#changed();
  }

  async #copy(text, done) {
    try {
      await navigator.clipboard.writeText(text);
      this.app.say(done);
    } catch (error) {
      this.app.say(`Nothing is copied: ${error.message}`);
    }
  }

  /** The tables as CSV, with times in ns. */
  get csv() {
    return toCsv([...this.#tables.values()]);
  }

  #changed() {
    clearTimeout(this.#timer);
    const { range } = this.app.shared;
    if (range === null) {
      this.element.hidden = true;
      for (const loader of this.#loaders) loader.stop();
      return;
    }
    this.#showTimes();
    this.#timer = setTimeout(() => this.#load(range), REST);
  }

  #showTimes() {
    const { range, span } = this.app.shared;
    if (!range) return;
    const time = (at) => formatTime(at, { notation: this.app.notation, begin: span.from });
    setText(this.when, `${time(range.from)} – ${time(range.to)}, ${formatDuration(range.to - range.from)}`);
  }

  #load(range) {
    if (!this.#outputs) return;
    // A span that is marked has a panel of its own.
    if (this.app.inspector.isShown && this.app.inspector.isOf(range)) return;
    this.app.inspector.hide();
    this.element.hidden = false;
    for (const loader of this.#loaders) loader.stop();
    this.#loaders = [];
    this.#tables.clear();
    this.spans.replaceChildren();
    this.sections.replaceChildren();
    const { usage, statistics, latencies } = this.#outputs;
    if (usage) this.#section('XY', usage, range, (model) => this.#showTimesOf(model, range), ['threads', 'processes']);
    for (const { id, name, figures: output } of latencies ?? []) {
      const isOfCalls = /system calls/i.test(name);
      this.#section('data', output, range, (model) => this.#showFigures(id, isOfCalls ? 'System calls' : name, figures(model, { ofFamilies: !isOfCalls }), range), [id]);
    }
    if (statistics) this.#section('data', statistics, range, (model) => this.#showEvents(eventTypes(model)), ['events']);
  }

  /** Loads a tree of the range, and shows it in sections at a fixed place. */
  #section(kind, output, range, show, keys) {
    for (const key of keys) this.sections.append(el('section', { 'data-key': key }));
    const loader = new Loader((error) => error && this.app.say(error.message));
    this.#loaders.push(loader);
    loader.load({
      fetch: (signal) => this.app.experiment.tree(kind, output, range, signal),
      accept: ({ model }) => model && show(model),
    });
  }

  /** Shows a table: `rows` have `cells`, the `values` that are copied, and `go`, if they lead somewhere. */
  #table(key, title, headers, rows) {
    this.#tables.set(key, { title, headers, rows: rows.map(({ values }) => values) });
    const section = this.sections.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!section || rows.length === 0) return;
    const more = rows.length - SHOWN;
    const line = ({ cells: [first, ...rest], go }) => el('tr', {}, el('th', { scope: 'row' }, go ? button(first, `${first}: show it`, go, { class: 'link' }) : first), ...rest.map((text) => el('td', { text })));
    section.replaceChildren(el('h3', { text: `${title}${more > 0 ? ` (${SHOWN} of ${rows.length})` : ''}` }),
      el('table', { class: 'figures' },
        el('thead', {}, el('tr', {}, ...headers.map((text) => el('th', { scope: 'col', text: text.replace(/_ns$/, '').replaceAll('_', ' ') })))),
        el('tbody', {}, ...rows.slice(0, SHOWN).map(line))));
  }

  #showTimesOf(model, range) {
    const width = Number(range.to - range.from);
    const share = (time) => `${((time / width) * 100).toFixed(1)} %`;
    const threads = threadTimes(model);
    this.#table('threads', 'CPU time by thread', ['thread', 'tid', 'time_ns', 'of_one_cpu'], threads.map(({ name, tid, time }) => ({
      cells: [name || '?', tid, duration(time), share(time)], values: [name, tid, time, share(time)],
      go: () => this.app.shared.selectThread({ tid, label: name }),
    })));
    const processes = processTimes(threads, (tid) => this.app.threads.processOf(tid));
    this.#table('processes', 'CPU time by process', ['process', 'pid', 'time_ns', 'of_one_cpu'], processes.map(({ name, pid, time }) => ({
      cells: [name || '?', pid, duration(time), share(time)], values: [name, pid, time, share(time)],
      go: () => this.app.shared.selectThread({ tid: pid, label: name }),
    })));
  }

  #showFigures(key, title, rows, range) {
    this.#table(key, title, ['name', 'count', 'total_ns', 'p99_ns', 'max_ns'], rows.map(({ name, family, count, total, p99, most }) => ({
      cells: [name, count.toLocaleString('en'), duration(total), duration(p99), duration(most)], values: [name, count, total, p99, most],
      go: FAMILIES[family] ? () => this.#showSpans(FAMILIES[family], family === name ? null : name, range) : null,
    })));
  }

  #showEvents(rows) {
    this.#table('events', 'Events by type', ['type', 'count'], rows.map(({ name, count }) => ({
      cells: [name, count.toLocaleString('en')], values: [name, count],
      go: () => this.app.filterBar.set(`name == ${JSON.stringify(name)}`),
    })));
  }

  /** Lists the longest spans of a family in the range. */
  async #showSpans(family, name, { from, to }) {
    const filter = name === null ? undefined : `name == ${JSON.stringify(name)}`;
    try {
      const spans = await this.app.facts.spans({ family, filter, begin: from, end: to, sort: 'duration', limit: 20 });
      this.app.inspector.list(this.spans, `Longest ${name ?? family}`, spans);
      this.spans.querySelector('button')?.focus();
    } catch (error) {
      this.app.say(error.message);
    }
  }
}
