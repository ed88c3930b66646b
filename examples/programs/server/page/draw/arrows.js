// Arrows between rows of a chart of states.

/** With more arrows than one in so many pixels of width, only those of one row are drawn. */
const PIXELS_PER_ARROW = 5;
const HEAD = 5;

/**
 * Draws the arrows between rows that are seen. Where they would hide the states, only those of one
 * row are drawn.
 * @param {object} arrows the arrows as `packArrows` returns them
 * @param {Map<number, number>} middles the vertical middle of each row, by its entry
 * @param {(offset: number) => number} column the column of an offset
 * @param {object} options `width`, `height`; `selected`, the entry of the one row; `cssOf(style)`
 */
export function drawArrows(context, arrows, middles, column, { width, height, selected, cssOf }) {
  const seen = [];
  for (let at = 0; at < arrows.starts.length; at += 1) {
    const y0 = middles.get(arrows.sources[at]);
    const y1 = middles.get(arrows.targets[at]);
    if (y0 === undefined || y1 === undefined || (y0 < 0 && y1 < 0) || (y0 > height && y1 > height)) continue;
    const [x0, x1] = [column(arrows.starts[at]), column(arrows.ends[at])];
    if (x1 >= 0 && x0 <= width) seen.push({ at, x0, y0, x1, y1 });
  }
  const isDense = seen.length > width / PIXELS_PER_ARROW;
  const isDrawn = ({ at }) => !isDense || arrows.sources[at] === selected || arrows.targets[at] === selected;
  for (const arrow of seen.filter(isDrawn)) drawArrow(context, arrow, cssOf(arrows.styleOf[arrow.at]));
}

function drawArrow(context, { x0, y0, x1, y1 }, css) {
  context.strokeStyle = css;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < HEAD) return;
  const [dx, dy] = [((x1 - x0) / length) * HEAD, ((y1 - y0) / length) * HEAD];
  context.fillStyle = css;
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - dx - dy / 2, y1 - dy + dx / 2);
  context.lineTo(x1 - dx + dy / 2, y1 - dy - dx / 2);
  context.closePath();
  context.fill();
}
