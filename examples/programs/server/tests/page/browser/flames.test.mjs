// The page with a trace of calls of functions, and nothing of the kernel.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { User, missing, startBrowser } from './user.mjs';

const skip = (await missing()) ?? false;
let browser;

before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.close());

test('calls are shown with the names of functions, and views without events are not', { skip }, async () => {
  const user = new User(await browser.newPage({ viewport: { width: 1400, height: 900 } }));
  await user.page.goto(process.env.LTTV_URL);
  await user.waitFor(() => document.querySelectorAll('#flames [role=treeitem]:not([hidden])').length > 3);
  await user.waitForStates('#flames canvas');
  for (const view of ['threads', 'resources', 'usage', 'path']) assert.equal(await user.page.isVisible(`#${view}`), false, view);
  assert.equal(await user.page.$('#flames .legend'), null);
  await user.page.focus('#flames [role=tree]');
  await user.press('ArrowDown', 'ArrowDown', 'ArrowDown');
  // The state in words names the function, which events name by its address.
  await user.waitFor(() => /^0 \(10[123]\): 0x10[0-9a-f]{2} for .+, since /.test(document.querySelector('.status .state').textContent));
  await user.press('Enter');
  await user.waitFor(() => /0x10[0-9a-f]{2}/.test(document.querySelector('.status .message').textContent));
  // A time that was not chosen follows the window, so that a row that is selected there has a state.
  const before = (await user.status()).current;
  await user.press('w', 'w', 'w', 'w', 'w', 'ArrowUp');
  assert.notEqual((await user.status()).current, before);
  await user.done();
});
