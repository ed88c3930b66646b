// The operations of the Trace Server Protocol that the page uses, and the two of our own.

const BASE = '/tsp/api';

/** The ids of the outputs that the views show. */
export const OUTPUTS = {
  histogram: 'org.eclipse.tracecompass.internal.tmf.core.histogram.HistogramDataProvider',
  events: 'org.eclipse.tracecompass.internal.provisional.tmf.core.model.events.TmfEventTableDataProvider',
  threads: 'org.eclipse.tracecompass.internal.analysis.os.linux.core.threadstatus.ThreadStatusDataProvider',
  resources: 'org.eclipse.tracecompass.internal.analysis.os.linux.core.threadstatus.ResourcesStatusDataProvider',
  usage: 'org.lttv.cpuusage.threads',
  disks: 'org.eclipse.tracecompass.analysis.os.linux.core.inputoutput.DisksIODataProvider',
  criticalPath: 'org.eclipse.tracecompass.analysis.graph.core.dataprovider.CriticalPathDataProvider',
  flameChart: 'org.eclipse.tracecompass.internal.analysis.profiling.callstack.provider.CallStackDataProvider',
};

/** The starts of the ids of outputs of latencies; the id of the analysis follows. */
const LATENCIES = {
  figures: 'org.eclipse.tracecompass.analysis.timing.core.segmentstore.SegmentStoreStatisticsDataProvider:',
  scatter: 'org.eclipse.tracecompass.internal.analysis.timing.core.segmentstore.scatter.dataprovider:',
  distribution: 'org.lttv.latency.distribution:',
};

/**
 * Returns the analyses of latencies among outputs: the name of each, and the ids of its `figures`,
 * `scatter` and `distribution`.
 */
export function latenciesOf(outputs) {
  const of = (kind) => outputs.filter(({ id }) => id.startsWith(LATENCIES[kind]));
  return of('scatter').map(({ id, name }) => {
    const analysis = id.slice(LATENCIES.scatter.length);
    const other = (kind) => of(kind).find((output) => output.id === LATENCIES[kind] + analysis)?.id;
    return { id: analysis, name: name.replace(/ - .*/, ''), scatter: id, figures: other('figures'), distribution: other('distribution') };
  });
}

/**
 * Returns the parameters that ask for the critical path of a thread, or of the busiest one if there is
 * none; null for an idle thread, which has no path.
 */
export function pathOf(thread) {
  if (!thread) return {};
  return thread.tid === '0' ? null : { lttv_thread: Number(thread.tid) };
}

const segment = (text) => encodeURIComponent(text).replaceAll('%3A', ':');

/** The operations of a server. */
export class Server {
  #client;

  constructor(client) {
    this.#client = client;
  }

  #get(path, signal) {
    return this.#client.ask({ method: 'GET', path }, signal);
  }

  #post(path, parameters, signal, more = {}) {
    return this.#client.ask({ method: 'POST', path, body: { parameters }, ...more }, signal);
  }

  traces(signal) {
    return this.#get(`${BASE}/traces`, signal);
  }

  experiments(signal) {
    return this.#get(`${BASE}/experiments`, signal);
  }

  experiment(id, signal) {
    return this.#get(`${BASE}/experiments/${segment(id)}`, signal);
  }

  createExperiment(name, traces, signal) {
    return this.#post(`${BASE}/experiments`, { name, traces }, signal);
  }

  /** Returns the operations on one experiment. */
  of(experiment) {
    return new Experiment(experiment, (path, signal) => this.#get(path, signal),
      (path, parameters, signal, more) => this.#post(path, parameters, signal, more));
  }
}

/** The operations on an experiment. */
class Experiment {
  #get;
  #post;
  #outputs;

  constructor(id, get, post) {
    this.id = id;
    this.#get = get;
    this.#post = post;
    this.#outputs = `${BASE}/experiments/${segment(id)}/outputs`;
  }

  outputs(signal) {
    return this.#get(this.#outputs, signal);
  }

  style(output, signal) {
    return this.#post(`${this.#outputs}/${segment(output)}/style`, {}, signal);
  }

  /**
   * Returns a tree of a kind `timeGraph`, `XY`, `genericXY` or `data`; of a window `{from, to}` if given. `more` are
   * parameters of the output's own, here and below.
   */
  tree(kind, output, window, signal, more = {}) {
    const range = window ? { requested_timerange: { start: window.from, end: window.to } } : {};
    return this.#post(`${this.#outputs}/${kind}/${segment(output)}/tree`, { ...range, ...more }, signal);
  }

  states(output, samples, items, signal, more = {}) {
    return this.#post(`${this.#outputs}/timeGraph/${segment(output)}/states`,
      { requested_timerange: rangeOf(samples), requested_items: items, lttv_columns: true, ...more },
      signal, { pack: 'states', origin: samples.start });
  }

  arrows(output, samples, signal, more = {}) {
    return this.#post(`${this.#outputs}/timeGraph/${segment(output)}/arrows`,
      { requested_timerange: rangeOf(samples), ...more }, signal, { pack: 'arrows', origin: samples.start });
  }

  tooltip(output, { entry, time, element }, signal, more = {}) {
    return this.#post(`${this.#outputs}/timeGraph/${segment(output)}/tooltip`,
      { requested_times: [time], requested_items: [entry], requested_element: element, ...more }, signal);
  }

  series(output, samples, items, filter, signal) {
    const parameters = { requested_timerange: rangeOf(samples), requested_items: items };
    if (filter) parameters.lttv_filter = filter;
    return this.#post(`${this.#outputs}/XY/${segment(output)}/xy`, parameters,
      signal, { pack: 'series', origin: samples.start });
  }

  /** Returns bars over ranges of values, such as the number of durations by their length, in a window. */
  bars(output, window, items, signal) {
    const range = { start: window.from, end: window.to, nbSamples: 2 };
    return this.#post(`${this.#outputs}/genericXY/${segment(output)}/xy`, { requested_timerange: range, requested_items: items }, signal);
  }

  columns(output, signal) {
    return this.#post(`${this.#outputs}/table/${segment(output)}/columns`, {}, signal);
  }

  /**
   * Returns lines of a table: `count` from an `index` or a `time` on, or with `search`
   * `{column, text, direction}` from the next match on.
   */
  lines(output, { index, time, count, search, filter }, signal) {
    const parameters = { requested_table_count: count, requested_table_column_ids: [] };
    if (time !== undefined) parameters.requested_times = [time];
    else parameters.requested_table_index = index;
    if (search) {
      parameters.table_search_expressions = search.expressions;
      if (search.direction) parameters.table_search_direction = search.direction;
    }
    if (filter) parameters.lttv_filter = filter;
    return this.#post(`${this.#outputs}/table/${segment(output)}/lines`, parameters, signal);
  }

  /** Returns for how long threads and resources are active in a window `{from, to}`. */
  activity({ from, to }, signal) {
    return this.#post(`/lttv/experiments/${segment(this.id)}/activity`, { begin: from, end: to }, signal);
  }

  /** Returns spans: `{family, begin, end, filter, sort, limit}`. */
  spans(question, signal) {
    return this.#post(`/lttv/experiments/${segment(this.id)}/spans`, question, signal);
  }

  /** Checks a filter: its diagnostics, and what can stand at the cursor. */
  checkFilter(text, cursor, signal) {
    return this.#post(`/lttv/experiments/${segment(this.id)}/filter`, { filter: text, cursor }, signal);
  }
}

function rangeOf({ start, end, nbTimes }) {
  return { start, end, nbTimes };
}
