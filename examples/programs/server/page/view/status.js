// The last lines: window, current time, range, selected thread and its state in words, messages.

import { formatDuration, formatTime } from '../model/time.js';
import { el, setText } from './dom.js';

/** The status of what is shown. */
export class Status {
  constructor(app) {
    this.app = app;
    const value = (name) => {
      const text = el('b');
      const element = el('span', { class: 'value' }, `${name} `, text);
      return { element, set: (written) => { element.hidden = written === ''; setText(text, written); } };
    };
    this.values = { window: value('window'), width: value('width'), time: value('current'), range: value('range'), thread: value('thread') };
    this.state = el('div', { class: 'state', role: 'status', 'aria-live': 'polite' });
    this.message = el('div', { class: 'message', role: 'alert' });
    this.element = el('footer', { class: 'status' },
      el('div', { class: 'values' }, ...Object.values(this.values).map(({ element }) => element)), el('div', { class: 'words' }, this.state, this.message));
    app.shared.on(['window', 'time', 'range', 'thread', 'span'], () => app.frames.want(this.show));
    app.addEventListener('notation', this.show);
    app.addEventListener('states', () => app.frames.want(this.show));
  }

  show = () => {
    const { shared, notation } = this.app;
    const time = (at) => formatTime(at, { notation, begin: shared.span.from });
    const { window, range, thread } = shared;
    this.values.window.set(`${time(window.from)} – ${time(window.to)}`);
    this.values.width.set(formatDuration(window.to - window.from));
    this.values.time.set(time(shared.time));
    this.values.range.set(range ? formatDuration(range.to - range.from) : shared.mark !== null ? 'begins here' : '');
    this.values.thread.set(thread ? `${thread.label} (${thread.tid})` : '');
    setText(this.state, this.app.stateInWords());
  };

  /** Shows a message for some seconds. */
  say(text) {
    clearTimeout(this.timer);
    setText(this.message, text);
    this.timer = setTimeout(() => setText(this.message, ''), 8000);
  }
}
