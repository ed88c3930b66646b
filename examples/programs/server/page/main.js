// Starts the page: finds the experiment, gives its outputs to the views, keeps the link up to date.

import { App } from './app.js';
import { Client } from './data/client.js';
import { OUTPUTS, Server, latenciesOf } from './data/protocol.js';
import { takeToken } from './data/token.js';
import { fromLink, toLink } from './model/link.js';
import { overlapping } from './model/overlap.js';

/** How often a trace that is still being read is asked for its end, in ms. */
const POLL = 500;
/** How long the window must rest before the link is changed, in ms. */
const REST = 250;

const server = new Server(new Client(takeToken()));
const app = new App();
app.mount(document.body);

const big = (value) => BigInt(value);

/** Returns the name of an experiment of traces. */
function nameOf(traces) {
  const names = traces.map(({ name }) => name);
  return names.length > 3 ? `${names.slice(0, 2).join(', ')} and ${names.length - 2} more` : names.join(', ');
}

/** Shows traces together. */
async function open(traces) {
  const { UUID } = await server.createExperiment(nameOf(traces), traces.map((trace) => trace.UUID));
  history.replaceState(null, '', `${location.pathname}${location.search}#experiment=${encodeURIComponent(UUID)}`);
  location.reload();
}

/**
 * Returns the experiments. If there is none yet, one of all traces is made if they were recorded at the same time;
 * otherwise the user chooses.
 */
async function experiments() {
  const [existing, traces] = await Promise.all([server.experiments(), server.traces()]);
  app.chooser.set(traces, open);
  if (existing.length > 0) return existing;
  if (traces.length === 0) throw new Error('The server has no traces. Start it with the paths of some.');
  if (overlapping(traces).length > 1) return [];
  return [await server.createExperiment(nameOf(traces), traces.map((trace) => trace.UUID))];
}

/** Applies the link of the page, as far as it has something for this trace. */
function follow(link) {
  const { shared } = app;
  if (link.filter !== undefined) app.filterBar.set(link.filter);
  if (link.thread !== undefined) shared.selectThread(link.thread);
  if (link.time !== undefined) shared.setTime(link.time);
  if (link.window !== undefined) shared.show(link.window);
  if (link.views !== undefined) for (const { panel } of app.views) panel.show(link.views.includes(panel.id), { forNow: true });
  if (link.pins !== undefined || link.order !== undefined) app.threads.setLooks(link);
  if (link.range !== undefined) shared.setRange(link.range.from, link.range.to);
}

let timer = 0;
let written = '';

/** Writes what is shown into the address, without an entry in the history of the browser. */
function writeLink(experiment) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    written = `#${toLink({ ...snapshot(), experiment })}`;
    history.replaceState(null, '', written === '#' ? location.pathname + location.search : written);
  }, REST);
}

function snapshot() {
  const { window, span, time, thread, filter, range } = app.shared;
  const shown = app.views.filter(({ panel }) => panel.isShown);
  const isUsual = app.views.every(({ panel }) => panel.isShown === panel.isShownAtFirst);
  const views = isUsual ? null : shown.map(({ panel }) => panel.id);
  return { window, span, time, thread, filter, range, views, ...app.threads.looks };
}

/** Follows a trace that is still being read. */
async function poll(id) {
  for (;;) {
    const experiment = await server.experiment(id);
    if (experiment.nbEvents > 0 || experiment.end > 0) app.shared.setSpan(big(experiment.start), big(experiment.end));
    app.faults.set(experiment.faults);
    const isRunning = experiment.indexingStatus === 'RUNNING';
    app.topBar.progress.textContent = isRunning ? `reading: ${Number(experiment.nbEvents).toLocaleString('en')} events` : '';
    if (!isRunning) return;
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
}

/** Gives each output to its view; views without one say so. */
async function startViews(api) {
  const outputs = await api.outputs();
  const statistics = outputs.find(({ id, type }) => type === 'DATA_TREE' && /statistic/i.test(id)) ?? outputs.find(({ type }) => type === 'DATA_TREE');
  const known = (id) => (outputs.some((output) => output.id === id) ? id : undefined);
  const latencies = latenciesOf(outputs);
  if (known(OUTPUTS.threads)) app.activity.start();
  const parts = [
    [app.overview, known(OUTPUTS.histogram)], [app.histogram, known(OUTPUTS.histogram)], [app.threads, known(OUTPUTS.threads)],
    [app.criticalPath, known(OUTPUTS.criticalPath)], [app.resources, known(OUTPUTS.resources)],
    [app.flameChart, known(OUTPUTS.flameChart)], [app.usage, known(OUTPUTS.usage)], [app.disks, known(OUTPUTS.disks)],
    [app.latencies, latencies.length > 0 ? latencies : undefined], [app.events, known(OUTPUTS.events)],
    [app.statistics, statistics?.id],
  ];
  app.rangePanel.start({ usage: known(OUTPUTS.usage), statistics: statistics?.id, latencies });
  for (const [view, output] of parts) {
    if (output === undefined) {
      view.panel?.setEmpty();
      continue;
    }
    Promise.resolve(view.start(output)).catch((error) => (view.panel ? view.panel.report(error) : app.say(error.message)));
  }
}

async function start() {
  const all = await experiments();
  if (all.length === 0) {
    app.chooser.show();
    return;
  }
  const wanted = new URLSearchParams(location.hash.slice(1)).get('experiment');
  const current = all.find(({ UUID }) => UUID === wanted) ?? all[0];
  const named = all.length > 1 ? current.UUID : undefined;
  app.topBar.setExperiments(all, current, (id) => {
    history.replaceState(null, '', `#experiment=${encodeURIComponent(id)}`);
    location.reload();
  });
  document.title = `${current.name} – LTTV`;
  const api = server.of(current.UUID);
  const first = await server.experiment(current.UUID);
  app.experiment = api;
  app.faults.set(first.faults);
  app.shared.setSpan(big(first.start), big(first.end));
  app.shared.setTime(app.shared.span.from);
  follow(fromLink(location.hash, app.shared.span));
  app.shared.on(['window', 'time', 'thread', 'filter', 'range'], () => writeLink(named));
  app.addEventListener('looks', () => writeLink(named));
  for (const { panel } of app.views) panel.addEventListener('change', () => writeLink(named));
  app.link = () => `${location.origin}${location.pathname}#${toLink({ ...snapshot(), experiment: named })}`;
  addEventListener('hashchange', () => {
    if (location.hash !== written) follow(fromLink(location.hash, app.shared.span));
  });
  await startViews(api);
  if (first.indexingStatus === 'RUNNING') {
    await poll(current.UUID);
    for (const view of [app.threads, app.resources, app.criticalPath]) if (view.output) view.reload();
  }
  app.status.show();
}

start().catch((error) => app.say(error.message));
