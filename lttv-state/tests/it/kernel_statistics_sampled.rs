//! The statistics of windows, compared with samples of the kernel state between any two events:
//! each interval between events counts for what the state says then, as far as it is in the
//! window.

use std::collections::BTreeMap;

use ltt_read::{Merge, Timestamp, TraceIndex};
use lttv_context::{Bounds, Handle, Subscription, Traceset, TracesetContext};
use lttv_hooks::Priority;
use lttv_state::analysis::attach;
use lttv_state::kernel::{
    DeviceNumber, ExecutionMode, KernelState, NameId, ProcessStatus, Serial, TraceState,
};
use lttv_state::stats::{LeafKey, StatisticsAnalysis, TraceStatistics};

use crate::support;

/// The sums of a window. Zeros are left out.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    cpu_times: BTreeMap<LeafKey, u64>,
    /// The blocked and the ready time of processes.
    waits: BTreeMap<Serial, [u64; 2]>,
    /// The time during which system calls, interrupts and exceptions were open.
    open: BTreeMap<(Serial, ExecutionMode, NameId), u64>,
    /// The busy time and the queue time of devices.
    devices: BTreeMap<DeviceNumber, [u64; 2]>,
    events: u64,
    /// `true` if the trace tells the ends of forks, until which new threads are blocked.
    has_ends_of_forks: bool,
}

impl Sums {
    /// Adds a time during which a state did not change.
    fn add(&mut self, state: &TraceState, time: u64) {
        if time == 0 {
            return;
        }
        for (number, cpu) in state.cpus() {
            let process = state.process(cpu.running()).expect("the running process");
            let top = process.top();
            let key = LeafKey {
                process: process.serial(),
                cpu: number,
                function: process.function(),
                mode: top.mode(),
                submode: top.submode(),
            };
            *self.cpu_times.entry(key).or_default() += time;
        }
        for (ix, process) in state.processes() {
            let (serial, is_idle) = (process.serial(), process.tid() == Some(0));
            let cpu = process.cpu().and_then(|cpu| state.cpu(cpu));
            let runs = cpu.is_some_and(|cpu| cpu.running() == ix);
            let waits = match process.status() {
                ProcessStatus::Wait => Some(0),
                ProcessStatus::WaitFork if self.has_ends_of_forks => Some(0),
                ProcessStatus::WaitCpu | ProcessStatus::WaitFork => Some(1),
                _ => None,
            };
            if let Some(at) = waits.filter(|_| !runs && !is_idle) {
                self.waits.entry(serial).or_default()[at] += time;
            }
            for frame in process.stack().iter().filter(|_| !is_idle) {
                let has_name = matches!(frame.mode(), ExecutionMode::Syscall | ExecutionMode::Trap);
                if (has_name || frame.mode().is_interrupt()) && ends(state.name(frame.submode())) {
                    let key = (serial, frame.mode(), frame.submode());
                    *self.open.entry(key).or_default() += time;
                }
            }
        }
        for device in state.devices().iter().filter(|device| device.in_flight() > 0) {
            let [busy, queue] = self.devices.entry(device.number()).or_default();
            (*busy, *queue) = (*busy + time, *queue + time * u64::from(device.in_flight()));
        }
    }

    /// Returns the same sums of statistics.
    fn of(statistics: &TraceStatistics) -> Self {
        let mut sums = Sums { events: statistics.total().events.total(), ..Sums::default() };
        let is_idle = |serial: Serial| statistics.process_facts()[serial.index()].tid == Some(0);
        for (key, counts) in statistics.leaves().filter(|(key, _)| key.process != Serial::NONE) {
            if counts.cpu_time > 0 {
                sums.cpu_times.insert(*key, counts.cpu_time);
            }
            let is_frame = !matches!(key.mode, ExecutionMode::User | ExecutionMode::Unknown);
            let is_frame = is_frame && ends(statistics.name(key.submode));
            if is_frame && !is_idle(key.process) && counts.elapsed_time() > 0 {
                let key = (key.process, key.mode, key.submode);
                *sums.open.entry(key).or_default() += counts.elapsed_time();
            }
        }
        for (at, facts) in statistics.process_facts().iter().enumerate() {
            let waits = [facts.blocked_time, facts.ready_time];
            if waits != [0, 0] && facts.tid != Some(0) {
                sums.waits.insert(Serial(at as u32), waits);
            }
        }
        for device in statistics.devices().iter().filter(|device| device.queue_time > 0) {
            sums.devices.insert(device.number, [device.busy_time, device.queue_time]);
        }
        sums
    }
}

/// Returns `false` for frames that end without an event, so that their time is unknown in the end:
/// `rt_sigreturn` has no exit event, and a kernel thread may end in its only frame, without a name.
fn ends(name: &str) -> bool {
    !matches!(name, "rt_sigreturn" | "NONE")
}

/// Returns the time that two spans have in common.
fn common((a, b): (i64, i64), (c, d): (i64, i64)) -> u64 {
    b.min(d).saturating_sub(a.max(c)).max(0) as u64
}

/// Samples the state between any two events, for several windows with both ends included.
fn sampled(traceset: &Traceset, windows: &[(i64, i64)]) -> Vec<Sums> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let trace = &traceset.traces()[0];
    let has_ends_of_forks =
        trace.may_have_events(|id| trace.event_type(id).name() == "sched_wakeup_new");
    let empty = || Sums { has_ends_of_forks, ..Sums::default() };
    let sums: Vec<Sums> = windows.iter().map(|_| empty()).collect();
    let sums: Handle<(i64, Vec<Sums>)> = context.attach_data((i64::MAX, sums));
    let before_state = Priority::new(20).expect("a priority");
    let windows = windows.to_vec();
    context.on_event(Subscription::to_every_event().priority(before_state), move |call| {
        let time = call.delivery_time().as_ns();
        let Some(((last, sums), kernel)) = call.extensions.get_pair_mut(sums, kernel) else {
            return;
        };
        let state = kernel.trace(TraceIndex(0)).expect("one trace");
        let passed = (std::mem::replace(last, time), time);
        for (window, sums) in windows.iter().zip(sums) {
            sums.add(state, common(passed, *window));
            sums.events += u64::from(window.0 <= time && time <= window.1);
        }
    });
    _ = context.read(&Bounds::all()).expect("bounds without a position");
    std::mem::take(&mut context.extensions_mut()[sums].1)
}

fn collected(traceset: &Traceset, (start, end): (i64, i64)) -> Sums {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let window = Timestamp::from_ns(start)..=Timestamp::from_ns(end);
    context.state().seek_time(Timestamp::from_ns(start));
    let statistics = attach(&mut context, kernel, window, StatisticsAnalysis::new());
    _ = context.read(&Bounds::all()).expect("bounds without a position");
    Sums::of(&statistics.take(context.extensions_mut()).traces()[0])
}

/// Returns windows whose ends are at events, 1 ns beside them, or anywhere.
fn windows(times: &[i64], number: usize) -> Vec<(i64, i64)> {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |limit: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % limit
    };
    let (first, last) = (times[0], times[times.len() - 1]);
    let mut time = || match below(3) {
        0 => first + below((last - first) as u64) as i64,
        1 => times[below(times.len() as u64) as usize],
        _ => times[below(times.len() as u64) as usize] + below(3) as i64 - 1,
    };
    let pairs = (0..number).map(|_| {
        let (a, b) = (time(), time());
        (a.min(b), a.max(b))
    });
    pairs.chain([(first, last)]).collect()
}

fn times(traceset: &Traceset) -> Vec<i64> {
    let mut merge = Merge::new(traceset.traces());
    let times = std::iter::from_fn(|| merge.next().map(|event| event.timestamp()));
    times.flatten().map(Timestamp::as_ns).collect()
}

#[test]
fn windows_have_the_sums_of_samples() {
    let names = ["k1-multi", "k1-8cpu", "k2-8cpu", "k1-ctx"];
    let shared = names.iter().filter_map(|name| support::shared(&format!("ctf/{name}")));
    for path in [support::bundled()].into_iter().chain(shared) {
        let traceset = Traceset::open(&path).expect("a trace");
        let windows = windows(&times(&traceset), 50);
        for (window, expected) in windows.iter().zip(sampled(&traceset, &windows)) {
            let found = collected(&traceset, *window);
            let place = format!("{}: {window:?}", path.display());
            compare(&place, "events", &[found.events], &[expected.events]);
            compare(&place, "CPU times", &found.cpu_times, &expected.cpu_times);
            compare(&place, "waits", &found.waits, &expected.waits);
            compare(&place, "open", &found.open, &expected.open);
            compare(&place, "devices", &found.devices, &expected.devices);
        }
    }
}

fn compare<T>(place: &str, what: &str, found: T, expected: T)
where
    T: IntoIterator + PartialEq,
    T::Item: std::fmt::Debug + PartialEq,
{
    if found != expected {
        let (found, expected): (Vec<_>, Vec<_>) =
            (found.into_iter().collect(), expected.into_iter().collect());
        let only = |a: &[T::Item], b: &[T::Item]| -> Vec<String> {
            a.iter().filter(|of| !b.contains(of)).map(|of| format!("{of:?}")).take(12).collect()
        };
        panic!(
            "{place}: {what}:\n found {:#?}\n expected {:#?}",
            only(&found, &expected),
            only(&expected, &found)
        );
    }
}
