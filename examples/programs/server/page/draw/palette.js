// The looks of states: the styles of the server, adapted to the theme.

import { mix, parseColor, readableOn, toCss, toPixel, withContrast } from './colors.js';
import { patternOf, signOf } from './signs.js';

/** States of at least this height are drawn so that they are seen well. */
const TALL = 0.7;
/** The contrasts with the background of tall states, and of the thin ones of waiting. */
const CONTRAST_TALL = 3, CONTRAST_THIN = 2.2;

/** The styles of one output. */
export class Palette {
  #styles = {};
  #looks = new Map();

  constructor(theme) {
    this.theme = theme;
  }

  /** Sets the styles that the server has for the output. */
  setStyles(styles) {
    this.#styles = styles ?? {};
    this.#looks.clear();
  }

  setTheme(theme) {
    this.theme = theme;
    this.#looks.clear();
  }

  /** Returns the values of a style with those of its parents. */
  #valuesOf(style) {
    const parents = [];
    const add = (keys, depth) => {
      if (!keys || depth > 8) return;
      for (const key of keys.split(',')) {
        const parent = this.#styles[key.trim()];
        if (!parent) continue;
        add(parent.parentKey, depth + 1);
        parents.push(parent.values ?? {});
      }
    };
    add(style.parentKey, 0);
    const key = style.parentKey ?? '';
    return { 'style-name': key, ...Object.assign({}, ...parents), ...style.values };
  }

  /**
   * Returns the look of a style: its name, colours, height of 0 to 1, sign and pattern; null for
   * a gap.
   */
  look(style) {
    if (!style) return null;
    const key = JSON.stringify(style);
    let look = this.#looks.get(key);
    if (look === undefined) {
      look = this.#create(this.#valuesOf(style));
      this.#looks.set(key, look);
    }
    return look;
  }

  #create(values) {
    const name = String(values['style-name']);
    const height = Math.min(Math.max(Number(values.height ?? 1), 0), 1);
    const given = parseColor(values['background-color'] ?? values.color) ?? colorOfText(name);
    const { background } = this.theme;
    const wanted = height >= TALL ? CONTRAST_TALL : CONTRAST_THIN;
    const color = withContrast(given, background, wanted);
    const dimmed = mix(color, background, 0.75);
    return {
      name,
      height,
      color,
      css: toCss(color),
      pixel: toPixel(color),
      dimmedPixel: toPixel(dimmed),
      dimmedCss: toCss(dimmed),
      text: toCss(readableOn(color)),
      backdrop: this.theme.plot,
      sign: signOf(name),
      pattern: patternOf(name),
    };
  }
}

/** Returns a colour for a text, always the same. */
export function colorOfText(text) {
  let hash = 0;
  for (let i = 0; i < text.length; i += 1) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  const hue = hash % 360;
  const part = (shift) => Math.round(255 * (0.6 - 0.3 * Math.cos(((hue + shift) * Math.PI) / 180)));
  return { red: part(0), green: part(120), blue: part(240) };
}
