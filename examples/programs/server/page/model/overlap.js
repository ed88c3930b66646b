// Which traces were recorded at the same time.

/**
 * Returns traces `{start, end}` in groups, in the order of their begin: two are in one group if they overlap, or if
 * others between them do.
 */
export function overlapping(traces) {
  const order = [...traces].sort((a, b) => (BigInt(a.start) < BigInt(b.start) ? -1 : 1));
  const groups = [];
  let last = null;
  for (const trace of order) {
    if (last !== null && BigInt(trace.start) <= last) groups.at(-1).push(trace);
    else groups.push([trace]);
    const end = BigInt(trace.end);
    last = last === null || end > last ? end : last;
  }
  return groups;
}
