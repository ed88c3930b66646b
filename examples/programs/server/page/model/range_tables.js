// The tables of a marked range, from the trees of the server. Each row has `values` as they are copied, and what it
// leads to: `thread`, `spans` or `event`.

import { columnOf } from './columns.js';

/** Returns the places of columns in a model, by names of one's own. */
function placesOf(model, names) {
  return Object.fromEntries(Object.entries(names).map(([key, all]) => [key, columnOf(model.headers, all)]));
}

const byTime = (a, b) => b.time - a.time;

/** Returns the CPU time of threads `{name, tid, time}`, the busiest ones first. */
export function threadTimes(model) {
  const at = placesOf(model, { name: ['Process'], tid: ['TID'], time: ['Time'] });
  const threads = model.entries.filter(({ labels }) => /^\d+$/.test(labels[at.tid] ?? ''));
  return threads.map(({ labels }) => ({ name: labels[at.name], tid: labels[at.tid], time: Number(labels[at.time]) })).filter(({ time }) => time > 0).sort(byTime);
}

/** Returns the CPU time of processes `{name, pid, time}`; `processOf(tid)` returns `{pid, name}` of a thread. */
export function processTimes(threads, processOf) {
  const all = new Map();
  for (const { name, tid, time } of threads) {
    const process = processOf(tid) ?? { pid: tid, name };
    const sum = all.get(process.pid) ?? { ...process, time: 0 };
    all.set(process.pid, { ...sum, time: sum.time + time });
  }
  return [...all.values()].sort(byTime);
}

/** Returns the figures of durations `{family, name, count, total, p99, most}`: those of families, or of what is in them. */
export function figures(model, { ofFamilies }) {
  const at = placesOf(model, { count: ['Count'], total: ['Total'], p99: ['99 %'], most: ['Maximum'] });
  const byId = new Map(model.entries.map((entry) => [entry.id, entry]));
  const depth = (entry) => (byId.has(entry.parentId) ? 1 + depth(byId.get(entry.parentId)) : 0);
  const rows = model.entries.filter((entry) => depth(entry) === (ofFamilies ? 1 : 2));
  const number = (entry, column) => Number(entry.labels[column] || 0);
  return rows.map((entry) => ({
    name: entry.labels[0], family: ofFamilies ? entry.labels[0] : byId.get(entry.parentId).labels[0],
    count: number(entry, at.count), total: number(entry, at.total), p99: number(entry, at.p99), most: number(entry, at.most),
  })).filter(({ count }) => count > 0).sort((a, b) => b.total - a.total);
}

/** Returns the numbers of events `{name, count}` by their types, the most frequent ones first. */
export function eventTypes(model) {
  const count = columnOf(model.headers, ['Events']);
  const groups = new Set(model.entries.filter(({ labels }) => labels[0] === 'Event types').map(({ id }) => id));
  const counts = new Map();
  for (const { parentId, labels } of model.entries) {
    if (groups.has(parentId)) counts.set(labels[0], (counts.get(labels[0]) ?? 0) + Number(labels[count] || 0));
  }
  return [...counts].map(([name, number]) => ({ name, count: number })).filter((row) => row.count > 0).sort((a, b) => b.count - a.count);
}
