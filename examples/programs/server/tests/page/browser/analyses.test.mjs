// The views of analyses as a user uses them: critical path, latencies, disks, and which views are shown.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { User, missing, startBrowser } from './user.mjs';

const skip = (await missing()) ?? false;
let browser;

before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.close());

/** Returns the text in the heading of a view once it fulfils a condition. */
async function note(user, view, pattern) {
  await user.waitFor(([id, source]) => new RegExp(source).test(document.querySelector(`#${id} .note`).textContent), [view, pattern.source]);
  return user.text(`#${view} .note`);
}

test('the critical path is that of the thread that is selected in another view', { skip }, async () => {
  const user = await User.open(browser);
  const asked = [];
  user.page.on('request', (request) => {
    if (request.url().endsWith('CriticalPathDataProvider/tree')) asked.push(request.postDataJSON().parameters);
  });
  assert.equal(await user.page.isVisible('#path'), false);
  await user.press('7');
  const busiest = await note(user, 'path', /^of .* \d+, \d+ rows/);
  assert.deepEqual(asked[0], {}, 'a hidden view asks for nothing');
  // A thread of the list of rows: its path follows.
  await user.page.fill('#threads input[type=search]', '205');
  await user.page.focus('#threads input[type=search]');
  await user.changing('thread', () => user.press('Enter'));
  assert.notEqual(await note(user, 'path', /^of .* 205,/), busiest);
  assert.deepEqual(asked.at(-1), { lttv_thread: 205 });
  await user.waitFor(() => document.querySelector('#path .row[aria-selected=true] .number')?.textContent === '205');
  // Another thread on the path is selected everywhere, and the path stays.
  const count = asked.length;
  await user.page.focus('#path [role=tree]');
  const thread = await user.changing('thread', () => user.press('ArrowDown'));
  const number = /\((\d+)\)$/.exec(thread)[1];
  await user.waitFor((tid) => document.querySelector('#threads .row[aria-selected=true] .number')?.textContent === tid, number);
  assert.match(await user.text('#path .note'), / 205,/);
  assert.equal(asked.length, count);
  // An idle thread has no path.
  await user.page.fill('#threads input[type=search]', 'swapper/0');
  await user.page.focus('#threads input[type=search]');
  await user.changing('thread', () => user.press('Enter'));
  await user.waitFor(() => /idle thread/.test(document.querySelector('.status .message').textContent));
  assert.equal(asked.length, count);
  await user.done();
});

test('latencies lead to the times in which they were long', { skip }, async () => {
  const user = await User.open(browser);
  await user.press('9');
  await note(user, 'latencies', /^[1-9]\d* durations/);
  await user.page.focus('#latencies .chart-place');
  const first = await user.changing('range', () => user.press(';'));
  await user.changing('current', () => user.press(';'));
  await user.press(',');
  await user.waitForStatus('range', (value) => value === first);
  // The longest system call, by its figures: the range is as long as the cell says.
  await user.page.selectOption('#latencies [aria-label="Form of latencies"]', 'figures');
  await user.waitFor(() => document.querySelectorAll('#latencies .line:not([hidden])').length > 1);
  await user.page.focus('#latencies [role=treegrid]');
  await user.press('ArrowDown', 'ArrowDown', 'Enter');
  const cells = await user.page.$$eval('#latencies .line[aria-selected=true] .cell', (all) => all.map((cell) => cell.textContent));
  assert.equal(await user.waitForStatus('range', (value) => value !== first), cells[2]);
  // A window with less in it has fewer of them; A asks for the whole trace again.
  const countOf = (line) => Number(line[5].replaceAll(',', ''));
  await user.press('z');
  await user.waitFor((before) => document.querySelector('#latencies .line[aria-selected=true]')?.children[5].textContent !== before, cells[5]);
  const lineOf = () => user.page.$$eval('#latencies .line[aria-selected=true] .cell', (all) => all.map((cell) => cell.textContent));
  assert.ok(countOf(await lineOf()) < countOf(cells));
  await user.press('A');
  await user.waitFor((before) => document.querySelector('#latencies .line[aria-selected=true]')?.children[5].textContent === before, cells[5]);
  // The numbers of the distribution add up to the same.
  await user.page.selectOption('#latencies [aria-label="Form of latencies"]', 'distribution');
  await user.waitFor((count) => {
    const numbers = [...document.querySelectorAll('#latencies .distribution td')].map((cell) => Number(cell.textContent.replaceAll(',', '')));
    return numbers.reduce((sum, number) => sum + number, 0) === count;
  }, countOf(cells));
  await user.done();
});

test('views are shown and hidden, and stay so', { skip }, async () => {
  const user = await User.open(browser);
  const pressed = (name) => user.page.getAttribute(`.views button:text-is("${name}")`, 'aria-pressed');
  assert.equal(await user.page.isDisabled('.views button:text-is("Flame chart")'), true);
  await user.press('8');
  await user.waitFor(() => /no events for this view/.test(document.querySelector('.status .message').textContent));
  await user.press('i');
  await user.waitFor(() => /MB\/s at most/.test(document.querySelector('#disks .labels').textContent));
  assert.equal(await pressed('Disk I/O'), 'true');
  // The focus does not get lost with the view.
  await user.page.click('#disks .fold');
  assert.equal(await user.page.isVisible('#disks'), false);
  assert.equal(await user.page.evaluate(() => document.activeElement.textContent), 'Disk I/O');
  await user.page.click('.views button:text-is("Resources")');
  assert.deepEqual([await pressed('Resources'), await user.page.isVisible('#resources')], ['false', false]);
  await user.page.reload();
  await user.waitForStates();
  assert.deepEqual([await pressed('Resources'), await pressed('Histogram'), await pressed('Disk I/O')], ['false', 'true', 'false']);
  await user.done();
});
