//! The table of spans, with the columns of `lttv spans --format csv`.

use std::io;
use std::sync::Arc;

use arrow_array::builder::{
    Int32Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use ltt_read::Event;
use lttv::commands::spans::{self, SpanReceiver, SpansArgs};
use lttv_arrow::Damage;
use lttv_common::host::{Host, Severity};
use lttv_common::report::Report;
use lttv_common::spans::Shown;
use lttv_context::Traceset;
use lttv_state::kernel::NameId;
use lttv_state::spans::{Period, PeriodValue, Waker, error_name, path_of, write_arguments};

use crate::hosting::Failure;
use crate::stream::Output;
use crate::table::Source;

/// The number of rows of a batch.
const BATCH_ROWS: usize = 1 << 16;

/// The columns: their names and types.
const COLUMNS: [(&str, DataType); 19] = [
    ("begin", DataType::Int64),
    ("end", DataType::Int64),
    ("duration", DataType::UInt64),
    ("completeness", DataType::Utf8),
    ("family", DataType::Utf8),
    ("name", DataType::Utf8),
    ("comm", DataType::Utf8),
    ("tid", DataType::Int32),
    ("pid", DataType::Int32),
    ("cpu", DataType::UInt32),
    ("file", DataType::Utf8),
    ("result", DataType::Int64),
    ("error", DataType::Utf8),
    ("waker", DataType::Utf8),
    ("waker_tid", DataType::Int32),
    ("trace", DataType::Utf8),
    ("arguments", DataType::Utf8),
    ("begin_event", DataType::Utf8),
    ("end_event", DataType::Utf8),
];

/// The spans that options choose.
pub(crate) struct SpanRows {
    pub(crate) traceset: Traceset,
    pub(crate) args: SpansArgs,
    /// The labels and values of periods, each with the name of the period.
    pub(crate) values: Vec<(String, String)>,
    pub(crate) schema: SchemaRef,
}

impl SpanRows {
    /// Creates the spans of traces. `values` are the labels of the periods that the options define.
    pub(crate) fn new(traceset: Traceset, args: SpansArgs, values: Vec<(String, String)>) -> Self {
        let own = COLUMNS.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true));
        let of_period = values
            .iter()
            .map(|(period, name)| Field::new(format!("{period}.{name}"), DataType::Utf8, true));
        let schema = Arc::new(Schema::new(own.chain(of_period).collect::<Vec<_>>()));
        SpanRows { traceset, args, values, schema }
    }
}

/// Returns the labels and values of periods, each with the name of its period.
pub(crate) fn values_of(periods: &[Period]) -> Vec<(String, String)> {
    let names = |period: &Period| {
        let names = period.labels().chain(period.values());
        names.map(|name| (period.name().to_owned(), name.to_owned())).collect::<Vec<_>>()
    };
    periods.iter().flat_map(names).collect()
}

impl Source for SpanRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn produce(self: Arc<Self>, columns: &[usize], output: &Output) -> Result<Damage, ArrowError> {
        let host = Arc::new(Host::stopped_by(self.traceset.clone(), output.stop_flag()));
        let result = host.run(|| {
            let receiver = |_: &[Period], _: &Traceset| Ok(Rows::new(&self, columns, output));
            let visited = spans::visit(&self.args, &mut Report::new("lttv"), receiver);
            visited.map_err(Failure::from)
        });
        match result {
            // Nobody wants the rest.
            Err(_) if output.step().is_break() => Ok(Damage::default()),
            Err(failure) => Err(ArrowError::ExternalError(failure.to_string().into())),
            Ok(()) => {
                match host.take_messages().into_iter().find(|of| of.severity == Severity::Error) {
                    Some(message) => Err(ArrowError::ExternalError(message.text.into())),
                    None => Ok(Damage::default()),
                }
            }
        }
    }
}

/// The rows of the next batch.
struct Rows<'o> {
    schema: SchemaRef,
    columns: Vec<Column>,
    output: &'o Output,
    values: Vec<(String, String)>,
    /// The paths of the traces.
    paths: Vec<String>,
    has_arguments: bool,
    has_file: bool,
    has_end: bool,
    has_name: bool,
    /// The arguments of the last span.
    arguments: String,
    len: usize,
}

/// A column, which belongs to a number in [`COLUMNS`] or, beyond them, to a value of a period.
struct Column {
    number: usize,
    values: Values,
}

enum Values {
    Int32(Int32Builder),
    Int64(Int64Builder),
    UInt32(UInt32Builder),
    UInt64(UInt64Builder),
    Text(StringBuilder),
}

impl Values {
    fn of(kind: &DataType) -> Values {
        match kind {
            DataType::Int32 => Values::Int32(Int32Builder::new()),
            DataType::Int64 => Values::Int64(Int64Builder::new()),
            DataType::UInt32 => Values::UInt32(UInt32Builder::new()),
            DataType::UInt64 => Values::UInt64(UInt64Builder::new()),
            _ => Values::Text(StringBuilder::new()),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Values::Int32(of) => Arc::new(of.finish()),
            Values::Int64(of) => Arc::new(of.finish()),
            Values::UInt32(of) => Arc::new(of.finish()),
            Values::UInt64(of) => Arc::new(of.finish()),
            Values::Text(of) => Arc::new(of.finish()),
        }
    }

    /// Appends a number; the type of the column is that of the number.
    fn number(&mut self, number: Option<i128>) {
        match self {
            Values::Int32(of) => of.append_option(number.and_then(|of| of.try_into().ok())),
            Values::Int64(of) => of.append_option(number.and_then(|of| of.try_into().ok())),
            Values::UInt32(of) => of.append_option(number.and_then(|of| of.try_into().ok())),
            Values::UInt64(of) => of.append_option(number.and_then(|of| of.try_into().ok())),
            Values::Text(of) => of.append_option(number.map(|of| of.to_string())),
        }
    }

    fn text(&mut self, text: &str) {
        if let Values::Text(of) = self {
            of.append_option((!text.is_empty()).then_some(text));
        }
    }
}

impl<'o> Rows<'o> {
    fn new(of: &SpanRows, columns: &[usize], output: &'o Output) -> Self {
        let has = |name: &str| columns.iter().any(|at| of.schema.field(*at).name() == name);
        let column = |at: &usize| Column {
            number: *at,
            values: Values::of(of.schema.field(*at).data_type()),
        };
        let fields: Vec<_> = columns.iter().map(|at| of.schema.field(*at).clone()).collect();
        Rows {
            schema: Arc::new(Schema::new(fields)),
            columns: columns.iter().map(column).collect(),
            output,
            values: of.values.clone(),
            paths: of
                .traceset
                .traces()
                .iter()
                .map(|trace| trace.path().display().to_string())
                .collect(),
            has_arguments: has("arguments"),
            has_file: has("file"),
            has_end: has("end_event") || has("begin_event"),
            has_name: has("name"),
            arguments: String::new(),
            len: 0,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let arrays = self.columns.iter_mut().map(|column| column.values.finish()).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.len));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options);
        self.len = 0;
        match self.output.batch(batch.map_err(io::Error::other)?) {
            std::ops::ControlFlow::Continue(()) => Ok(()),
            std::ops::ControlFlow::Break(()) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl SpanReceiver for Rows<'_> {
    fn span(&mut self, shown: &mut Shown<'_, '_, '_>) -> io::Result<()> {
        let (span, names) = (shown.span, shown.names);
        let trace = shown.traceset.traces().get(span.trace.0);
        // Each event is read once, for all that is wanted of it.
        let mut arguments = std::mem::take(&mut self.arguments);
        arguments.clear();
        let (mut ends, mut path) = (["", ""], None);
        let reads_file = self.has_file && span.file == NameId::EMPTY;
        if self.has_arguments || self.has_end || reads_file {
            let call = names.call(span).unwrap_or("");
            let places = [(span.first, true), (span.last, false)];
            for ((place, is_begin), end) in places.into_iter().zip(&mut ends) {
                let Some((place, trace)) = place.zip(trace) else { continue };
                let before = arguments.len();
                let id = shown.reader.read(span.trace, place, |event: &Event<'_>| {
                    if self.has_arguments {
                        if before > 0 {
                            arguments.push_str(", ");
                        }
                        let start = arguments.len();
                        write_arguments(event, call, "", &mut arguments);
                        if arguments.len() == start {
                            arguments.truncate(before);
                        }
                    }
                    if is_begin && reads_file && !call.is_empty() {
                        path = path_of(event);
                    }
                    event.type_id()
                });
                *end = id.map_or("", |id| trace.event_type(id).name());
            }
        }
        let own = match self.values.is_empty() {
            true => Vec::new(),
            false => shown.reader.period_values(span, names),
        };
        let period = names.period(span).map_or("", |period| period.name());
        let name = if self.has_name { shown.name() } else { "".into() };
        let number = |of: Option<i64>| of.map(i128::from);
        for Column { number: at, values } in &mut self.columns {
            match *at {
                0 => values.number(Some(span.begin.as_ns().into())),
                1 => values.number(Some(span.end.as_ns().into())),
                2 => values.number(span.duration().map(i128::from)),
                3 => values.text(span.completeness.key()),
                4 => values.text(span.family.key()),
                5 => values.text(&name),
                6 => values.text(names.comm(span, &span.thread)),
                7 => values.number(number(span.thread.tid.map(i64::from))),
                8 => values.number(number(span.thread.pid.map(i64::from))),
                9 => values.number(Some(span.cpu).filter(|cpu| *cpu != u32::MAX).map(i128::from)),
                10 => values.text(path.as_deref().unwrap_or(names.file(span))),
                11 => values.number(number(span.result)),
                12 => values.text(span.error().and_then(error_name).unwrap_or("")),
                13 => values.text(match &span.waker {
                    Waker::Thread(thread) => names.comm(span, thread),
                    Waker::Interrupt => "interrupt",
                    _ => "",
                }),
                14 => values.number(match &span.waker {
                    Waker::Thread(thread) => thread.tid.map(i128::from),
                    _ => None,
                }),
                15 => values.text(self.paths.get(span.trace.0).map_or("", String::as_str)),
                16 => values.text(&arguments),
                17 => values.text(ends[0]),
                18 => values.text(ends[1]),
                more => {
                    let wanted = self.values.get(more - COLUMNS.len());
                    let found = wanted
                        .filter(|(of, _)| of == period)
                        .and_then(|(_, name)| own.iter().find(|(own, _)| own == name)?.1.as_ref());
                    match found {
                        Some(PeriodValue::Text(text)) => values.text(text),
                        Some(value) => values.text(&value.to_string()),
                        None => values.text(""),
                    }
                }
            }
        }
        self.arguments = arguments;
        self.len += 1;
        if self.len >= BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.len > 0 { self.flush() } else { Ok(()) }
    }
}
