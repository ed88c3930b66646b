// Rows of states as pixels. Plain loops over typed arrays: this is what has to fit into a frame.

/** Returns the first state of a range of sorted, disjoint states that ends after an offset. */
export function firstAfter(ends, low, high, offset) {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (ends[middle] <= offset) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Fills a rectangle of an image.
 * @param {Uint32Array} pixels the image, of `width` columns
 */
export function fill(pixels, width, x0, x1, y0, y1, pixel) {
  for (let y = y0; y < y1; y += 1) {
    const end = y * width + x1;
    for (let i = y * width + x0; i < end; i += 1) pixels[i] = pixel;
  }
}

/** Fills a rectangle with a pattern of two colours. */
function fillPattern(pixels, width, x0, x1, y0, y1, pixel, gap, pattern) {
  for (let y = y0; y < y1; y += 1) {
    const bits = pattern[y & 7];
    const line = y * width;
    for (let x = x0; x < x1; x += 1) pixels[line + x] = (bits >> (x & 7)) & 1 ? pixel : gap;
  }
}

/**
 * Draws rows of states.
 * @param {object} image `{pixels, width, height}`
 * @param {object} states the states as `packStates` returns them
 * @param {Array<{top: number, bottom: number, index: number}>} rows where each row is drawn, and its
 *   index in the states; -1 if nothing is known of it
 * @param {object} scale `{offset, perColumn}`: the offset of the first column from the origin of the
 *   states, and the nanoseconds of one column
 * @param {Array} looks the look of each style
 * @param {object} options `hasPatterns`; `gap` is the pixel between the marks of a pattern
 */
export function drawStates(image, states, rows, scale, looks, { hasPatterns, gap }) {
  const { pixels, width } = image;
  const { firsts, starts, ends, styleOf, tags } = states;
  const perNs = 1 / scale.perColumn;
  const last = scale.offset + width * scale.perColumn;
  for (const { top, bottom, index } of rows) {
    if (index < 0) continue;
    const end = firsts[index + 1];
    const height = bottom - top;
    let drawn = 0;
    for (let at = firstAfter(ends, firsts[index], end, scale.offset); at < end; at += 1) {
      const start = starts[at];
      if (start >= last) break;
      const look = looks[styleOf[at]];
      if (!look || (tags[at] & 4) !== 0) continue;
      let x0 = Math.floor((start - scale.offset) * perNs);
      let x1 = Math.floor((ends[at] - scale.offset) * perNs);
      if (x0 < 0) x0 = 0;
      if (x1 > width) x1 = width;
      // A state of less than a column is seen, unless another one is already.
      if (x1 <= x0) x1 = x0 + 1;
      if (x1 <= drawn || x0 >= width) continue;
      drawn = x1;
      const lines = Math.max(1, Math.round(height * look.height));
      const y0 = top + ((height - lines) >> 1);
      const pixel = (tags[at] & 1) !== 0 ? look.dimmedPixel : look.pixel;
      if ((hasPatterns && lines > 2) || look.isHatched) {
        fillPattern(pixels, width, x0, x1, y0, y0 + lines, pixel, gap, look.pattern);
      } else {
        fill(pixels, width, x0, x1, y0, y0 + lines, pixel);
      }
    }
  }
}

/** States of at least this height are activity: they are stacked in columns with several states. */
const ACTIVE = 0.7;

/**
 * Draws the columns in which there are several states: what is active as heights by its share, from the bottom,
 * each at least one pixel, and what waits as a thin line behind it.
 * @param {object} image `{pixels, width, height}`
 * @param {object} states the states as `packStates` returns them
 * @param {Array<{top: number, bottom: number, index: number}>} rows as in `drawStates`
 * @param {object} scale as in `drawStates`, with `step`, the nanoseconds of a column of the answer
 * @param {Array} looks the look of each style
 */
export function drawColumns(image, states, rows, scale, looks) {
  const { pixels, width } = image;
  const { columnFirsts, columns, shareFirsts, shareStyles, shareTimes } = states;
  const { step, offset } = scale;
  const perNs = 1 / scale.perColumn;
  const heights = Float64Array.from(looks, (look) => look?.height ?? 0);
  const inks = Uint32Array.from(looks, (look) => look?.pixel ?? 0);
  for (const { top, bottom, index } of rows) {
    if (index < 0) continue;
    const height = bottom - top;
    const end = columnFirsts[index + 1];
    for (let at = columnFirsts[index]; at < end; at += 1) {
      const start = columns[at] * step - offset;
      let x0 = Math.round(start * perNs);
      let x1 = Math.round((start + step) * perNs);
      if (x1 <= x0) x1 = x0 + 1;
      if (x0 < 0) x0 = 0;
      if (x1 > width) x1 = width;
      if (x0 >= x1) continue;
      const first = shareFirsts[at];
      const last = shareFirsts[at + 1];
      let thin = -1;
      for (let share = first; share < last; share += 1) {
        if (heights[shareStyles[share]] < ACTIVE && (thin < 0 || shareTimes[share] > shareTimes[thin])) thin = share;
      }
      fill(pixels, width, x0, x1, top, bottom, 0);
      if (thin >= 0 && inks[shareStyles[thin]] !== 0) {
        const lines = Math.max(1, Math.round(height * heights[shareStyles[thin]]));
        const y0 = top + ((height - lines) >> 1);
        fill(pixels, width, x0, x1, y0, y0 + lines, inks[shareStyles[thin]]);
      }
      let y = bottom;
      for (let share = first; share < last && y > top; share += 1) {
        const style = shareStyles[share];
        if (heights[style] < ACTIVE) continue;
        let lines = Math.round((height * shareTimes[share]) / step);
        if (lines < 1) lines = 1;
        if (lines > y - top) lines = y - top;
        fill(pixels, width, x0, x1, y - lines, y, inks[style]);
        y -= lines;
      }
    }
  }
}

/** The narrowest state, in pixels, that has a text in it. */
const ROOM = 14;

/**
 * Writes labels, or signs where there is no room for them, into states that are wide enough. Returns their
 * number. They cover what is drawn between states and labels.
 * @param {CanvasRenderingContext2D} context
 */
export function writeLabels(context, states, rows, scale, looks, { ratio, width, hasSigns, most = 1500 }) {
  const { firsts, starts, ends, styleOf, labelOf, labels, tags } = states;
  const room = ROOM * ratio;
  const letter = 6.2 * ratio;
  let count = 0;
  context.textBaseline = 'middle';
  for (const { top, bottom, index } of rows) {
    if (index < 0 || bottom - top < 11 * ratio) continue;
    const end = firsts[index + 1];
    for (let at = firstAfter(ends, firsts[index], end, scale.offset); at < end; at += 1) {
      const x0 = Math.max((starts[at] - scale.offset) / scale.perColumn, 0);
      if (x0 >= width) break;
      const x1 = Math.min((ends[at] - scale.offset) / scale.perColumn, width);
      if (x1 - x0 < room || (tags[at] & 4) !== 0) continue;
      const look = looks[styleOf[at]];
      if (!look) continue;
      const isThin = look.height < 0.7;
      if (isThin && (!hasSigns || x1 - x0 < 2 * room)) continue;
      let text = labels[labelOf[at]];
      const fits = Math.floor((x1 - x0 - 6 * ratio) / letter);
      if (hasSigns) text = text ? `${look.sign} ${text}` : look.sign;
      if (text.length > fits) text = fits >= 5 ? `${text.slice(0, fits - 1)}…` : hasSigns ? look.sign : '';
      if (text === '' || text === ' ') continue;
      const middle = (top + bottom) / 2;
      const isDimmed = (tags[at] & 1) !== 0 && !isThin;
      const wide = Math.min(context.measureText(text).width + 4 * ratio, x1 - x0 - ratio);
      context.fillStyle = isThin ? look.backdrop : isDimmed ? look.dimmedCss : look.css;
      context.fillRect(x0 + ratio, middle - 6 * ratio, wide, 12 * ratio);
      context.fillStyle = isThin ? look.css : look.text;
      context.fillText(text, x0 + 3 * ratio, middle + ratio * 0.5);
      count += 1;
      if (count >= most) return count;
    }
  }
  return count;
}
