// Answers of the server packed into arrays of numbers, which are quick to draw and to pass between
// threads. Times are kept as an exact origin and offsets from it; offsets are exact up to 2^53 ns
// (104 days).

const big = (value) => (typeof value === 'bigint' ? value : BigInt(Math.round(value)));

/** The tags of a state or line. */
export const TAGS = { dimmed: 1, excluded: 4, found: 8 };

/** A list of distinct values, by a key. */
class Interned {
  #places = new Map();
  values = [];

  add(key, value) {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.values.length;
      this.#places.set(key, place);
      this.values.push(value);
    }
    return place;
  }
}

/** The style of a CPU that runs a thread, whose colour is that of the thread. */
const OF_THREAD = 'busy';

/** Returns a style, which for CPUs that run a thread has the thread. */
function withThread(style, thread) {
  return style?.parentKey === OF_THREAD && thread ? { ...style, thread } : style;
}

function addStyle(styles, style) {
  if (!style) return styles.add('', null);
  if (style.thread) return styles.add(`${style.parentKey}\u0001${style.thread}`, style);
  const values = style.values ?? {};
  let hasValues = false;
  for (const _ in values) {
    hasValues = true;
    break;
  }
  const key = hasValues ? `${style.parentKey ?? ''}\u0000${JSON.stringify(values)}` : (style.parentKey ?? '');
  return styles.add(key, style);
}

/**
 * Packs the columns of rows in which there are several states: `columnFirsts` has the place of the first one of
 * each row, `columns` their numbers, `shareFirsts` the place of the first share of each, and `shareStyles` and
 * `shareTimes` what the shares are, in ns.
 */
function packColumns(model, styles) {
  const rows = model?.rows ?? [];
  const known = (model?.styles ?? []).map(([parentKey, thread]) => addStyle(styles, withThread({ parentKey, values: {} }, thread)));
  let [columnCount, shareCount] = [0, 0];
  for (const { columns = [] } of rows) {
    columnCount += columns.length;
    for (const column of columns) shareCount += (column.length - 1) / 2;
  }
  const packed = {
    columnFirsts: new Uint32Array(rows.length + 1),
    columns: new Uint32Array(columnCount),
    shareFirsts: new Uint32Array(columnCount + 1),
    shareStyles: new Uint16Array(shareCount),
    shareTimes: new Float64Array(shareCount),
  };
  let [column, share] = [0, 0];
  rows.forEach(({ columns = [] }, row) => {
    packed.columnFirsts[row] = column;
    for (const [number, ...shares] of columns) {
      packed.columns[column] = number;
      packed.shareFirsts[column] = share;
      // The same states are stacked in the same order in all columns.
      const order = Array.from({ length: shares.length / 2 }, (_, at) => 2 * at).sort((a, b) => known[shares[a]] - known[shares[b]]);
      for (const at of order) {
        packed.shareStyles[share] = known[shares[at]];
        packed.shareTimes[share] = Number(shares[at + 1]);
        share += 1;
      }
      column += 1;
    }
  });
  packed.columnFirsts[rows.length] = column;
  packed.shareFirsts[column] = share;
  return packed;
}

/**
 * Packs the rows of a chart of states. Neighbouring states of a row that look the same and touch
 * stay separate: their edges are what the user asks for.
 * @param {object} model the model of the answer
 * @param {bigint} origin the time from which offsets count
 */
export function packStates(model, origin) {
  const rows = model?.rows ?? [];
  let count = 0;
  for (const row of rows) count += row.states.length;
  const styles = new Interned(), labels = new Interned();
  const packed = {
    origin,
    entries: rows.map((row) => row.entryId),
    firsts: new Uint32Array(rows.length + 1),
    starts: new Float64Array(count),
    ends: new Float64Array(count),
    styleOf: new Uint16Array(count),
    labelOf: new Uint32Array(count),
    tags: new Uint8Array(count),
  };
  labels.add('', '');
  let at = 0;
  rows.forEach((row, index) => {
    packed.firsts[index] = at;
    for (const state of row.states) {
      packed.starts[at] = Number(big(state.start) - origin);
      packed.ends[at] = Number(big(state.end) - origin);
      packed.styleOf[at] = addStyle(styles, withThread(state.style, state.label));
      packed.labelOf[at] = state.label ? labels.add(state.label, state.label) : 0;
      packed.tags[at] = state.tags ?? 0;
      at += 1;
    }
  });
  packed.firsts[rows.length] = at;
  return { ...packed, ...packColumns(model, styles), styles: styles.values, labels: labels.values };
}

/** Packs arrows. */
export function packArrows(model, origin) {
  const arrows = model ?? [];
  const styles = new Interned();
  const packed = {
    origin,
    sources: new Float64Array(arrows.length),
    targets: new Float64Array(arrows.length),
    starts: new Float64Array(arrows.length),
    ends: new Float64Array(arrows.length),
    styleOf: new Uint16Array(arrows.length),
  };
  arrows.forEach((arrow, at) => {
    packed.sources[at] = arrow.sourceId;
    packed.targets[at] = arrow.targetId;
    packed.starts[at] = Number(big(arrow.start) - origin);
    packed.ends[at] = Number(big(arrow.end) - origin);
    packed.styleOf[at] = addStyle(styles, arrow.style);
  });
  return { ...packed, styles: styles.values };
}

/** Packs the series of a chart of numbers over time. */
export function packSeries(model, origin) {
  return {
    origin,
    title: model?.title ?? '',
    series: (model?.series ?? []).map((one) => ({
      id: one.seriesId,
      name: one.seriesName,
      style: one.style ?? null,
      unit: one.yValuesDescription?.unit ?? '',
      xs: Float64Array.from(one.xValues ?? [], (time) => Number(big(time) - origin)),
      ys: Float64Array.from(one.yValues ?? [], Number),
    })),
  };
}

/** Returns the buffers of a packed answer that can move to another thread without a copy. */
export function buffersOf(value) {
  const buffers = [];
  const visit = (item) => {
    if (ArrayBuffer.isView(item)) buffers.push(item.buffer);
    else if (Array.isArray(item)) item.slice(0, 1000).forEach(visit);
    else if (item && typeof item === 'object') Object.values(item).forEach(visit);
  };
  visit(value);
  return buffers;
}
