import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MIN_WIDTH, moved, showing, spanOf, within, zoomed } from '../../../page/model/window.js';
import { Scale, roundStep, sampling, ticks } from '../../../page/model/scale.js';
import { Shared } from '../../../page/model/shared.js';
import { fromLink, toLink } from '../../../page/model/link.js';

const span = { from: 1795233416386446824n, to: 1795233426386446824n };
let seed = 7;
const random = (below) => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed % below;
};
const time = () => span.from + (BigInt(random(1 << 30)) * 10_000_000_000n) / BigInt(1 << 30);

function assertInside(window) {
  assert.ok(window.from >= span.from && window.to <= span.to && window.to - window.from >= MIN_WIDTH, `${window.from} ${window.to}`);
}

test('windows stay within the trace, whatever is done', () => {
  let window = span;
  for (let turn = 0; turn < 3000; turn += 1) {
    const before = window;
    const kind = random(4);
    if (kind === 0) window = zoomed(window, [0.5, 2, 0.8, 1e-9, 1e9][random(5)], time(), span);
    else if (kind === 1) window = moved(window, BigInt(random(1 << 30)) * 20n - 10_000_000_000n, span);
    else if (kind === 2) window = showing(window, time(), span);
    else window = within({ from: time(), to: time() }, span);
    assertInside(window);
    if (kind === 1 || kind === 2) assert.equal(window.to - window.from, before.to - before.from);
  }
});

test('zooming keeps the time under the pointer in place', () => {
  const window = { from: span.from + 2_000_000_000n, to: span.from + 4_000_000_000n };
  const around = span.from + 2_500_000_000n;
  const nearer = zoomed(window, 0.5, around, span);
  assert.equal(nearer.to - nearer.from, 1_000_000_000n);
  assert.equal(around - nearer.from, 250_000_000n);
});

test('a trace of one event has a window', () => {
  const one = spanOf(5n, 5n);
  assert.equal(one.to - one.from, MIN_WIDTH);
  assert.deepEqual(within({ from: 0n, to: 1n }, one), one);
});

test('columns and times are each other\'s inverse', () => {
  const scale = new Scale({ from: span.from, to: span.from + 1_000_000n }, 1000);
  for (let x = 0; x <= 1000; x += 1) assert.ok(Math.abs(scale.x(scale.time(x)) - x) < 1e-6);
});

test('marks of the axis are round, inside, and not crowded', () => {
  assert.deepEqual([1, 2, 3, 7, 11, 45].map((size) => roundStep(size)), [1n, 2n, 5n, 10n, 20n, 50n]);
  for (let turn = 0; turn < 300; turn += 1) {
    const from = time();
    const window = { from, to: from + 100n + BigInt(random(1 << 30)) };
    const { times, step, digits } = ticks(window, 1000, 110, turn % 2 ? span.from : 0n);
    assert.ok(times.length <= 1000 / 110 + 1);
    times.forEach((at, index) => {
      assert.ok(at >= window.from && at <= window.to);
      if (index > 0) assert.equal(at - times[index - 1], step);
      if (turn % 2 === 0) assert.equal(at % step, 0n);
    });
    assert.ok(10n ** BigInt(9 - digits) <= step || digits === 9);
  }
});

test('samples lie on a grid that moving does not change', () => {
  const window = { from: span.from + 1_000_000_000n, to: span.from + 2_000_000_123n };
  const one = sampling(window, 1000, span, 0.25);
  const other = sampling(moved(window, 12_345_678n, span), 1000, span, 0.25);
  assert.equal(one.step, other.step);
  assert.equal(one.start % one.step, 0n);
  assert.equal((other.start - one.start) % one.step, 0n);
  assert.equal(one.end, one.start + one.step * BigInt(one.nbTimes - 1));
  assert.ok(one.start <= window.from && one.end >= window.to);
  const tiny = sampling({ from: span.from, to: span.from + 100n }, 1000, span);
  assert.equal(tiny.step, 1n);
  assert.ok(tiny.nbTimes <= 102);
});

test('earlier windows come back, and later ones again', () => {
  const shared = new Shared();
  shared.setSpan(span.from, span.to);
  const windows = [span];
  for (let turn = 0; turn < 5; turn += 1) {
    shared.zoom(0.5, span.from + 3_000_000_000n);
    windows.push(shared.window);
  }
  for (let turn = 4; turn >= 0; turn -= 1) {
    shared.back();
    assert.deepEqual(shared.window, windows[turn]);
  }
  shared.back(true);
  assert.deepEqual(shared.window, windows[1]);
});

test('a range follows the current time while a mark is set', () => {
  const shared = new Shared();
  shared.setSpan(span.from, span.to);
  shared.setTime(span.from + 100n);
  shared.setMark();
  shared.setTime(span.from + 40n);
  assert.deepEqual(shared.range, { from: span.from + 40n, to: span.from + 100n });
  shared.setMark();
  shared.setTime(span.from + 500n);
  assert.deepEqual(shared.range, { from: span.from + 40n, to: span.from + 100n });
});

test('links give back what they were made of', () => {
  const window = { from: span.from + 123n, to: span.to - 7n };
  const link = toLink({ window, span, time: span.from + 999n, thread: { tid: '212', label: 'a' }, filter: 'a == "x&y#z" && b =~ "%2F+ü"' });
  assert.deepEqual(fromLink(`#${link}`, span), { window, time: span.from + 999n, thread: { tid: '212', label: 'thread' }, filter: 'a == "x&y#z" && b =~ "%2F+ü"' });
  assert.equal(toLink({ window: span, span, time: span.from, thread: null, filter: '' }), '');
  assert.deepEqual(fromLink('#from=+20ms&to=+120ms', span).window, { from: span.from + 20_000_000n, to: span.from + 120_000_000n });
  const idle = { tid: '0', label: 'swapper/3' };
  assert.deepEqual(fromLink(toLink({ window: span, span, time: span.from, thread: idle, filter: '' }), span), { thread: idle });
  assert.deepEqual(fromLink('#from=x&to=%zz&at=', span), {});
});
