// Latencies: of one analysis at a time, over time, as figures, or as a distribution.

import { Distribution } from './distribution.js';
import { Figures } from './figures.js';
import { Panel } from './panel.js';
import { Scatter } from './scatter.js';
import { button, el } from './dom.js';

const FORMS = { scatter: 'Over time', figures: 'Figures', distribution: 'Distribution' };

/** The view of latencies. */
export class Latencies {
  #analyses = [];
  #form = 'scatter';

  constructor(app) {
    this.app = app;
    this.panel = new Panel({ id: 'latencies', key: '9', title: 'Latencies', isShownAtFirst: false, onChange: (isShown) => isShown && this.#show() });
    const part = (form) => ({
      isWanted: () => this.panel.isShown && this.#form === form,
      report: (error) => this.panel.report(error),
      say: (text) => this.#form === form && this.panel.say(text),
    });
    this.parts = {
      scatter: new Scatter(app, part('scatter')),
      figures: new Figures(app, part('figures')),
      distribution: new Distribution(app, part('distribution')),
    };
    this.analysis = el('select', { 'aria-label': 'Latencies of' });
    this.analysis.addEventListener('change', () => this.#show());
    this.form = el('select', { 'aria-label': 'Form of latencies' }, ...Object.entries(FORMS).map(([value, text]) => el('option', { value, text })));
    this.form.addEventListener('change', () => this.#setForm(this.form.value));
    this.scope = button('Window', 'Latencies of the window, or of the whole trace (A)', () => this.toggleScope(), { 'aria-pressed': 'true' });
    this.panel.tools.append(this.analysis, this.form, this.scope);
    this.panel.body.append(...Object.values(this.parts).map(({ element }) => element));
    this.element = this.panel.element;
    this.#setForm(this.#form);
  }

  /** Shows analyses, as `latenciesOf` returns them. */
  start(analyses) {
    this.#analyses = analyses;
    this.analysis.replaceChildren(...analyses.map(({ id, name }) => el('option', { value: id, text: name })));
    this.#show();
  }

  #setForm(form) {
    this.#form = form;
    for (const [name, { element }] of Object.entries(this.parts)) element.hidden = name !== form;
    this.scope.hidden = form === 'scatter';
    this.#show();
  }

  #show() {
    const analysis = this.#analyses.find(({ id }) => id === this.analysis.value);
    if (analysis && this.panel.isShown) this.parts[this.#form].start(analysis[this.#form]);
  }

  toggleScope() {
    const { figures, distribution } = this.parts;
    for (const { loader } of [figures, distribution]) loader.toggleScope();
    this.scope.setAttribute('aria-pressed', String(figures.loader.isOfWindow));
  }

  /** Handles a key. Returns `true` if it has a meaning here. */
  key(key) {
    if (key === 'A' && this.#form !== 'scatter') {
      this.toggleScope();
      return true;
    }
    return this.parts[this.#form].key(key);
  }
}
