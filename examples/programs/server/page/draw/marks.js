// What lies over all charts: marks of the time axis, the marked range, the current time.

import { formatTime } from '../model/time.js';
import { ticks } from '../model/scale.js';

/** The least distance of two marks of a time axis, in pixels. */
const GAP = 110;

/** Draws the lines of a time axis. */
export function drawGrid(context, shared, scale, theme, height) {
  context.strokeStyle = theme.grid;
  context.lineWidth = 1;
  context.beginPath();
  for (const time of ticks(shared.window, scale.pixels, GAP, shared.axisBase).times) {
    const x = Math.round(scale.x(time)) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, height);
  }
  context.stroke();
}

/** Draws a time axis with its times. */
export function drawAxis(context, shared, scale, theme, height, notation) {
  const { times, digits } = ticks(shared.window, scale.pixels, GAP, shared.axisBase);
  context.font = theme.font;
  context.textBaseline = 'middle';
  context.lineWidth = 1;
  for (const time of times) {
    const x = Math.round(scale.x(time)) + 0.5;
    context.strokeStyle = theme.dim;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, 5);
    context.stroke();
    context.fillStyle = theme.text;
    const text = formatTime(time, { notation, begin: shared.span.from, digits });
    if (x + 4 + text.length * 6.2 < scale.pixels) context.fillText(text, x + 4, height / 2 + 1);
  }
}

/** Draws the marked range and the current time. */
export function drawSelection(context, shared, scale, theme, height) {
  const range = shared.range;
  if (range) {
    const x0 = Math.max(scale.x(range.from), -1), x1 = Math.min(scale.x(range.to), scale.pixels + 1);
    if (x1 > x0) {
      context.fillStyle = theme.range;
      context.fillRect(x0, 0, Math.max(x1 - x0, 1), height);
      context.strokeStyle = theme.rangeEdge;
      context.lineWidth = 1;
      context.strokeRect(Math.round(x0) + 0.5, -1, Math.round(x1 - x0), height + 2);
    }
  }
  const x = Math.round(scale.x(shared.time)) + 0.5;
  if (x >= 0 && x <= scale.pixels) {
    context.strokeStyle = theme.cursor;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
  }
}
