//! Tables of events: the columns of all event types of one name, or of all events.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use ltt_read::schema::{ClockOrigin, Encoding, EventTypeId, FieldClass, FieldKind, Format, Scope};
use ltt_read::{Trace, TraceIndex};
use lttv_filter::{Root, Selector};

use crate::shape::{Extra, Names, Shape, extra};

/// The name of the table of all events.
pub const EVENTS: &str = "events";

/// The columns of every table, before those of fields.
const COMMON: [&str; 6] = ["timestamp", "ts", "trace", "stream", "cpu", "name"];

/// A table of events.
///
/// Its columns are:
///
/// | column | type | meaning |
/// |---|---|---|
/// | `timestamp` | timestamp in ns | the time; missing if no clock of the table has a known origin |
/// | `ts` | 64-bit integer | the time in ns since the origin of the clock |
/// | `trace`, `stream` | text | the shortest name that distinguishes the trace; the tracefile |
/// | `cpu` | 32-bit integer | the CPU that recorded the event |
/// | `name` | text | the event type, only in the table of all events |
/// | `ctx_…` | | fields of the contexts |
/// | others | | fields of the payload; `field_…` if the name is one of the above |
/// | `fields` | text | the payload as JSON, only in the table of all events |
/// | `state_…` | | the thread that runs after the event, only on request |
///
/// An enumeration `x` has a second column, `x_label`, and a bit map a column `x_flags`. Event types
/// of one name share a table, also if they differ: a column is null in rows of a type without it,
/// has the smallest integer type that fits all, or appears twice, with `_2` after its second name.
/// Columns of single values that all events have are not nullable, which engines make use of.
#[derive(Debug, Clone)]
pub struct EventTable {
    name: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) types: Vec<TypeOfTable>,
    pub(crate) is_all: bool,
    schema: SchemaRef,
}

/// An event type of a table.
#[derive(Debug, Clone)]
pub(crate) struct TypeOfTable {
    pub(crate) trace: TraceIndex,
    pub(crate) id: EventTypeId,
    /// The field of each column; `None` if the type lacks it.
    pub(crate) members: Vec<Option<MemberRef>>,
}

/// A member of the root structure of a scope.
#[derive(Debug, Clone)]
pub(crate) struct MemberRef {
    pub(crate) scope: Scope,
    pub(crate) index: usize,
    pub(crate) class: Arc<FieldClass>,
    pub(crate) name: Arc<str>,
    /// `true` for the first member of its name, which a handle finds.
    pub(crate) is_first: bool,
}

impl MemberRef {
    /// Returns `true` if each event of the type has the field.
    fn is_everywhere(&self) -> bool {
        !matches!(self.class.kind, FieldKind::Option(_))
    }

    /// Returns `true` for an integer or a UTF-8 text, which is in each event.
    fn is_plain(&self) -> bool {
        match &self.class.kind {
            FieldKind::Integer(..) | FieldKind::VarInteger(_) => true,
            FieldKind::String(text) => text.encoding == Encoding::Utf8,
            _ => false,
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) nullable: bool,
}

/// The origin of a column's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Timestamp,
    Ts,
    Trace,
    Stream,
    Cpu,
    Name,
    Fields,
    State(StateColumn),
    /// A field.
    Field(Shape),
    /// The labels or flags of a field.
    Extra(Extra),
}

/// A column of the kernel state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateColumn {
    Tid,
    Pid,
    Name,
    Mode,
    Submode,
    Priority,
}

impl StateColumn {
    const ALL: [(StateColumn, &'static str); 6] = [
        (StateColumn::Tid, "state_tid"),
        (StateColumn::Pid, "state_pid"),
        (StateColumn::Name, "state_name"),
        (StateColumn::Mode, "state_mode"),
        (StateColumn::Submode, "state_submode"),
        (StateColumn::Priority, "state_prio"),
    ];
}

impl Column {
    fn new(name: impl Into<String>, source: Source, nullable: bool) -> Column {
        Column { name: name.into(), source, nullable }
    }

    fn field(&self) -> Field {
        let data_type = match &self.source {
            Source::Timestamp => DataType::Timestamp(TimeUnit::Nanosecond, None),
            Source::Ts => DataType::Int64,
            Source::Cpu => DataType::UInt32,
            Source::State(StateColumn::Tid | StateColumn::Pid | StateColumn::Priority) => {
                DataType::Int32
            }
            Source::Trace | Source::Stream | Source::Name | Source::Fields | Source::State(_) => {
                DataType::Utf8View
            }
            Source::Field(shape) => shape.data_type(),
            Source::Extra(extra) => extra.shape().data_type(),
        };
        Field::new(&self.name, data_type, self.nullable)
    }
}

impl EventTable {
    /// Returns the name: that of the event types, or [`EVENTS`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of the column of a name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns `true` if the column contains the label or flags of another one.
    pub fn is_extra(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|column| matches!(column.source, Source::Extra(_)))
    }

    /// Returns the event types, with the indices of their traces.
    pub fn event_types(&self) -> impl ExactSizeIterator<Item = (TraceIndex, EventTypeId)> {
        self.types.iter().map(|of| (of.trace, of.id))
    }

    /// Returns the selector by which filters refer to a column, if comparing it with a number or a
    /// text means the same there: for `cpu`, `name` and `stream`, and for integers and texts that
    /// are fields of one name in all event types.
    pub fn filter_selector(&self, column: usize) -> Option<Selector> {
        match &self.columns.get(column)?.source {
            Source::Cpu => return Some(Selector::new(Root::Tracefile, "cpu")),
            Source::Stream => return Some(Selector::new(Root::Tracefile, "name")),
            Source::Name => return Some(Selector::new(Root::Event, "name")),
            Source::Field(Shape::Integer { .. } | Shape::Text) => {}
            _ => return None,
        }
        let mut members = self.types.iter().map(|of| of.members.get(column)?.as_ref());
        let first = members.next()??;
        let is_same = |of: Option<&MemberRef>| {
            of.is_some_and(|of| {
                of.is_first && of.is_plain() && of.scope == first.scope && of.name == first.name
            })
        };
        if !is_same(Some(first)) || !members.all(is_same) {
            return None;
        }
        if first.scope == Scope::Payload {
            return Some(Selector::field_of_any(&first.name));
        }
        // A context of both scopes has two meanings in a filter.
        let all = self.types.iter().flat_map(|of| of.members.iter().flatten());
        let mut others = all.filter(|of| of.scope != Scope::Payload && of.name == first.name);
        let is_one = others.all(|of| of.scope == first.scope);
        is_one.then(|| Selector::new(Root::Event, "context").member(&first.name))
    }

    pub(crate) fn new(
        name: &str,
        traces: &[Arc<Trace>],
        ids: &[(TraceIndex, EventTypeId)],
    ) -> EventTable {
        let is_all = name == EVENTS;
        let mut columns = common_columns(traces, ids, is_all);
        let first = columns.len();
        // Reserved, so that a column has one meaning in all tables.
        let mut names = Names::default();
        COMMON.iter().for_each(|name| _ = names.unique(name));
        StateColumn::ALL.iter().for_each(|(_, name)| _ = names.unique(name));
        if is_all {
            _ = names.unique("fields");
        }
        let mut types: Vec<TypeOfTable> = Vec::new();
        for &(trace, id) in ids {
            let Some(of) = traces.get(trace.0) else { continue };
            let mut members: Vec<Option<MemberRef>> = vec![None; columns.len()];
            for member in type_members(of, id, is_all) {
                place(&mut columns, &mut members, first, &mut names, member);
            }
            types.push(TypeOfTable { trace, id, members });
        }
        if is_all {
            columns.push(Column::new("fields", Source::Fields, true));
        }
        for of in &mut types {
            of.members.resize(columns.len(), None);
        }
        for (at, column) in columns.iter_mut().enumerate().skip(first) {
            let is_everywhere = || {
                types.iter().all(|of| of.members[at].as_ref().is_some_and(MemberRef::is_everywhere))
            };
            if let Source::Field(shape) = &column.source {
                column.nullable = !shape.is_scalar() || !is_everywhere();
            }
        }
        let schema = Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>()));
        EventTable { name: name.to_owned(), columns, types, is_all, schema }
    }

    /// Adds columns of the kernel state: of the thread that runs on the CPU of the event after it,
    /// as in filters. They are null in traces without kernel events. `state_prio` is the priority as
    /// the kernel recorded it in `sched_switch`, where smaller numbers are more urgent.
    #[must_use]
    pub fn with_kernel_state(&self) -> EventTable {
        let mut table = self.clone();
        for (column, name) in StateColumn::ALL {
            table.columns.push(Column::new(name, Source::State(column), true));
        }
        let columns = table.columns.len();
        table.types.iter_mut().for_each(|of| of.members.resize(columns, None));
        let fields: Vec<_> = table.columns.iter().map(Column::field).collect();
        table.schema = Arc::new(Schema::new(fields));
        table
    }

    /// Returns `true` if columns need the kernel state.
    pub(crate) fn needs_state(&self, projection: &[usize]) -> bool {
        let source = |column: &usize| self.columns.get(*column).map(|column| &column.source);
        projection.iter().any(|column| matches!(source(column), Some(Source::State(_))))
    }
}

/// Returns the columns of every event.
fn common_columns(
    traces: &[Arc<Trace>],
    ids: &[(TraceIndex, EventTypeId)],
    is_all: bool,
) -> Vec<Column> {
    let clock = |&(trace, id): &(TraceIndex, EventTypeId)| {
        let schema = traces.get(trace.0)?.schema();
        schema.clocks.get(schema.stream_of(id).default_clock? as usize)
    };
    let has_date = |clock: &ltt_read::schema::ClockClass| clock.origin == ClockOrigin::UnixEpoch;
    // Records of perf about what was before the recording have no time.
    let has_times = |(trace, _): &(TraceIndex, EventTypeId)| {
        traces.get(trace.0).is_some_and(|of| of.schema().format != Format::Perf)
    };
    let all_times = ids.iter().all(has_times);
    let any_date = ids.iter().any(|id| clock(id).is_some_and(has_date));
    let all_dates = all_times && ids.iter().all(|id| clock(id).is_some_and(has_date));
    let all_clocks = all_times && ids.iter().all(|id| clock(id).is_some());
    let mut columns = Vec::new();
    if any_date {
        columns.push(Column::new("timestamp", Source::Timestamp, !all_dates));
    }
    columns.push(Column::new("ts", Source::Ts, !all_clocks));
    columns.push(Column::new("trace", Source::Trace, false));
    columns.push(Column::new("stream", Source::Stream, false));
    let has_cpus = |(trace, _): &(TraceIndex, EventTypeId)| {
        let tracefiles = traces.get(trace.0).into_iter().flat_map(|of| of.tracefiles());
        tracefiles.into_iter().all(|tracefile| tracefile.cpu().is_some())
    };
    // Many event types of one trace come after each other.
    let mut of_traces = ids.to_vec();
    of_traces.dedup_by_key(|(trace, _)| *trace);
    columns.push(Column::new("cpu", Source::Cpu, !of_traces.iter().all(has_cpus)));
    if is_all {
        columns.push(Column::new("name", Source::Name, false));
    }
    columns
}

/// Returns the members of an event type that are columns: only those of the common context for the
/// table of all events.
fn type_members(trace: &Trace, id: EventTypeId, is_all: bool) -> Vec<MemberRef> {
    let schema = trace.schema();
    let (event_type, stream) = (trace.event_type(id), schema.stream_of(id));
    let scopes = [
        (Scope::CommonContext, &stream.common_context),
        (Scope::SpecificContext, &event_type.specific_context),
        (Scope::Payload, &event_type.payload),
    ];
    let mut members: Vec<MemberRef> = Vec::new();
    for (scope, class) in scopes.into_iter().take(if is_all { 1 } else { 3 }) {
        for (index, member) in class.iter().flat_map(|class| class.members()).enumerate() {
            let is_first = !members.iter().any(|of| of.scope == scope && of.name == member.name);
            let (class, name) = (Arc::clone(&member.class), Arc::clone(&member.name));
            members.push(MemberRef { scope, index, class, name, is_first });
        }
    }
    members
}

/// Finds or adds the column of a member, and that of its labels or flags.
fn place(
    columns: &mut Vec<Column>,
    members: &mut Vec<Option<MemberRef>>,
    first: usize,
    names: &mut Names,
    member: MemberRef,
) {
    let wanted = match member.scope {
        Scope::Payload if is_reserved(&member.name) => format!("field_{}", member.name),
        Scope::Payload => member.name.to_string(),
        _ => format!("ctx_{}", member.name),
    };
    let (shape, extra) = (Shape::of(&member.class), extra(&member.class));
    let has_extra = |columns: &[Column], at: usize| match columns.get(at + 1) {
        Some(Column { source: Source::Extra(kind), .. }) => Some(*kind),
        _ => None,
    };
    let fits = |at: usize| {
        let Column { name, source: Source::Field(of), .. } = &columns[at] else { return None };
        let is_named = *name == wanted
            || name.strip_prefix(&wanted).is_some_and(|rest| {
                rest.strip_prefix('_').is_some_and(|n| n.parse::<u32>().is_ok())
            });
        let is_free = is_named && members.get(at).is_none_or(Option::is_none);
        let union = of.union(&shape).filter(|_| is_free && has_extra(columns, at) == extra)?;
        Some((at, union))
    };
    let found = (first..columns.len()).find_map(fits);
    let at = match found {
        Some((at, union)) => {
            columns[at].source = Source::Field(union);
            at
        }
        None => {
            let name = names.unique(&wanted);
            let extra = extra.map(|extra| (names.unique(&extra.name(&name)), extra));
            columns.push(Column::new(name, Source::Field(shape), true));
            let at = columns.len() - 1;
            if let Some((name, extra)) = extra {
                columns.push(Column::new(name, Source::Extra(extra), true));
            }
            at
        }
    };
    members.resize(columns.len().max(members.len()), None);
    if extra.is_some() {
        members[at + 1] = Some(member.clone());
    }
    members[at] = Some(member);
}

/// Returns `true` for names that other columns have.
fn is_reserved(name: &str) -> bool {
    let is = |reserved: &&str| reserved.eq_ignore_ascii_case(name);
    COMMON.iter().any(is)
        || StateColumn::ALL.iter().any(|(_, reserved)| is(reserved))
        || name.to_ascii_lowercase().starts_with("ctx_")
}
