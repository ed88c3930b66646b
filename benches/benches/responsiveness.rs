//! The latency of `service_chunk` with fifty viewers of a large trace and a very active user:
//! the longest call, and the distribution of all calls. For comparison, the same with LTTV's
//! rule: chunks of 6000 events, and replays of state that are not interrupted.
//!
//! Also the reading that is saved by keeping a state for each position of a waiting request,
//! compared with a single state, as planned in LTTV.
//!
//! `LTTV_BENCH_EVENTS` (four million by default) and `LTTV_BENCH_CALLS` (twenty thousand) set
//! the amount. Processor time is that of the thread; on a busy machine it is more significant
//! than elapsed time.

use std::cell::Cell;
use std::time::{Duration, Instant};

use ltt_read::Timestamp;
use lttv_benches::processor_time;
use lttv_context::{Bounds, CheckpointPolicy, Handle, Traceset, TracesetContext};
use lttv_requests::views::{ControlFlow, EventTable, Histogram, Resources, TimeWindow};
use lttv_requests::{Budget, ChunkReport, EventsRequest, Owner, Scheduler, Urgency};
use lttv_state::kernel::KernelState;
use lttv_traces::{Input, Kind, Random};

/// The number of events between checkpoints, as in LTTV.
const CHECKPOINTS: u64 = 50_000;
const C_CHUNK: u64 = 6000;
const PIXELS: u64 = 1000;
/// The number of slowest calls that are listed.
const SLOWEST: usize = 8;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() {
    let events = number("LTTV_BENCH_EVENTS", 4_000_000);
    let calls = number("LTTV_BENCH_CALLS", 20_000);
    let dir = Input::new(Kind::Kernel, events).packet_bytes(64 << 10).cached();
    let traceset = Traceset::open(dir.expect("a trace")).expect("a trace");
    println!("{events} events, 50 viewers\n");
    println!(
        "{:34} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "median", "p99", "p99.9", "longest", "calls"
    );
    let budget = Budget::time(Duration::from_millis(2));
    measure("service_chunk(2 ms)", &traceset, events, calls, |scheduler| {
        scheduler.service_chunk(budget)
    });
    measure("6000 events, replay to its end", &traceset, events, calls / 4, |scheduler| {
        loop {
            let chunk = scheduler.service_chunk(Budget::events(C_CHUNK));
            if chunk.replay.is_none() {
                return chunk;
            }
        }
    });
    resume_states(&traceset, events);
}

/// Creates a context with state, and with checkpoints for the first events, as after a part
/// of a background read.
fn context<'h>(traceset: &Traceset, first: u64) -> (TracesetContext<'h>, Handle<KernelState>) {
    let mut context = TracesetContext::new(traceset);
    let state = context.attach(KernelState::new());
    context.state().set_policy(CheckpointPolicy::every(CHECKPOINTS));
    _ = context.state().replay(&Bounds::all().events(first)).expect("no position in it");
    context.state().set_policy(CheckpointPolicy::never());
    (context, state)
}

/// The fifty viewers of one tab.
struct Viewers<'c> {
    owner: Owner,
    state: Handle<KernelState>,
    histograms: Vec<Histogram>,
    control_flow: Vec<ControlFlow>,
    resources: Vec<Resources>,
    counts: &'c [Cell<u64>],
    tables: Vec<EventTable<String>>,
}

impl<'c> Viewers<'c> {
    fn new(state: Handle<KernelState>, all: TimeWindow, counts: &'c [Cell<u64>]) -> Self {
        let resolution = all.width() / PIXELS;
        let line = |call: &lttv_context::EventCall<'_, '_>| {
            format!("{} {}", call.event_time(), call.event.event_type().name())
        };
        Viewers {
            owner: Owner::unique(),
            state,
            histograms: (0..20).map(|_| Histogram::new(all, PIXELS as usize)).collect(),
            control_flow: (0..10).map(|_| ControlFlow::new(all, resolution)).collect(),
            resources: (0..5).map(|_| Resources::new(all, resolution)).collect(),
            counts,
            tables: (0..5).map(|_| EventTable::new(Owner::unique(), 50, line)).collect(),
        }
    }

    /// Shows another window in all viewers but the tables.
    fn show(&self, scheduler: &mut Scheduler<'c>, window: TimeWindow) {
        scheduler.cancel_owner(self.owner);
        let mut requests = Vec::new();
        for histogram in &self.histograms {
            histogram.show(window);
            let missing = histogram.missing();
            requests.extend(missing.into_iter().map(|m| histogram.request(self.owner, m)));
        }
        let resolution = window.width() / PIXELS;
        for view in &self.control_flow {
            view.show(window, resolution);
            requests.push(view.request(self.owner, self.state));
        }
        for view in &self.resources {
            view.show(window, resolution);
            requests.push(view.request(self.owner, self.state));
        }
        for count in self.counts {
            let request =
                EventsRequest::new(self.owner).starting_at(window.start()).until(window.end());
            requests.push(request.on_event("sched_switch", |_, _| count.set(count.get() + 1)));
        }
        for request in requests {
            scheduler.submit(request).expect("a sound request");
        }
    }
}

/// Returns a random time.
fn anywhere(random: &mut Random, all: TimeWindow) -> Timestamp {
    Timestamp::from_ns(all.start().as_ns() + random.below(all.width()) as i64)
}

/// Performs a random action of the user, or none.
fn act<'c>(
    random: &mut Random,
    viewers: &Viewers<'c>,
    scheduler: &mut Scheduler<'c>,
    all: TimeWindow,
) {
    match random.below(200) {
        // Zooming and scrolling: all viewers are drawn again.
        0..4 => {
            let around = anywhere(random, all);
            let width = 1.0 / (1 << random.below(8)) as f64;
            viewers.show(scheduler, all.zoomed(width, around));
        }
        // Going to a time, or scrolling a table.
        4..10 => {
            let table = &viewers.tables[random.below(5) as usize];
            let request = table.show(anywhere(random, all));
            scheduler.submit(request).expect("a sound request");
        }
        10..16 => {
            let table = &viewers.tables[random.below(5) as usize];
            let by = random.below(100) as i64 - 70;
            if let Some(request) = table.scroll(by) {
                scheduler.submit(request).expect("a sound request");
            }
        }
        _ => {}
    }
}

fn measure(
    title: &str,
    traceset: &Traceset,
    events: u64,
    calls: u64,
    call: impl Fn(&mut Scheduler<'_>) -> ChunkReport,
) {
    let counts: Vec<Cell<u64>> = (0..10).map(Cell::new).collect();
    let (context, state) = context(traceset, events / 4 * 3);
    let all = TimeWindow::covering(context.contexts().time_span().expect("some events"));
    let mut scheduler = Scheduler::new(context);
    let viewers = Viewers::new(state, all, &counts);
    let mut random = Random::new(7);
    viewers.show(&mut scheduler, all);
    let (mut clock, mut processor, mut slowest) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..calls {
        act(&mut random, &viewers, &mut scheduler, all);
        let (begin, begin_processor) = (Instant::now(), processor_time());
        let chunk = call(&mut scheduler);
        let took = processor_time().saturating_sub(begin_processor);
        processor.push(took);
        clock.push(begin.elapsed());
        slowest.push((took, what(&chunk)));
        slowest.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
        slowest.truncate(SLOWEST);
        if !chunk.has_more() {
            viewers.show(&mut scheduler, all);
        }
    }
    println!("{}", line(&format!("{title}, by the clock"), clock));
    println!("{}", line(&format!("{title}, processor"), processor));
    println!("    the slowest:");
    for (took, what) in slowest {
        println!("    {:.2} ms: {what}", took.as_secs_f64() * 1e3);
    }
}

/// Describes a call.
fn what(chunk: &ChunkReport) -> String {
    let ChunkReport { read, replayed, seeks, started, finished, interrupted, .. } = chunk;
    let [started, finished, interrupted] = [started.len(), finished.len(), interrupted.len()];
    format!(
        "{read} events read, {replayed} replayed, {seeks} seeks; \
         requests: {started} started, {finished} finished, {interrupted} interrupted"
    )
}

fn line(title: &str, mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    let at = |part: f64| ms(times[((times.len() - 1) as f64 * part) as usize]);
    let (median, p99, p999) = (at(0.5), at(0.99), at(0.999));
    let longest = ms(*times.last().expect("some calls"));
    format!("{title:42} {median:>8} {p99:>8} {p999:>8} {longest:>9} {:>8}", times.len())
}

/// Interrupts a view of everything repeatedly, at random, by requests of three levels, which
/// also interrupt each other. There are checkpoints everywhere, so that only the positions of
/// interruptions matter.
fn resume_states(traceset: &Traceset, events: u64) {
    println!("\nevents read again, to bring state to where a request is:");
    for most in [16, 1, 0] {
        let (context, _) = context(traceset, events);
        let all = TimeWindow::covering(context.contexts().time_span().expect("some events"));
        let mut scheduler = Scheduler::new(context);
        scheduler.set_resume_states(most);
        scheduler
            .submit(EventsRequest::new(Owner::unique()).urgency(Urgency::new(0)))
            .expect("a sound request");
        let mut random = Random::new(11);
        let (mut replayed, mut interruptions) = (0, 0);
        loop {
            if random.below(8) == 0 {
                let level = 1 + random.below(3);
                let request = EventsRequest::new(Owner::unique())
                    .urgency(Urgency::new(level as u8))
                    .starting_at(anywhere(&mut random, all))
                    .max_events(20_000 / level);
                scheduler.submit(request).expect("a sound request");
            }
            let chunk = scheduler.service_chunk(Budget::events(C_CHUNK));
            replayed += chunk.replayed;
            interruptions += chunk.interrupted.len();
            if !chunk.has_more() {
                break;
            }
        }
        println!("{most:3} states kept: {replayed:>12} for {interruptions} interruptions");
    }
}
