// The picture of a chart of states: its rows of states, arrows, and the legend of what they mean.

import { Legend } from './legend.js';
import { drawArrows } from '../draw/arrows.js';
import { drawGrid, drawSelection } from '../draw/marks.js';
import { Palette } from '../draw/palette.js';
import { statesSvg } from '../draw/svg.js';
import { Tile } from '../draw/tile.js';
import { packStates } from '../data/pack.js';
import { Scale, ticks } from '../model/scale.js';
import { formatTime } from '../model/time.js';

/** Draws the states and arrows of one output. */
export class GraphPicture {
  #app;
  #data;
  #looks = [];
  #arrowColors = [];
  #palette;
  #tile = new Tile();

  /**
   * @param {object} app what all views share
   * @param {GraphData} data what is drawn
   * @param {string} meaning what heights and colours mean
   */
  constructor(app, data, meaning) {
    this.#app = app;
    this.#data = data;
    this.#palette = new Palette(app.theme);
    this.legend = new Legend(meaning);
    app.theme.addEventListener('change', () => {
      this.#palette.setTheme(app.theme);
      this.changed();
    });
    app.addEventListener('signs', () => {
      this.#tile.forget();
      this.legend.show(app.hasSigns);
    });
  }

  /** Sets the styles that the server has for the output. */
  setStyles(styles) {
    this.#palette.setStyles(styles);
    this.changed();
  }

  /** Tells that there are other states, arrows or colours. */
  changed() {
    const { states, arrows } = this.#data;
    this.#looks = (states?.styles ?? []).map((style) => this.#palette.look(style));
    this.#arrowColors = (arrows?.styles ?? []).map((style) => this.#palette.look(style)?.css ?? this.#app.theme.dim);
    this.legend.add(this.#looks, this.#app.hasSigns);
    this.#tile.forget();
  }

  /** Makes the next call draw the states again, for example since rows have moved. */
  forget() {
    this.#tile.forget();
  }

  /** Returns the look of a style of states; null for a gap. */
  look(style) {
    return this.#looks[style] ?? null;
  }

  /**
   * Draws the rows in view.
   * @param {CanvasRenderingContext2D} context in CSS pixels
   * @param {Scale} scale
   * @param {Surface} surface
   * @param {object} what `rows`, the rows; `view`, which of them are in view; `hasArrows`
   */
  draw(context, scale, surface, { rows, view, hasArrows }) {
    const { shared, theme, hasSigns } = this.#app;
    const { width, height } = surface;
    const at = rows.selectedAt;
    if (at >= 0) {
      context.fillStyle = theme.row;
      context.fillRect(0, view.y(at), width, view.height);
    }
    drawGrid(context, shared, scale, theme, height);
    const { states, arrows } = this.#data;
    if (states) {
      this.#tile.draw(context, {
        window: shared.window, surface, states, step: this.#data.step, looks: this.#looks, hasSigns, font: theme.font,
        key: `${view.top} ${view.height} ${rows.shown.length} ${rows.order}`,
        rows: () => view.bands(surface.ratio).map(({ row, ...band }) => ({ ...band, index: this.#data.placeOf(rows.shown[row].entry.id) })),
      });
    }
    if (arrows && hasArrows) this.#drawArrows(context, scale, surface, rows, view);
    drawSelection(context, shared, scale, theme, height);
    // Neither arrows nor the current time make labels illegible.
    if (states) this.#tile.drawLabels(context);
  }

  /** Returns a picture of rows as the text of an SVG; `rows`, `width`, `labels`, `row` and `title` as in `statesSvg`. */
  svg({ notation, ...what }) {
    const { shared, theme } = this.#app;
    const { states, step } = this.#data;
    const scale = new Scale(shared.window, what.width);
    const { times, digits } = ticks(shared.window, what.width, 110, shared.axisBase);
    return statesSvg({
      ...what, states: states ?? packStates(null, 0n), step, looks: this.#looks, offset: Number(shared.window.from - (states?.origin ?? 0n)),
      perColumn: scale.width / what.width,
      ticks: times.map((time) => ({ x: scale.x(time), text: formatTime(time, { notation, begin: shared.span.from, digits }) })),
      colors: { text: theme.text, plot: theme.plot, grid: theme.grid },
    });
  }

  #drawArrows(context, scale, { width, height }, rows, view) {
    const { arrows } = this.#data;
    const middles = new Map(rows.shown.map((row, at) => [row.entry.id, view.y(at + 0.5)]));
    const base = Number(arrows.origin - scale.from);
    const perNs = scale.pixels / scale.width;
    drawArrows(context, arrows, middles, (offset) => (offset + base) * perNs, {
      width, height, selected: rows.selected, cssOf: (style) => this.#arrowColors[style],
    });
  }
}
