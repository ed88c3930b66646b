// What is known of a state: the exact state, and the spans that contain it, from the events.

/** The first part of a trace in which the end of a span is sought, in ns, and how much longer each next one is. */
const FIRST_PART = 1_000_000n, GROWTH = 20n;
/** The families of spans of a thread. */
const OF_THREADS = 'syscall,run,blocked,wake-up,preemption';

const big = (value) => BigInt(value);

/** Returns the filter for spans of the same name. */
export function sameName(span) {
  return `name == ${JSON.stringify(span.name ?? '')}`;
}

/** Returns a span with times as BigInt; the end of one that is not finished is null. */
function withTimes(span) {
  const end = span.completeness === 'whole' || span.completeness === 'no-begin' ? span.end : null;
  return { ...span, from: big(span.begin), to: end === null || end === undefined ? null : big(end) };
}

/** Asks for facts about states and spans. */
export class Facts {
  constructor(app) {
    this.app = app;
  }

  /** Returns spans of a question. */
  async spans(question, signal) {
    const { spans } = await this.app.experiment.spans(question, signal);
    return spans.map(withTimes);
  }

  /** Returns the thread that a row shows at a time `{tid, label}`; null if it is none. */
  #threadOf(view, entry, facts) {
    const thread = view.isOfThreads ? view.columns.thread(entry) : null;
    if (thread) return thread.tid === '0' ? null : thread;
    const found = /^(?:(.*) )?(\d+)$/.exec(facts.Name ?? '');
    return facts.State === 'busy' && found ? { label: found[1] ?? '', tid: found[2] } : null;
  }

  /** Returns the question for the spans of a row that is no thread; null if it has none. */
  #questionOf(entry) {
    const label = entry.labels[0] ?? '';
    const number = /\((\d+)\)$/.exec(label)?.[1] ?? /(\d+)$/.exec(label)?.[1];
    if (label.startsWith('IRQ ')) return { family: 'irq', filter: `irq == ${number}` };
    if (label.startsWith('SoftIRQ ')) return { family: 'softirq', filter: `irq == ${number}` };
    const disk = /^Disk ([^ ]+) \(/.exec(label)?.[1];
    return disk ? { family: 'disk', filter: `name matches ${JSON.stringify(`^${disk} `)}` } : null;
  }

  /**
   * Returns what is known of a row at a time: `{state, name, start, end, thread, cpu, spans}`, where `spans` are those
   * that contain the time; null if nothing is.
   */
  async of(view, entry, time, signal) {
    const facts = await view.facts(entry, time, { start: time, end: time }, signal);
    const number = (text) => big(/^-?\d+/.exec(text ?? '')?.[0] ?? 0);
    if (!facts.State || facts.State === 'none' || facts.Start === undefined) return null;
    const start = number(facts.Start);
    const known = { state: facts.State, name: facts.Name ?? '', start, end: start + number(facts.Duration), cpu: facts.CPU ?? null, spans: [] };
    const thread = this.#threadOf(view, entry, facts);
    const question = thread ? { family: OF_THREADS, filter: `tid == ${thread.tid}` } : this.#questionOf(entry);
    if (!question) return { ...known, thread };
    // The spans that end in an instant, or are open then.
    const spans = await this.spans({ ...question, begin: time, end: time, limit: 20 }, signal);
    const containing = spans.filter((span) => span.from <= time && (span.to === null || span.to >= time));
    return { ...known, thread, spans: await Promise.all(containing.map((span) => this.whole(span, known.end, signal))) };
  }

  /** Returns a span with its end, which lies behind a time or some time after its begin. */
  async whole(span, after, signal) {
    if (span.to !== null) return span;
    const { span: trace } = this.app.shared;
    const filter = `begin == ${span.from}${span.tid === null || span.tid === undefined ? '' : ` && tid == ${span.tid}`}`;
    let [from, part] = [span.from, FIRST_PART];
    if (after > from) [from, part] = [after - 1n, part];
    for (;;) {
      const until = from + part < trace.to ? from + part : trace.to;
      const found = await this.spans({ family: span.family, filter, begin: from, end: until, limit: 5 }, signal);
      const whole = found.find((one) => one.to !== null && one.from === span.from);
      if (whole || until >= trace.to) return whole ?? span;
      [from, part] = [until, part * GROWTH];
    }
  }

  /** Returns the next span of the same family and name, or with a direction -1 the one before; null if there is none. */
  async neighbour(span, direction, signal) {
    const { span: trace } = this.app.shared;
    const filter = `${sameName(span)} && begin ${direction > 0 ? '>' : '<'} ${span.from}`;
    let part = FIRST_PART;
    let [from, until] = [span.from, span.from];
    for (;;) {
      if (direction > 0) until = from + part < trace.to ? from + part : trace.to;
      else from = until - part > trace.from ? until - part : trace.from;
      const found = await this.spans({ family: span.family, filter, begin: from, end: until, limit: direction > 0 ? 1 : 2000 }, signal);
      const one = direction > 0 ? found[0] : found.at(-1);
      if (one) return this.whole(one, one.from, signal);
      if (direction > 0 ? until >= trace.to : from <= trace.from) return null;
      [from, until, part] = direction > 0 ? [until, until, part * GROWTH] : [from, from, part * GROWTH];
    }
  }
}
