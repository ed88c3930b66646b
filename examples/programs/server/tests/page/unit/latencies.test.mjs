import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latenciesOf, pathOf } from '../../../page/data/protocol.js';
import { DurationScale, drawPoints, nearestPoint, nextPoint } from '../../../page/draw/points.js';
import { formatBytes } from '../../../page/model/numbers.js';
import { Shared } from '../../../page/model/shared.js';
import { parseTimeRange } from '../../../page/model/time.js';

const series = [
  { xs: Float64Array.of(10, 20, 90), ys: Float64Array.of(100, 1e6, 1000) },
  { xs: Float64Array.of(15, 50), ys: Float64Array.of(0, 50) },
];

test('the outputs of an analysis are found by its id', () => {
  const core = 'org.eclipse.tracecompass.analysis.timing.core.segmentstore.SegmentStoreStatisticsDataProvider:x.y';
  const scatter = 'org.eclipse.tracecompass.internal.analysis.timing.core.segmentstore.scatter.dataprovider:x.y';
  const distribution = 'org.lttv.latency.distribution:x.y';
  const outputs = [{ id: core, name: 'A' }, { id: scatter, name: 'Calls - Latency vs Time' }, { id: distribution, name: 'B' }, { id: 'other', name: 'C' }];
  assert.deepEqual(latenciesOf(outputs), [{ id: 'x.y', name: 'Calls', scatter, figures: core, distribution }]);
  assert.deepEqual(latenciesOf([]), []);
});

test('the path of a thread is asked for by its number; idle threads have none', () => {
  assert.deepEqual(pathOf(null), {});
  assert.deepEqual(pathOf({ tid: '210', label: 'sh' }), { lttv_thread: 210 });
  assert.equal(pathOf({ tid: '0', label: 'swapper/1' }), null);
});

test('durations have places on a logarithmic scale within the chart', () => {
  const scale = new DurationScale(series, 100);
  const heights = [1, 50, 1000, 1e6].map((duration) => scale.y(duration));
  assert.deepEqual([...heights].sort((a, b) => b - a), heights);
  assert.ok(heights.every((y) => y > 0 && y < 100), heights.join(' '));
  assert.deepEqual(scale.marks().map(({ duration }) => duration), [1n, 10n, 100n, 1000n, 10000n, 100000n, 1000000n]);
  // Without durations nothing is divided by zero.
  assert.ok(new DurationScale([], 100).marks().every(({ y }) => Number.isFinite(y)));
});

test('points are found at their places and in the order of time', () => {
  const scale = new DurationScale(series, 100);
  const column = (offset) => offset * 4;
  assert.deepEqual(nearestPoint(series, column, scale, { x: 81, y: scale.y(1e6) - 2 }, 8), { kind: 0, at: 1 });
  assert.equal(nearestPoint(series, column, scale, { x: 120, y: 50 }, 8), null);
  assert.deepEqual([nextPoint(series, 10, 1), nextPoint(series, 15, -1), nextPoint(series, 90, 1)], [{ kind: 1, at: 0 }, { kind: 0, at: 0 }, null]);
});

test('only points in the window are drawn, each kind with a shape of its own', () => {
  const calls = [];
  const context = new Proxy({}, { get: (_, name) => (...args) => calls.push([name, args.length]), set: () => true });
  drawPoints(context, series, (offset) => offset, new DurationScale(series, 100), { width: 60, cssOf: () => '' });
  assert.equal(calls.filter(([name]) => name === 'arc').length, 2);
  assert.equal(calls.filter(([name]) => name === 'rect').length, 2);
});

test('ranges of the protocol are read, and bytes have units', () => {
  assert.deepEqual(parseTimeRange('[1795233416400000000,1795233416400000005]'), { from: 1795233416400000000n, to: 1795233416400000005n });
  for (const text of ['', '[1]', '1,2', '[a,b]']) assert.equal(parseTimeRange(text), null);
  assert.deepEqual([0, 999, 1500, 1e9].map(formatBytes), ['0 B', '999 B', '1.5 kB', '1.0 GB']);
});

test('a duration that is marked is shown, and ends a mark', () => {
  const shared = new Shared();
  shared.setSpan(0n, 1_000_000n);
  shared.show({ from: 0n, to: 1000n });
  shared.setMark();
  shared.markDuration(500_000n, 500_200n);
  assert.deepEqual([shared.range, shared.time, shared.mark], [{ from: 500_000n, to: 500_200n }, 500_000n, null]);
  assert.ok(shared.window.from <= 500_000n && shared.window.to >= 500_000n);
});
