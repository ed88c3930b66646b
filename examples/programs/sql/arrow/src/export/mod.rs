//! The program `export`: events as files of other programs.
//!
//! The output is a directory with a folder `name=TYPE` for each event type, and folders for other
//! tables: `errors` and `notices` if there are any; `events`, `states` and `statistics` on demand.
//! Each folder has a file for each slice of time, one for each thread. The directory appears when
//! it is complete, and not before.

mod args;
mod chunk;
mod directory;
mod file;
mod parquet;

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use arrow_array::RecordBatch;
use ltt_read::schema::ClockOrigin;
use ltt_read::writer::StagedDirectory;
use lttv_common::cancel;
use lttv_common::inputs;
use lttv_common::kernel_trace;
use lttv_common::progress::Progress;
use lttv_common::report::{Interrupted, Report, Usage};
use lttv_context::Traceset;
use lttv_state::analysis::read;
use lttv_state::kernel_history::{self, HistoryTarget};
use lttv_state::stats::StatisticsAnalysis;

use crate::damage::Damage;
use crate::scan::Scan;
use crate::sink::Sink;
use crate::states::{read_states, states_schema};
use crate::statistics::{statistics_batch, statistics_schema};
use crate::{EventTable, Selection, Tables};
pub use args::{ExportArgs, Further};
use directory::{Directory, Files, Target, folder_of};
pub use file::{FileError, Format};

/// The maximum size of all rows in memory, in bytes.
const MEMORY: usize = 64 << 20;

/// The maximum number of rows that are written at once: the size of a row group in Parquet.
const ROWS: usize = 1 << 18;

/// The maximum number of rows that are written at once in formats without row groups.
const SMALL_ROWS: usize = 1 << 14;

/// The version of the mapping from event types to columns, stored in each file.
const MAPPING: &str = "1";

/// Exports events.
///
/// # Errors
///
/// If the command line is wrong, if no trace can be opened, if the output cannot be written, or
/// after an interrupt by the user. Nothing is left of the output then.
pub fn run(args: &ExportArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    args.input.expression()?;
    let traceset = args.input.open(report)?;
    let traces = traceset.traces();
    inputs::refuse_inside(&args.output, traces).map_err(Usage::new)?;
    let filters = args.input.filters(report, traces)?;
    let window = args.input.window(traces)?;
    let tables = tables(args, &traceset)?;
    let staged = StagedDirectory::create(&args.output)?;
    let directory = Directory {
        path: staged.path().to_owned(),
        format: args.format,
        metadata: metadata(&traceset),
    };
    let rows = if args.format == Format::Parquet { ROWS } else { SMALL_ROWS };
    let threads = args.input.threads_or_all(report);
    let selections: Vec<Selection> = tables.into_iter().map(exported).collect();
    let scan = Scan::new(&traceset, selections.clone())
        .window(window)
        .filters(filters.as_ref())
        .batch_rows(rows)
        .memory(MEMORY / threads)
        .keys(args.format == Format::Parquet);
    let export = Export {
        directory: &directory,
        cancel: &*cancel::on_interrupt()?,
        is_over: AtomicBool::new(false),
        progress: Mutex::new(Progress::new(false)),
        done: AtomicU64::new(0),
        rows: AtomicU64::new(0),
    };
    let damage = export.events(&scan, &selections, threads, &traceset)?;
    for further in &args.with {
        match further {
            Further::Events => {}
            Further::States => export.states(&traceset, report)?,
            Further::Statistics => export.statistics(&traceset, threads, report)?,
        }
    }
    drop(export.progress);
    let damaged = [("errors", damage.errors_batch()?), ("notices", damage.notices_batch()?)];
    for (name, batch) in damaged.into_iter().filter(|(_, batch)| batch.num_rows() > 0) {
        write_table(&directory, name, &batch)?;
    }
    report.errors(&damage.errors, damage.errors_omitted);
    for notice in &damage.notices {
        report.warning(notice);
    }
    report.notices_omitted(damage.notices_omitted);
    Ok(staged.publish()?)
}

/// Returns the tables to export.
fn tables(args: &ExportArgs, traceset: &Traceset) -> Result<Vec<EventTable>, Usage> {
    let tables = Tables::new(traceset);
    let mut chosen: Vec<&String> = Vec::new();
    for pattern in &args.events {
        let before = chosen.len();
        let matching = tables.names().iter().filter(|name| is_match(pattern, name));
        chosen.extend(matching);
        if chosen.len() == before {
            return Err(Usage::new(format_args!("--events: no event type is named {pattern}")));
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    if args.events.is_empty() {
        chosen = tables.names().iter().collect();
    }
    let mut all: Vec<EventTable> = chosen.into_iter().filter_map(|name| tables.of(name)).collect();
    if args.with.contains(&Further::Events) {
        all.push(tables.all());
    }
    if args.kernel_state {
        all = all.into_iter().map(|table| table.with_kernel_state()).collect();
    }
    Ok(all)
}

/// Returns `true` if a pattern, in which `*` stands for any text, matches a name.
fn is_match(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(start) else { return false };
    (0..=name.len()).filter(|at| name.is_char_boundary(*at)).any(|at| is_match(rest, &name[at..]))
}

/// Selects the columns that are exported: not `ts`, if all events have a `timestamp`, which says the same.
fn exported(table: EventTable) -> Selection {
    let has_date = |column: &usize| !table.schema().field(*column).is_nullable();
    let ts = table.column("timestamp").filter(has_date).and_then(|_| table.column("ts"));
    let mut selection = Selection::all(table);
    selection.columns.retain(|column| Some(*column) != ts);
    selection
}

/// Describes the traces for the files.
fn metadata(traceset: &Traceset) -> Vec<(String, String)> {
    let mut entries = vec![("lttv.mapping".to_owned(), MAPPING.to_owned())];
    for (number, trace) in traceset.traces().iter().enumerate() {
        let mut put = |key: &str, value: String| {
            entries.push((format!("lttv.trace.{number}.{key}"), value));
        };
        let schema = trace.schema();
        put("path", trace.path().display().to_string());
        put("format", format!("{:?} {}.{}", schema.format, schema.version.0, schema.version.1));
        if let Some(uuid) = trace.uuid() {
            put("uuid", uuid.to_string());
        }
        for clock in &schema.clocks {
            let origin = match &clock.origin {
                ClockOrigin::UnixEpoch => "the Unix epoch",
                _ => "unknown",
            };
            put(&format!("clock.{}.origin", clock.name), origin.to_owned());
            put(&format!("clock.{}.frequency", clock.name), clock.frequency.to_string());
        }
        for (name, value) in &schema.env {
            put(&format!("env.{name}"), value.to_string());
        }
    }
    entries
}

/// A running export.
struct Export<'e> {
    directory: &'e Directory,
    cancel: &'e AtomicBool,
    /// `true` after a slice has failed.
    is_over: AtomicBool,
    progress: Mutex<Progress>,
    /// The number of bytes read by all threads.
    done: AtomicU64,
    rows: AtomicU64,
}

impl Export<'_> {
    /// Exports the tables of events.
    fn events(
        &self,
        scan: &Scan<'_>,
        selections: &[Selection],
        threads: usize,
        traceset: &Traceset,
    ) -> Result<Damage, Box<dyn Error>> {
        let is_sorted = crate::order::is_in_order(traceset.traces());
        let damage = self.events_in_slices(scan, selections, threads, is_sorted)?;
        if !is_sorted || !damage.goes_back {
            return Ok(damage);
        }
        // The times of the packets were wrong about the order of the events, and the files say that they are sorted.
        self.directory.clear()?;
        self.done.store(0, Ordering::Relaxed);
        self.rows.store(0, Ordering::Relaxed);
        self.events_in_slices(scan, selections, threads, false)
    }

    /// Exports the tables of events, each slice of time on a thread of its own. The files state that their rows are
    /// in the order of their times if `is_sorted`.
    fn events_in_slices(
        &self,
        scan: &Scan<'_>,
        selections: &[Selection],
        threads: usize,
        is_sorted: bool,
    ) -> Result<Damage, Box<dyn Error>> {
        let targets = selections.iter().map(|of| {
            let is_all = of.table.name() == crate::EVENTS && of.table.column("fields").is_some();
            let folder = if is_all { "events".to_owned() } else { folder_of(of.table.name()) };
            Ok(Target { folder, schema: of.schema()?, is_sorted })
        });
        let targets = targets.collect::<Result<Vec<_>, arrow_schema::ArrowError>>()?;
        let slices = scan.slices(threads);
        let results: Vec<Result<Damage, FileError>> = thread::scope(|scope| {
            let mut threads = Vec::new();
            for (number, slice) in slices.into_iter().enumerate() {
                let files = Files::new(self.directory, &targets, number);
                threads.push(scope.spawn(move || self.slice(&slice, files)));
            }
            let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect()
        });
        let mut damage = Damage::default();
        for result in results {
            damage.add(result?);
        }
        self.refuse_interrupt()?;
        Ok(damage)
    }

    fn refuse_interrupt(&self) -> Result<(), Interrupted> {
        match self.cancel.load(Ordering::Relaxed) {
            true => Err(Interrupted { events: self.rows.load(Ordering::Relaxed) }),
            false => Ok(()),
        }
    }

    /// Exports one slice.
    fn slice(&self, scan: &Scan<'_>, files: Files<'_>) -> Result<Damage, FileError> {
        let mut sink = SliceSink { export: self, files, failure: None, last: None };
        let damage = scan.read(&mut sink)?;
        self.rows.fetch_add(sink.files.rows, Ordering::Relaxed);
        match sink.failure {
            Some(failure) => {
                // The other threads need not go on.
                self.is_over.store(true, Ordering::Relaxed);
                Err(failure)
            }
            None => sink.files.finish().map(|()| damage),
        }
    }

    /// Exports the table of states.
    fn states(&self, traceset: &Traceset, report: &mut Report) -> Result<(), Box<dyn Error>> {
        kernel_trace::require(traceset, &kernel_trace::HISTORY)?;
        let path = self.directory.path.join(".history");
        let recorded = kernel_history::record(traceset, HistoryTarget::File(&path), |progress| {
            self.show(progress.0, progress.1);
            match self.cancel.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        self.refuse_interrupt()?;
        let recorded = recorded?;
        report.errors(&recorded.errors, recorded.errors_omitted);
        let schema = states_schema();
        let target = Target { folder: "states".to_owned(), schema, is_sorted: false };
        let targets = [target];
        let mut files = Files::new(self.directory, &targets, 0);
        let mut failure = None;
        read_states(&recorded.history, traceset.traces(), |batch| match files.write(0, &batch) {
            Ok(()) if !self.cancel.load(Ordering::Relaxed) => ControlFlow::Continue(()),
            Ok(()) => ControlFlow::Break(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })?;
        failure.map_or(Ok(()), Err)?;
        self.refuse_interrupt()?;
        files.finish()?;
        drop(recorded);
        std::fs::remove_file(&path)?;
        Ok(())
    }

    /// Exports the table of statistics.
    fn statistics(
        &self,
        traceset: &Traceset,
        threads: usize,
        report: &mut Report,
    ) -> Result<(), Box<dyn Error>> {
        kernel_trace::require(traceset, &kernel_trace::STATS)?;
        let computed = read(traceset).threads(threads).run(StatisticsAnalysis::new());
        report.errors(&computed.errors, computed.errors_omitted);
        let batch = statistics_batch(&computed.output, traceset.traces())?;
        debug_assert_eq!(batch.schema(), statistics_schema());
        Ok(write_table(self.directory, "statistics", &batch)?)
    }

    fn show(&self, done: u64, total: u64) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.update(ltt_read::Progress { done, total });
    }
}

/// Writes a small table.
fn write_table(directory: &Directory, name: &str, batch: &RecordBatch) -> Result<(), FileError> {
    let targets = [Target { folder: name.to_owned(), schema: batch.schema(), is_sorted: false }];
    let mut files = Files::new(directory, &targets, 0);
    files.write(0, batch)?;
    files.finish()
}

/// A receiver of the batches of one slice.
struct SliceSink<'s, 'd> {
    export: &'s Export<'s>,
    files: Files<'d>,
    failure: Option<FileError>,
    /// The bytes read, as told last.
    last: Option<u64>,
}

impl Sink for SliceSink<'_, '_> {
    fn batch(&mut self, table: usize, batch: RecordBatch) -> ControlFlow<()> {
        match self.files.write(table, &batch) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    fn step(&mut self, progress: ltt_read::Progress) -> ControlFlow<()> {
        let before = self.last.replace(progress.done).unwrap_or(progress.done);
        let more = progress.done.saturating_sub(before);
        let done = self.export.done.fetch_add(more, Ordering::Relaxed) + more;
        self.export.show(done, progress.total);
        let Export { cancel, is_over, .. } = self.export;
        match cancel.load(Ordering::Relaxed) || is_over.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name) in [("a", "a"), ("*", ""), ("sched_*", "sched_switch"), ("*é*", "aéb")]
        {
            assert!(is_match(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "ab"), ("sched_*", "irq"), ("*x", "xy")] {
            assert!(!is_match(pattern, name), "{pattern} {name}");
        }
    }
}
