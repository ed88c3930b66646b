//! One of the two parts that are compared, and its events and times.

use lttv_filter::TraceTimes;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::schema::{EventTypeId, Format, Schema};
use ltt_read::{Progress, TimeSpan};
use lttv_common::cache::{Cache, KnownStates};
use lttv_common::losses::Losses;
use lttv_common::time::Window;
use lttv_context::{Traceset, TracesetContext};
use lttv_state::analysis::read;
use lttv_state::durations::Distribution;
use lttv_state::kernel::{ExecutionMode, KernelState, Serial};
use lttv_state::latency::{Family, GroupBy, LatencyAnalysis, Settings, TraceLatency};
use lttv_state::stats::{StatisticsAnalysis, TraceStatistics};
use lttv_state::waits::{WaitAnalysis, WaitGraph};

use super::command::{IDLE, command};
use super::handled::Handled;
use super::waits::{Wait, add_waits};
use crate::models::waits::{ends_open, read_on};

/// The families of compared durations.
const FAMILIES: [Family; 8] = [
    Family::Syscall,
    Family::WakeUp,
    Family::Preemption,
    Family::HardIrq,
    Family::Softirq,
    Family::SoftirqRaise,
    Family::DiskQueue,
    Family::DiskDevice,
];

/// Traces, and the window of them that is compared.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    /// The name of the traces.
    pub(crate) name: String,
    pub(crate) traceset: Traceset,
    pub(crate) window: Window,
}

/// The events and times of a part. Times are in ns.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The time from the first to the last moment, as far as the traces go; `None` without
    /// events.
    pub(crate) span: Option<TimeSpan>,
    /// The number of all events.
    pub(crate) total: u64,
    /// The number of events by name, without those of state dumps: their number tells when recording began,
    /// not what happened.
    pub(crate) events: BTreeMap<String, u64>,
    /// The CPU time by command and mode.
    pub(crate) cpu: BTreeMap<(String, &'static str), u64>,
    /// The number of waits and the time blocked.
    pub(crate) waits: BTreeMap<Wait, Handled>,
    /// The handlers of interrupts, by kind and name.
    pub(crate) interrupts: BTreeMap<(&'static str, String), Handled>,
    /// The durations by family and name.
    pub(crate) latencies: BTreeMap<(Family, String), Distribution>,
    pub(crate) losses: Losses,
    pub(crate) errors: Vec<ltt_read::Error>,
    pub(crate) errors_omitted: u64,
}

impl Side {
    pub(crate) fn new(name: String, traceset: Traceset, window: Window) -> Self {
        Side { name, traceset, window }
    }

    /// Returns `true` if a trace has the events that times are computed from.
    pub(crate) fn is_kernel(&self) -> bool {
        self.traceset.traces().iter().any(|trace| KernelState::follows(trace))
    }
}

impl Part {
    /// Reads a side. `goes_on` is called now and then with the progress; the read ends early when
    /// it returns `false`.
    pub(crate) fn measure(
        side: &Side,
        cache: Option<Cache>,
        mut goes_on: impl FnMut(Progress) -> bool,
    ) -> Self {
        let Some(events) = TraceTimes::of(side.traceset.traces()).events() else {
            return Part::default();
        };
        let Some(span) = side.window.part_of(events) else { return Part::default() };
        let stop = AtomicBool::new(false);
        let mut passed = |context: &mut TracesetContext<'_>| {
            if !goes_on(context.merge().progress()) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let latencies = LatencyAnalysis::new(Settings::new().families(FAMILIES));
        let all = ((StatisticsAnalysis::new(), latencies), WaitAnalysis::new());
        let mut known = KnownStates::of(cache, &side.traceset);
        let of_window = read(&side.traceset).saved(known.states()).window(span.start..=span.end);
        let found = of_window.cancel(&stop).progress(&mut passed).run(all);
        let ((statistics, latencies), graph) = found.output;
        let errors = (found.errors, found.errors_omitted);
        let window = span.start..span.end;
        let any_open =
            |graph: &WaitGraph| graph.timelines().any(|(id, _)| ends_open(graph, id, &window));
        let (graph, _) = read_on(&window, events.end, graph, any_open, |until| {
            let further = read(&side.traceset).saved(known.states()).window(span.start..until);
            let further = further.cancel(&stop).progress(&mut passed);
            let found = further.run(WaitAnalysis::new());
            if found.is_stopped { Err(()) } else { Ok(found.output) }
        });
        known.store(&side.traceset);
        let losses = Losses::of(side.traceset.traces(), side.window);
        let mut part = Part { span: Some(span), losses, ..Part::default() };
        for (index, trace) in statistics.traces().iter().enumerate() {
            part.add_events(trace, side.traceset.traces()[index].schema());
            if KernelState::follows(&side.traceset.traces()[index]) {
                part.add_times(trace);
            }
        }
        for trace in latencies.traces() {
            part.add_latencies(trace);
        }
        add_waits(&mut part.waits, &graph, &window);
        (part.errors, part.errors_omitted) = errors;
        part
    }

    /// Returns the length of the part in ns.
    pub(crate) fn duration(&self) -> u64 {
        self.span.map_or(0, |span| span.end.as_ns().abs_diff(span.start.as_ns()))
    }

    fn add_events(&mut self, trace: &TraceStatistics, schema: &Schema) {
        for (id, count) in trace.total().events.iter() {
            self.total += count;
            let name = trace.event_name(id);
            if !is_state_dump(name, schema, id) {
                *self.events.entry(name.to_owned()).or_default() += count;
            }
        }
    }

    fn add_latencies(&mut self, trace: &TraceLatency) {
        for family in FAMILIES {
            for row in trace.rows(family, GroupBy::Subject) {
                let name = row.subject.map(|subject| trace.subject(subject)).unwrap_or_default();
                let all = self.latencies.entry((family, name)).or_default();
                all.add_all(row.figures.durations());
            }
        }
    }

    fn add_times(&mut self, trace: &TraceStatistics) {
        for (key, counts) in trace.leaves().filter(|(key, _)| key.process != Serial::NONE) {
            let facts = trace.process_facts().get(key.process.index());
            let name = facts.map_or("", |facts| &*facts.name);
            let command = command(facts.and_then(|facts| facts.tid), name);
            self.add_time(command, key.mode, trace.name(key.submode), counts.cpu_time);
            if key.mode.is_interrupt() {
                let handled = self.interrupt(key.mode, trace.name(key.submode));
                handled.count += counts.durations.count();
            }
        }
        self.cpu.retain(|_, time| *time > 0);
    }

    fn add_time(&mut self, command: String, mode: ExecutionMode, submode: &str, time: u64) {
        if mode.is_interrupt() {
            let handled = self.interrupt(mode, submode);
            handled.time = handled.time.wrapping_add(time);
        }
        let is_idle = command == IDLE && mode == ExecutionMode::Syscall;
        let mode = if is_idle { IDLE } else { mode_name(mode) };
        let sum = self.cpu.entry((command, mode)).or_default();
        *sum = sum.wrapping_add(time);
    }

    fn interrupt(&mut self, mode: ExecutionMode, name: &str) -> &mut Handled {
        self.interrupts.entry((mode_name(mode), name.to_owned())).or_default()
    }
}

/// Returns `true` for events that tell the state at the start of a recording: those of LTTng by their names,
/// those of LTTng 0.x by their facility or channel.
fn is_state_dump(name: &str, schema: &Schema, id: EventTypeId) -> bool {
    let Some(of) = schema.event_types.get(id.index()) else { return false };
    let channel = schema.stream_classes.get(of.stream.index()).map(|of| &of.identity.name);
    let groups = [of.identity.namespace.as_deref(), channel.and_then(Option::as_deref)];
    let is_of_state = |group: &str| group == "statedump" || group.ends_with("_state");
    name.starts_with("lttng_statedump_")
        || schema.format == Format::Legacy && groups.into_iter().flatten().any(is_of_state)
}

/// Returns the name of a mode for people.
fn mode_name(mode: ExecutionMode) -> &'static str {
    match mode {
        ExecutionMode::User => "user",
        ExecutionMode::Syscall => "system",
        ExecutionMode::Trap => "exception",
        ExecutionMode::Irq => "irq",
        ExecutionMode::Softirq => "softirq",
        ExecutionMode::Unknown => "unknown",
    }
}
