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
    this.together = button('Open together', 'Open the marked traces on one axis of time', () => this.#choose(this.#marked()), { disabled: true });
    this.element = el('dialog', { id: 'chooser', 'aria-labelledby': 'chooser-title' },
      el('header', {}, el('h2', { id: 'chooser-title', text: 'Open traces' }), button('×', 'Close', () => this.element.close())),
      el('div', { class: 'actions' }, this.filter, this.together), this.list);
    this.button = button('Open…', 'Open other traces of the server', () => this.show(), { hidden: true });
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
    return el('section', {},
      el('h3', {}, button(traces.length > 1 ? `${traces.length} traces` : traces[0].name, `Open ${names}`, () => this.#choose(traces), { class: 'link' }), el('span', { class: 'quiet', text: `  ${when}` })),
      el('ul', {}, ...traces.map((trace) => el('li', {}, el('label', {}, el('input', { type: 'checkbox', value: trace.UUID }), ` ${trace.name} `, el('span', { class: 'quiet', text: this.#kind(trace) }))))));
  }

  #kind({ properties = {}, nbEvents }) {
    const parts = [properties.domain, properties.hostname, properties.tracer_name, Number(nbEvents) > 0 ? `${Number(nbEvents).toLocaleString('en')} events` : ''];
    return parts.filter(Boolean).join(', ');
  }
}
