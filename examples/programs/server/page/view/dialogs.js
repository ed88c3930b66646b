// The sheet of keys, and the prompt for a time.

import { KEYS, MOUSE } from '../input/keys.js';
import { parseRange, parseTime } from '../model/time.js';
import { button, el, setText } from './dom.js';

/** Returns a dialog with a heading and a button that closes it. */
function dialog(id, title, ...content) {
  const element = el('dialog', { id, 'aria-labelledby': `${id}-title` });
  element.append(
    el('header', {}, el('h2', { id: `${id}-title`, text: title }), button('×', 'Close', () => element.close())),
    ...content,
  );
  return element;
}

function table(caption, rows) {
  return el('table', {}, el('caption', { text: caption }),
    el('tbody', {}, ...rows.map(([keys, meaning]) => el('tr', {}, el('th', { scope: 'row' }, ...keys.split(' ').map((key) => el('kbd', { text: key }))), el('td', { text: meaning })))));
}

/** The sheet of all keys. */
export class Help {
  constructor() {
    this.element = dialog('help', 'Keys and mouse',
      el('div', { class: 'sheet', tabindex: '0' }, ...Object.entries(KEYS).map(([caption, rows]) => table(caption, rows)),
        el('table', {}, el('caption', { text: 'Mouse and touch' }),
          el('tbody', {}, ...MOUSE.map(([action, meaning]) => el('tr', {}, el('th', { scope: 'row', text: action }), el('td', { text: meaning })))))));
  }

  show() {
    if (!this.element.open) this.element.showModal();
  }
}

/** What could not be read, or only in part: errors, losses, clocks that go back. */
export class Faults {
  constructor() {
    this.list = el('ul', {});
    this.rest = el('p', { class: 'quiet' });
    this.element = dialog('faults', 'What reading the traces has met', el('div', { class: 'sheet', tabindex: '0' }, this.list, this.rest));
    this.button = button('', 'Errors and warnings of reading the traces', () => this.show(), { hidden: true, class: 'faults' });
  }

  /** Sets the faults of an experiment; servers other than that of LTTV tell none. */
  set({ errors = 0, warnings = 0, texts = [] } = {}) {
    const count = (number, of) => (Number(number) === 0 ? [] : [`${Number(number).toLocaleString('en')} ${of}${Number(number) === 1 ? '' : 's'}`]);
    const counts = [...count(errors, 'error'), ...count(warnings, 'warning')];
    if (counts.length === 0 && texts.length > 0) counts.push('losses');
    setText(this.button, `⚠ ${counts.join(', ')}`);
    this.button.hidden = counts.length === 0;
    this.button.classList.toggle('is-error', Number(errors) > 0);
    this.button.setAttribute('aria-label', `${counts.join(', ')} of reading the traces`);
    this.list.replaceChildren(...texts.map((text) => el('li', { text })));
    const rest = Number(errors) + Number(warnings) - texts.length;
    setText(this.rest, rest > 0 ? `and ${rest.toLocaleString('en')} more: \`lttv dump\` prints all` : '');
  }

  show() {
    if (!this.element.open) this.element.showModal();
  }
}

/** The prompt for a time or a range. */
export class GoTo {
  constructor(app) {
    this.app = app;
    this.input = el('input', { id: 'go-input', type: 'text', spellcheck: 'false', autocomplete: 'off', 'aria-describedby': 'go-fault go-hint' });
    this.fault = el('p', { id: 'go-fault', class: 'fault', role: 'alert' });
    this.element = dialog('go', 'Go to a time, or show a range',
      el('label', { for: 'go-input', text: 'Time or range' }), this.input, this.fault,
      el('p', { id: 'go-hint', class: 'quiet', text: 'Seconds 1795233416.4 · time of day 03:56:56.4 · date 2026-11-21 03:56:56.4 (each with Z for UTC) · +20ms from the first event · -1s before the last one · FROM..TO' }));
    this.input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      this.#go();
    });
  }

  show() {
    this.input.value = '';
    setText(this.fault, '');
    this.element.showModal();
    this.input.focus();
  }

  #go() {
    const { shared } = this.app;
    const text = this.input.value;
    const fail = (why) => {
      setText(this.fault, why);
      this.input.setAttribute('aria-invalid', 'true');
    };
    const { span } = shared;
    if (text.includes('..')) {
      const range = parseRange(text, span);
      if (!range) {
        fail('This is no range of times');
      } else if (range.to < span.from || range.from > span.to) {
        fail('The range lies outside of the trace');
      } else {
        this.element.close();
        shared.show(range);
      }
      return;
    }
    const time = parseTime(text, span);
    if (time === null) {
      fail('This is no time');
    } else if (time < span.from || time > span.to) {
      fail('The time lies outside of the trace');
    } else {
      this.element.close();
      shared.setTime(time, { reveal: true });
    }
  }
}
