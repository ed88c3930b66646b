// What was clicked: a state with its span, and where one can go from there.

import { sameName } from '../data/facts.js';
import { formatDuration, formatTime } from '../model/time.js';
import { fieldWords, resultWords, spanWords, stateWords, valueWords, wakerWords } from '../model/words.js';
import { button, el, setText } from './dom.js';

/** The number of the longest spans that are listed. */
const LONGEST = 8;
/** The number of other threads that are listed. */
const OTHERS = 6;

/** Returns the span that tells most about a state. */
function mainSpan({ state, spans }) {
  const of = (family) => spans.find((span) => span.family === family);
  const families = { syscall: ['syscall'], blocked: ['syscall', 'blocked'], 'wait cpu': ['wake-up', 'preemption', 'syscall'], user: ['run'], busy: ['syscall', 'run'] };
  return (families[state] ?? []).map(of).find((span) => span !== undefined) ?? spans[0] ?? null;
}

/** The panel beside the views. */
export class Inspector {
  #controller = new AbortController();

  constructor(app) {
    this.app = app;
    this.heading = el('h2', { id: 'inspector-title', text: 'State' });
    this.content = el('div', { class: 'content' });
    this.element = el('aside', { class: 'inspector', id: 'inspector', 'aria-labelledby': 'inspector-title', hidden: true, tabindex: '-1' },
      el('header', {}, this.heading, button('×', 'Close the panel (Esc)', () => this.hide())), this.content);
  }

  get isShown() {
    return !this.element.hidden;
  }

  hide() {
    this.#controller.abort();
    this.element.hidden = true;
  }

  /** Returns `true` if what is shown is a span of a time. */
  isOf({ from, to }) {
    return this.#range !== null && this.#range.from === from && this.#range.to === to;
  }

  #range = null;

  /** Lists spans under a heading; each leads to itself. */
  list(element, title, spans) {
    this.#list(element, title, spans.map((span) => this.#spanRow(span, `${span.comm ?? ''} ${spanWords(span)}`.trim())));
  }

  #begin() {
    this.app.rangePanel.element.hidden = true;
    this.#controller.abort();
    this.#controller = new AbortController();
    this.element.hidden = false;
    return this.#controller.signal;
  }

  /** Runs a request whose result is shown unless something else is by then. */
  async #try(signal, work) {
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) this.app.say(error.message);
    }
  }

  /** Shows the state of a row at a time, and its span. */
  inspect(view, entry, time) {
    const signal = this.#begin();
    this.#try(signal, async () => {
      const known = await this.app.facts.of(view, entry, time, signal);
      if (signal.aborted) return;
      if (known === null) this.#showNothing(entry);
      else this.#show(known, mainSpan(known), signal);
    });
  }

  #showNothing(entry) {
    setText(this.heading, entry.labels[0] ?? '');
    this.content.replaceChildren(el('p', { class: 'quiet', text: 'Nothing is known of this row at this time.' }));
  }

  /** Selects a span in all views, and shows it. */
  go(span) {
    const { shared } = this.app;
    if (span.tid !== null && span.tid !== undefined && Number(span.tid) > 0) shared.selectThread({ tid: String(span.tid), label: span.comm ?? '' });
    const signal = this.#begin();
    this.#range = { from: span.from, to: span.to };
    shared.markDuration(span.from, span.to ?? span.from);
    this.#show(null, span, signal);
  }

  #time(time) {
    return formatTime(time, { notation: this.app.notation, begin: this.app.shared.span.from });
  }

  #threadLink(thread) {
    const text = `${thread.label || thread.comm || 'thread'} (${thread.tid})`;
    return button(text, `${text}: select the thread`, () => this.app.shared.selectThread({ tid: String(thread.tid), label: thread.label ?? thread.comm ?? '' }), { class: 'link' });
  }

  #facts(rows) {
    const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== '');
    return el('dl', {}, ...shown.flatMap(([name, value]) => [el('dt', { text: name }), el('dd', {}, value)]));
  }

  #show(known, span, signal) {
    const thread = known?.thread ?? (span && Number(span.tid) > 0 ? { tid: String(span.tid), label: span.comm ?? '' } : null);
    const name = span?.name ?? known?.name ?? '';
    setText(this.heading, span ? name || span.family : stateWords(known.state, known.name));
    const [from, to] = span ? [span.from, span.to] : [known.start, known.end];
    const cpu = span?.cpu ?? known?.cpu;
    const wait = known?.spans.find(({ waker }) => waker) ?? (span?.waker ? span : null);
    const others = el('div', {});
    const longest = el('div', {});
    const wakes = el('div', {});
    this.content.replaceChildren(
      this.#facts([
        ['State', known ? stateWords(known.state, known.name) : ''],
        ['for', known ? formatDuration(known.end - known.start) : ''],
        ['Thread', thread ? this.#threadLink(thread) : ''],
        ['CPU', cpu === null || cpu === undefined ? '' : String(cpu)],
        ['Kind', span?.family],
        ['Begin', this.#time(from)],
        ['Duration', to === null ? 'not ended' : formatDuration(to - from)],
        ['Result', span?.family === 'syscall' ? resultWords(span) : ''],
        ['File', span?.file],
        ['Woken by', wait && wait.waker !== 'interrupt' ? this.#threadLink(wait.waker) : wakerWords(wait?.waker)],
      ]),
      this.#arguments(span),
      el('div', { class: 'actions' },
        button('Mark', 'Mark its time', () => this.app.shared.markDuration(from, to ?? from)),
        button('Zoom', 'Zoom to its time', () => to !== null && this.app.shared.show({ from: from - (to - from) / 8n, to: to + (to - from) / 8n })),
        ...(span?.name ? [
          button('‹ previous', `‹ previous ${name}`, () => this.#step(span, -1)),
          button('next ›', `next › ${name}`, () => this.#step(span, 1)),
        ] : [])),
      wakes, others, longest);
    const window = { from, to: to ?? known?.end ?? from };
    this.#range = window;
    this.#try(signal, () => this.#showWakees(wakes, thread, window, signal));
    this.#try(signal, () => this.#showOthers(others, thread, cpu, window, signal));
    this.#try(signal, () => this.#showLongest(longest, span, signal));
  }

  #arguments(span) {
    const fields = { ...span?.begin_event?.fields };
    const rows = Object.entries(fields).map(([name, value]) => el('tr', {}, el('th', { scope: 'row', text: name }), el('td', { text: valueWords(value) })));
    const ended = fieldWords(span?.end_event?.fields);
    if (rows.length === 0 && ended === '') return el('div', {});
    return el('table', { class: 'fields' }, el('caption', { text: span.family === 'syscall' ? 'Arguments' : 'Fields' }), el('tbody', {}, ...rows,
      ...(ended === '' ? [] : [el('tr', {}, el('th', { scope: 'row', text: 'at the end' }), el('td', { text: ended }))])));
  }

  #step(span, direction) {
    const signal = this.#begin();
    this.#try(signal, async () => {
      const next = await this.app.facts.neighbour(span, direction, signal);
      if (signal.aborted) return;
      if (next) this.go(next);
      else this.app.say(`There is no ${direction > 0 ? 'later' : 'earlier'} ${span.name}`);
    });
  }

  #list(element, title, rows) {
    if (rows.length === 0) return;
    element.replaceChildren(el('h3', { text: title }), el('ul', { class: 'spans' }, ...rows));
  }

  #spanRow(span, text) {
    const time = span.to === null ? '' : formatDuration(span.to - span.from);
    return el('li', {}, button(text, `${text}: go there`, () => this.go(span), { class: 'link' }), el('span', { class: 'quiet', text: time }));
  }

  /** Shows whom the thread wakes in the time. */
  async #showWakees(element, thread, { from, to }, signal) {
    if (!thread) return;
    const spans = await this.app.facts.spans({ family: 'blocked', filter: `waker_tid == ${thread.tid}`, begin: from, end: to, limit: OTHERS }, signal);
    if (!signal.aborted) this.#list(element, 'It wakes', spans.map((span) => this.#spanRow(span, `${span.comm ?? '?'} (${span.tid})`)));
  }

  /** Shows which other threads the CPU runs in the time. */
  async #showOthers(element, thread, cpu, { from, to }, signal) {
    if (cpu === null || cpu === undefined || to <= from) return;
    const spans = await this.app.facts.spans({ family: 'run', filter: `cpu == ${cpu}`, begin: from, end: to, limit: 2000 }, signal);
    if (signal.aborted) return;
    const times = new Map();
    for (const span of spans) {
      if (Number(span.tid) === 0 || String(span.tid) === thread?.tid) continue;
      const [begin, end] = [span.from > from ? span.from : from, span.to === null || span.to > to ? to : span.to];
      const sum = times.get(span.tid) ?? { span, time: 0n };
      times.set(span.tid, { ...sum, time: sum.time + (end > begin ? end - begin : 0n) });
    }
    const rows = [...times.values()].sort((a, b) => (a.time < b.time ? 1 : -1)).slice(0, OTHERS);
    this.#list(element, `Others on CPU ${cpu} meanwhile`, rows.map(({ span, time }) => el('li', {}, this.#threadLink({ tid: span.tid, label: span.comm }), el('span', { class: 'quiet', text: formatDuration(time) }))));
  }

  async #showLongest(element, span, signal) {
    if (!span?.name) return;
    const { window } = this.app.shared;
    const spans = await this.app.facts.spans({ family: span.family, filter: sameName(span), begin: window.from, end: window.to, sort: 'duration', limit: LONGEST }, signal);
    if (!signal.aborted) this.list(element, `Longest ${span.name} in view`, spans);
  }
}
