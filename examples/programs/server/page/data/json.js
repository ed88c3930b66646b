// JSON with exact integers: those that a double cannot hold become BigInt, and BigInt is
// written as a plain integer. Times of traces are such integers, in nanoseconds.

const QUOTE = 0x22, BACKSLASH = 0x5c, MINUS = 0x2d, ZERO = 0x30, NINE = 0x39;
/** Integers of at most this many digits are always exact as a double. */
const SAFE_DIGITS = 15;
const MAX_DEPTH = 200;

/**
 * Parses a JSON text.
 * @throws {SyntaxError} if the text is no valid JSON, or is nested too deeply.
 */
export function parse(text) {
  let at = 0;

  function fail(what) {
    throw new SyntaxError(`${what} at offset ${at}`);
  }

  /** Skips white space and returns the code of the next character. */
  function next() {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      at += 1;
    }
  }

  function expect(char) {
    if (next() !== char.charCodeAt(0)) fail(`expected ${char}`);
    at += 1;
  }

  function string() {
    const start = at + 1;
    let end = text.indexOf('"', start);
    if (end < 0) fail('unterminated string');
    let isPlain = true;
    for (let i = start; i < end; i += 1) {
      const code = text.charCodeAt(i);
      if (code === BACKSLASH) {
        isPlain = false;
        i += 1;
        if (i === end) end = text.indexOf('"', end + 1);
        if (end < 0) fail('unterminated string');
      } else if (code < 0x20) {
        fail('control character in a string');
      }
    }
    at = end + 1;
    return isPlain ? text.slice(start, end) : JSON.parse(text.slice(start - 1, end + 1));
  }

  function digits() {
    const start = at;
    for (;;) {
      const code = text.charCodeAt(at);
      if (!(code >= ZERO && code <= NINE)) break;
      at += 1;
    }
    if (at === start) fail('expected a digit');
    return at - start;
  }

  function number() {
    const start = at;
    if (text.charCodeAt(at) === MINUS) at += 1;
    const first = text.charCodeAt(at);
    const count = digits();
    if (first === ZERO && count > 1) fail('leading zero');
    let code = text.charCodeAt(at);
    const isInteger = code !== 0x2e && code !== 0x65 && code !== 0x45;
    if (isInteger) {
      const written = text.slice(start, at);
      const value = Number(written);
      return count <= SAFE_DIGITS || Number.isSafeInteger(value) ? value : BigInt(written);
    }
    if (code === 0x2e) {
      at += 1;
      digits();
      code = text.charCodeAt(at);
    }
    if (code === 0x65 || code === 0x45) {
      at += 1;
      const sign = text.charCodeAt(at);
      if (sign === MINUS || sign === 0x2b) at += 1;
      digits();
    }
    return Number(text.slice(start, at));
  }

  function word(written, value) {
    if (!text.startsWith(written, at)) fail('unexpected character');
    at += written.length;
    return value;
  }

  function array(depth) {
    const items = [];
    at += 1;
    if (next() === 0x5d) {
      at += 1;
      return items;
    }
    for (;;) {
      items.push(value(depth + 1));
      const code = next();
      at += 1;
      if (code === 0x5d) return items;
      if (code !== 0x2c) fail('expected , or ]');
    }
  }

  function object(depth) {
    const members = {};
    at += 1;
    if (next() === 0x7d) {
      at += 1;
      return members;
    }
    for (;;) {
      if (next() !== QUOTE) fail('expected a key');
      const key = string();
      expect(':');
      const member = value(depth + 1);
      if (key === '__proto__') {
        // An assignment would replace the prototype.
        Object.defineProperty(members, key, { value: member, enumerable: true, configurable: true, writable: true });
      } else {
        members[key] = member;
      }
      const code = next();
      at += 1;
      if (code === 0x7d) return members;
      if (code !== 0x2c) fail('expected , or }');
    }
  }

  function value(depth) {
    if (depth > MAX_DEPTH) fail('nested too deeply');
    switch (next()) {
      case QUOTE: return string();
      case 0x7b: return object(depth);
      case 0x5b: return array(depth);
      case 0x74: return word('true', true);
      case 0x66: return word('false', false);
      case 0x6e: return word('null', null);
      default: return number();
    }
  }

  const result = value(0);
  if (!Number.isNaN(next())) fail('unexpected character');
  return result;
}

/** Returns the JSON text of a value. Members that are undefined are left out. */
export function stringify(value) {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map((item) => stringify(item ?? null)).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${stringify(member)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}
