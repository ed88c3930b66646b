// Colours as `{red, green, blue}` of 0 to 255, and their contrast as defined by WCAG 2.

/** Parses `#rrggbb` or `#rgb`; null if the text is neither. */
export function parseColor(text) {
  const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(text ?? '');
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text ?? '');
  const parts = long ? long.slice(1) : short ? short.slice(1).map((digit) => digit + digit) : null;
  if (!parts) return null;
  const [red, green, blue] = parts.map((part) => parseInt(part, 16));
  return { red, green, blue };
}

/** Returns the notation of CSS. */
export function toCss({ red, green, blue }) {
  return `rgb(${red}, ${green}, ${blue})`;
}

/** Returns the number that a pixel of an `ImageData` has, read as 32 bits of little endian. */
export function toPixel({ red, green, blue }) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Returns the mixture of two colours: `share` 0 is the first, 1 the second. */
export function mix(a, b, share) {
  const between = (from, to) => Math.round(from + (to - from) * share);
  return { red: between(a.red, b.red), green: between(a.green, b.green), blue: between(a.blue, b.blue) };
}

/** Returns the relative luminance, 0 to 1. */
export function luminance({ red, green, blue }) {
  const linear = (value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** Returns the contrast of two colours, 1 to 21. */
export function contrast(a, b) {
  const [dark, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}

const BLACK = { red: 0, green: 0, blue: 0 };
const WHITE = { red: 255, green: 255, blue: 255 };

/** Returns black or white, whichever can be read better on a colour. */
export function readableOn(color) {
  return contrast(color, BLACK) >= contrast(color, WHITE) ? BLACK : WHITE;
}

/**
 * Returns a colour changed as little as needed to have a contrast with a background: darker on a
 * bright one, brighter on a dark one.
 */
export function withContrast(color, background, wanted) {
  if (contrast(color, background) >= wanted) return color;
  const end = luminance(background) > 0.18 ? BLACK : WHITE;
  for (let share = 0.04; share < 1; share += 0.04) {
    const mixed = mix(color, end, share);
    if (contrast(mixed, background) >= wanted) return mixed;
  }
  return end;
}
