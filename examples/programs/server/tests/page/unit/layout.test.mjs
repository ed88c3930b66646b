import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RowView } from '../../../page/model/row_view.js';
import { Tree } from '../../../page/model/tree.js';
import { GraphRows } from '../../../page/model/graph_rows.js';
import { LinePages } from '../../../page/model/line_pages.js';
import { ThreadColumns, columnOf } from '../../../page/model/columns.js';
import { packArrows, packStates, packSeries } from '../../../page/data/pack.js';
import { drawColumns, drawStates, firstAfter } from '../../../page/draw/states.js';
import { contrast, parseColor, readableOn, withContrast } from '../../../page/draw/colors.js';
import { patternOf, signOf } from '../../../page/draw/signs.js';

const entry = (id, parentId, ...labels) => ({ id, parentId, labels });

test('rows are in the order of the tree, without folded branches', () => {
  const tree = new Tree([entry(1, -1, 'b'), entry(2, 1, 'x'), entry(3, 2, 'y'), entry(4, undefined, 'a')]);
  const names = (options) => tree.rows(options).map(({ entry: { labels }, depth }) => `${depth}${labels[0]}`);
  assert.deepEqual(names(), ['0b', '1x', '2y', '0a']);
  tree.fold(1);
  assert.deepEqual(names(), ['0b', '0a']);
  tree.reveal(3);
  assert.deepEqual(names({ order: (a, b) => a.labels[0].localeCompare(b.labels[0]) }), ['0a', '0b', '1x', '2y']);
  assert.deepEqual(names({ keep: ({ id }) => id !== 2 }), ['0b', '1y', '0a']);
  tree.foldBelow(1);
  assert.deepEqual(names(), ['0b', '1x', '0a']);
  assert.deepEqual(tree.rowsUnfolded().map(({ id }) => id), [1, 2, 3, 4]);
  assert.deepEqual(names(), ['0b', '1x', '0a']);
});

test('a search goes on from a row in both directions, around the end and into folded branches', () => {
  const tree = new Tree([entry(1, -1, 'b'), entry(2, 1, 'x'), entry(3, 2, 'y'), entry(4, undefined, 'x')]);
  tree.fold(1);
  const find = (from, direction, text) => tree.find(from, direction, ({ labels }) => labels[0] === text)?.id;
  assert.deepEqual([find(1, 1, 'x'), find(2, 1, 'x'), find(4, 1, 'x')], [2, 4, 2]);
  assert.deepEqual([find(4, -1, 'x'), find(2, -1, 'x'), find(3, 1, 'y')], [2, 4, 3]);
  assert.equal(find(null, 1, 'b'), 1);
  assert.equal(find(1, 1, 'none'), undefined);
});

test('rows in view are those at their places, whatever their height', () => {
  const view = new RowView();
  // The room for a part of a row stays empty.
  Object.assign(view, { count: 100, visible: 190 });
  assert.deepEqual([view.visible, view.range(0)], [180, { first: 0, last: 10 }]);
  assert.equal(view.scrollTo(50), true);
  assert.equal(view.scrollTo(50), false);
  assert.deepEqual([view.top, view.range(0)], [54, { first: 3, last: 13 }]);
  // Small steps add up.
  assert.equal(view.scrollTo(view.place + 8), false);
  assert.equal(view.scrollTo(view.place + 8), true);
  assert.equal(view.top, 72);
  for (const { row, top, bottom } of view.bands(1)) {
    assert.deepEqual([view.at(top), view.at(bottom - 1)], [row, row]);
  }
  assert.equal(view.at(185), 100);
  assert.equal(view.bands(2).at(-1).bottom, 358);
  view.scrollTo(1e9);
  assert.deepEqual([view.top, view.range(0).last], [1620, 100]);
  view.scrollTo(view.placeOf(40));
  assert.equal(view.y(40), 0);
  view.scrollTo(view.placeOf(45));
  assert.equal(view.y(40), 0);
  view.scrollTo(view.placeOf(60, true));
  assert.ok(Math.abs(view.y(60.5) - 90) <= 9);
  view.changeHeight(1);
  assert.deepEqual([view.height, view.visible, view.y(60.5)], [24, 168, 84]);
  // Rows without labels fill all of the room.
  for (let turn = 0; turn < 4; turn += 1) view.changeHeight(-1);
  view.scrollTo(51);
  assert.deepEqual([view.height, view.visible, view.top], [4, 190, 51]);
});

test('trees with unknown parents or cycles are shown as far as they go', () => {
  const tree = new Tree([entry(1, 99), entry(2, 3), entry(3, 2), entry(4, 4)]);
  assert.deepEqual(tree.rows().map(({ entry: { id } }) => id), [1, 4]);
  tree.reveal(2);
});

test('pages of lines tell which are missing, and forget the ones used first', () => {
  const pages = new LinePages(10);
  assert.equal(pages.missing(5, 25), 0);
  pages.add(0, Array.from({ length: 10 }, (_, index) => ({ index })));
  pages.add(10, Array.from({ length: 10 }, (_, at) => ({ index: 10 + at })));
  assert.equal(pages.missing(5, 20), null);
  assert.equal(pages.missing(5, 25), 2);
  assert.equal(pages.line(13).index, 13);
  assert.equal(pages.line(23), null);
  for (let page = 2; page < 60; page += 1) pages.add(page * 10, [{ index: page * 10 }]);
  assert.equal(pages.line(0), null);
  assert.equal(pages.line(590).index, 590);
});

test('columns are found by their names in any spelling', () => {
  assert.equal(columnOf([{ name: 'Event type' }, { name: 'TID' }], ['tid']), 1);
  const columns = new ThreadColumns([{ name: 'Process' }, { name: 'TID' }]);
  assert.deepEqual(columns.thread(entry(1, -1, 'bash', '7')), { tid: '7', label: 'bash' });
  assert.equal(columns.thread(entry(1, -1, 'kernel', '')), null);
});

const origin = 1795233416386446824n;
const state = (start, end, key, more = {}) => ({ start: origin + BigInt(start), end: origin + BigInt(end), style: key ? { parentKey: key, values: {} } : undefined, ...more });

test('packed states keep times, styles and labels', () => {
  const packed = packStates({ rows: [{ entryId: 5, states: [state(0, 10, 'a'), state(10, 12, 'b', { label: 'x' })] }, { entryId: 6, states: [] }, { entryId: 7, states: [state(-5, 3, null, { tags: 4 })] }] }, origin);
  assert.deepEqual(packed.entries, [5, 6, 7]);
  assert.deepEqual([...packed.firsts], [0, 2, 2, 3]);
  assert.deepEqual([...packed.starts], [0, 10, -5]);
  assert.deepEqual([...packed.ends], [10, 12, 3]);
  assert.equal(packed.styles[packed.styleOf[1]].parentKey, 'b');
  assert.equal(packed.styles[packed.styleOf[2]], null);
  assert.equal(packed.labels[packed.labelOf[1]], 'x');
  assert.deepEqual([...packed.tags], [0, 0, 4]);
  assert.equal(packArrows([{ sourceId: 1, targetId: 2, start: origin + 1n, end: origin + 3n }], origin).ends[0], 3);
  assert.deepEqual([...packSeries({ series: [{ seriesId: 1, seriesName: 'n', xValues: [origin, origin + 7n], yValues: [1, 2n] }] }, origin).series[0].xs], [0, 7]);
  assert.equal(packStates(undefined, origin).starts.length, 0);
});

/** Draws states of one row into one line, as letters. */
function drawn(states, width, perColumn, offset = 0) {
  const packed = packStates({ rows: [{ entryId: 1, states }] }, origin);
  const pixels = new Uint32Array(width * 4);
  const looks = packed.styles.map((style) => style && { pixel: style.parentKey.charCodeAt(0), dimmedPixel: 63, height: 1, pattern: patternOf('user') });
  drawStates({ pixels, width, height: 4 }, packed, [{ top: 1, bottom: 3, index: 0 }], { offset, perColumn }, looks, { hasPatterns: false, gap: 0 });
  for (let x = 0; x < width; x += 1) {
    assert.equal(pixels[x], 0);
    assert.equal(pixels[width + x], pixels[2 * width + x]);
    assert.equal(pixels[3 * width + x], 0);
  }
  return String.fromCharCode(...pixels.subarray(width, 2 * width)).replaceAll('\0', '·');
}

test('states are drawn where they are', () => {
  assert.equal(drawn([state(0, 30, 'a'), state(30, 50, 'b')], 8, 10), 'aaabb···');
  assert.equal(drawn([state(-100, 30, 'a'), state(40, 1000, 'b')], 8, 10), 'aaa·bbbb');
  assert.equal(drawn([state(0, 30, 'a'), state(30, 50, 'b'), state(50, 200, 'c')], 5, 10, 20), 'abbcc');
  assert.equal(drawn([state(0, 40, 'a', { tags: 1 }), state(40, 60, 'b', { tags: 4 }), state(60, 80, null)], 8, 10), '????····');
  assert.equal(drawn([state(500, 600, 'a')], 8, 10), '········');
});

/** Draws the columns of one row of `height` lines, as texts from the top of each column. */
function drawnColumns(row, keys, { width, step, height = 4 }) {
  const packed = packStates({ rows: [{ entryId: 1, states: [], columns: row }], styles: keys.map((key) => [key, '']) }, origin);
  const pixels = new Uint32Array(width * height);
  const looks = packed.styles.map((style) => style && { pixel: style.parentKey.charCodeAt(0), height: style.parentKey === 'w' ? 0.5 : 1 });
  drawColumns({ pixels, width }, packed, [{ top: 0, bottom: height, index: 0 }], { offset: 0, perColumn: step, step }, looks);
  return Array.from({ length: width }, (_, x) => Array.from({ length: height }, (_, y) => String.fromCharCode(pixels[y * width + x] || 46)).join(''));
}

test('columns with several states show all that is active, by its share', () => {
  const of = (row) => drawnColumns(row, ['a', 'b', 'w'], { width: 3, step: 100 });
  assert.deepEqual(of([[0, 0, 50, 1, 50], [2, 0, 75, 1, 25]]), ['bbaa', '....', 'baaa']);
  // What lasts for an instant is seen, and so is what waits.
  assert.deepEqual(of([[1, 2, 99, 0, 1]]), ['....', '.wwa', '....']);
  assert.deepEqual(of([[0, 0, 1, 1, 1]]), ['..ba', '....', '....']);
  assert.deepEqual(of([[0, 2, 100]]), ['.ww.', '....', '....']);
});

test('columns of CPUs have a style for each thread', () => {
  const packed = packStates({ rows: [{ entryId: 1, states: [state(0, 10, 'busy', { label: 'cat 5' })], columns: [[3, 0, 4, 1, 6]] }], styles: [['busy', 'cat 5'], ['busy', 'dog 6']] }, origin);
  assert.deepEqual(packed.styles.map((style) => style?.thread), ['cat 5', 'dog 6']);
  assert.equal(packed.styleOf[0], packed.shareStyles[0]);
  assert.deepEqual([[...packed.columns], [...packed.shareTimes]], [[3], [4, 6]]);
});

test('states of less than a column are seen, and hide no others', () => {
  assert.equal(drawn([state(0, 20, 'a'), state(22, 23, 'b'), state(24, 25, 'c'), state(30, 40, 'd')], 5, 10), 'aabd·');
  assert.equal(firstAfter(Float64Array.of(10, 20, 30), 0, 3, 20), 2);
});

test('colours are changed until they can be seen', () => {
  const [white, black] = [parseColor('#ffffff'), parseColor('#000')];
  assert.equal(contrast(white, black), 21);
  for (const background of [white, black, parseColor('#0c0e12')]) {
    for (const text of ['#660000', '#ffff01', '#ffffff', '#000000', '#019eff', '#777777']) {
      assert.ok(contrast(withContrast(parseColor(text), background, 3), background) >= 3, text);
      assert.ok(contrast(readableOn(parseColor(text)), parseColor(text)) >= 4.5, text);
    }
  }
  assert.equal(parseColor('red'), null);
});

test('signs differ, and unknown states have one', () => {
  const names = ['user', 'syscall', 'trap', 'irq', 'softirq', 'blocked', 'wait cpu', 'wait fork', 'exit', 'zombie', 'unknown'];
  assert.equal(new Set(names.map(signOf)).size, names.length);
  assert.equal(signOf('weird'), 'W');
  assert.equal(patternOf('weird').length, 8);
});

test('rows keep folds and the selection, and can be hidden where they do not live', () => {
  const life = (id, parentId, name, start, end) => ({ ...entry(id, parentId, name), start, end });
  const rows = new GraphRows();
  rows.setTree({ entries: [entry(1, -1, 't'), life(2, 1, 'b', 0, 10), life(3, 1, 'a', 20, 30)] });
  rows.update({ from: 0n, to: 5n });
  const names = () => rows.shown.map(({ entry: { labels } }) => labels[0]);
  assert.deepEqual(names(), ['t', 'b', 'a']);
  assert.equal(rows.words, '3 rows as a tree');
  rows.order = 'name';
  rows.update({ from: 0n, to: 5n });
  assert.deepEqual(names(), ['t', 'a', 'b']);
  rows.showsAll = false;
  rows.update({ from: 11n, to: 25n });
  assert.deepEqual(names(), ['t', 'a']);
  assert.equal(rows.words, '2 of 3 rows by name (A: all)');
  assert.deepEqual([rows.step(1).entry.id, rows.step(-1).entry.id, rows.step(Infinity).entry.id], [1, 3, 3]);
  rows.selected = 1;
  assert.deepEqual([rows.step(1).entry.id, rows.step(-5).entry.id, rows.selectedAt], [3, 1, 0]);
  assert.equal(rows.alive(({ labels }) => labels[0] !== 't', 22n).id, 3);
  assert.equal(rows.alive(({ labels }) => labels[0] !== 't', 15n).id, 2);
  assert.equal(rows.alive(() => false, 15n), undefined);
  rows.tree.fold(1);
  rows.setTree({ entries: [entry(1, -1, 't'), entry(4, 1, 'new')] });
  rows.update({ from: 0n, to: 1n });
  assert.deepEqual(names(), ['t']);
});
