import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fit, fitOf } from '../../../page/model/fuzzy.js';
import { GraphRows } from '../../../page/model/graph_rows.js';
import { byProcess } from '../../../page/model/processes.js';
import { lineWords, resultWords, spanWords, stateWords, wakerWords } from '../../../page/model/words.js';

const AT = { name: 0, tid: 1, pid: 3 };
const WINDOW = { from: 0n, to: 100n };

/** Returns the entries of a trace with threads `[id, parent, name, tid, pid, start, end]`. */
function entries(...threads) {
  const thread = ([id, parentId, name, tid, pid, start = 0, end = 100]) => ({ id, parentId, labels: [name, String(tid), '', String(pid)], hasData: true, start, end });
  return [{ id: 0, labels: ['trace', '', '', ''], hasData: false }, ...threads.map(thread)];
}

const names = (rows) => rows.shown.map(({ entry, depth }) => `${depth}${entry.labels[0]}`);

/** Returns the rows of threads, grouped by process, with their activity. */
function rowsOf(all, activity) {
  const rows = new GraphRows();
  Object.assign(rows, { order: 'time', showsAll: false });
  rows.setTree({ entries: byProcess(all, AT) });
  rows.setActivity(new Map(activity));
  rows.update(WINDOW);
  return rows;
}

test('threads are below their process, whoever started it', () => {
  const all = entries([1, 0, 'init', 1, 1], [2, 1, 'shell', 5, 5], [3, 2, 'worker', 7, 5], [4, 2, 'lost', 9, 8], [5, 2, 'idle', 0, 0]);
  const parents = new Map(byProcess(all, AT).map(({ id, parentId }) => [id, parentId]));
  assert.deepEqual([parents.get(1), parents.get(2), parents.get(3), parents.get(5)], [0, 0, 2, 0]);
  const unknown = byProcess(all, AT).find(({ id }) => id === parents.get(4));
  assert.deepEqual([unknown.labels[0], unknown.hasData, unknown.parentId], ['process 8', false, 0]);
});

test('the first rows are those that are busiest, with their process; others are hidden', () => {
  const all = entries([1, 0, 'init', 1, 1], [2, 1, 'shell', 5, 5], [3, 2, 'worker', 7, 5], [4, 1, 'burner', 9, 9], [5, 0, 'swapper', 0, 0]);
  const rows = rowsOf(all, [[3, 50], [4, 40], [2, 0]]);
  assert.deepEqual(names(rows), ['0shell', '1worker', '0burner']);
  assert.equal(rows.words, '3 of 5 rows busiest first (A: all)');
  rows.setActivity(new Map([[3, 10], [4, 40]]));
  rows.update(WINDOW);
  assert.deepEqual(names(rows), ['0burner', '0shell', '1worker']);
  rows.order = 'name';
  rows.update(WINDOW);
  assert.deepEqual(names(rows), ['0burner', '0shell', '1worker']);
  rows.tree.fold(2);
  rows.update(WINDOW);
  assert.deepEqual(names(rows), ['0burner', '0shell']);
  assert.equal(rows.timeOf(2, true), 10);
  // The selected row is shown in any case, and all of them if wanted.
  rows.selected = 1;
  rows.update(WINDOW);
  assert.deepEqual(names(rows), ['0burner', '0init', '0shell']);
  rows.showsAll = true;
  rows.update(WINDOW);
  assert.equal(rows.shown.length, 4);
});

test('pinned rows are at the top, once, and stay there', () => {
  const rows = rowsOf(entries([1, 0, 'a', 1, 1], [2, 0, 'b', 2, 2], [3, 0, 'c', 3, 3]), [[1, 3], [2, 2], [3, 1]]);
  assert.equal(rows.togglePin(3), true);
  rows.update(WINDOW);
  assert.deepEqual(names(rows), ['0c', '0a', '0b']);
  rows.setActivity(new Map([[2, 5]]));
  rows.update(WINDOW);
  assert.deepEqual(names(rows), ['0c', '0b']);
  assert.equal(rows.togglePin(3), false);
  rows.update(WINDOW);
  assert.deepEqual(names(rows), ['0b']);
});

test('a search is among all rows, the best ones first', () => {
  const rows = rowsOf(entries([1, 0, 'kworker/1:1', 71, 71], [2, 0, 'worker', 210, 210], [3, 0, 'diskio', 2100, 2100]), [[1, 3]]);
  rows.sought = 'wrk';
  rows.update(WINDOW);
  assert.deepEqual(names(rows), ['0worker', '0kworker/1:1']);
  rows.sought = '210';
  rows.update(WINDOW);
  assert.deepEqual(names(rows), ['0worker', '0diskio']);
  assert.equal(rows.words, '2 of 3 rows fit');
  rows.selected = 2;
  assert.deepEqual([rows.cycle(1).entry.id, rows.cycle(-1).entry.id], [3, 3]);
  rows.selected = 3;
  assert.equal(rows.cycle(1).entry.id, 2);
});

test('texts fit by letters in their order', () => {
  assert.equal(fit('kworker', 'z'), 0);
  assert.equal(fit('kworker', 'rw'), 0);
  assert.ok(fit('worker', 'worker') > fit('worker2', 'worker'));
  assert.ok(fit('worker', 'work') > fit('kworker', 'work'));
  assert.ok(fit('kworker', 'work') > fit('w-o-r-k', 'work'));
  assert.equal(fitOf(['name', '210'], '10'), 0);
});

test('states, calls and wakers are told in the words of the terminal', () => {
  assert.equal(stateWords('syscall', 'read'), 'runs in system call read');
  assert.equal(stateWords('user', ''), 'runs in user mode');
  assert.equal(stateWords('wait cpu'), 'ready to run');
  assert.equal(stateWords('reading'), 'reading');
  const state = { look: { name: 'blocked' }, label: '', start: 0n, end: 5n };
  assert.equal(lineWords('cat (5)', state, String), 'cat (5): blocked for 5 ns, since 0 until 5');
  const call = { family: 'syscall', name: 'openat', begin_event: { fields: { dfd: -100, filename: 'a"b' } }, result: -2, error: 'ENOENT', end_event: {} };
  assert.equal(spanWords(call), 'openat(dfd: -100, filename: "a\\"b") = -2 ENOENT');
  assert.equal(resultWords({ result: null }), 'unfinished');
  assert.deepEqual([wakerWords('interrupt'), wakerWords({ comm: 'cat', tid: 3 }), wakerWords(null)], ['an interrupt', 'cat (3)', '']);
});
