// Finding columns by their names: outputs of the protocol name what a thread is in their headers.

const plain = (name) => name.toLowerCase().replace(/[^a-z]/g, '');

/** Returns the index of the first header with one of the names, or -1. */
export function columnOf(headers, names) {
  const wanted = names.map(plain);
  for (const name of wanted) {
    const at = headers.findIndex((header) => plain(header.name) === name);
    if (at >= 0) return at;
  }
  return -1;
}

/**
 * Returns `true` if two threads are one. Idle threads, one for each CPU, share the number 0: their names
 * differ.
 */
export function isSameThread(a, b) {
  return a?.tid === b?.tid && (a?.tid !== '0' || a.label === b.label);
}

/** The places of what is known of a thread in the labels of an entry. */
export class ThreadColumns {
  constructor(headers) {
    this.name = Math.max(columnOf(headers, ['Process', 'Command', 'Thread', 'Name']), 0);
    this.tid = columnOf(headers, ['TID']);
  }

  /** Returns the thread of an entry, or null if it is none. */
  thread(entry) {
    const tid = this.tid < 0 ? '' : (entry.labels[this.tid] ?? '').trim();
    return /^\d+$/.test(tid) ? { tid, label: entry.labels[this.name] ?? '' } : null;
  }
}
