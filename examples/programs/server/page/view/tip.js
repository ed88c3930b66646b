// What lies under the pointer.

import { el, setText } from './dom.js';
import { formatDuration, formatTime } from '../model/time.js';

/** A small box beside the pointer. It repeats what the status tells for the selected row. */
export class Tip {
  constructor(app) {
    this.app = app;
    this.name = el('b');
    this.state = el('div');
    this.time = el('div', { class: 'quiet' });
    this.element = el('div', { class: 'tip', 'aria-hidden': 'true', hidden: true }, this.name, this.state, this.time);
  }

  show(canvas, at, { name, state, time }) {
    setText(this.name, name);
    setText(this.state, state ? `${state.look.name}${state.label && state.label !== state.look.name ? ` · ${state.label}` : ''} · ${formatDuration(state.end - state.start)}` : 'nothing known here');
    const { notation, shared } = this.app;
    setText(this.time, formatTime(time, { notation, begin: shared.span.from }));
    const box = canvas.getBoundingClientRect();
    this.element.hidden = false;
    const { offsetWidth, offsetHeight } = this.element;
    const x = Math.min(box.left + at.x + 14, window.innerWidth - offsetWidth - 4);
    const below = box.top + at.y + 18;
    const y = below + offsetHeight > window.innerHeight ? box.top + at.y - offsetHeight - 8 : below;
    this.element.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }

  hide() {
    this.element.hidden = true;
  }
}
