// The number of durations by their length, in the window or in the whole trace.

import { WindowLoader } from '../data/window_loader.js';
import { formatDuration } from '../model/time.js';
import { el } from './dom.js';

const big = (value) => BigInt(value);

/** The table of the distribution of one analysis, in which bars show the numbers. */
export class Distribution {
  #output = null;
  #items = null;

  /**
   * @param {object} app what all views share
   * @param {object} options `isWanted()`, whether the table is shown; `report(error)`; `say(text)`
   */
  constructor(app, { isWanted, report, say }) {
    this.app = app;
    this.table = el('table', {});
    this.element = el('div', { class: 'distribution', tabindex: '0', role: 'group', 'aria-label': 'Number of durations by their length' }, this.table);
    this.loader = new WindowLoader(app.shared, {
      report,
      isWanted: () => this.#output !== null && isWanted(),
      fetch: (window, signal) => this.#fetch(window, signal),
      accept: ({ model, status }) => {
        if (model?.series) this.#show(model.series);
        say(status === 'RUNNING' ? 'reading…' : `of the ${this.loader.isOfWindow ? 'window' : 'whole trace'}`);
      },
    });
  }

  /** Shows another output. */
  start(output) {
    if (output !== this.#output) this.#items = null;
    this.#output = output;
    this.load();
  }

  load() {
    this.loader.load();
  }

  async #fetch(window, signal) {
    const { experiment, shared } = this.app;
    const output = this.#output;
    if (this.#items === null) {
      const answer = await experiment.tree('genericXY', output, null, signal);
      if (!answer.model) return answer;
      this.#items = answer.model.entries.filter((entry) => entry.hasData).map((entry) => entry.id);
    }
    return experiment.bars(output, window ?? shared.span, this.#items, signal);
  }

  #show(series) {
    const ranges = series[0]?.xRanges ?? [];
    const most = Math.max(1, ...series.flatMap(({ yValues }) => yValues.map(Number)));
    const heads = ['Duration', ...series.map(({ seriesName }) => seriesName)];
    this.table.replaceChildren(
      el('thead', {}, el('tr', {}, ...heads.map((text) => el('th', { scope: 'col', text })))),
      el('tbody', {}, ...ranges.map(({ start, end }, at) => el('tr', {},
        el('th', { scope: 'row', text: `${formatDuration(big(start))} – ${formatDuration(big(end))}` }),
        ...series.map(({ yValues }) => el('td', {}, bar(Number(yValues[at]) / most), el('span', { text: Number(yValues[at]).toLocaleString('en') })))))),
    );
  }

  /** Handles a key. Returns `true` if it has a meaning here. */
  key(key) {
    const steps = { ArrowUp: -20, ArrowDown: 20, k: -20, j: 20, PageUp: -this.element.clientHeight, PageDown: this.element.clientHeight };
    if (!(key in steps)) return false;
    this.element.scrollTop += steps[key];
    return true;
  }
}

/** Returns a bar of which the length is a share of the longest one. */
function bar(share) {
  const element = el('span', { class: 'bar', 'aria-hidden': 'true' });
  element.style.width = `${(share * 100).toFixed(1)}px`;
  return element;
}
