// Bars of numbers over time, as in histograms, and lines, as in charts of usage.

/**
 * Draws one bar for each sample, as wide as the distance to the next.
 * @returns {number} the greatest value that is seen
 */
export function drawBars(context, series, column, { width, height, css, top = 0 }) {
  let most = 0;
  const total = sumOf(series);
  for (let i = 0; i < total.ys.length; i += 1) {
    const x = column(total.xs[i]);
    if (x >= -2 && x <= width) most = Math.max(most, total.ys[i]);
  }
  if (most === 0) return 0;
  context.fillStyle = css;
  const room = height - top;
  for (let i = 0; i < total.ys.length; i += 1) {
    if (total.ys[i] <= 0) continue;
    const x0 = column(total.xs[i]);
    const x1 = i + 1 < total.xs.length ? column(total.xs[i + 1]) : x0 + 1;
    if (x1 < 0 || x0 > width) continue;
    const high = Math.max((total.ys[i] / most) * room, 1);
    context.fillRect(x0, height - high, Math.max(x1 - x0, 1), high);
  }
  return most;
}

/** Returns the greatest value of a series; 0 if there is none. */
export function mostOf({ ys }) {
  return ys.reduce((most, value) => Math.max(most, value), 0);
}

/** Returns the sum of series that have the same times. */
export function sumOf(series) {
  if (series.length === 1) return series[0];
  if (series.length === 0) return { xs: [], ys: [] };
  const ys = Float64Array.from(series[0].ys);
  for (const { ys: more } of series.slice(1)) {
    for (let i = 0; i < ys.length && i < more.length; i += 1) ys[i] += more[i];
  }
  return { xs: series[0].xs, ys };
}

/** Draws a line through the samples of a series, with an area below it if asked for. */
export function drawLine(context, { xs, ys }, column, { width, height, most, css, isArea, dash = [], top = 0 }) {
  if (xs.length === 0 || most <= 0) return;
  const room = height - top;
  const y = (value) => height - (Math.min(value, most) / most) * room;
  context.beginPath();
  let isFirst = true;
  let lastX = 0;
  for (let i = 0; i < xs.length; i += 1) {
    const x = column(xs[i]);
    const isSeen = x >= -width && x <= 2 * width;
    if (!isSeen) continue;
    if (isFirst) {
      context.moveTo(x, isArea ? height : y(ys[i]));
      isFirst = false;
    }
    context.lineTo(x, y(ys[i]));
    lastX = x;
  }
  if (isFirst) return;
  if (isArea) {
    context.lineTo(lastX, height);
    context.closePath();
    context.fillStyle = css;
    context.fill();
    return;
  }
  context.setLineDash(dash);
  context.strokeStyle = css;
  context.lineWidth = 1.5;
  context.stroke();
  context.setLineDash([]);
}
