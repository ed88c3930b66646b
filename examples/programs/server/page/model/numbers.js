// Numbers as text.

const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Returns a number of bytes with a unit, such as `1.5 MiB`. */
export function formatBytes(bytes) {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit + 1 < BYTES.length) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${BYTES[unit]}`;
}
