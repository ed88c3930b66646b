// The time of frames while the window moves, with all rows of the trace in view.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { User, missing, startBrowser } from './user.mjs';

const skip = (await missing()) ?? (process.env.LTTV_FRAMES ? false : 'LTTV_FRAMES is not set');
/** The number of rows that must be in view. */
const ROWS = Number(process.env.LTTV_FRAMES);
/** The longest time of a frame, in ms, of all but one in twenty. */
const LIMIT = 16;
const ATTEMPTS = 4;
let browser;

before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.close());

const percentile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(Math.floor(values.length * share), values.length - 1)];

test('a frame while the window moves takes at most 16 ms', { skip }, async () => {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1420 } });
  // The work of a frame: the callbacks that draw it.
  await page.addInitScript(() => {
    globalThis.work = [];
    const { requestAnimationFrame } = globalThis;
    globalThis.requestAnimationFrame = (draw) => requestAnimationFrame((time) => {
      const start = performance.now();
      draw(time);
      globalThis.work.push(performance.now() - start);
    });
  });
  const user = new User(page);
  await page.goto(process.env.LTTV_URL);
  await user.waitForStates();
  for (const view of ['histogram', 'resources', 'usage', 'events', 'statistics']) await page.click(`#${view} .fold`);
  for (let turn = 0; turn < 6; turn += 1) await page.click('#threads button[title^="Lower"]');
  await user.waitFor((rows) => document.querySelectorAll('#threads [role=treeitem]:not([hidden])').length >= rows, ROWS);
  await user.press('w', 'w');
  await page.waitForTimeout(2000);
  await user.waitForStates();
  const box = await user.box('#threads canvas');
  const middle = box.x + box.width / 2;
  // Other programs may keep the machine busy: the best of several gestures counts.
  let best = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && best > LIMIT; attempt += 1) {
    await page.evaluate(() => globalThis.work.splice(0));
    await page.mouse.move(middle, box.y + 100);
    await page.mouse.down({ button: 'middle' });
    for (let turn = 0; turn < 240; turn += 1) {
      await page.mouse.move(middle + 400 * Math.sin(turn / 15), box.y + 100);
      await page.waitForTimeout(8);
    }
    await page.mouse.up({ button: 'middle' });
    const work = await page.evaluate(() => globalThis.work);
    assert.ok(work.length > 50, `${work.length} frames`);
    const [half, most] = [percentile(work, 0.5), percentile(work, 0.95)];
    best = Math.min(best, most);
    console.log(`# ${work.length} frames of ${ROWS} rows: median ${half.toFixed(1)} ms, 95 % within ${most.toFixed(1)} ms, longest ${Math.max(...work).toFixed(1)} ms`);
  }
  assert.ok(best <= LIMIT, `${best} ms`);
  await user.done();
});
