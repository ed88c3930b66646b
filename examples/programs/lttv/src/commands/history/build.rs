//! Building histories, and opening them.

use std::error::Error;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use lttv_common::clocks::Corrections;
use lttv_common::inputs;
use lttv_common::kernel_trace;
use lttv_common::losses::Losses;
use lttv_common::opening;
use lttv_common::progress::Progress;
use lttv_common::report::Report;
use lttv_common::text::output::Output;
use lttv_common::time::Window;
use lttv_context::{SliceThreads, Traceset};
use lttv_state::history::{History, HistoryError};
use lttv_state::kernel_history::{self, HistoryTarget, Recorded, record_on};

use super::is_history;

/// Opens a history file, or builds a history of a trace in memory.
pub(super) fn open(
    path: &Path,
    (clocks, threads): (&Corrections, SliceThreads),
    report: &mut Report,
) -> Result<History, Box<dyn Error>> {
    if is_history(path) {
        clocks.refuse("a history contains the times with which it was built")?;
        return Ok(History::open(path)?);
    }
    let traceset = opening::open_corrected(report, [path], clocks)?.traceset;
    Ok(read(&traceset, HistoryTarget::Memory, threads, report)?.history)
}

/// Builds a history of traces, and shows the progress.
fn read(
    traceset: &Traceset,
    target: HistoryTarget<'_>,
    threads: SliceThreads,
    report: &mut Report,
) -> Result<Recorded, Box<dyn Error>> {
    kernel_trace::require(traceset, &kernel_trace::HISTORY)?;
    let mut progress = Progress::new(false);
    let recorded = record_on(
        threads,
        traceset,
        target,
        |_| (),
        |(done, total)| {
            progress.update(ltt_read::Progress { done, total });
            ControlFlow::Continue(())
        },
    )?;
    drop(progress);
    report.errors(&recorded.errors, recorded.errors_omitted);
    let events = Some(recorded.events).filter(|_| recorded.kept.is_none());
    report.losses(&Losses::of(traceset.traces(), Window::default()), events);
    Ok(recorded)
}

/// Stores a history in a file, and describes it.
pub(super) fn build(
    (trace, (clocks, threads)): (&Path, (&Corrections, SliceThreads)),
    file: &Path,
    force: bool,
    out: &mut Output,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let traceset = opening::open_corrected(report, [trace], clocks)?.traceset;
    inputs::refuse(file, traceset.traces(), &[])?;
    match kernel_history::open(file, &traceset) {
        Ok(_) if !force => {
            writeln!(out, "{} is up to date", file.display())?;
            return Ok(());
        }
        // Other files are not overwritten.
        Err(error @ HistoryError::NotAHistory) => return Err(error.into()),
        _ => {}
    }
    let started = Instant::now();
    let target = if force { HistoryTarget::Replace(file) } else { HistoryTarget::File(file) };
    let Recorded { history, events, kept, rebuilt, .. } = read(&traceset, target, threads, report)?;
    if let Some(why) = rebuilt {
        report.message(format_args!("{}: {why}; it was built again", file.display()));
    }
    let seconds = started.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(file)?.len();
    let of_trace: u64 =
        traceset.traces().iter().flat_map(|of| of.tracefiles()).map(|of| of.size()).sum();
    let intervals = history.intervals_count();
    if let Some(time) = kept {
        writeln!(out, "kept       all states before {time}")?;
    }
    writeln!(out, "events     {events} read, {of_trace} B")?;
    writeln!(out, "attributes {}", history.tree().len())?;
    writeln!(out, "intervals  {intervals}")?;
    let (each, part) = (bytes as f64 / intervals as f64, bytes as f64 / of_trace as f64);
    writeln!(out, "file       {bytes} B, {each:.2} B per interval, {part:.3} of the trace")?;
    writeln!(out, "time       {seconds:.2} s, {:.1} M events/s", events as f64 / seconds / 1e6)?;
    Ok(())
}
