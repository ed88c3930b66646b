// States in words, which are those of the terminal.

import { formatDuration } from './time.js';

/** The words of states with and without the name of what runs or waits. */
const WORDS = {
  unknown: ['in an unknown state'],
  running: ['runs'],
  user: ['runs in user mode'],
  syscall: ['runs in the kernel', 'runs in system call '],
  trap: ['runs in an exception', 'runs in exception '],
  irq: ['interrupted by an IRQ', 'interrupted by IRQ '],
  softirq: ['interrupted by a softirq', 'interrupted by softirq '],
  blocked: ['blocked', 'blocked in '],
  'wait cpu': ['ready to run'],
  'wait fork': ['forked, and did not run yet'],
  exit: ['exits'],
  zombie: ['has exited, and its parent has not waited for it'],
  dead: ['has ended'],
  busy: ['runs a thread', 'runs '],
};

/** Returns a state in words, with the name of what runs or waits if it is known. */
export function stateWords(state, name = '') {
  const [plain, named] = WORDS[state] ?? [state, `${state} `];
  return name !== '' && name !== state && named ? named + name : plain;
}

/** Returns the state of a thread or resource in words, with its times. */
export function lineWords(who, state, time) {
  if (!state) return '';
  const { look, label, start, end } = state;
  return `${who}: ${stateWords(look.name, label)} for ${formatDuration(end - start)}, since ${time(start)} until ${time(end)}`;
}

/** Returns the value of a field as text. */
export function valueWords(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(valueWords).join(', ')}]`;
  if (value && typeof value === 'object') return `{${fieldWords(value)}}`;
  return String(value);
}

/** Returns the fields of an event as text. */
export function fieldWords(fields) {
  return Object.entries(fields ?? {}).map(([name, value]) => `${name}: ${valueWords(value)}`).join(', ');
}

/** Returns the result of a system call: its number, with the name of an error. */
export function resultWords(span) {
  if (span.result === null || span.result === undefined) return span.end_event ? '' : 'unfinished';
  return span.error ? `${span.result} ${span.error}` : String(span.result);
}

/** Returns a span as `lttv spans` tells it: the call with its arguments, and its result. */
export function spanWords(span) {
  const name = span.name ?? span.family;
  if (span.family !== 'syscall') return name;
  const result = resultWords(span);
  return `${name}(${fieldWords(span.begin_event?.fields)})${result === '' ? '' : ` = ${result}`}`;
}

/** Returns who ended a wait. */
export function wakerWords(waker) {
  if (!waker) return '';
  return waker === 'interrupt' ? 'an interrupt' : `${waker.comm ?? '?'} (${waker.tid})`;
}
