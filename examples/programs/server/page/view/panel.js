// The frame of a view: heading, tools, what is going on, and showing or hiding it.

import { followHeight } from './height.js';
import { button, el, setText } from './dom.js';
import { readSetting, writeSetting } from '../draw/theme.js';

/**
 * A view with a heading. Its content goes into `body`, tools into `tools`. The heading of a compact one
 * is among the labels of its chart. It emits `change` when it is shown or hidden, or has something to show.
 */
export class Panel extends EventTarget {
  /**
   * @param {object} options `id`; `key`, which shows or hides it; `title`; `isCompact`; `isShownAtFirst`,
   *   unless the user has chosen otherwise; `onChange(isShown)`
   */
  constructor({ id, key, title, isCompact = false, isShownAtFirst = true, onChange = () => {} }) {
    super();
    this.id = id;
    this.shortcut = key;
    this.isShownAtFirst = isShownAtFirst;
    this.title = title;
    this.onChange = onChange;
    this.heading = el('h2', { id: `${id}-title`, text: title });
    this.note = el('span', { class: 'note', role: 'status' });
    this.tools = el('div', { class: 'tools' });
    this.toggle = button('×', `Hide ${title}`, () => this.show(!this.isShown), { 'aria-expanded': 'true', 'aria-controls': `${id}-body`, class: 'fold', title: `Hide ${title} (${key})` });
    this.body = el('div', { class: 'body', id: `${id}-body` });
    this.element = el('section', { class: isCompact ? 'panel is-compact' : 'panel', id, 'aria-labelledby': `${id}-title` },
      el('header', {}, this.toggle, this.heading, this.note, this.tools), this.body);
    followHeight(this.element, id);
    const isHidden = readSetting(`lttv-hidden-${id}`);
    if (isHidden === null ? !isShownAtFirst : isHidden === 'true') this.#set(false);
  }

  /** Returns `true` if the traces have nothing for this view. */
  get isEmpty() {
    return this.element.classList.contains('is-empty');
  }

  /** Tells that the traces have nothing for this view. */
  setEmpty() {
    this.element.classList.add('is-empty');
    this.dispatchEvent(new Event('change'));
  }

  get isShown() {
    return !this.element.classList.contains('is-hidden');
  }

  /** Shows or hides the view. That stays so in the browser, unless it is only `forNow`. */
  show(isShown, { forNow = false } = {}) {
    this.#set(isShown);
    if (!forNow) writeSetting(`lttv-hidden-${this.id}`, String(!isShown));
    this.onChange(isShown);
    this.dispatchEvent(new Event('change'));
  }

  #set(isShown) {
    this.element.classList.toggle('is-hidden', !isShown);
    this.toggle.setAttribute('aria-expanded', String(isShown));
  }

  /** Says something in the heading, such as a number of rows. */
  say(text) {
    this.note.classList.remove('is-error');
    setText(this.note, text);
  }

  /** Shows the error of a request, or with null takes it away. */
  report(error) {
    if (error) {
      setText(this.note, error.message);
      this.note.classList.add('is-error');
    } else if (this.note.classList.contains('is-error')) {
      this.say('');
    }
  }
}
