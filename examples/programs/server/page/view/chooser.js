// The traces of the server, of which one or several are chosen.

import { overlapping } from '../model/overlap.js';
import { formatDuration, formatTime } from '../model/time.js';
import { button, el, setText } from './dom.js';

/** The dialog in which traces are chosen. */
export class Chooser {
  #onChoose = () => {};
  #traces = [];

  constructor(app) {
    this.app = app;
    this.filter = el('input', { type: 'search', placeholder: 'Find traces', 'aria-label': 'Find traces', spellcheck: 'false', autocomplete: 'off' });
    this.filter.addEventListener('input', () => this.#show());
    this.list = el('div', { class: 'sheet', tabindex: '0' });
    this.together = button('Open together', 'Open together the marked traces, on one axis of time', () => this.#choose(this.#marked()), { disabled: true });
    this.element = el('dialog', { id: 'chooser', 'aria-labelledby': 'chooser-title' },
      el('header', {}, el('h2', { id: 'chooser-title', text: 'Open traces' }), button('×', 'Close', () => this.element.close())),
      el('div', { class: 'actions' }, this.filter, this.together), this.list);
    this.button = button('Open…', 'Open… other traces of the server', () => this.show(), { hidden: true });
    this.list.addEventListener('change', () => {
      this.together.disabled = this.#marked().length === 0;
    });
  }

  /** Sets the traces to choose from. `onChoose` receives those that are to be shown together. */
  set(traces, onChoose) {
    this.#traces = traces;
    this.#onChoose = onChoose;
    this.button.hidden = traces.length < 2;
    this.#show();
  }

  show() {
    if (!this.element.open) this.element.showModal();
  }

  #marked() {
    const marked = new Set([...this.list.querySelectorAll('input:checked')].map(({ value }) => value));
    return this.#traces.filter(({ UUID }) => marked.has(UUID));
  }

  async #choose(traces) {
    try {
      await this.#onChoose(traces);
    } catch (error) {
      this.app.say(error.message);
      setText(this.together, 'Open together');
    }
  }

  #show() {
    const text = this.filter.value.trim().toLowerCase();
    const shown = this.#traces.filter(({ name, path }) => `${name} ${path}`.toLowerCase().includes(text));
    this.list.replaceChildren(...overlapping(shown).map((group) => this.#group(group)));
    this.together.disabled = true;
  }

  /** Returns the traces that were recorded at the same time, which are opened together. */
  #group(traces) {
    const [from, to] = [traces[0].start, traces.reduce((last, { end }) => (BigInt(end) > last ? BigInt(end) : last), 0n)].map(BigInt);
    const when = `${formatTime(from, { notation: 'date', digits: 3 })}, ${formatDuration(to - from)}`;
    const names = traces.map(({ name }) => name).join(', ');
    const mark = (trace) => el('input', { type: 'checkbox', value: trace.UUID, 'aria-label': `Mark ${trace.name}` });
    const isOne = traces.length === 1;
    const title = button(isOne ? traces[0].name : `${traces.length} traces`, `${isOne ? traces[0].name : `${traces.length} traces`}: open ${names}`, () => this.#choose(traces), { class: 'link' });
    const quiet = (text) => el('span', { class: 'quiet', text });
    if (isOne) return el('section', { class: 'line-of' }, mark(traces[0]), title, quiet(when), quiet(this.#kind(traces[0])));
    return el('section', {}, el('div', { class: 'line-of' }, title, quiet(when)),
      el('ul', {}, ...traces.map((trace) => el('li', { class: 'line-of' }, mark(trace), el('span', { text: trace.name }), quiet(this.#kind(trace))))));
  }

  #kind({ properties = {}, nbEvents }) {
    const parts = [properties.domain, properties.hostname, properties.tracer_name, Number(nbEvents) > 0 ? `${Number(nbEvents).toLocaleString('en')} events` : ''];
    return parts.filter(Boolean).join(', ');
  }
}
