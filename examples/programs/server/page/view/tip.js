// What lies under the pointer.

import { el, setText } from './dom.js';
import { formatDuration, formatTime } from '../model/time.js';
import { spanWords, stateWords, wakerWords } from '../model/words.js';

/** How long the pointer must rest before facts are asked for, in ms. */
const REST = 200;

/** A small box beside the pointer. It repeats what the status tells for the selected row. */
export class Tip {
  #timer = 0;
  #controller = new AbortController();

  constructor(app) {
    this.app = app;
    this.name = el('b');
    this.state = el('div');
    this.more = el('div', { class: 'more' });
    this.time = el('div', { class: 'quiet' });
    this.element = el('div', { class: 'tip', 'aria-hidden': 'true', hidden: true }, this.name, this.state, this.more, this.time);
  }

  /**
   * Shows a box.
   * @param {object} what `name`; `state`, if one is known; `shares`, those of the column if it has several; `time`;
   *   `facts(signal)`, which asks for more once the pointer rests
   */
  show(canvas, at, { name, state, shares, time, facts = null }) {
    this.#forget();
    setText(this.name, name);
    setText(this.state, this.#words(state, shares));
    setText(this.more, '');
    const { notation, shared } = this.app;
    setText(this.time, formatTime(time, { notation, begin: shared.span.from }));
    this.element.hidden = false;
    this.#place(canvas, at);
    if (!facts) return;
    this.#timer = setTimeout(async () => {
      const { signal } = this.#controller;
      try {
        const known = await facts(signal);
        if (signal.aborted || !known) return;
        this.#tell(known);
        this.#place(canvas, at);
      } catch {
        // The box then stays as it is.
      }
    }, REST);
  }

  #words(state, shares) {
    if (shares) {
      const parts = shares.filter(({ look }) => look).map(({ look, share }) => `${look.thread ?? look.name} ${share < 0.01 ? '<1' : Math.round(share * 100)} %`);
      return parts.slice(0, 6).join(' · ') || 'nothing known here';
    }
    return state ? `${stateWords(state.look.name, state.label)} · ${formatDuration(state.end - state.start)}` : 'nothing known here';
  }

  /** Tells the exact state with its system call, waker and CPU. */
  #tell({ state, name, start, end, thread, cpu, spans }) {
    setText(this.state, `${stateWords(state, name)} · ${formatDuration(end - start)}${cpu === null ? '' : ` · CPU ${cpu}`}`);
    const lines = spans.filter(({ family }) => ['syscall', 'irq', 'softirq', 'disk'].includes(family)).map((span) => `${spanWords(span)}${span.to === null ? '' : `  <${formatDuration(span.to - span.from)}>`}`);
    const woken = spans.find(({ waker }) => waker);
    if (woken) lines.push(`woken by ${wakerWords(woken.waker)}`);
    if (state === 'busy' && thread) lines.unshift(`${thread.label} (${thread.tid})`);
    setText(this.more, lines.join('\n'));
  }

  #place(canvas, at) {
    const box = canvas.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.element;
    const x = Math.min(box.left + at.x + 14, window.innerWidth - offsetWidth - 4);
    const below = box.top + at.y + 18;
    const y = below + offsetHeight > window.innerHeight ? box.top + at.y - offsetHeight - 8 : below;
    this.element.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }

  #forget() {
    clearTimeout(this.#timer);
    this.#controller.abort();
    this.#controller = new AbortController();
  }

  hide() {
    this.#forget();
    this.element.hidden = true;
  }
}
