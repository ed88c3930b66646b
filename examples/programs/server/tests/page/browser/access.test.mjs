// Accessibility: names, roles, contrast, keyboard only, without colours.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { User, missing, startBrowser } from './user.mjs';

const skip = (await missing()) ?? false;
let browser;

before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.close());

for (const colorScheme of ['dark', 'light']) {
  test(`no rule of axe is broken: ${colorScheme}`, { skip }, async () => {
    const user = await User.open(browser, { colorScheme, bypassCSP: true });
    await user.page.focus('#threads [role=tree]');
    await user.press('ArrowDown');
    await user.page.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
    const check = async (where) => {
      const broken = await user.page.evaluate(async () => {
        const { violations } = await globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
      });
      assert.deepEqual(broken, [], where);
    };
    await check('views');
    await user.press('7', '9', 'i');
    await user.waitFor(() => /durations/.test(document.querySelector('#latencies .note').textContent));
    await user.waitFor(() => document.querySelectorAll('#path [role=treeitem]:not([hidden])').length > 0);
    for (const form of ['scatter', 'figures', 'distribution']) {
      await user.page.selectOption('#latencies [aria-label="Form of latencies"]', form);
      await user.waitFor((name) => name === 'scatter' || document.querySelectorAll('#latencies .line:not([hidden]), #latencies td').length > 0, form);
      await check(form);
    }
    await user.press('7', '9', 'i');
    await user.press('?');
    await user.page.waitForSelector('#help[open]');
    await check('keys');
    await user.press('Escape', 'g');
    await user.page.keyboard.type('nonsense');
    await user.press('Enter');
    await check('go to');
    assert.equal(await user.text('#go-fault'), 'This is no time');
    await user.press('Escape', '/');
    await user.page.keyboard.type('nxt_tid == 0');
    await user.press('Enter');
    await user.page.waitForSelector('.fault mark');
    await check('filter');
    await user.done();
  });
}

test('everything can be reached with the keyboard', { skip }, async () => {
  const user = await User.open(browser);
  const reached = new Set();
  for (let turn = 0; turn < 100; turn += 1) {
    await user.press('Tab');
    reached.add(await user.page.evaluate(() => {
      const { activeElement: element } = document;
      return element.getAttribute('aria-label') ?? (element.tagName === 'BUTTON' ? element.textContent : element.tagName);
    }));
  }
  for (const name of ['Filter of events', 'Control flow', 'Resources', 'Events', 'Statistics', 'Zoom in (w)', 'Critical path', 'Find rows in Control flow']) {
    assert.ok(reached.has(name), `${name} in ${[...reached].join(', ')}`);
  }
  await user.page.focus('#events [role=grid]');
  await user.press('End');
  await user.waitFor(() => {
    const grid = document.querySelector('#events [role=grid]');
    return document.querySelector('#events .line[aria-selected=true]')?.getAttribute('aria-rowindex') === grid.getAttribute('aria-rowcount');
  });
  await user.page.focus('#statistics [role=treegrid]');
  await user.press('ArrowDown', '*');
  await user.waitFor(() => document.querySelector('#statistics .line[aria-selected=true][aria-expanded=true]'));
  await user.press('2');
  assert.equal(await user.page.getAttribute('#threads .fold', 'aria-expanded'), 'false');
  await user.press('2');
  assert.equal(await user.page.getAttribute('#threads .fold', 'aria-expanded'), 'true');
  await user.done();
});

test('states have signs and patterns, on by default where more contrast is wanted', { skip }, async () => {
  const user = await User.open(browser, { contrast: 'more' });
  assert.equal(await user.page.getAttribute('button[title^="Signs"]', 'aria-pressed'), 'true');
  const legend = await user.text('#threads .legend');
  assert.match(legend, /U user/);
  const signs = await user.page.$$eval('#threads .legend li span', (all) => all.map((one) => one.textContent[0]));
  assert.equal(new Set(signs).size, signs.length);
  await user.press('!');
  assert.doesNotMatch(await user.text('#threads .legend'), /U user/);
  await user.done();
});

test('the state of a row is told in words', { skip }, async () => {
  const user = await User.open(browser);
  await user.page.focus('#threads [role=tree]');
  const box = await user.box('#threads canvas');
  await user.page.mouse.click(box.x + box.width * 0.95, box.y + 60);
  await user.waitFor(() => /: .+ for .+, since .+ until .+/.test(document.querySelector('.status .state').textContent));
  await user.done();
});
