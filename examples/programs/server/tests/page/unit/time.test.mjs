import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, formatSeconds, formatTime, parseRange, parseTime } from '../../../page/model/time.js';

const span = { from: 1795233416386446824n, to: 1795233426386446824n };

test('times keep all nanoseconds', () => {
  assert.equal(formatSeconds(1795233416386446824n), '1795233416.386446824');
  assert.equal(formatSeconds(1n), '0.000000001');
  assert.equal(formatSeconds(-1500000000n), '-1.500000000');
  assert.equal(formatTime(span.from, { notation: 'clock', isUtc: true }), '03:56:56.386446824Z');
  assert.equal(formatTime(span.from, { notation: 'date', isUtc: true, digits: 3 }), '2026-11-21 03:56:56.386Z');
  assert.equal(formatTime(span.from + 20_000_000n, { notation: 'start', begin: span.from }), '+0.020000000');
  assert.equal(formatTime(span.from - 1n, { notation: 'start', begin: span.from }), '-0.000000001');
});

test('every notation that is written is read', () => {
  for (const offset of [0n, 1n, 999_999_999n, 5_000_000_123n]) {
    const time = span.from + offset;
    for (const isUtc of [true, false]) {
      for (const notation of ['clock', 'date', 'seconds', 'start']) {
        const text = formatTime(time, { notation, begin: span.from, isUtc });
        assert.equal(parseTime(text, span), time, text);
      }
    }
  }
});

test('offsets count from the first or to the last event', () => {
  assert.equal(parseTime('+20ms', span), span.from + 20_000_000n);
  assert.equal(parseTime('-1.5s', span), span.to - 1_500_000_000n);
  assert.equal(parseTime('+1us', span), span.from + 1_000n);
  assert.equal(parseTime('+2', span), span.from + 2_000_000_000n);
  assert.equal(parseTime('+0.123456789s', span), span.from + 123_456_789n);
});

test('a time of day after midnight is on the next day', () => {
  const night = { from: 1795305599000000000n, to: 1795305601000000000n };
  assert.equal(parseTime('00:00:00.5Z', night), 1795305600500000000n);
  assert.equal(parseTime('23:59:59.5Z', night), 1795305599500000000n);
});

test('what is no time is refused', () => {
  for (const text of ['', 'x', '1.2.3', '25:00', '12:61', '+', '+5 weeks', '2026-11-21', '--1']) assert.equal(parseTime(text, span), null, text);
});

test('ranges may be open, and are not empty', () => {
  assert.deepEqual(parseRange('+20ms..+120ms', span), { from: span.from + 20_000_000n, to: span.from + 120_000_000n });
  assert.deepEqual(parseRange('..+1s', span), { from: span.from, to: span.from + 1_000_000_000n });
  assert.deepEqual(parseRange('-1s..', span), { from: span.to - 1_000_000_000n, to: span.to });
  for (const text of ['+2s..+1s', '+1s..+1s', 'a..b', '+1s']) assert.equal(parseRange(text, span), null, text);
});

test('durations have a unit that fits', () => {
  const cases = [[0n, '0 ns'], [999n, '999 ns'], [1500n, '1.500 µs'], [482_430_000n, '482.4 ms'], [53_067_938n, '53.07 ms'], [10_000_000_000n, '10.00 s'], [-5n, '-5 ns']];
  for (const [value, text] of cases) assert.equal(formatDuration(value), text);
});
