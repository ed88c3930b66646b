// The row of times above the charts.

import { Chart } from './chart.js';
import { drawAxis, drawSelection } from '../draw/marks.js';
import { NOTATION_LABELS } from '../model/time.js';
import { button, el, setText } from './dom.js';

/** The time axis. */
export class Axis {
  constructor(app) {
    const { shared, theme } = app;
    this.chart = new Chart(app, {
      label: 'Time axis of the window',
      draw: (context, scale, { height }) => {
        drawAxis(context, shared, scale, theme, height, app.notation);
        drawSelection(context, shared, scale, theme, height);
      },
      onPoint: ({ time }) => shared.setTime(time),
    });
    this.button = button('', 'Notation of times (T)', () => app.nextNotation());
    this.chart.labels.append(this.button);
    this.element = el('section', { class: 'axis', 'aria-label': 'Time axis' }, this.chart.element);
    const name = () => {
      setText(this.button, `Time: ${NOTATION_LABELS[app.notation]}`);
      this.button.setAttribute('aria-label', `Time: ${NOTATION_LABELS[app.notation]}. Change the notation`);
      this.chart.redraw();
    };
    app.addEventListener('notation', name);
    name();
    shared.on(['window', 'time', 'range', 'span'], this.chart.redraw);
    theme.addEventListener('change', this.chart.redraw);
  }
}
