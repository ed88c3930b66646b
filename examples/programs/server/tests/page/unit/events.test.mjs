import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextOf, partsOf } from '../../../page/model/event_fields.js';

test('the contents of an event are payload and contexts', () => {
  const parts = partsOf('tid = 180, hostname = "a, {b}" { vec = 7, name = 7 [SCHED] }');
  assert.deepEqual(parts.contexts, [['tid', '180'], ['hostname', '"a, {b}"']]);
  assert.deepEqual(parts.fields, [['vec', '7'], ['name', '7 [SCHED]']]);
  assert.equal(parts.payload, 'vec = 7, name = 7 [SCHED]');
  assert.equal(contextOf(parts, ['tid']), '180');
  assert.equal(contextOf(parts, ['comm', 'hostname']), 'a, {b}');
  assert.equal(contextOf(parts, ['pid']), '');
});

test('structures, lists, quotes and empty payloads stay whole', () => {
  assert.deepEqual(partsOf('{ a = { x = 1, y = 2 }, b = [ [0] = 1, [1] = 2 ], c = "q\\", }" }').fields, [['a', '{ x = 1, y = 2 }'], ['b', '[ [0] = 1, [1] = 2 ]'], ['c', '"q\\", }"']]);
  assert.deepEqual(partsOf('ctx = { x = 1 } { f = 2 }'), { payload: 'f = 2', fields: [['f', '2']], contexts: [['ctx', '{ x = 1 }']] });
  assert.deepEqual(partsOf('tid = 4 { }').fields, []);
  assert.deepEqual(partsOf(''), { payload: '', fields: [], contexts: [] });
  assert.equal(partsOf('plain text "unclosed').payload, 'plain text "unclosed');
});
