// A chart of states as a picture of vectors.

import { firstAfter } from './states.js';

/** The width of a letter, in pixels, and the place of the text in a row. */
const LETTER = 6.4, BASELINE = 0.68;
/** States of at least this height are activity, as in `drawColumns`. */
const ACTIVE = 0.7;

/** Returns a text with the letters of markup escaped; what XML has no place for is left out. */
export function escaped(text) {
  const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  const isAllowed = (letter) => letter >= ' ' || letter === '\t';
  return [...text].filter(isAllowed).map((letter) => names[letter] ?? letter).join('');
}

const round = (value) => Math.round(value * 100) / 100;

function rect(x, y, width, height, fill, title = '') {
  const inner = title === '' ? '/>' : `><title>${escaped(title)}</title></rect>`;
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(width, 0.1))}" height="${round(height)}" fill="${fill}"${inner}`;
}

/**
 * Returns the text of a picture.
 * @param {object} what `rows`: `{name, index, depth}` for each row, whose index in the states is -1 if nothing is known of
 *   it; `states` as `packStates` returns them, and `step`; `looks`; `offset` and `perColumn` as in `drawStates`; `width` of
 *   the chart and `labels` in pixels; `row`, the height of a row; `title`; `ticks` `{x, text}`; `colors` `{text, plot, grid}`
 */
export function statesSvg({ rows, states, step, looks, offset, perColumn, width, labels, row, title, ticks, colors }) {
  const head = row * 2;
  const height = head + rows.length * row + 4;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${labels + width}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<title>${escaped(title)}</title>`, rect(0, 0, labels + width, height, colors.plot),
    `<text x="4" y="${round(row * BASELINE)}" fill="${colors.text}" font-weight="bold">${escaped(title)}</text>`,
  ];
  for (const { x, text } of ticks) {
    parts.push(`<text x="${round(labels + x + 3)}" y="${round(row * (1 + BASELINE))}" fill="${colors.text}">${escaped(text)}</text>`);
    parts.push(rect(labels + x, row, 1, height - row, colors.grid));
  }
  const x = (time) => Math.min(Math.max((time - offset) / perColumn, 0), width);
  rows.forEach(({ name, index, depth }, at) => {
    const top = head + at * row;
    const room = Math.floor((labels - 8 - depth * 10) / LETTER);
    const shown = name.length > room ? `${name.slice(0, room - 1)}…` : name;
    parts.push(`<text x="${4 + depth * 10}" y="${round(top + row * BASELINE)}" fill="${colors.text}">${escaped(shown)}</text>`);
    if (index < 0) return;
    const box = (from, to, look, share = 1, shift = 0, label = '') => {
      const high = (row - 2) * look.height * share;
      const y = look.height < ACTIVE ? top + 1 + (row - 2 - high) / 2 : top + row - 1 - high - shift;
      parts.push(rect(labels + from, y, to - from, high, look.css, label));
      return high;
    };
    const { firsts, ends, starts, styleOf, labelOf, columns, columnFirsts, shareFirsts, shareStyles, shareTimes } = states;
    for (let state = firstAfter(ends, firsts[index], firsts[index + 1], offset); state < firsts[index + 1]; state += 1) {
      const [from, to] = [x(starts[state]), x(ends[state])];
      if (from >= width) break;
      const look = looks[styleOf[state]];
      if (look) box(from, to, look, 1, 0, states.labels[labelOf[state]] || look.name);
    }
    for (let column = columnFirsts[index]; column < columnFirsts[index + 1]; column += 1) {
      const [from, to] = [x(columns[column] * step), x((columns[column] + 1) * step)];
      if (to <= 0 || from >= width) continue;
      parts.push(rect(labels + from, top + 1, to - from, row - 2, colors.plot));
      let shift = 0;
      for (let share = shareFirsts[column]; share < shareFirsts[column + 1]; share += 1) {
        const look = looks[shareStyles[share]];
        if (look && look.height < ACTIVE) box(from, to, look);
      }
      for (let share = shareFirsts[column]; share < shareFirsts[column + 1]; share += 1) {
        const look = looks[shareStyles[share]];
        if (look && look.height >= ACTIVE) shift += box(from, to, look, shareTimes[share] / step, shift);
      }
    }
  });
  return `${parts.join('\n')}\n</svg>\n`;
}
