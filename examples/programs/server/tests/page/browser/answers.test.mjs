// What the page answers: who ran, what a state is, what happened in a range, where one can go from there.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { User, missing, startBrowser } from './user.mjs';

const skip = (await missing()) ?? false;
const PLOT = '#threads canvas';
const ROWS = '#threads [role=treeitem]:not([hidden])';
let browser;

before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.close());

/** Returns name, number and share of the rows of a chart in view. */
function rowsOf(user, chart = 'threads') {
  return user.page.$$eval(`#${chart} [role=treeitem]:not([hidden])`, (rows) => rows.map((row) => ({
    name: row.querySelector('.name').textContent, number: row.querySelector('.number').textContent, share: row.querySelector('.share').textContent,
    level: Number(row.getAttribute('aria-level')), isPinned: row.classList.contains('is-pinned'),
  })));
}

const percent = (text) => Number(text.replace('<', '').replace(' %', ''));

/** Selects the row of a thread by its number. */
async function find(user, tid) {
  await user.page.fill('#threads input[type=search]', tid);
  await user.page.focus('#threads input[type=search]');
  await user.press('Enter');
  return user.waitForStatus('thread', (value) => value?.endsWith(`(${tid})`));
}

test('the first screen shows the threads that run, the busiest ones first', { skip }, async () => {
  const user = await User.open(browser, { viewport: { width: 1280, height: 800 } });
  const rows = await rowsOf(user);
  assert.ok(rows.length >= 5, JSON.stringify(rows));
  assert.ok(rows.every(({ name }) => !name.startsWith('swapper')), JSON.stringify(rows));
  // Threads of a process are below it, by their own time; the others by that of their process.
  const single = rows.filter(({ level }) => level === 1);
  assert.ok(percent(rows.find(({ share }) => share !== '').share) > 20);
  assert.ok(single.length >= 3);
  assert.match(await user.text('#threads .note'), /^\d+ of \d+ rows busiest first/);
  assert.match(await user.text('#threads .legend'), /Thick: active\. Thin: waiting/);
  await user.page.focus('#threads [role=tree]');
  await user.press('A');
  await user.waitFor(() => /^(\d+) rows/.test(document.querySelector('#threads .note').textContent));
  await user.press('A', 'R');
  await user.waitFor(() => document.querySelector('#threads .note').textContent.includes('by name'));
  const names = (await rowsOf(user)).filter(({ level }) => level === 1).map(({ name }) => name);
  assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })));
  await user.done();
});

test('rows are pinned, folded and found', { skip }, async () => {
  const user = await User.open(browser);
  const last = (await rowsOf(user)).at(-1);
  const rows = await user.page.$$(ROWS);
  await rows.at(-1).hover();
  await (await rows.at(-1).$('.pin')).click();
  await user.waitFor(() => document.querySelector('#threads [role=treeitem]').classList.contains('is-pinned'));
  assert.equal((await rowsOf(user))[0].number, last.number);
  await user.page.focus('#threads [role=tree]');
  // A search is among all rows, also those that are hidden.
  await find(user, '210');
  assert.equal((await rowsOf(user))[0].number, '210');
  await user.press('Escape');
  const shown = await rowsOf(user);
  assert.equal(shown.filter(({ number }) => number === '210').length, 1, 'a thread has one row');
  await user.done();
});

test('a click on a state keeps the keyboard, and tells the call with its arguments', { skip }, async () => {
  const user = await User.open(browser, { hash: '#from=1795233416.49&to=1795233416.61&tid=211' });
  await user.waitForStates();
  const row = await user.page.waitForSelector('#threads [role=treeitem][aria-selected=true]');
  const [plot, box] = [await user.box(PLOT), await row.boundingBox()];
  // The thread is in fdatasync from .4997 to .6050.
  await user.page.mouse.click(plot.x + plot.width * 0.5, box.y + box.height / 2);
  await user.waitFor(() => document.querySelector('#inspector h2').textContent === 'fdatasync');
  const panel = await user.text('#inspector');
  assert.match(panel, /Thread.*\(211\)/);
  assert.match(panel, /Duration105\.4 ms/);
  assert.match(panel, /Result0/);
  assert.match(panel, /fd3/);
  assert.match(panel, /\/mnt\/f1/);
  await user.waitFor(() => document.querySelector('#inspector').textContent.includes('Longest fdatasync in view'));
  assert.equal(await user.page.evaluate(() => document.activeElement.getAttribute('role')), 'tree');
  // Keys act on the chart at once.
  await user.changing('thread', () => user.press('ArrowDown'));
  // The next call of the name, and back.
  await user.changing('current', () => user.page.click('#inspector button[aria-label^="next"]'));
  await user.waitFor(() => /213|210/.test(document.querySelector('#inspector dl').textContent));
  await user.changing('current', () => user.page.click('#inspector button[aria-label^="‹ previous"]'));
  await user.waitFor(() => document.querySelector('#inspector dl').textContent.includes('(211)'));
  await user.page.focus('#threads [role=tree]');
  await user.press('Escape');
  assert.equal(await user.page.isHidden('#inspector'), true);
  await user.done();
});

test('a blocked thread leads to its waker', { skip }, async () => {
  const user = await User.open(browser, { hash: '#from=1795233416.49&to=1795233416.61&tid=211' });
  await user.waitForStates();
  const row = await user.page.waitForSelector('#threads [role=treeitem][aria-selected=true]');
  const [plot, box] = [await user.box(PLOT), await row.boundingBox()];
  // The thread is blocked from .5418 to .6024.
  await user.page.mouse.click(plot.x + plot.width * 0.667, box.y + box.height / 2);
  await user.waitFor(() => document.querySelector('#inspector').textContent.includes('Woken byjbd2/vdb-8 (142)'));
  assert.match(await user.text('#inspector'), /Stateblocked/);
  const thread = await user.changing('thread', () => user.page.click('#inspector .link:text-is("jbd2/vdb-8 (142)")'));
  assert.match(thread, /\(142\)$/);
  await user.done();
});

test('CPUs show who runs on them, and resources have names', { skip }, async () => {
  const user = await User.open(browser, { viewport: { width: 1400, height: 1200 } });
  await user.waitForStates('#resources canvas');
  const names = (await rowsOf(user, 'resources')).map(({ name }) => name);
  assert.ok(names.some((name) => name.startsWith('CPU 0')), names.join());
  const box = await user.box('#resources canvas');
  const found = [];
  for (let share = 0.3; share < 0.9; share += 0.1) {
    await user.page.mouse.move(box.x + box.width * share, box.y + 9);
    await user.page.waitForTimeout(700);
    found.push(await user.text('.tip'));
  }
  assert.ok(found.some((text) => /\(\d+\)/.test(text) && /runs \S+ \d+/.test(text)), found.join('\n'));
  await user.page.click('#resources .tools button[title^="Lower"]');
  await user.page.focus('#resources [role=tree]');
  const filter = await user.page.$('#resources input[type=search]');
  await filter.fill('SoftIRQ');
  await user.waitFor(() => [...document.querySelectorAll('#resources .name')].some((name) => /^SoftIRQ [A-Z_]+ \(\d+\)$/.test(name.textContent)));
  await user.done();
});

test('a marked range answers who ran, which calls, how long, and which events', { skip }, async () => {
  const user = await User.open(browser, { hash: '#range=1795233416.42..1795233416.61' });
  await user.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await user.waitFor(() => {
    const text = document.querySelector('#range').textContent;
    return ['CPU time by thread', 'CPU time by process', 'System calls', 'Events by type'].every((title) => text.includes(title));
  });
  await user.page.click('#range button[aria-label^="Copy CSV"]');
  const csv = await user.page.evaluate(() => navigator.clipboard.readText());
  assert.match(csv, /^thread,tid,time_ns,of_one_cpu\n/);
  assert.match(csv, /\nname,count,total_ns,p99_ns,max_ns\n/);
  assert.match(csv, /\nfdatasync,\d+,\d+,\d+,\d+\n/);
  assert.match(csv, /\ntype,count\n/);
  // A call leads to its spans, and these to their place.
  await user.page.click('#range button[aria-label="fdatasync: show it"]');
  await user.page.waitForSelector('#range .spans button');
  await user.changing('current', () => user.page.click('#range .spans button'));
  await user.waitFor(() => document.querySelector('#inspector h2').textContent === 'fdatasync');
  await user.done();
});

test('the list of events shows payloads, and all fields of the selected one', { skip }, async () => {
  const user = await User.open(browser, { hash: '#at=1795233416.469512391&from=1795233416.46&to=1795233416.48' });
  await user.waitFor(() => document.querySelector('#events .line[aria-selected=true] .wide')?.textContent.startsWith('fd = 37'));
  await user.waitFor(() => /cmd.*lttng-consumerd/s.test(document.querySelector('#events .details').textContent));
  // The list follows the window.
  const seconds = await user.text('#events .line[aria-selected=true] .time');
  await user.press('L', 'L');
  await user.waitFor((before) => {
    const times = [...document.querySelectorAll('#events .line:not([hidden], .is-missing) .time')].map((time) => time.textContent);
    return times.length > 0 && times.at(-1).slice(6) > '56.50' && !times.includes(before);
  }, seconds);
  await user.done();
});

test('keys zoom around the pointer, show one view only, and fit what is selected', { skip }, async () => {
  const user = await User.open(browser);
  const box = await user.box(PLOT);
  await user.page.mouse.move(box.x + box.width * 0.75, box.y + 20);
  await user.changing('width', () => user.press('w'));
  const { window } = await user.status();
  // Three quarters of the window stay at the pointer: the begin moves more than the end.
  assert.ok(window.slice(0, 15) > '03:56:56.40', window);
  await user.press('0');
  await user.page.focus('#threads [role=tree]');
  await user.press('m');
  assert.equal(await user.page.isVisible('#resources'), false);
  assert.equal(await user.page.isVisible('#threads'), true);
  await user.press('m');
  assert.equal(await user.page.isVisible('#resources'), true);
  await user.changing('range', () => user.drag(PLOT, [0.2, 0.5], [0.3, 0.5]));
  await user.changing('width', () => user.press('f'));
  await user.done();
});

test('the height of a view follows its edge', { skip }, async () => {
  const user = await User.open(browser);
  const before = await user.box('#resources');
  await user.page.mouse.move(before.x + 300, before.y + before.height + 1);
  await user.page.mouse.down();
  await user.page.mouse.move(before.x + 300, before.y + before.height + 61, { steps: 4 });
  await user.page.mouse.up();
  const after = await user.box('#resources');
  assert.ok(Math.abs(after.height - before.height - 60) < 4, `${before.height} ${after.height}`);
  await user.page.mouse.dblclick(after.x + 300, after.y + after.height + 1);
  assert.ok(Math.abs((await user.box('#resources')).height - before.height) < 2);
  await user.done();
});

test('a chart is saved as SVG and as PNG', { skip }, async () => {
  const user = await User.open(browser);
  for (const [form, begins] of [['SVG', '<svg'], ['PNG', '\u0089PNG']]) {
    const [file] = await Promise.all([user.page.waitForEvent('download'), user.page.click(`#threads button[aria-label="${form}: save Control flow as a picture"]`)]);
    const bytes = await readFile(await file.path());
    assert.equal(file.suggestedFilename(), `lttv-threads.${form.toLowerCase()}`);
    assert.ok(bytes.toString('latin1').startsWith(begins));
    if (form === 'SVG') assert.match(bytes.toString(), /burner|diskio|lttng/);
  }
  await user.done();
});

test('a link shows the same views and pinned rows again', { skip }, async () => {
  const user = await User.open(browser);
  await find(user, '205');
  await user.press('Escape');
  await user.page.focus('#threads [role=tree]');
  await user.press('p', 'R', '7');
  await user.waitFor(() => /pins=205/.test(location.hash) && /order=name/.test(location.hash) && /views=.*path/.test(location.hash));
  const hash = await user.page.evaluate(() => location.hash);
  const other = await User.open(await browser.newContext(), { hash });
  await other.waitFor(() => document.querySelector('#threads [role=treeitem]:not([hidden])').classList.contains('is-pinned'));
  assert.equal((await rowsOf(other))[0].number, '205');
  assert.equal(await other.page.isVisible('#path'), true);
  await user.done();
  await other.done();
});

test('the panels break no rule of axe', { skip }, async () => {
  const user = await User.open(browser, { bypassCSP: true, hash: '#from=1795233416.49&to=1795233416.61&tid=211' });
  await user.page.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
  const check = async (where) => {
    const broken = await user.page.evaluate(async () => {
      const { violations } = await globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
    });
    assert.deepEqual(broken, [], where);
  };
  const row = await user.page.waitForSelector('#threads [role=treeitem][aria-selected=true]');
  const [plot, box] = [await user.box(PLOT), await row.boundingBox()];
  await user.page.mouse.click(plot.x + plot.width * 0.5, box.y + box.height / 2);
  await user.waitFor(() => document.querySelector('#inspector').textContent.includes('Longest fdatasync in view'));
  await check('state');
  await user.page.focus('#threads [role=tree]');
  await user.press('Escape');
  await user.drag(PLOT, [0.2, 0.5], [0.6, 0.5]);
  await user.waitFor(() => ['System calls', 'Events by type'].every((title) => document.querySelector('#range').textContent.includes(title)));
  await check('range');
  await user.done();
});
