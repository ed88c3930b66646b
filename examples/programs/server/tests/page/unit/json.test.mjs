import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, stringify } from '../../../page/data/json.js';

test('integers keep all digits', () => {
  assert.deepEqual(parse('[1795233416386446824,-9223372036854775808,9007199254740991,9007199254740993,0,-0]'),
    [1795233416386446824n, -9223372036854775808n, 9007199254740991, 9007199254740993n, 0, -0]);
});

test('what has no long integers is as with the built-in parser', () => {
  const texts = ['{}', '[]', ' [ 1 , 2.5e3 , -0.25E-2 , true , false , null ] ', '"a\\"b\\\\"', '"\\\\"', '"\\u00e9\\ud83d\\ude00 é😀"',
    '{"a":{"b":[{"c":""}]},"a b":"x"}', '""', '{"x":1,"x":2}', '"<b>&"', '12', '[[],[[]],{}]', '"a\\\\\\"b"', '{"k\\"":"v\\n"}'];
  for (const text of texts) assert.deepEqual(parse(text), JSON.parse(text), text);
});

test('what is no JSON is refused', () => {
  const texts = ['', '[', '[1,]', '{"a"}', '{a:1}', '01', '1.', '.5', '+1', '1e', '"a', '"a\n"', 'tru', '[1 2]', '1 2', '{"a":1,}', 'NaN', '"\\x"',
    '-', '[}', '{]', '{"a":}'];
  for (const text of texts) {
    assert.throws(() => parse(text), SyntaxError, text);
    assert.throws(() => JSON.parse(text), SyntaxError, text);
  }
});

test('random values survive writing and reading', () => {
  let seed = 1;
  const random = (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed % below;
  };
  const value = (depth) => {
    switch (random(depth > 4 ? 5 : 7)) {
      case 0: return BigInt(random(1 << 30)) * 0x7fffffffffn + 9007199254740993n;
      case 1: return random(2000) - 1000;
      case 2: return random(1000) / 7;
      case 3: return ['', 'a"b', '\\', '\u0001\n', '"\\"', '__proto__'][random(6)];
      case 4: return [true, false, null][random(3)];
      case 5: return Array.from({ length: random(5) }, () => value(depth + 1));
      default: return Object.fromEntries(Array.from({ length: random(5) }, (_, at) => [`k${at}"\\`, value(depth + 1)]));
    }
  };
  for (let turn = 0; turn < 500; turn += 1) {
    const one = value(0);
    assert.deepEqual(parse(stringify(one)), one);
  }
});

test('a key cannot replace the prototype, and depth is limited', () => {
  const value = parse('{"__proto__":{"x":1}}');
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.deepEqual(Object.keys(value), ['__proto__']);
  assert.throws(() => parse('['.repeat(100000)), SyntaxError);
});

test('members that are undefined are left out', () => {
  assert.equal(stringify({ a: undefined, b: 5n, c: [undefined, 'x'] }), '{"b":5,"c":[null,"x"]}');
});
