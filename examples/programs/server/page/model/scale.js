// The relation between times and columns of pixels of a chart, and the marks of a time axis.

/** A linear map from a time window to columns of pixels. */
export class Scale {
  constructor(window, pixels) {
    this.from = window.from;
    this.width = Number(window.to - window.from);
    this.pixels = Math.max(pixels, 1);
  }

  /** Returns the column of a time. It is not rounded, and may lie outside of the chart. */
  x(time) {
    return (Number(time - this.from) * this.pixels) / this.width;
  }

  /** Returns the time at a column. */
  time(x) {
    return this.from + BigInt(Math.round((x * this.width) / this.pixels));
  }

  /** Returns the duration of a number of columns. */
  duration(columns) {
    return BigInt(Math.round((columns * this.width) / this.pixels));
  }
}

/** Returns the round step, of 1, 2 or 5 times a power of ten, that is not below a size. */
export function roundStep(size) {
  let step = 1n;
  for (;;) {
    for (const factor of [1n, 2n, 5n]) {
      if (Number(step * factor) >= size) return step * factor;
    }
    step *= 10n;
  }
}

/**
 * Returns the marks of a time axis: round times from a base on, and the digits of a fraction of a
 * second in which they differ.
 */
export function ticks(window, pixels, gap, base = 0n) {
  const width = Number(window.to - window.from);
  const step = roundStep(Math.max((width * gap) / Math.max(pixels, 1), 1));
  const digits = Math.max(0, 10 - String(step).length);
  let at = window.from - base;
  at = at - (((at % step) + step) % step);
  const times = [];
  for (; base + at <= window.to; at += step) {
    if (base + at >= window.from) times.push(base + at);
  }
  return { times, step, digits };
}

/**
 * Returns the samples to request for a window: about one for each pixel, on a grid of multiples
 * of the step, so that moving the window changes no sample; and a margin on both sides.
 */
export function sampling(window, pixels, span, margin = 0) {
  const width = window.to - window.from;
  let step = width / BigInt(Math.max(pixels, 1));
  if (step < 1n) step = 1n;
  const more = BigInt(Math.round(Number(width) * margin));
  const low = window.from - more < span.from ? span.from : window.from - more;
  const high = window.to + more > span.to ? span.to : window.to + more;
  const start = low - (low % step);
  const count = (high - start + step - 1n) / step + 1n;
  return { start, end: start + step * (count - 1n), nbTimes: Number(count), step };
}
