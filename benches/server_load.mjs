#!/usr/bin/env node
// Drives a trace server as users do who zoom and move the window, and prints how long answers take.
//
//   lttv-server --root DIR --cache EMPTY_DIR --port 8080 &
//   node benches/server_load.mjs http://127.0.0.1:8080 TRACE [USERS [STEPS [PID]]]
//
// TRACE is the absolute path of a kernel trace below DIR. In each step a user asks at the same time for the
// states of all threads, their arrows, the histogram, CPU usage, and lines of the table of events, each
// compressed, and takes the next step when all answers have arrived. With the PID of the server its memory is
// printed, too.

import { readFileSync } from 'node:fs';
import http from 'node:http';

const [url, trace, users = '1', steps = '60', pid] = process.argv.slice(2);
if (!trace) {
  console.error('usage: server_load.mjs URL TRACE [USERS [STEPS [PID]]]');
  process.exit(2);
}
/** The number of samples of an answer: one for each pixel of a wide window. */
const SAMPLES = 1400;
const LINES = 50;
const THREADS = 'org.eclipse.tracecompass.internal.analysis.os.linux.core.threadstatus.ThreadStatusDataProvider';
const HISTOGRAM = 'org.eclipse.tracecompass.internal.tmf.core.histogram.HistogramDataProvider';
const USAGE = 'org.eclipse.tracecompass.analysis.os.linux.core.cpuusage.CpuUsageDataProvider';
const EVENTS = 'org.eclipse.tracecompass.internal.provisional.tmf.core.model.events.TmfEventTableDataProvider';

const agent = new http.Agent({ keepAlive: true });

/** Sends a request, and returns the text of the answer; with `isTimed`, the time until its last byte, in ms. */
function send(method, path, body, { isTimed = false } = {}) {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', ...(isTimed ? { 'Accept-Encoding': 'gzip' } : {}) };
    const request = http.request(`${url}/tsp/api${path}`, { method, headers, agent }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode} ${Buffer.concat(parts)}`));
        else resolve(isTimed ? performance.now() - start : Buffer.concat(parts).toString());
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const get = async (path) => send('GET', path);
const post = async (path, parameters) => send('POST', path, JSON.stringify({ parameters }));

/** Asks until an answer is complete. */
async function complete(ask) {
  for (;;) {
    const text = await ask();
    if (/"(status|indexingStatus)":"COMPLETED"/.test(text)) return text;
    await sleep(10);
  }
}

/** Returns the parameters of a window. They are written by hand: times are larger than numbers can be exact. */
const range = (from, to, more) => `{"parameters":{"requested_timerange":{"start":${from},"end":${to},"nbTimes":${SAMPLES}}${more}}}`;

/** Returns the requests of one view of a window: their kinds, paths and bodies. */
function view({ outputs, items, cpus }, from, to) {
  return [
    ['states', `${outputs}/timeGraph/${THREADS}/states`, range(from, to, `,"requested_items":[${items}]`)],
    ['arrows', `${outputs}/timeGraph/${THREADS}/arrows`, range(from, to, '')],
    ['histogram', `${outputs}/XY/${HISTOGRAM}/xy`, range(from, to, ',"requested_items":[1]')],
    ['usage', `${outputs}/XY/${USAGE}/xy`, range(from, to, `,"requested_items":[${cpus}]`)],
    ['lines', `${outputs}/table/${EVENTS}/lines`,
      `{"parameters":{"requested_times":[${from}],"requested_table_count":${LINES},"requested_table_column_ids":[]}}`],
  ];
}

const withData = (tree) => JSON.parse(tree).model.entries.filter((entry) => entry.hasData !== false).map((entry) => entry.id);

/** Opens the trace, and shows all of it. Returns what the steps need. */
async function open() {
  const start = performance.now();
  const { UUID } = JSON.parse(await post('/traces', { uri: trace }));
  const experiment = JSON.parse(await post('/experiments', { name: `load ${process.pid}`, traces: [UUID] })).UUID;
  const outputs = `/experiments/${experiment}/outputs`;
  const [threads, cpus] = await Promise.all([
    complete(() => post(`${outputs}/timeGraph/${THREADS}/tree`, {})),
    complete(() => post(`${outputs}/XY/${USAGE}/tree`, {})),
  ]);
  const model = await complete(() => get(`/experiments/${experiment}`));
  const number = (key) => BigInt(new RegExp(`"${key}":(-?\\d+)`).exec(model)[1]);
  const [from, to] = [number('start'), number('end')];
  const shown = { outputs, items: withData(threads), cpus: withData(cpus) };
  await Promise.all(view(shown, from, to).map(([, path, body]) => send('POST', path, body, { isTimed: true })));
  console.log(`first complete view after ${(performance.now() - start).toFixed(0)} ms: ${number('nbEvents')} events, ${shown.items.length} threads`);
  return { ...shown, from, to, experiment, trace: UUID };
}

/** Returns a generator of numbers from 0 to 1, the same for the same seed. */
function random(seed) {
  let state = BigInt(seed) * 0x9e3779b97f4a7c15n + 1n;
  return () => {
    state = BigInt.asUintN(64, state ^ (state << 13n));
    state ^= state >> 7n;
    state = BigInt.asUintN(64, state ^ (state << 17n));
    return Number(state >> 11n) / 2 ** 53;
  };
}

/** Returns the next window of a user: narrower, wider, moved, or all. */
function nextWindow({ from, to }, all, next) {
  const width = to - from;
  const part = (share) => BigInt(Math.round(Number(width) * share));
  const choice = next();
  let [low, high] = [all.from, all.to];
  if (choice < 0.4 && width > 1000n) [low, high] = [from + part(next() / 2), to - part(next() / 2)];
  else if (choice < 0.7) {
    const by = part(next() - 0.5);
    [low, high] = [from + by, to + by];
  } else if (choice < 0.95) [low, high] = [from - width / 2n, to + width / 2n];
  if (high - low >= all.to - all.from || high <= low) return { from: all.from, to: all.to };
  const inside = low < all.from ? all.from - low : high > all.to ? all.to - high : 0n;
  return { from: low + inside, to: high + inside };
}

const times = new Map();
const add = (kind, ms) => times.set(kind, [...(times.get(kind) ?? []), ms]);

async function user(seed, shown) {
  const next = random(seed);
  let window = shown;
  for (let step = 0; step < Number(steps); step += 1) {
    window = nextWindow(window, shown, next);
    const start = performance.now();
    await Promise.all(view(shown, window.from, window.to).map(async ([kind, path, body]) => add(kind, await send('POST', path, body, { isTimed: true }))));
    add('step', performance.now() - start);
  }
}

const shown = await open();
await Promise.all(Array.from({ length: Number(users) }, (_, seed) => user(seed + 1, shown)));
console.log(`${users} users, ${steps} steps each, in ms:`);
for (const [kind, all] of times) {
  all.sort((a, b) => a - b);
  const [half, most, nearly, last] = [0.5, 0.95, 0.99, 1].map((share) => all[Math.max(Math.ceil(all.length * share) - 1, 0)].toFixed(1).padStart(7));
  console.log(`${kind.padEnd(10)} 50 % ${half}   95 % ${most}   99 % ${nearly}   longest ${last}`);
}
if (pid) console.log(readFileSync(`/proc/${pid}/status`, 'utf8').match(/^(VmHWM|VmRSS|RssAnon|RssFile).*/gm).map((line) => line.replace(/\s+/g, ' ')).join(', '));
await send('DELETE', `/experiments/${shown.experiment}`);
// It stays open if another experiment uses it.
await send('DELETE', `/traces/${shown.trace}`).catch(() => {});
agent.destroy();
