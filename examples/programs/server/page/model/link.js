// Deep links: the part of the address after `#` holds the window, the current time, the selected
// thread, the marked range, the filter, the views that are shown, and the pinned rows and their order, in notations that the programs take as well.

import { formatSeconds, parseRange, parseTime } from './time.js';

/** Returns the text after `#` for what is shown. What is at its default is left out. */
export function toLink({ window, span, time, thread, filter, range, experiment, views = null, pins = [], order = null }) {
  const parts = [];
  const add = (key, value) => parts.push(`${key}=${encodeURIComponent(value)}`);
  if (experiment) add('experiment', experiment);
  if (window.from !== span.from || window.to !== span.to) {
    add('from', formatSeconds(window.from));
    add('to', formatSeconds(window.to));
  }
  if (time !== span.from) add('at', formatSeconds(time));
  // The number of idle threads does not tell which one it is.
  if (thread) add('tid', thread.tid === '0' ? `0 ${thread.label}` : thread.tid);
  if (filter) add('filter', filter);
  if (range) add('range', `${formatSeconds(range.from)}..${formatSeconds(range.to)}`);
  if (views !== null) add('views', views.join());
  if (pins.length > 0) add('pins', pins.join());
  if (order !== null) add('order', order);
  return parts.join('&');
}

/**
 * Reads the text after `#`. Values that are missing or no times are left out of the result; an
 * empty window too.
 */
export function fromLink(text, span) {
  const values = new URLSearchParams(text.replace(/^#/, '').replaceAll('+', '%2B'));
  const time = (key) => {
    const written = values.get(key);
    return written === null ? null : parseTime(written, span);
  };
  const result = {};
  const [from, to, at] = [time('from'), time('to'), time('at')];
  const window = { from: from ?? span.from, to: to ?? span.to };
  if ((from !== null || to !== null) && window.from < window.to) result.window = window;
  if (at !== null) result.time = at;
  const thread = /^(\d+)(?: (.*))?$/.exec(values.get('tid') ?? '');
  if (thread) result.thread = { tid: thread[1], label: thread[2] ?? 'thread' };
  if (values.has('views')) result.views = values.get('views').split(',').filter(Boolean);
  if (values.get('pins')) result.pins = values.get('pins').split(',').filter((pin) => /^\d+$/.test(pin));
  if (values.get('order')) result.order = values.get('order');
  const range = values.has('range') ? parseRange(values.get('range'), span) : null;
  if (range) result.range = range;
  if (values.get('filter')) result.filter = values.get('filter');
  if (values.get('experiment')) result.experiment = values.get('experiment');
  return result;
}
