//! The columns, and their names.

use lttv_filter::nearest;
use lttv_filter::recorded_word;
use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::EventTypeId;
use lttv_state::kernel::KernelState;

use super::of_type::SCOPES;

/// A column of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// The time.
    Time,
    /// The time since the previous event.
    Delta,
    /// The time since the previous event of the same thread.
    ThreadDelta,
    /// The CPU.
    Cpu,
    /// The thread.
    Tid,
    /// The thread group.
    Pid,
    /// The command.
    Comm,
    /// The channel.
    Channel,
    /// The name of the event.
    Name,
    /// The path of the trace.
    Trace,
    /// All fields of the payload.
    Fields,
    /// A field of the payload or of a context, by its path.
    Field(String),
}

/// An error from columns that the traces do not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// There is no such column.
    #[error(
        "there is no column or field `{name}`{}: the columns are {}, and fields of events",
        hint(.meant), known().join(", ")
    )]
    Unknown {
        /// The name.
        name: String,
        /// The most similar name.
        meant: Option<String>,
    },
    /// Only columns of numbers have greatest values.
    #[error("--top takes the greatest values of the first column, but `{0}` is a text")]
    Text(&'static str),
    /// There is no first column.
    #[error("--top takes the greatest values of the first of --columns, but there is none")]
    None,
}

fn hint(meant: &Option<String>) -> String {
    meant.as_ref().map_or_else(String::new, |meant| format!(", did you mean `{meant}`?"))
}

fn known() -> [&'static str; 11] {
    KNOWN.map(|(name, ..)| name)
}

/// The names, titles and widths in text of all columns except single fields.
const KNOWN: [(&str, &str, usize, Column); 11] = [
    ("time", "TIME", 20, Column::Time),
    ("delta", "DELTA", 14, Column::Delta),
    ("thread_delta", "THREAD DELTA", 14, Column::ThreadDelta),
    ("cpu", "CPU", 3, Column::Cpu),
    ("tid", "TID", 7, Column::Tid),
    ("pid", "PID", 7, Column::Pid),
    ("comm", "COMMAND", 15, Column::Comm),
    ("channel", "CHANNEL", 10, Column::Channel),
    ("name", "NAME", 28, Column::Name),
    ("trace", "TRACE", 24, Column::Trace),
    ("fields", "FIELDS", 0, Column::Fields),
];

impl FromStr for Column {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Infallible> {
        let known = KNOWN.into_iter().find(|known| known.0 == name);
        Ok(known.map_or_else(|| Column::Field(name.to_owned()), |known| known.3))
    }
}

impl Column {
    /// The columns of comma-separated values if none are chosen.
    pub const USUAL: [Column; 8] = [
        Column::Time,
        Column::Cpu,
        Column::Tid,
        Column::Pid,
        Column::Comm,
        Column::Channel,
        Column::Name,
        Column::Fields,
    ];

    /// Returns the heading.
    pub(super) fn title(&self, is_csv: bool) -> String {
        match (self, self.known()) {
            (_, Some((name, ..))) if is_csv => name.to_owned(),
            (_, Some((_, title, ..))) => title.to_owned(),
            (Column::Field(name), _) => name.clone(),
            (_, None) => String::new(),
        }
    }

    /// Returns the least width in text, in characters.
    pub(super) fn width(&self) -> usize {
        match self {
            Column::Field(name) => name.chars().count().max(8),
            _ => self.known().map_or(0, |known| known.2),
        }
    }

    /// Returns `true` if the column is aligned to the left in text.
    pub(super) fn is_text(&self) -> bool {
        use Column::{Channel, Comm, Fields, Name, Trace};
        matches!(self, Comm | Channel | Name | Trace | Fields)
    }

    fn known(&self) -> Option<(&'static str, &'static str, usize, Column)> {
        KNOWN.into_iter().find(|known| known.3 == *self)
    }
}

/// Checks that the traces have the columns, and that the first has numbers if it must.
pub(super) fn check(
    columns: &[Column],
    traces: &[Arc<Trace>],
    wants_greatest: bool,
) -> Result<(), ColumnError> {
    for column in columns {
        if let Column::Field(name) = column
            && !traces.iter().any(|trace| has_field(trace, name))
        {
            let names: Vec<&str> = known().into_iter().chain(field_names(traces)).collect();
            let meant = nearest(name, names).map(str::to_owned);
            return Err(ColumnError::Unknown { name: name.clone(), meant });
        }
    }
    match columns.first() {
        None if wants_greatest => Err(ColumnError::None),
        Some(first) if wants_greatest && first.is_text() => {
            Err(ColumnError::Text(first.known().map_or("", |known| known.0)))
        }
        _ => Ok(()),
    }
}

fn has_field(trace: &Trace, name: &str) -> bool {
    let mut types = (0..).zip(&trace.schema().event_types).map(|(id, _)| EventTypeId(id));
    types.any(|of| SCOPES.into_iter().any(|scope| trace.field(of, scope, name).is_some()))
}

/// Iterates over the names of the fields of payloads and contexts.
fn field_names(traces: &[Arc<Trace>]) -> impl Iterator<Item = &str> {
    traces.iter().flat_map(|trace| {
        let schema = trace.schema();
        let streams = schema.stream_classes.iter().filter_map(|of| of.common_context.as_deref());
        let types = schema.event_types.iter();
        let types = types.flat_map(|of| [of.payload.as_deref(), of.specific_context.as_deref()]);
        streams.chain(types.flatten()).flat_map(|class| class.members()).map(|it| &*it.name)
    })
}

/// Returns warnings of columns that stay empty since no trace has what they contain.
pub(super) fn empty(columns: &[Column], traces: &[Arc<Trace>]) -> Vec<String> {
    let has = |word: &str, env: &str| {
        traces.iter().any(|trace| {
            KernelState::follows(trace)
                || trace.schema().env(env).is_some()
                || types(trace).any(|id| recorded_word(trace, id, word).is_some())
        })
    };
    let warning = |column: &Column| match column {
        Column::Tid | Column::ThreadDelta if !has("tid", "") => Some("tid or vtid"),
        Column::Pid if !has("pid", "vpid") => Some("pid or vpid"),
        Column::Comm if !has("comm", "procname") => Some("procname"),
        _ => None,
    };
    let names = |column: &Column| {
        let (name, context) = (column.known()?.0, warning(column)?);
        Some(format!("the column {name} is empty: the traces have no context {context}"))
    };
    columns.iter().filter_map(names).collect()
}

/// Returns `true` if a column needs the state of the machine, since the events of a kernel trace
/// do not contain it.
pub(super) fn need_state(columns: &[Column], traces: &[Arc<Trace>]) -> bool {
    let word = |column: &Column| match column {
        Column::Tid | Column::ThreadDelta => Some("tid"),
        Column::Pid => Some("pid"),
        Column::Comm => Some("comm"),
        _ => None,
    };
    needs_state(&columns.iter().filter_map(word).collect::<Vec<_>>(), traces)
}

/// Returns `true` if the events of a kernel trace do not contain one of these words, so that they
/// follow from the state of the machine.
pub(in crate::text_dump) fn needs_state(words: &[&str], traces: &[Arc<Trace>]) -> bool {
    let lacks =
        |trace: &Trace, word: &str| types(trace).any(|id| recorded_word(trace, id, word).is_none());
    let follows = |trace: &&Arc<Trace>| KernelState::follows(trace);
    traces.iter().filter(follows).any(|trace| words.iter().any(|word| lacks(trace, word)))
}

/// Iterates over the event types of a trace.
fn types(trace: &Trace) -> impl Iterator<Item = EventTypeId> {
    (0..trace.schema().event_types.len() as u32).map(EventTypeId)
}
