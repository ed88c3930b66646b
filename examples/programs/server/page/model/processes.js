// Threads by processes: the first thread of a process has the others below it.

/** The ids of processes whose first thread is unknown: below those of entries. */
const FIRST_ID = -2;

/**
 * Returns entries of threads with their processes as parents, instead of the threads that started them.
 * @param {object[]} entries entries with a parent of each trace, which is none itself
 * @param {object} at the columns `name`, `tid` and `pid` of the labels
 */
export function byProcess(entries, at) {
  const traces = entries.filter(({ hasData, parentId }) => !hasData && (parentId ?? -1) === -1);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const isTrace = new Set(traces.map(({ id }) => id));
  const traceOf = (entry) => {
    const seen = new Set();
    for (let one = entry; one && !seen.has(one.id); one = byId.get(one.parentId)) {
      if (isTrace.has(one.id)) return one.id;
      seen.add(one.id);
    }
    return -1;
  };
  const threads = entries.filter(({ id }) => !isTrace.has(id)).map((entry) => ({ entry, trace: traceOf(entry), tid: entry.labels[at.tid], pid: entry.labels[at.pid] ?? '' }));
  const key = ({ trace }, number) => `${trace} ${number}`;
  const firsts = new Map();
  for (const thread of threads) {
    // Of several lives of a number, the last one has the name that the user knows.
    if (thread.tid === thread.pid && thread.tid !== '0') firsts.set(key(thread, thread.tid), thread.entry.id);
  }
  const more = [];
  const parentOf = (thread) => {
    const { entry, trace, tid, pid } = thread;
    if (pid === '' || pid === '0' || tid === pid) return trace;
    const of = key(thread, pid);
    if (!firsts.has(of)) {
      const labels = entry.labels.map(() => '');
      labels[at.name] = `process ${pid}`;
      const id = FIRST_ID - more.length;
      more.push({ id, parentId: trace, labels, hasData: false });
      firsts.set(of, id);
    }
    return firsts.get(of);
  };
  const grouped = threads.map((thread) => ({ ...thread.entry, parentId: parentOf(thread) }));
  return [...traces, ...more, ...grouped];
}
