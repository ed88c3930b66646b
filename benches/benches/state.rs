//! The cost of following the state of a machine, and of the analyses based on it, beyond reading: a
//! table in processor time of this thread. Each row is a trace, each figure the least of several passes
//! in turns.
//!
//! Measures a generated kernel trace (`LTTV_BENCH_EVENTS`, half a million by default),
//! recordings where available, and traces named as arguments.
//! `--once read|state|statistics|latencies|waits|usage TRACE` makes one pass without output, for profilers.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_benches::{bench_events, time_range};
use lttv_context::{Bounds, CheckpointPolicy, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::latency::{LatencyAnalysis, Settings};
use lttv_state::stats::StatisticsAnalysis;
use lttv_state::usage::{UsageAnalysis, UsageOptions};
use lttv_state::waits::WaitAnalysis;
use lttv_traces::{Input, Kind, Random};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 7;

/// The work per event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// A hook that counts.
    Read,
    State,
    Statistics,
    Latencies,
    /// The wait graph.
    Waits,
    Usage,
}

const WORKS: [(&str, Work); 6] = [
    ("read", Work::Read),
    ("state", Work::State),
    ("statistics", Work::Statistics),
    ("latencies", Work::Latencies),
    ("waits", Work::Waits),
    ("usage", Work::Usage),
];

fn main() -> ExitCode {
    // Cargo adds an option.
    let args: Vec<_> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [once, work, path] = args.as_slice()
        && once == "--once"
        && let Some((_, work)) = WORKS.iter().find(|(name, _)| name == work)
    {
        pass(&open(Path::new(path)), *work);
        return ExitCode::SUCCESS;
    }
    println!(
        "{:44} {:>9} {:>8} {:>8} {:>8} {:>9} {:>11} {:>8} {:>8}",
        "processor time in ns an event",
        "events",
        "read",
        "+ state",
        "+ stats",
        "M events/s",
        "+ latencies",
        "+ waits",
        "+ usage"
    );
    let generated = Input::new(Kind::Kernel, bench_events()).packet_bytes(64 << 10).cached();
    let generated = open(&generated.expect("a trace"));
    measure("generated", &generated);
    for (name, path) in recorded() {
        match path {
            Some(path) => measure(name, &open(&path)),
            None => println!("{name:44} not found"),
        }
    }
    args.iter().for_each(|path| measure(path, &open(Path::new(path))));
    seek(&generated);
    ExitCode::SUCCESS
}

fn open(path: &Path) -> Traceset {
    Traceset::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Reads everything, and uses the result. Returns the number of events.
fn pass(traceset: &Traceset, work: Work) -> u64 {
    let mut counted = 0u64;
    let mut context = TracesetContext::new(traceset);
    let mut statistics = None;
    let mut latency = None;
    let mut waits = None;
    let mut usage = None;
    match work {
        Work::Read => _ = context.on_event("*", |_| counted += 1),
        Work::State => _ = context.attach(KernelState::new()),
        Work::Statistics => {
            let kernel = context.attach(KernelState::new());
            statistics = Some(attach(&mut context, kernel, .., StatisticsAnalysis::new()));
        }
        Work::Latencies => {
            let kernel = context.attach(KernelState::new());
            let analysis = LatencyAnalysis::new(Settings::new());
            latency = Some(attach(&mut context, kernel, .., analysis));
        }
        Work::Waits => {
            let kernel = context.attach(KernelState::new());
            waits = Some(attach(&mut context, kernel, .., WaitAnalysis::new()));
        }
        Work::Usage => {
            let kernel = context.attach(KernelState::new());
            let analysis = UsageAnalysis::new(UsageOptions::new());
            usage = Some(attach(&mut context, kernel, .., analysis));
        }
    }
    let events = context.read(&Bounds::all()).map_or(0, |read| read.events);
    if let Some(statistics) = statistics {
        black_box(statistics.take(context.extensions_mut()));
    }
    if let Some(latency) = latency {
        black_box(latency.take(context.extensions_mut()));
    }
    if let Some(waits) = waits {
        black_box(waits.take(context.extensions_mut()));
    }
    if let Some(usage) = usage {
        black_box(usage.take(context.extensions_mut()));
    }
    events
}

fn measure(name: &str, traceset: &Traceset) {
    let events = pass(traceset, Work::Read);
    let mut best = WORKS.map(|_| Duration::MAX);
    for _ in 0..ROUNDS {
        for (best, (_, work)) in best.iter_mut().zip(WORKS) {
            let begin = cpu_time();
            pass(traceset, work);
            *best = (*best).min(cpu_time() - begin);
        }
    }
    let [read, state, statistics, latencies, waits, usage] =
        best.map(|time| time.as_nanos() as f64 / events as f64);
    println!(
        "{name:44} {events:>9} {read:>8.1} {:>8.1} {:>8.1} {:>9.2} {:>11.1} {:>8.1} {:>8.1}",
        state - read,
        statistics - state,
        1e3 / statistics,
        latencies - state,
        waits - state,
        usage - state
    );
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the recordings: of format 2.3, and of LTTng 2.x, which is unpacked first.
fn recorded() -> [(&'static str, Option<PathBuf>); 2] {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    let legacy = shared.join("legacy/trace-618339events-1293lost-1cpu");
    let unpacked = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kbig");
    let archive = shared.join("perf/kbig-ctf1.8.tar.zst");
    if !unpacked.is_dir() && archive.is_file() && unpack(&archive, &unpacked).is_none() {
        let _ = std::fs::remove_dir_all(&unpacked);
    }
    [
        ("recorded, format 2.3", legacy.is_dir().then_some(legacy)),
        ("recorded, CTF 1.8", unpacked.is_dir().then_some(unpacked)),
    ]
}

fn unpack(archive: &Path, into: &Path) -> Option<()> {
    std::fs::create_dir_all(into).ok()?;
    let tar = Command::new("tar").args(["--zstd", "-C"]).arg(into).arg("-xf").arg(archive).status();
    tar.is_ok_and(|status| status.success()).then_some(())
}

/// Measures seeking a time with state: from the nearest checkpoint, or from the start.
fn seek(traceset: &Traceset) {
    let (begin, end) = time_range(&traceset.traces()[0]).expect("events");
    let span = end.as_ns().abs_diff(begin.as_ns()).max(1);
    println!("\ngoing to a time in the generated one, in ms: median, longest of 100");
    let ways = [
        ("by checkpoints every 50000 events", CheckpointPolicy::default()),
        ("by all events", CheckpointPolicy::never()),
    ];
    for (name, saving) in ways {
        let mut context = TracesetContext::new(traceset);
        context.attach(KernelState::new());
        context.state().set_policy(saving);
        let _ = context.state().replay(&Bounds::all());
        // The same times for both ways.
        let mut random = Random::new(1);
        let mut times = [(); 100].map(|()| {
            let time = begin.as_ns().saturating_add_unsigned(random.below(span));
            let begin = cpu_time();
            context.state().seek_time(Timestamp::from_ns(time));
            cpu_time() - begin
        });
        times.sort_unstable();
        let [median, longest] = [times[50], times[99]].map(|time| time.as_secs_f64() * 1e3);
        println!("{name:44} {median:>9.2} {longest:>8.2}");
    }
}
