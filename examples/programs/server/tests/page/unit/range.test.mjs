import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCsv } from '../../../page/model/csv.js';
import { overlapping } from '../../../page/model/overlap.js';
import { fromLink, toLink } from '../../../page/model/link.js';
import { eventTypes, figures, processTimes, threadTimes } from '../../../page/model/range_tables.js';

const headers = (...names) => names.map((name) => ({ name }));

test('CPU time is told by thread and by process', () => {
  const model = { headers: headers('Process', 'TID', '%', 'Time'), entries: [
    { id: 0, labels: ['trace', '', '9', '90'] }, { id: 1, parentId: 0, labels: ['a', '7', '1', '10'] },
    { id: 2, parentId: 0, labels: ['b', '8', '5', '50'] }, { id: 3, parentId: 0, labels: ['c', '9', '0', '0'] },
    { id: 4, parentId: 0, labels: ['d', '10', '3', '30'] },
  ] };
  const threads = threadTimes(model);
  assert.deepEqual(threads.map(({ tid }) => tid), ['8', '10', '7']);
  const processes = processTimes(threads, (tid) => (tid === '8' ? null : { pid: '7', name: 'a' }));
  assert.deepEqual(processes, [{ pid: '8', name: 'b', time: 50 }, { pid: '7', name: 'a', time: 40 }]);
});

test('figures are those of families or of what is in them', () => {
  const model = { headers: headers('Label', 'Maximum', 'Count', 'Total', '99 %'), entries: [
    { id: 0, labels: ['trace', '', '', '', ''] }, { id: 1, parentId: 0, labels: ['System calls', '9', '5', '20', '8'] },
    { id: 2, parentId: 1, labels: ['read', '2', '2', '3', '2'] }, { id: 3, parentId: 1, labels: ['write', '9', '3', '17', '9'] },
    { id: 4, parentId: 1, labels: ['none', '', '0', '', ''] },
  ] };
  assert.deepEqual(figures(model, { ofFamilies: false }).map(({ name, family, total }) => [name, family, total]), [['write', 'System calls', 17], ['read', 'System calls', 3]]);
  assert.deepEqual(figures(model, { ofFamilies: true }), [{ name: 'System calls', family: 'System calls', count: 5, total: 20, p99: 8, most: 9 }]);
});

test('events are counted by type, those of several traces together', () => {
  const model = { headers: headers('Name', 'Events'), entries: [
    { id: 0, labels: ['a', '9'] }, { id: 1, parentId: 0, labels: ['Event types', '9'] }, { id: 2, parentId: 1, labels: ['x', '4'] }, { id: 3, parentId: 1, labels: ['zero', '0'] },
    { id: 4, labels: ['b', '9'] }, { id: 5, parentId: 4, labels: ['Event types', '9'] }, { id: 6, parentId: 5, labels: ['x', '3'] }, { id: 7, parentId: 5, labels: ['y', '5'] },
    { id: 8, parentId: 4, labels: ['CPUs', '9'] },
  ] };
  assert.deepEqual(eventTypes(model), [{ name: 'x', count: 7 }, { name: 'y', count: 5 }]);
});

test('tables are copied so that spreadsheets read them', () => {
  assert.equal(toCsv([{ headers: ['a', 'b'], rows: [['x,y', 1], ['q"', -2], ['=1+1', 3]] }, { headers: ['c'], rows: [] }]), 'a,b\n"x,y",1\n"q""",-2\n\'=1+1,3\n\nc\n');
});

test('links have the marked range', () => {
  const span = { from: 1_000_000_000n, to: 9_000_000_000n };
  const shown = { window: span, span, time: span.from, thread: null, filter: '', range: { from: 2_000_000_001n, to: 3_000_000_000n } };
  assert.deepEqual(fromLink(`#${toLink(shown)}`, span).range, shown.range);
  assert.equal(fromLink('#range=nonsense', span).range, undefined);
});

test('traces that were recorded at the same time are together', () => {
  const trace = (name, start, end) => ({ name, start, end });
  const groups = overlapping([trace('b', 50, 60n), trace('a', 10, 20), trace('c', 15n, 30), trace('d', 30, 40)]);
  assert.deepEqual(groups.map((group) => group.map(({ name }) => name)), [['a', 'c', 'd'], ['b']]);
  assert.deepEqual(overlapping([]), []);
});

test('links have the views that are shown, pinned threads and the order of rows', () => {
  const span = { from: 1_000_000_000n, to: 9_000_000_000n };
  const shown = { window: span, span, time: span.from, thread: null, filter: '', range: null, views: ['threads', 'events'], pins: ['210', '7'], order: 'name' };
  assert.equal(toLink(shown), 'views=threads%2Cevents&pins=210%2C7&order=name');
  const { views, pins, order } = fromLink(`#${toLink(shown)}`, span);
  assert.deepEqual([views, pins, order], [shown.views, shown.pins, shown.order]);
  assert.equal(toLink({ ...shown, views: null, pins: [], order: null }), '');
  assert.deepEqual(fromLink('#views=&pins=a,3', span), { views: [], pins: ['3'] });
});
