// The contents of an event as text, in parts: `tid = 7, comm = "cat" { fd = 3, name = [0] = 1 }`.

/** Returns the place behind a text in quotes that begins at a place. */
function afterQuotes(text, from) {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Calls `found(at)` with the place of each character outside of quotes and brackets, until it returns `true`. */
function scan(text, found) {
  let depth = 0;
  for (let at = 0; at < text.length;) {
    const letter = text[at];
    if (letter === '"') {
      at = afterQuotes(text, at);
      continue;
    }
    if (depth === 0 && found(at)) return;
    if ('{[('.includes(letter)) depth += 1;
    else if ('}])'.includes(letter)) depth = Math.max(depth - 1, 0);
    at += 1;
  }
}

/** Returns the fields of a list: pairs of names and values as text. */
function fieldsOf(text) {
  const parts = [];
  let from = 0;
  scan(text, (at) => {
    if (text[at] !== ',') return false;
    parts.push(text.slice(from, at));
    from = at + 1;
    return false;
  });
  parts.push(text.slice(from));
  return parts.map((part) => part.trim()).filter((part) => part !== '').map((part) => {
    const equals = part.indexOf(' = ');
    return equals < 0 ? ['', part] : [part.slice(0, equals), part.slice(equals + 3)];
  });
}

/** Returns the parts of contents: the text of the `payload`, its `fields`, and the `contexts`. */
export function partsOf(contents) {
  const text = contents.trim();
  let begin = -1;
  scan(text, (at) => {
    // A structure is the value of a context if a name is before it.
    if (text[at] === '{' && !/=\s*$/.test(text.slice(0, at))) begin = at;
    return begin >= 0;
  });
  if (begin < 0 || !text.endsWith('}')) return { payload: text, fields: fieldsOf(text), contexts: [] };
  const payload = text.slice(begin + 1, -1).trim();
  return { payload, fields: fieldsOf(payload), contexts: fieldsOf(text.slice(0, begin).trim()) };
}

/** Returns the value of one of several contexts by name, without quotes; empty if there is none. */
export function contextOf({ contexts }, names) {
  const value = contexts.find(([name]) => names.includes(name))?.[1] ?? '';
  return value.replace(/^"(.*)"$/, '$1');
}
