// A user of the page: a browser with the page open, and what a user does and sees.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';

const CHROMIUM = process.env.LTTV_CHROMIUM ?? '/usr/bin/chromium';
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
/** The longest wait for what a user would see, in ms; machines of tests may be busy. */
const PATIENCE = 60_000;

/** Returns why tests in a browser cannot run; null if they can. */
export async function missing() {
  if (!process.env.LTTV_URL) return 'LTTV_URL is not set';
  if (!existsSync(CHROMIUM)) return `${CHROMIUM} is not there`;
  try {
    await import('playwright-core');
    return null;
  } catch {
    return 'playwright-core is not installed';
  }
}

/** Starts a browser. */
export async function startBrowser(more = []) {
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath: CHROMIUM, args: [...ARGUMENTS, ...more] });
}

/** A user with a page. */
export class User {
  /** What went wrong in the page: exceptions, errors on the console, dialogs. */
  faults = [];

  constructor(page) {
    this.page = page;
    page.setDefaultTimeout(PATIENCE);
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('dialog', (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on('console', (message) => message.type() === 'error' && this.faults.push(message.text()));
  }

  /** Opens the page and waits until all views show something. */
  static async open(browser, { hash = '', url = process.env.LTTV_URL, ...options } = {}) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, ...options });
    const user = new User(page);
    await page.goto(url + hash);
    await user.waitFor(() => document.querySelectorAll('#threads [role=treeitem]:not([hidden])').length > 0);
    await user.waitFor(() => document.querySelectorAll('#events .line:not(.is-missing, [hidden])').length > 0);
    await user.waitFor(() => document.querySelectorAll('#statistics .line:not([hidden])').length > 0);
    if (hash === '') await user.waitForStates();
    return user;
  }

  waitFor(condition, argument) {
    return this.page.waitForFunction(condition, argument, { timeout: PATIENCE });
  }

  /** Waits until a chart, that of threads unless another is given, has colours. */
  waitForStates(chart = '#threads canvas') {
    return this.waitFor((selector) => {
      const canvas = document.querySelector(selector);
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const colours = new Set();
      for (let at = 0; at < data.length; at += 4 * 7) if (data[at + 3] === 255) colours.add(`${data[at]} ${data[at + 1]} ${data[at + 2]}`);
      return colours.size > 2;
    }, chart);
  }

  /** Returns the values of the status line, by their names. */
  status() {
    return this.page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.status .value:not([hidden])')].map((value) => {
      const text = value.querySelector('b').textContent;
      return [value.textContent.slice(0, -text.length).trim(), text];
    })));
  }

  /** Waits until a value of the status line fulfils a condition, and returns it. */
  async waitForStatus(name, condition, what) {
    const start = Date.now();
    for (;;) {
      const value = (await this.status())[name];
      if (condition(value)) return value;
      if (Date.now() - start > PATIENCE) assert.fail(`${what ?? name}: ${value}`);
      await this.page.waitForTimeout(50);
    }
  }

  /** Does something, and waits until a value of the status line has changed. Returns the new one. */
  async changing(name, action) {
    const before = (await this.status())[name];
    await action();
    return this.waitForStatus(name, (value) => value !== before, `${name} stays`);
  }

  press(...keys) {
    return keys.reduce((before, key) => before.then(() => this.page.keyboard.press(key)), Promise.resolve());
  }

  text(selector) {
    return this.page.textContent(selector);
  }

  async box(selector) {
    return (await this.page.$(selector)).boundingBox();
  }

  /** Drags the pointer in an element, between places given as shares of its size. */
  async drag(selector, from, to, button = 'left') {
    const box = await this.box(selector);
    const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
    await this.page.mouse.move(...at(from));
    await this.page.mouse.down({ button });
    await this.page.mouse.move(...at([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]));
    await this.page.mouse.move(...at(to));
    await this.page.mouse.up({ button });
  }

  /** Returns the number of events that the table says it has. */
  async eventCount() {
    return Number((await this.text('#events .note')).match(/^[\d,]+/)[0].replaceAll(',', ''));
  }

  async done() {
    assert.deepEqual(this.faults, []);
    await this.page.close();
  }
}
