// Numbers as text.

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Returns a number of bytes with a unit, such as `1.5 MB`. */
export function formatBytes(bytes) {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit + 1 < BYTES.length) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${BYTES[unit]}`;
}
