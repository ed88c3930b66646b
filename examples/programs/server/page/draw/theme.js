// Dark and light: which is used, and the colours of canvases, which are those of the style sheet.

import { parseColor } from './colors.js';

const KEY = 'lttv-theme';

/** The theme that the user has chosen, or else that of the system. */
export class Theme extends EventTarget {
  #system = matchMedia('(prefers-color-scheme: light)');

  constructor() {
    super();
    this.#system.addEventListener('change', () => this.#apply());
    this.#apply();
  }

  get isLight() {
    const chosen = readSetting(KEY);
    return chosen ? chosen === 'light' : this.#system.matches;
  }

  /** Changes from dark to light, or back. */
  toggle() {
    writeSetting(KEY, this.isLight ? 'dark' : 'light');
    this.#apply();
  }

  #apply() {
    document.documentElement.dataset.theme = this.isLight ? 'light' : 'dark';
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(`--${name}`).trim();
    this.plot = get('plot');
    this.background = parseColor(this.plot);
    this.text = get('text');
    this.dim = get('dim');
    this.grid = get('grid');
    this.cursor = get('cursor');
    this.range = get('range');
    this.rangeEdge = get('range-edge');
    this.bar = get('bar');
    this.veil = get('veil');
    this.accent = get('accent');
    this.row = get('row');
    this.font = `11px ${get('sans')}`;
    this.dispatchEvent(new Event('change'));
  }
}

/** Returns a setting that the browser keeps; null if there is none, or it keeps none. */
export function readSetting(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a setting, if the browser does. */
export function writeSetting(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Settings are then those of this visit.
  }
}
