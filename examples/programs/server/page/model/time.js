// Times and durations as text, and back. A time is a BigInt of nanoseconds since the epoch.

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
const UNITS = { s: SECOND, ms: 1_000_000n, us: 1_000n, 'µs': 1_000n, ns: 1n, min: 60n * SECOND, h: 3_600n * SECOND };

/** The notations of times, in the order in which the user changes them. */
export const NOTATIONS = ['clock', 'date', 'seconds', 'start'];
/** What each notation is called. */
export const NOTATION_LABELS = { clock: 'time of day', date: 'date', seconds: 'seconds', start: 'from the start' };

function divide(value, by) {
  const quotient = value / by, rest = value % by;
  return rest < 0n ? [quotient - 1n, rest + by] : [quotient, rest];
}

const two = (value) => String(value).padStart(2, '0');

/** Returns whole and fractional seconds, such as `1795233416.400000000`. */
export function formatSeconds(time, digits = 9) {
  const sign = time < 0n ? '-' : '';
  const size = time < 0n ? -time : time;
  const fraction = String(size % SECOND).padStart(9, '0').slice(0, digits);
  return `${sign}${size / SECOND}${digits > 0 ? `.${fraction}` : ''}`;
}

/** Returns the local calendar fields of a time, or those of UTC. */
function calendar(time, isUtc) {
  const [seconds, fraction] = divide(time, SECOND);
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return null;
  const get = (field) => (isUtc ? date[`getUTC${field}`]() : date[`get${field}`]());
  return {
    day: `${get('FullYear')}-${two(get('Month') + 1)}-${two(get('Date'))}`,
    clock: `${two(get('Hours'))}:${two(get('Minutes'))}:${two(get('Seconds'))}`,
    fraction: String(fraction).padStart(9, '0'),
  };
}

/**
 * Returns a time as text.
 * @param {bigint} time
 * @param {{notation?: string, begin?: bigint, digits?: number, isUtc?: boolean}} options `begin`
 *   is the time from which the notation `start` counts; `digits` are those of the fraction.
 */
export function formatTime(time, { notation = 'clock', begin = 0n, digits = 9, isUtc = false } = {}) {
  if (notation === 'start') {
    const offset = time - begin;
    return `${offset < 0n ? '' : '+'}${formatSeconds(offset, digits)}`;
  }
  const parts = notation === 'seconds' ? null : calendar(time, isUtc);
  if (!parts) return formatSeconds(time, digits);
  const fraction = digits > 0 ? `.${parts.fraction.slice(0, digits)}` : '';
  const clock = `${parts.clock}${fraction}${isUtc ? 'Z' : ''}`;
  return notation === 'date' ? `${parts.day} ${clock}` : clock;
}

/** Returns a duration with a unit, such as `482.43 ms`. */
export function formatDuration(duration) {
  const size = duration < 0n ? -duration : duration;
  const sign = duration < 0n ? '-' : '';
  if (size < 1_000n) return `${sign}${size} ns`;
  const unit = size < 1_000_000n ? 'µs' : size < SECOND ? 'ms' : 's';
  const value = Number(size) / Number(UNITS[unit]);
  const digits = value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
  return `${sign}${value.toFixed(digits)} ${unit}`;
}

/** Returns a number of seconds, written in decimal, in nanoseconds. */
function nanoseconds(whole, fraction = '') {
  return BigInt(whole) * SECOND + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
}

function parseOffset(text) {
  const found = /^([+-])(\d+)(?:\.(\d+))?\s*(ns|us|µs|ms|s|min|h)?$/.exec(text);
  if (!found) return null;
  const [, sign, whole, fraction = '', unit = 's'] = found;
  const scale = UNITS[unit];
  const size = BigInt(whole) * scale + (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length);
  return sign === '-' ? -size : size;
}

function parseCalendar(text, span) {
  const found = /^(?:(\d{4})-(\d\d)-(\d\d)[ T])?(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z)?$/i.exec(text);
  if (!found) return null;
  const [, year, month, day, hours, minutes, seconds = '0', fraction, zone] = found;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return null;
  const first = new Date(Number(span.from / 1_000_000n));
  const clock = [Number(hours), Number(minutes), Number(seconds)];
  let milliseconds;
  if (zone) {
    const date = year ? [Number(year), month - 1, Number(day)]
      : [first.getUTCFullYear(), first.getUTCMonth(), first.getUTCDate()];
    milliseconds = Date.UTC(...date, ...clock);
  } else {
    const date = year ? [Number(year), month - 1, Number(day)]
      : [first.getFullYear(), first.getMonth(), first.getDate()];
    milliseconds = new Date(...date, ...clock).getTime();
  }
  const time = BigInt(milliseconds) * 1_000_000n + nanoseconds('0', fraction);
  // A recording that goes on after midnight: the time of day is one of the next day.
  return !year && time < span.from && time + DAY <= span.to ? time + DAY : time;
}

/**
 * Parses a time: seconds, a time of day, a date and time (each with a `Z` for UTC), or an offset
 * from the first (`+20ms`) or last (`-1s`) event. Returns null if the text is none.
 * @param {string} text
 * @param {{from: bigint, to: bigint}} span the times of the trace
 */
export function parseTime(text, span) {
  const written = text.trim();
  const seconds = /^(\d+)(?:\.(\d+))?$/.exec(written);
  if (seconds) return nanoseconds(seconds[1], seconds[2]);
  const offset = parseOffset(written);
  if (offset !== null) return written.startsWith('-') ? span.to + offset : span.from + offset;
  return parseCalendar(written, span);
}

/**
 * Parses a range `FROM..TO`, of which one side may be missing. Returns null if the text is none, or
 * if it is empty.
 */
export function parseRange(text, span) {
  const at = text.indexOf('..');
  if (at < 0) return null;
  const [first, last] = [text.slice(0, at).trim(), text.slice(at + 2).trim()];
  const from = first === '' ? span.from : parseTime(first, span);
  const to = last === '' ? span.to : parseTime(last, span);
  return from === null || to === null || from >= to ? null : { from, to };
}

/** Parses a range as the protocol writes it, `[FROM,TO]` in nanoseconds. Returns null if the text is none. */
export function parseTimeRange(text) {
  const found = /^\[(-?\d+),\s*(-?\d+)\]$/.exec(text.trim());
  return found ? { from: BigInt(found[1]), to: BigInt(found[2]) } : null;
}
