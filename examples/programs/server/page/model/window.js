// Arithmetic of time windows. A window is `{from, to}` of BigInt nanoseconds, with from < to, and
// stays within the span of the trace.

/** The narrowest window, in nanoseconds. */
export const MIN_WIDTH = 100n;

const larger = (a, b) => (a > b ? a : b);
const smaller = (a, b) => (a < b ? a : b);

/** Returns a span that is wide enough to be shown. */
export function spanOf(from, to) {
  return { from, to: larger(to, from + MIN_WIDTH) };
}

/** Returns the window moved and narrowed so that it lies within a span. */
export function within(window, span) {
  const limit = span.to - span.from;
  const width = smaller(larger(window.to - window.from, smaller(MIN_WIDTH, limit)), limit);
  const from = smaller(larger(window.from, span.from), span.to - width);
  return { from, to: from + width };
}

/** Returns the window whose width is multiplied by a factor, while a time keeps its place. */
export function zoomed(window, factor, around, span) {
  const before = Number(window.to - window.from);
  const limit = Number(span.to - span.from);
  const after = Math.min(Math.max(before * factor, Number(MIN_WIDTH)), limit);
  const share = Number(around - window.from) / before;
  const from = around - BigInt(Math.round(after * share));
  return within({ from, to: from + BigInt(Math.round(after)) }, span);
}

/** Returns the window moved by a duration. */
export function moved(window, by, span) {
  return within({ from: window.from + by, to: window.to + by }, span);
}

/** Returns the window moved so that it shows a time, or the same one if it does already. */
export function showing(window, time, span) {
  if (time >= window.from && time <= window.to) return window;
  const from = time - (window.to - window.from) / 2n;
  return within({ from, to: from + (window.to - window.from) }, span);
}

/** Returns `true` if two windows are the same. */
export function isSame(a, b) {
  return a.from === b.from && a.to === b.to;
}
