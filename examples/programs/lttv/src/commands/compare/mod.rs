//! `compare`: two traces, or two windows of one, side by side.

use lttv_filter::TimeRangeText;
use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use lttv_common::args::{Common, InputArgs};
use lttv_common::cache::CacheArgs;
use lttv_common::cancel;
use lttv_common::clocks::Corrections;
use lttv_common::opening::open;
use lttv_common::progress::Progress;
use lttv_common::report::{Interrupted, Report, Usage};
use lttv_common::table::Format;
use lttv_common::time::Window;
use lttv_common::trace_names::trace_names;
use lttv_context::Traceset;

use crate::models::comparison::{Part, Side};
use crate::tables::compare::Compared;

/// The number of rows of each table as text, unless another one is given.
const ROWS: usize = 20;

/// Compare two traces, or two windows of one: events, CPU time, waits, latencies and interrupts
///
/// Rows are ordered by their change, the greatest first: that of the events or of the time per
/// second, so that windows of different lengths can be compared.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct CompareArgs {
    /// The options that commands share.
    #[command(flatten)]
    pub common: Common,
    /// The place of saved states.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// A window to compare; given twice, the first one is of A and the second one of B
    #[arg(long = "window", value_name = "FROM..TO", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["begin", "end", "timerange", "around"])]
    pub windows: Vec<TimeRangeText>,
}

const AFTER_HELP: &str = "\
Examples:
  lttv compare before/ after/
  lttv compare TRACE --window +0..+1 --window +1..+2
  lttv compare before/ after/ --table cpu --format csv
  lttv compare before/ after/ --table waits --columns command,woken_by,difference_ns

Tables: sides (what is compared), events (by name, without state dumps), cpu (CPU time by command and
mode), waits (blocked time by command, by the system call in which it waited, and by what woke it up,
with the causes of `lttv critical-path`), latencies (p50, p99 of system calls, waits for CPUs, interrupts
and disks, as in `lttv latency`), interrupts (CPU time of handlers). Processes are summed by command,
since their ids differ from trace to trace. What is open at the start of a window counts from there,
what is open at its end up to there; what ends a wait after the window is read on for.

Without --top, text has the 20 rows of each table with the greatest change.";

/// Runs the command.
///
/// # Errors
///
/// If the arguments are wrong, or if a trace cannot be read or the results cannot be written.
pub fn run(args: &CompareArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let input = &args.common.input;
    input.refuse_filters("times and waits follow all events")?;
    let [a, b] = sides(args, report)?;
    for side in [&a, &b].into_iter().filter(|side| !side.is_kernel()) {
        report.warning(format_args!("{}: not a kernel trace, which has no times", side.name));
    }
    let both = measured([&a, &b], args)?;
    let usual = (args.common.format.format == Format::Text).then_some(ROWS);
    let top = args.common.format.top.or(usual).filter(|rows| *rows > 0);
    let [part_a, part_b] = &both;
    let tables = Compared::new([(&a, part_a), (&b, part_b)], top).tables();
    let traces = [a.traceset.traces(), b.traceset.traces()].concat();
    args.common.write(tables, &traces)?;
    for (part, side) in both.iter().zip([&a, &b]) {
        report.errors(&part.errors, part.errors_omitted);
        if let Some(losses) = part.losses.summary(None) {
            report.message(format_args!("{}: {losses}", side.name));
        }
    }
    Ok(())
}

/// Reads both sides: each with its own thread, unless one thread is requested.
fn measured(sides: [&Side; 2], args: &CompareArgs) -> Result<[Part; 2], Box<dyn Error>> {
    let cancel = cancel::on_interrupt()?;
    let done: [AtomicU64; 2] = Default::default();
    let total: [AtomicU64; 2] = Default::default();
    let bar = Mutex::new(Progress::new(false));
    let measure = |side: usize| {
        Part::measure(sides[side], args.cache.cache(CacheArgs::LIMIT), |progress| {
            done[side].store(progress.done, Ordering::Relaxed);
            total[side].store(progress.total, Ordering::Relaxed);
            let sum = |of: &[AtomicU64; 2]| of.iter().map(|of| of.load(Ordering::Relaxed)).sum();
            let both = ltt_read::Progress { done: sum(&done), total: sum(&total) };
            bar.lock().unwrap_or_else(PoisonError::into_inner).update(both);
            !cancel.load(Ordering::Relaxed)
        })
    };
    let both = match args.common.input.threads {
        Some(threads) if threads.get() == 1 => [measure(0), measure(1)],
        _ => thread::scope(|scope| {
            let other = scope.spawn(|| measure(1));
            let first = measure(0);
            // A panic of the thread goes on here.
            [first, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))]
        }),
    };
    if cancel.load(Ordering::Relaxed) {
        let events = both.iter().map(|part| part.total).sum();
        return Err(Interrupted { events }.into());
    }
    Ok(both)
}

/// Opens what is compared.
fn sides(args: &CompareArgs, report: &mut Report) -> Result<[Side; 2], Box<dyn Error>> {
    let input = &args.common.input;
    let paths = input.paths()?;
    let of = |at: usize| args.windows.get(at).or(args.windows.first());
    if args.windows.len() > 2 {
        return Err(Usage::new("--window: at most two windows can be compared").into());
    }
    match &*paths {
        [path] if args.windows.len() == 2 => {
            let traceset = opened(path, report)?;
            let traceset = input.clocks.corrected(traceset, report)?.traceset;
            let window = |at| window(input, &traceset, of(at));
            let windows = [window(0)?, window(1)?];
            let name = trace_names([path]).remove(0);
            Ok(windows.map(|window| Side::new(name.clone(), traceset.clone(), window)))
        }
        [a, b] => {
            let mut names = trace_names([a, b]).into_iter();
            let [of_a, of_b] =
                corrected(&input.clocks, [opened(a, report)?, opened(b, report)?], report)?;
            let mut side = |traceset: Traceset, at| -> Result<Side, Usage> {
                let window = window(input, &traceset, of(at))?;
                Ok(Side::new(names.next().unwrap_or_default(), traceset, window))
            };
            Ok([side(of_a, 0)?, side(of_b, 1)?])
        }
        [_] => Err(Usage::new(
            "two traces are compared, or two windows of one: TRACE --window FROM..TO \
             --window FROM..TO",
        )
        .into()),
        more => Err(Usage::new(format_args!("two traces are compared, not {}", more.len())).into()),
    }
}

/// Opens the traces in a directory, and reports the warnings of their metadata.
fn opened(path: &Path, report: &mut Report) -> Result<Traceset, Box<dyn Error>> {
    let traceset = open(report, [path])?;
    for warning in traceset.traces().iter().flat_map(|trace| trace.warnings()) {
        report.warning(format_args!("metadata: {}", warning.message));
    }
    Ok(traceset)
}

/// Corrects the clocks of both sides together: a message may be from one to the other.
fn corrected(
    clocks: &Corrections,
    sides: [Traceset; 2],
    report: &Report,
) -> Result<[Traceset; 2], Box<dyn Error>> {
    let [a, b] = sides.each_ref().map(|side| side.traces());
    let both = clocks.corrected([a, b].concat().into(), report)?.traceset;
    let (a, b) = both.traces().split_at(a.len().min(both.traces().len()));
    Ok([a.to_vec().into(), b.to_vec().into()])
}

/// Returns the window of a side: its own, or that of the common options.
fn window(
    input: &InputArgs,
    traceset: &Traceset,
    range: Option<&TimeRangeText>,
) -> Result<Window, Usage> {
    let Some(range) = range else { return input.window(traceset.traces()) };
    let own = InputArgs { timerange: Some(range.clone()), ..input.clone() };
    own.window(traceset.traces())
}
