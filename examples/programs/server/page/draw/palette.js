// The looks of states: the styles of the server, adapted to the theme.

import { mix, parseColor, readableOn, toCss, toPixel, withContrast } from './colors.js';
import { patternOf, signOf } from './signs.js';

/** The contrast of all states with the background, which is that of WCAG AA for graphics. */
const CONTRAST = 3;

/** How states without activity look: not like something that happens. */
const QUIET = { idle: { height: 0.12, share: 0.45 }, unknown: { height: 0.3, share: 0.6, isHatched: true } };
const HATCH = Uint8Array.of(0x11, 0x22, 0x44, 0x88, 0x11, 0x22, 0x44, 0x88);

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
      look = this.#create(this.#valuesOf(style), style.thread);
      this.#looks.set(key, look);
    }
    return look;
  }

  #create(values, thread = null) {
    const name = String(values['style-name']);
    const quiet = QUIET[name];
    const height = quiet?.height ?? Math.min(Math.max(Number(values.height ?? 1), 0), 1);
    const own = parseColor(values['background-color'] ?? values.color) ?? colorOfText(name);
    const given = thread === null ? own : colorOfThread(thread);
    const { background } = this.theme;
    const faded = quiet ? mix(withContrast(given, background, CONTRAST), background, quiet.share) : given;
    const color = withContrast(faded, background, CONTRAST);
    const dimmed = mix(color, background, 0.75);
    return {
      name,
      thread,
      height,
      isHatched: quiet?.isHatched ?? false,
      color,
      css: toCss(color),
      pixel: toPixel(color),
      dimmedPixel: toPixel(dimmed),
      dimmedCss: toCss(dimmed),
      text: toCss(readableOn(color)),
      backdrop: this.theme.plot,
      sign: signOf(name),
      pattern: quiet?.isHatched ? HATCH : patternOf(name),
    };
  }
}

/** Colours that differ in lightness as well as in hue, so that they are told apart without seeing red or green. */
const OF_THREADS = [
  '#56b4e9', '#e69f00', '#009e73', '#f0e442', '#cc79a7', '#d55e00', '#88ccee', '#44aa99', '#999933', '#ddcc77', '#cc6677', '#aa4499', '#bbccee', '#0072b2',
  '#b8de6f', '#ffaabb',
].map(parseColor);

/** Returns the colour of a thread, always the same. */
export function colorOfThread(thread) {
  let hash = 7;
  for (let i = 0; i < thread.length; i += 1) hash = (Math.imul(hash, 31) + thread.charCodeAt(i)) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  return OF_THREADS[((hash ^ (hash >>> 12)) >>> 0) % OF_THREADS.length];
}

/** Returns a colour for a text, always the same. */
export function colorOfText(text) {
  let hash = 0;
  for (let i = 0; i < text.length; i += 1) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  const hue = hash % 360;
  const part = (shift) => Math.round(255 * (0.6 - 0.3 * Math.cos(((hue + shift) * Math.PI) / 180)));
  return { red: part(0), green: part(120), blue: part(240) };
}
