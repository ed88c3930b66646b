// The filter: a field with what can stand at the cursor, and with faults as they are found.

import { Loader } from '../data/loader.js';
import { button, el, setAttribute } from './dom.js';

/** How long the user must rest before a filter is checked, in ms. */
const REST = 60;

/** The field of the filter. */
export class FilterBar {
  #timer = 0;
  #candidates = [];
  #chosen = -1;
  #checked = { text: '', isValid: true };

  constructor(app) {
    this.app = app;
    const { shared } = app;
    this.input = el('input', {
      id: 'filter-input', type: 'text', role: 'combobox', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off',
      placeholder: 'Filter events, such as  sched_switch && next_tid == 212  (/)', 'aria-label': 'Filter of events',
      'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': 'filter-candidates', 'aria-describedby': 'filter-faults',
    });
    this.list = el('ul', { id: 'filter-candidates', role: 'listbox', 'aria-label': 'What can stand here', hidden: true });
    this.faults = el('div', { id: 'filter-faults', class: 'faults', role: 'status', 'aria-live': 'polite' });
    this.clear = button('×', 'Remove the filter', () => this.set(''), { class: 'clear', hidden: true });
    this.element = el('section', { class: 'filter', 'aria-label': 'Filter' },
      el('div', { class: 'field' }, this.input, this.clear, this.list), this.faults);
    this.loader = new Loader((error) => error && this.#say(error.message));
    this.input.addEventListener('input', () => this.#changed());
    this.input.addEventListener('keydown', (event) => this.#key(event));
    this.input.addEventListener('blur', () => this.#close());
    this.input.addEventListener('focus', () => this.#checkSoon());
    this.list.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      const option = event.target.closest('[role=option]');
      if (option) this.#insert(this.#candidates[Number(option.dataset.at)]);
    });
    shared.on(['filter'], () => this.#follow());
  }

  /** Sets and applies a filter. */
  set(text) {
    this.input.value = text;
    this.#close();
    this.#apply();
  }

  /** Takes over a filter that was set elsewhere, for example by a link. */
  #follow() {
    const { filter } = this.app.shared;
    this.element.classList.toggle('is-active', filter !== '');
    this.clear.hidden = filter === '' && this.input.value === '';
    if (this.input.value !== filter && document.activeElement !== this.input) this.input.value = filter;
  }

  #changed() {
    this.#chosen = -1;
    this.clear.hidden = this.input.value === '';
    this.#checkSoon();
  }

  #checkSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), REST);
  }

  /** Asks for faults and candidates; then calls `next` with whether the filter can be applied. */
  #check(next = null) {
    const { experiment } = this.app;
    if (!experiment) return;
    clearTimeout(this.#timer);
    const text = this.input.value;
    this.loader.load({
      fetch: (signal) => experiment.checkFilter(text, this.input.selectionStart ?? text.length, signal),
      accept: (answer) => {
        if (text !== this.input.value) return;
        const isBlank = text.trim() === '';
        this.#checked = { text, isValid: isBlank || answer.isValid };
        this.#showFaults(text, isBlank ? [] : answer.diagnostics, answer.isValid, next !== null);
        this.#showCandidates(next === null ? answer.candidates : []);
        next?.(this.#checked.isValid);
      },
    });
  }

  #apply() {
    this.#check((isValid) => {
      if (!isValid) return;
      this.app.shared.setFilter(this.input.value.trim());
      this.#follow();
    });
  }

  #say(text) {
    this.faults.replaceChildren(el('p', { class: 'fault', text }));
  }

  /**
   * Shows faults below the field. While the user types, faults at the end of the text are those of
   * a text that is not complete: they wait until it is applied.
   */
  #showFaults(text, diagnostics, isValid, isApplied) {
    const atEnd = text.trimEnd().length;
    const seen = isApplied || isValid ? diagnostics : diagnostics.filter((one) => one.from < atEnd && one.to < atEnd);
    setAttribute(this.input, 'aria-invalid', seen.length > 0 && !isValid ? 'true' : null);
    this.faults.replaceChildren(...seen.map((one) => this.#fault(text, one, isValid)));
  }

  #fault(text, { from, to, message, label, help, replacement }, isValid) {
    const shown = from < text.length
      ? el('code', {}, text.slice(Math.max(0, from - 24), from), el('mark', { text: text.slice(from, Math.max(to, from + 1)) }), text.slice(Math.max(to, from + 1), to + 24))
      : el('code', {}, text.slice(Math.max(0, from - 24)), el('mark', { text: '␣' }));
    const said = [message, label, help].filter((part) => part).join(' — ');
    const repair = replacement
      ? el('button', {
        type: 'button', class: 'repair', text: `Use ${replacement.text}`,
        on: { click: () => this.#repair(replacement) },
      })
      : null;
    return el('p', { class: isValid ? 'fault is-note' : 'fault' }, el('strong', { text: isValid ? 'note: ' : 'error: ' }), shown, el('span', { text: said }), repair);
  }

  #repair({ from, to, text }) {
    const { value } = this.input;
    this.input.value = value.slice(0, from) + text + value.slice(to);
    this.input.focus();
    this.input.setSelectionRange(from + text.length, from + text.length);
    this.#close();
    this.#apply();
  }

  #showCandidates(candidates) {
    this.#candidates = document.activeElement === this.input ? candidates.slice(0, 40) : [];
    this.#chosen = -1;
    const isOpen = this.#candidates.length > 0;
    this.list.hidden = !isOpen;
    this.input.setAttribute('aria-expanded', String(isOpen));
    this.list.replaceChildren(...this.#candidates.map((one, at) => el('li', {
      role: 'option', id: `filter-candidate-${at}`, 'data-at': String(at), 'aria-selected': 'false',
    }, el('span', { class: 'text', text: one.text }), el('span', { class: 'quiet', text: one.description }))));
    this.#choose(-1);
  }

  #choose(at) {
    this.#chosen = at;
    [...this.list.children].forEach((option, index) => {
      option.setAttribute('aria-selected', String(index === at));
      if (index === at) option.scrollIntoView({ block: 'nearest' });
    });
    setAttribute(this.input, 'aria-activedescendant', at >= 0 ? `filter-candidate-${at}` : null);
  }

  #insert({ from, to, text }) {
    const { value } = this.input;
    const space = /^[\s),]/.test(value.slice(to)) ? '' : ' ';
    this.input.value = value.slice(0, from) + text + space + value.slice(to);
    const at = from + text.length + space.length;
    this.input.setSelectionRange(at, at);
    this.#changed();
  }

  #close() {
    this.#showCandidates([]);
  }

  #key(event) {
    const count = this.#candidates.length;
    if (event.key === 'Tab' && count > 0 && !event.shiftKey) {
      this.#insert(this.#candidates[Math.max(this.#chosen, 0)]);
    } else if (event.key === 'ArrowDown' && count > 0) {
      this.#choose((this.#chosen + 1) % count);
    } else if (event.key === 'ArrowUp' && count > 0) {
      this.#choose(this.#chosen <= 0 ? count - 1 : this.#chosen - 1);
    } else if (event.key === 'Enter') {
      if (this.#chosen >= 0) this.#insert(this.#candidates[this.#chosen]);
      else this.#apply();
    } else if (event.key === 'Escape') {
      if (count > 0) this.#close();
      else {
        this.input.value = this.app.shared.filter;
        this.faults.replaceChildren();
        setAttribute(this.input, 'aria-invalid', null);
        this.app.focusViews();
      }
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
