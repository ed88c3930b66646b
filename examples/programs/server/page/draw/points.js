// Durations as points over time, on a logarithmic scale, with a shape for each kind of them.

/** The shapes of points, in the order of the series. */
export const SHAPES = ['●', '■', '▲', '✚'];
/** Half of the width of a point, in pixels. */
const SIZE = 3;

/** A logarithmic scale from durations, in ns, to heights of a chart. */
export class DurationScale {
  /** Creates a scale that contains the durations of all series. */
  constructor(series, height) {
    let [least, most] = [Infinity, 0];
    for (const { ys } of series) {
      for (const value of ys) {
        least = Math.min(least, Math.max(value, 1));
        most = Math.max(most, value, 1);
      }
    }
    this.height = height;
    this.low = most === 0 ? 0 : Math.floor(Math.log10(least));
    this.high = most === 0 ? 1 : Math.max(Math.log10(most), this.low + 1);
  }

  /** Returns the height of a duration, from the top. */
  y(duration) {
    const share = (Math.log10(Math.max(duration, 1)) - this.low) / (this.high - this.low);
    return this.height - SIZE - share * (this.height - 2 * SIZE - 2);
  }

  /** Returns the powers of ten that have a place in the chart, with their heights. */
  marks() {
    const marks = [];
    for (let power = this.low; power <= this.high; power += 1) marks.push({ duration: BigInt(10 ** power), y: this.y(10 ** power) });
    return marks;
  }
}

/**
 * Draws the points of series.
 * @param {object[]} series the series as `packSeries` returns them
 * @param {(offset: number) => number} column the column of an offset
 * @param {DurationScale} scale
 * @param {object} options `width`; `cssOf(series)`
 */
export function drawPoints(context, series, column, scale, { width, cssOf }) {
  series.forEach((one, kind) => {
    context.fillStyle = cssOf(one);
    context.beginPath();
    for (let at = 0; at < one.xs.length; at += 1) {
      const x = column(one.xs[at]);
      if (x >= -SIZE && x <= width + SIZE) addPoint(context, kind % SHAPES.length, x, scale.y(one.ys[at]));
    }
    context.fill();
  });
}

function addPoint(context, shape, x, y) {
  if (shape === 0) {
    context.moveTo(x + SIZE, y);
    context.arc(x, y, SIZE, 0, 2 * Math.PI);
  } else if (shape === 1) {
    context.rect(x - SIZE, y - SIZE, 2 * SIZE, 2 * SIZE);
  } else if (shape === 2) {
    context.moveTo(x, y - SIZE);
    context.lineTo(x + SIZE, y + SIZE);
    context.lineTo(x - SIZE, y + SIZE);
    context.closePath();
  } else {
    context.rect(x - SIZE, y - 1, 2 * SIZE, 2);
    context.rect(x - 1, y - SIZE, 2, 2 * SIZE);
  }
}

/**
 * Returns the point that is nearest to a place, as the numbers of its series and of its place there; null if
 * none is within a number of pixels.
 */
export function nearestPoint(series, column, scale, { x, y }, within) {
  let [best, found] = [within * within, null];
  series.forEach((one, kind) => {
    for (let at = 0; at < one.xs.length; at += 1) {
      const [dx, dy] = [column(one.xs[at]) - x, scale.y(one.ys[at]) - y];
      const distance = dx * dx + dy * dy;
      if (distance <= best) [best, found] = [distance, { kind, at }];
    }
  });
  return found;
}

/** Returns the first point after an offset, or with a direction of -1 the last one before it; null if there is none. */
export function nextPoint(series, offset, direction) {
  let [best, found] = [Infinity, null];
  series.forEach((one, kind) => {
    for (let at = 0; at < one.xs.length; at += 1) {
      const distance = (one.xs[at] - offset) * direction;
      if (distance > 0 && distance < best) [best, found] = [distance, { kind, at }];
    }
  });
  return found;
}
