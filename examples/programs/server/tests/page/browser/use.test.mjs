// The page as a user uses it: zoom, pan, search, filter, select, links, keys, touch.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { User, missing, startBrowser } from './user.mjs';

const skip = (await missing()) ?? false;
const PLOT = '#threads canvas';
let browser;

before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.close());

test('zooming and moving by wheel, drag, keys and overview', { skip }, async () => {
  const user = await User.open(browser);
  const { window: all, width } = await user.status();
  const box = await user.box(PLOT);
  await user.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const zoomed = await user.changing('width', () => user.page.mouse.wheel(0, -400));
  assert.notEqual(zoomed, width);
  // The window before can be shown again at once, and then the zoomed one.
  assert.equal(await user.changing('width', () => user.press('u')), width);
  assert.equal(await user.changing('width', () => user.press('U')), zoomed);
  const dragged = await user.changing('window', () => user.drag(PLOT, [0.6, 0.5], [0.4, 0.5], 'middle'));
  assert.notEqual(dragged, all);
  assert.equal((await user.status()).width, zoomed);
  await user.changing('window', () => user.press('ArrowLeft'));
  await user.changing('width', () => user.press('w'));
  await user.changing('width', () => user.press('u'));
  assert.equal(await user.changing('window', () => user.press('0')), all);
  // The right button zooms to what it marks.
  const marked = await user.changing('width', () => user.drag(PLOT, [0.25, 0.5], [0.5, 0.5], 'right'));
  assert.notEqual(marked, width);
  await user.changing('window', () => user.drag('.overview canvas', [0.375, 0.5], [0.6, 0.5]));
  assert.equal((await user.status()).width, marked);
  await user.done();
});

test('the current time and a range are the same in all views', { skip }, async () => {
  const user = await User.open(browser);
  const box = await user.box(PLOT);
  await user.changing('current', () => user.page.mouse.click(box.x + box.width / 3, box.y + 5));
  // The list of events follows: its selected line is the first one from there on.
  const { current } = await user.status();
  await user.waitFor((time) => {
    const line = document.querySelector('#events .line[aria-selected=true] .time');
    return line && line.textContent >= time;
  }, current);
  // And the charts follow the list.
  await user.page.focus('#events [role=grid]');
  const next = await user.changing('current', () => user.press('ArrowDown'));
  assert.equal(next, await user.text('#events .line[aria-selected=true] .time'));
  await user.changing('range', () => user.drag(PLOT, [0.2, 0.5], [0.3, 0.5]));
  const { range } = await user.status();
  assert.equal(await user.changing('width', () => user.press('z')), range);
  await user.done();
});

test('searching goes to events in both directions', { skip }, async () => {
  const user = await User.open(browser);
  const selected = () => user.text('#events .line[aria-selected=true]');
  const search = async (key) => {
    await user.changing('current', () => user.press(key));
    await user.waitFor(() => document.querySelector('#events .line[aria-selected=true]')?.textContent.includes('sched_switch'));
    return selected();
  };
  await user.page.fill('#events input[type=search]', '^sched_switch$');
  await user.page.focus('#events input[type=search]');
  const first = await search('Enter');
  const second = await search('Enter');
  assert.notEqual(first, second);
  assert.equal(await search('Shift+Enter'), first);
  await user.waitFor(() => document.querySelector('#events .line.is-found'));
  await user.page.fill('#events input[type=search]', 'there_is_no_such_event');
  await user.press('Enter');
  await user.waitFor(() => document.querySelector('.message').textContent !== '');
  await user.done();
});

test('a filter with an error is explained, repaired and applied', { skip }, async () => {
  const user = await User.open(browser);
  const all = await user.eventCount();
  const total = await user.text('.overview .labels .quiet');
  await user.press('/');
  await user.page.keyboard.type('nxt_tid == 0');
  await user.press('Enter');
  await user.page.waitForSelector('.fault mark');
  assert.equal(await user.text('.fault mark'), 'nxt_tid');
  assert.equal(await user.page.getAttribute('#filter-input', 'aria-invalid'), 'true');
  assert.equal(await user.eventCount(), all);
  await user.page.click('.repair');
  await user.waitFor(() => document.querySelector('#events .note').textContent.includes('pass the filter'));
  await user.waitFor(() => !document.querySelector('#events .note').textContent.includes('reading'));
  const passing = await user.eventCount();
  assert.ok(passing > 0 && passing < all, `${passing} of ${all}`);
  await user.waitFor((text) => document.querySelector('.overview .labels .quiet').textContent !== text, total);
  await user.waitFor((count) => document.querySelector('.overview .labels .quiet').textContent === `${count.toLocaleString('en')} events`, passing);
  await user.waitFor(() => {
    const lines = [...document.querySelectorAll('#events .line:not([hidden], .is-missing)')];
    return lines.length > 0 && lines.every((line) => line.textContent.includes('sched_switch'));
  });
  await user.page.click('[aria-label="Remove the filter"]');
  await user.waitFor(() => !document.querySelector('#events .note').textContent.includes('pass the filter'));
  assert.equal(await user.eventCount(), all);
  await user.done();
});

test('names in filters are completed', { skip }, async () => {
  const user = await User.open(browser);
  await user.press('/');
  await user.page.keyboard.type('sched_sw');
  await user.page.waitForSelector('#filter-candidates [role=option]');
  await user.press('ArrowDown', 'Enter');
  assert.equal(await user.page.inputValue('#filter-input'), 'sched_switch ');
  await user.press('Escape', 'Escape');
  await user.done();
});

test('a thread that is selected in one view is selected in the others', { skip }, async () => {
  const user = await User.open(browser);
  const rows = await user.page.$$('#threads [role=treeitem]:not([hidden])');
  await rows[Math.min(3, rows.length - 1)].click();
  const thread = await user.waitForStatus('thread', (value) => value !== undefined);
  const [, tid] = /\((\d+)\)$/.exec(thread);
  // A link of the thread selects its row.
  await user.waitFor((number) => location.hash.includes(`tid=${number}`), tid);
  // Keys move the selection.
  await user.page.focus('#threads [role=tree]');
  const below = await user.changing('thread', () => user.press('ArrowDown'));
  assert.notEqual(below, thread);
  const active = await user.page.getAttribute('#threads [role=tree]', 'aria-activedescendant');
  assert.equal(await user.page.getAttribute(`#${active}`, 'aria-selected'), 'true');
  await user.done();
});

test('a deep link shows the same again, to the nanosecond', { skip }, async () => {
  const user = await User.open(browser);
  await user.press('w', 'w', 'ArrowRight', ']', '}');
  await user.page.focus('#threads [role=tree]');
  await user.press('ArrowDown', 'ArrowDown');
  await user.press('/');
  await user.page.keyboard.type('sched_switch && next_tid != 0');
  await user.press('Enter');
  await user.waitFor(() => location.hash.includes('filter=') && location.hash.includes('tid='));
  await user.waitFor(() => /pass the filter$/.test(document.querySelector('#events .note').textContent));
  await user.page.waitForTimeout(400);
  const [status, count] = [await user.status(), await user.eventCount()];
  const hash = await user.page.evaluate(() => location.hash);
  assert.match(hash, /from=\d+\.\d{9}&to=\d+\.\d{9}/);
  const other = await User.open(browser, { hash });
  await other.waitForStatus('thread', (value) => value === status.thread);
  assert.deepEqual(await other.status(), status);
  await other.waitFor((number) => document.querySelector('#events .note').textContent.startsWith(number.toLocaleString('en')), count);
  assert.equal(await other.page.inputValue('#filter-input'), 'sched_switch && next_tid != 0');
  await user.done();
  await other.done();
});

test('two fingers zoom, one moves', { skip }, async () => {
  const user = await User.open(browser, { hasTouch: true });
  const session = await user.page.context().newCDPSession(user.page);
  const box = await user.box(PLOT);
  const touch = (type, ...xs) => session.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((x, id) => ({ x: box.x + x, y: box.y + 40, id })) });
  const width = await user.changing('width', async () => {
    await touch('touchStart', 400, 500);
    for (let by = 0; by <= 200; by += 20) await touch('touchMove', 400 - by, 500 + by);
    await touch('touchEnd');
  });
  await user.changing('window', async () => {
    await touch('touchStart', 500);
    for (let by = 0; by <= 100; by += 20) await touch('touchMove', 500 - by);
    await touch('touchEnd');
  });
  assert.equal((await user.status()).width, width);
  await user.done();
});

test('requests for windows that are no longer shown are aborted', { skip }, async () => {
  const user = await User.open(browser);
  let aborted = 0;
  user.page.on('requestfailed', (request) => {
    if (request.url().includes('/states')) aborted += 1;
  });
  // States are slow here, so that they are under way when the window jumps elsewhere.
  await user.page.context().route('**/states', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue().catch(() => {});
  });
  await user.press('w', 'w', 'w', 'w', 'w');
  for (let turn = 0; turn < 5; turn += 1) {
    await user.press('L', 'L', 'L');
    await user.page.waitForTimeout(60);
  }
  await user.page.waitForTimeout(1500);
  assert.ok(aborted > 0, `${aborted} aborted`);
  await user.page.close();
});
