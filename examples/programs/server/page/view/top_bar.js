// The first line: which traces are shown, and buttons for what the most used keys do.

import { button, el, setText } from './dom.js';

/** The first line. */
export class TopBar {
  constructor(app) {
    const { shared } = app;
    this.experiments = el('select', { 'aria-label': 'Experiment', hidden: true });
    this.name = el('span', { class: 'experiment' });
    this.progress = el('span', { class: 'note', role: 'status' });
    const signs = button('Signs', 'Signs and patterns as well as colours (!)', () => app.toggleSigns(), { 'aria-pressed': String(app.hasSigns) });
    app.addEventListener('signs', () => signs.setAttribute('aria-pressed', String(app.hasSigns)));
    this.element = el('header', { class: 'top' },
      el('h1', { text: 'LTTV' }), this.name, this.experiments, app.chooser.button, this.progress, app.faults.button,
      el('div', { class: 'tools', role: 'toolbar', 'aria-label': 'Window and appearance' },
        button('↶', 'The window before (u)', () => shared.back()),
        button('↷', 'The window after it (U)', () => shared.back(true)),
        button('−', 'Zoom out (s)', () => shared.zoom(2)),
        button('+', 'Zoom in (w)', () => shared.zoom(0.5)),
        button('All', 'Show all (0)', () => shared.showAll()),
        button('Go to', 'Go to a time (g)', () => app.goTo.show()),
        signs,
        button('◐', 'Dark or light (D)', () => app.theme.toggle()),
        button('?', 'Keys and mouse (?)', () => app.help.show())));
  }

  /** Shows the experiments to choose from. `onChoose` receives the id of another one. */
  setExperiments(experiments, current, onChoose) {
    setText(this.name, current.name);
    this.experiments.hidden = experiments.length < 2;
    this.name.hidden = experiments.length >= 2;
    this.experiments.replaceChildren(...experiments.map(({ UUID, name }) => el('option', { value: UUID, text: name })));
    this.experiments.value = current.UUID;
    this.experiments.onchange = () => onChoose(this.experiments.value);
  }
}
