//! The table of spans: single system calls, runs, waits, interrupts and requests to disks.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use arrow_array::builder::{
    Int32Builder, Int64Builder, StringViewBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use ltt_read::Progress;
use lttv_common::definitions::Definitions;
use lttv_common::spans::{OrderedSpans, Shown, values};
use lttv_common::trace_names::trace_names;
use lttv_context::{Traceset, TracesetContext};
use lttv_filter::Environment;
use lttv_state::analysis::read;
use lttv_state::spans::{
    Span, SpanAnalysis, SpanNames, SpanOrder, SpanSettings, Waker, error_name, write_arguments,
};

use crate::Damage;
use crate::scan::BATCH_ROWS;

/// The number of batches that wait for the sink.
const WAITING: usize = 4;
/// The columns that are read from the events of a span.
const FILE: &str = "file";
const ARGUMENTS: &str = "arguments";
const VALUES: &str = "values";

/// Returns the columns of the table of spans, whose rows are those of `lttv spans`, in order of their begin.
///
/// | column | meaning |
/// |---|---|
/// | `trace` | the trace, named as in tables of events |
/// | `family`, `name` | the kind of span, and the system call, interrupt, or disk |
/// | `start_ts`, `end_ts` | the begin and the end in ns since the origin of the clock |
/// | `duration` | the length in ns; null if begin or end is unknown |
/// | `completeness` | `whole`, or what is missing |
/// | `tid`, `pid`, `comm` | the thread |
/// | `cpu` | the CPU on which it ended |
/// | `file` | the file of a system call |
/// | `result`, `error` | the result of a system call, and the name of its error |
/// | `waker`, `waker_tid` | the thread that ended a wait, or `interrupt` |
/// | `arguments` | the fields of the event at the begin, as text |
/// | `values` | the labels and values of a period, as an object of JSON |
pub fn spans_schema() -> SchemaRef {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8View, nullable);
    let number = |name: &str, kind, nullable| Field::new(name, kind, nullable);
    Arc::new(Schema::new(vec![
        text("trace", false),
        text("family", false),
        text("name", false),
        number("start_ts", DataType::Int64, false),
        number("end_ts", DataType::Int64, false),
        number("duration", DataType::UInt64, true),
        text("completeness", false),
        number("tid", DataType::Int32, true),
        number("pid", DataType::Int32, true),
        text("comm", true),
        number("cpu", DataType::UInt32, true),
        text(FILE, true),
        number("result", DataType::Int64, true),
        text("error", true),
        text("waker", true),
        number("waker_tid", DataType::Int32, true),
        text(ARGUMENTS, true),
        text(VALUES, true),
    ]))
}

/// Passes all spans to `sink` in order of their begin, as batches with the columns of `columns`, which are indices
/// of [`spans_schema`], with the periods of definitions among them. The events of spans are read only for columns that
/// need them. `goes_on` is called now and then with the progress; the read ends early when it returns `false`, or when
/// `sink` breaks. Returns what was met.
///
/// # Errors
///
/// If the definitions do not fit the traces, if a temporary file for the order cannot be written, or if a batch cannot
/// be built.
pub fn read_spans(
    traceset: &Traceset,
    definitions: &Definitions,
    threads: usize,
    columns: &[usize],
    mut sink: impl FnMut(RecordBatch) -> ControlFlow<()>,
    mut goes_on: impl FnMut(Progress) -> bool + Send,
) -> io::Result<Damage> {
    let schema = spans_schema();
    let has = |name: &str| columns.iter().any(|at| schema.field(*at).name() == name);
    let stop = AtomicBool::new(false);
    let (send, batches) = mpsc::sync_channel(WAITING);
    let rows = Rows {
        traces: trace_names(traceset.traces().iter().map(|trace| trace.path())),
        batch: Batch::default(),
        columns,
        has_file: has(FILE),
        has_arguments: has(ARGUMENTS),
        has_values: has(VALUES),
        send,
        stop: &stop,
    };
    let settings = SpanSettings::new()
        .families(SpanSettings::FAMILIES)
        .periods(definitions.periods.clone(), traceset.traces(), &Environment::new())
        .map_err(io::Error::other)?;
    let mut progress = |context: &mut TracesetContext<'_>| {
        if !goes_on(context.merge().progress()) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let (result, errors, errors_omitted) = thread::scope(|scope| {
        let found = scope.spawn(|| {
            // They are dropped here: the receiver waits until the sender is gone.
            let mut rows = rows;
            let spans =
                OrderedSpans::new(traceset, SpanOrder::Begin, &stop, |span| rows.push(span));
            let read = read(traceset).threads(threads).cancel(&stop).progress(&mut progress);
            let found = read.run(SpanAnalysis::new(settings, spans));
            let (errors, errors_omitted) = (found.errors, found.errors_omitted);
            let visited = found.output.visitor.finish();
            let result = match visited {
                Ok(_) => rows.finish(),
                Err(error) => Err(error),
            };
            (result, errors, errors_omitted)
        });
        // Without a receiver, the read ends.
        _ = batches.into_iter().try_for_each(&mut sink);
        found.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    result?;
    Ok(Damage { errors, errors_omitted, ..Damage::default() })
}

/// Passes spans on in batches.
struct Rows<'t> {
    traces: Vec<String>,
    batch: Batch,
    columns: &'t [usize],
    has_file: bool,
    has_arguments: bool,
    has_values: bool,
    send: SyncSender<RecordBatch>,
    stop: &'t AtomicBool,
}

impl Rows<'_> {
    /// Adds a row, and passes the batch on when it is full.
    fn push(&mut self, shown: &mut Shown<'_, '_, '_>) -> io::Result<()> {
        let Rows { traces, batch, has_file, has_arguments, has_values, .. } = self;
        let (span, names) = (shown.span, shown.names);
        let of = names.call(span).unwrap_or("");
        let mut arguments = None;
        if let Some(first) = span.first.filter(|_| *has_arguments) {
            let mut text = String::new();
            shown.reader.read(span.trace, first, |event| write_arguments(event, of, "", &mut text));
            arguments = Some(text);
        }
        let file = has_file.then(|| shown.reader.file(span, names).into_owned());
        let values = has_values.then(|| values(shown)).filter(|values| !values.is_empty());
        let values = values.map(|values| serde_json::Value::Object(values).to_string());
        let name = shown.name();
        let trace = traces.get(span.trace.0).map_or("", String::as_str);
        batch.push(span, names, (trace, &name), (file, arguments, values));
        if batch.len >= BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let batch = self.batch.finish().and_then(|batch| batch.project(self.columns));
        if self.send.send(batch.map_err(io::Error::other)?).is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Passes the last batch on.
    fn finish(&mut self) -> io::Result<()> {
        if self.batch.len > 0 { self.flush() } else { Ok(()) }
    }
}

/// The rows of the next batch.
#[derive(Default)]
struct Batch {
    traces: StringViewBuilder,
    families: StringViewBuilder,
    names: StringViewBuilder,
    starts: Int64Builder,
    ends: Int64Builder,
    durations: UInt64Builder,
    completeness: StringViewBuilder,
    tids: Int32Builder,
    pids: Int32Builder,
    comms: StringViewBuilder,
    cpus: UInt32Builder,
    files: StringViewBuilder,
    results: Int64Builder,
    errors: StringViewBuilder,
    wakers: StringViewBuilder,
    waker_tids: Int32Builder,
    arguments: StringViewBuilder,
    values: StringViewBuilder,
    len: usize,
}

impl Batch {
    fn push(
        &mut self,
        span: &Span,
        names: &SpanNames<'_>,
        (trace, name): (&str, &str),
        (file, arguments, values): (Option<String>, Option<String>, Option<String>),
    ) {
        let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        self.traces.append_value(trace);
        self.families.append_value(span.family.key());
        self.names.append_value(name);
        self.starts.append_value(span.begin.as_ns());
        self.ends.append_value(span.end.as_ns());
        self.durations.append_option(span.duration());
        self.completeness.append_value(span.completeness.key());
        self.tids.append_option(span.thread.tid);
        self.pids.append_option(span.thread.pid);
        self.comms.append_option(known(names.comm(span, &span.thread)));
        self.cpus.append_option(Some(span.cpu).filter(|cpu| *cpu != u32::MAX));
        self.files.append_option(file.filter(|file| !file.is_empty()));
        self.results.append_option(span.result);
        self.errors.append_option(span.error().and_then(error_name));
        let (waker, tid) = match &span.waker {
            Waker::Thread(thread) => (known(names.comm(span, thread)), thread.tid),
            Waker::Interrupt => (Some("interrupt".to_owned()), None),
            _ => (None, None),
        };
        self.wakers.append_option(waker);
        self.waker_tids.append_option(tid);
        self.arguments.append_option(arguments);
        self.values.append_option(values);
        self.len += 1;
    }

    fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        self.len = 0;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.traces.finish()),
            Arc::new(self.families.finish()),
            Arc::new(self.names.finish()),
            Arc::new(self.starts.finish()),
            Arc::new(self.ends.finish()),
            Arc::new(self.durations.finish()),
            Arc::new(self.completeness.finish()),
            Arc::new(self.tids.finish()),
            Arc::new(self.pids.finish()),
            Arc::new(self.comms.finish()),
            Arc::new(self.cpus.finish()),
            Arc::new(self.files.finish()),
            Arc::new(self.results.finish()),
            Arc::new(self.errors.finish()),
            Arc::new(self.wakers.finish()),
            Arc::new(self.waker_tids.finish()),
            Arc::new(self.arguments.finish()),
            Arc::new(self.values.finish()),
        ];
        RecordBatch::try_new(spans_schema(), columns)
    }
}
