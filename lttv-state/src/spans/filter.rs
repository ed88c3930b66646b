//! Filters of spans.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use ltt_read::Value;
use ltt_read::schema::{FieldClass, FieldKind};
use lttv_context::Traceset;
use lttv_filter::model::{FieldAccess, FieldType, Model, Resolution, SelectorError};
use lttv_filter::{Environment, Expression, FilterError, RecordFilter, Selector};

use super::arguments::error_name;
use super::names::SpanNames;
use super::period::Period;
use super::period_values::PeriodValue;
use super::reader::EventReader;
use super::span::{Span, SpanThread, Waker};

/// A filter of spans: an expression with their properties and the fields of the events that begin and end them.
///
/// | property | value |
/// |---|---|
/// | `family` | the [key](super::Family::key) of the family |
/// | `name` | the system call, interrupt, disk and kind of request, or period |
/// | `duration` | in ns; lengths such as `10ms` are accepted |
/// | `comm`, `tid`, `pid` | the thread |
/// | `cpu` | the CPU on which it ended |
/// | `file` | the file of a system call, or the path among its arguments |
/// | `result`, `error` | the result of a system call; the name of its error, such as `ENOENT` |
/// | `irq` | the number of an interrupt, vector or softirq |
/// | `waker`, `waker_tid` | the thread that ended a wait; `interrupt` if a handler did |
/// | `begin`, `end` | the times |
/// | `completeness` | the [key](super::Completeness::key) |
///
/// Labels and values of [periods](Period) have their own names, and also `PERIOD.NAME`. Any other name is that of a
/// field: of the event that began the span, or else of the one that ended it.
#[derive(Debug)]
pub struct SpanFilter(RecordFilter<SpanModel>);

/// The fields of spans in the traces.
#[derive(Debug)]
struct SpanModel {
    /// The fields of events, by name.
    events: BTreeMap<Arc<str>, FieldType>,
    /// The labels and values of periods, by name, with and without that of the period.
    values: BTreeMap<Arc<str>, FieldType>,
}

/// The value of a span that a filter reads.
#[derive(Debug, Clone)]
enum Key {
    Property(Property),
    /// A label or value of a period, or else a field.
    Named(Arc<str>),
}

/// A property of spans.
#[derive(Debug, Clone, Copy)]
enum Property {
    Family,
    Name,
    Duration,
    Comm,
    Tid,
    Pid,
    Cpu,
    File,
    Result,
    Error,
    Irq,
    Waker,
    WakerTid,
    Begin,
    End,
    Completeness,
}

const PROPERTIES: [(&str, Property); 16] = [
    ("family", Property::Family),
    ("name", Property::Name),
    ("duration", Property::Duration),
    ("comm", Property::Comm),
    ("tid", Property::Tid),
    ("pid", Property::Pid),
    ("cpu", Property::Cpu),
    ("file", Property::File),
    ("result", Property::Result),
    ("error", Property::Error),
    ("irq", Property::Irq),
    ("waker", Property::Waker),
    ("waker_tid", Property::WakerTid),
    ("begin", Property::Begin),
    ("end", Property::End),
    ("completeness", Property::Completeness),
];

impl Property {
    fn field_type(self) -> FieldType {
        match self {
            Property::Family
            | Property::Name
            | Property::Comm
            | Property::File
            | Property::Error
            | Property::Waker
            | Property::Completeness => FieldType::Text,
            Property::Duration => FieldType::integer(64, false),
            Property::Tid | Property::Pid | Property::WakerTid => FieldType::integer(32, true),
            Property::Cpu | Property::Irq => FieldType::integer(32, false),
            Property::Result => FieldType::integer(64, true),
            Property::Begin | Property::End => FieldType::time(),
        }
    }
}

/// A span that a filter examines.
struct Record<'r> {
    span: &'r Span,
    names: &'r SpanNames<'r>,
    reader: RefCell<&'r mut dyn ReadField>,
}

/// Reads fields of the events of spans, without the lifetime of their reader.
trait ReadField {
    fn path(&mut self, span: &Span, names: &SpanNames<'_>) -> String;
    fn named(&mut self, span: &Span, names: &SpanNames<'_>, name: &str) -> Option<Read>;
}

/// The value of a field.
enum Read {
    Integer(u64),
    Float(f64),
    Text(Vec<u8>),
    Other,
}

impl ReadField for EventReader<'_> {
    fn path(&mut self, span: &Span, names: &SpanNames<'_>) -> String {
        self.file(span, names).into_owned()
    }

    fn named(&mut self, span: &Span, names: &SpanNames<'_>, name: &str) -> Option<Read> {
        match self.period_value(span, names, name) {
            // All integers are recorded in 64 bits.
            Some((PeriodValue::Integer(value), _)) => return Some(Read::Integer(value as u64)),
            Some((PeriodValue::Float(value), _)) => return Some(Read::Float(value)),
            Some((PeriodValue::Text(text), _)) => {
                return Some(Read::Text(text.as_bytes().to_vec()));
            }
            None => {}
        }
        [span.first, span.last].into_iter().flatten().find_map(|place| {
            let value = |value: Value<'_>| match value {
                Value::Uint(value) | Value::Bits(value) => Read::Integer(value),
                Value::Sint(value) => Read::Integer(value.cast_unsigned()),
                Value::Bool(value) => Read::Integer(value.into()),
                Value::Float(value) => Read::Float(value),
                Value::Str(text) => Read::Text(text.bytes.to_vec()),
                _ => Read::Other,
            };
            self.read(span.trace, place, |event| event.field(name).map(value)).flatten()
        })
    }
}

impl SpanFilter {
    /// Builds a filter from an expression, for the spans of a traceset. Times in it are those of an environment.
    ///
    /// # Errors
    ///
    /// Returns an error if the expression names something that is neither a property of spans nor a field of an
    /// event, or if a value has the wrong type.
    pub fn new(
        expression: &Expression,
        traceset: &Traceset,
        environment: &Environment,
    ) -> Result<Self, FilterError> {
        Self::with_periods(expression, traceset, &[], environment)
    }

    /// Builds a filter from an expression, for the spans of a traceset with some periods, whose labels and values it may
    /// name. Times in it are those of an environment.
    ///
    /// # Errors
    ///
    /// Returns an error if the expression names something that is neither a property of spans nor a label or value of a
    /// period nor a field of an event, or if a value has the wrong type.
    pub fn with_periods(
        expression: &Expression,
        traceset: &Traceset,
        periods: &[Period],
        environment: &Environment,
    ) -> Result<Self, FilterError> {
        let mut events = BTreeMap::new();
        for trace in traceset.traces() {
            for of in &trace.schema().event_types {
                let scopes = [&of.payload, &of.specific_context];
                for class in scopes.into_iter().flatten() {
                    let FieldKind::Struct(of) = &class.kind else { continue };
                    for member in &of.members {
                        insert(&mut events, member.name.clone(), type_of(&member.class));
                    }
                }
            }
        }
        let mut values = BTreeMap::new();
        for period in periods {
            for (name, field) in period.sources() {
                let property = PROPERTIES.iter().find(|(of, _)| *of == field);
                let of_type = match property {
                    Some((_, property)) => property.field_type(),
                    None => events.get(field).cloned().unwrap_or(FieldType::integer(64, true)),
                };
                let full = format!("{}.{name}", period.name());
                insert(&mut values, full.into(), of_type.clone());
                insert(&mut values, name.into(), of_type);
            }
        }
        let model = SpanModel { events, values };
        RecordFilter::with_environment(expression, &model, environment).map(SpanFilter)
    }

    /// Returns `true` if a span passes. The reader is used if that depends on fields of events.
    pub fn matches(
        &self,
        span: &Span,
        names: &SpanNames<'_>,
        reader: &mut EventReader<'_>,
    ) -> bool {
        self.0.matches(&Record { span, names, reader: RefCell::new(reader) })
    }
}

/// Adds a name with a type, which may have another one already.
fn insert(types: &mut BTreeMap<Arc<str>, FieldType>, name: Arc<str>, found: FieldType) {
    match types.get_mut(&name) {
        Some(of_all) if *of_all != found => *of_all = common(of_all, &found),
        Some(_) => {}
        None => _ = types.insert(name, found),
    }
}

fn type_of(class: &FieldClass) -> FieldType {
    match &class.kind {
        FieldKind::Integer(_, integer) | FieldKind::VarInteger(integer) => {
            FieldType::integer(64, integer.signed)
        }
        FieldKind::Bool(..) => FieldType::integer(64, false),
        FieldKind::Float(..) => FieldType::Float,
        FieldKind::String(_) => FieldType::Text,
        _ => FieldType::Opaque("a compound value"),
    }
}

/// Returns the type of a field that has two of them in different events.
fn common(a: &FieldType, b: &FieldType) -> FieldType {
    match (a, b) {
        // Values of 64 bits are rare in signed fields, and addresses are compared for equality.
        (FieldType::Integer(_), FieldType::Integer(_)) => FieldType::integer(64, true),
        (FieldType::Opaque(_), known) | (known, FieldType::Opaque(_)) => known.clone(),
        (known, _) => known.clone(),
    }
}

impl SpanModel {
    fn access(&self, name: &str) -> Option<FieldAccess<Key>> {
        let property = PROPERTIES.iter().find(|(of, _)| *of == name);
        if let Some((_, property)) = property {
            let (field, field_type) = (Key::Property(*property), property.field_type());
            return Some(FieldAccess { field, field_type, always: false });
        }
        let field = self.events.get_key_value(name);
        let value = self.values.get_key_value(name);
        let (name, field_type) = value.or(field)?;
        let field_type = match field.zip(value) {
            Some(((_, field), (_, value))) => common(value, field),
            None => field_type.clone(),
        };
        let field = Key::Named(name.clone());
        Some(FieldAccess { field, field_type, always: false })
    }
}

impl Model for SpanModel {
    type Field = Key;
    type Record<'r> = Record<'r>;

    fn types(&self) -> u32 {
        1
    }

    fn find(&self, _: u32, selector: &Selector) -> Resolution<Key> {
        match self.access(&selector.to_string()) {
            Some(access) => Resolution::Fields(vec![access]),
            None => Resolution::Nothing,
        }
    }

    fn check(&self, selector: &Selector) -> Result<(), SelectorError> {
        let name = selector.to_string();
        if self.access(&name).is_some() {
            return Ok(());
        }
        let names = PROPERTIES.iter().map(|(name, _)| *name);
        let problem = SelectorError::new(
            selector.span,
            format!("neither spans nor the events of these traces have a `{name}`"),
        );
        let others = self.values.keys().chain(self.events.keys());
        Err(problem.nearest(&name, names.chain(others.map(|name| &**name))))
    }

    fn record_type(_: &Record<'_>) -> u32 {
        0
    }

    fn integer(record: &Record<'_>, key: &Key) -> Option<u64> {
        let Record { span, names, reader } = record;
        let signed = |of: i64| of.cast_unsigned();
        let tid = |thread: &SpanThread| thread.tid.map(|tid| signed(tid.into()));
        match key {
            Key::Named(name) => match reader.borrow_mut().named(span, names, name)? {
                Read::Integer(value) => Some(value),
                _ => None,
            },
            Key::Property(property) => match property {
                Property::Duration => span.duration(),
                Property::Tid => tid(&span.thread),
                Property::Pid => span.thread.pid.map(|pid| signed(pid.into())),
                Property::WakerTid => match &span.waker {
                    Waker::Thread(thread) => tid(thread),
                    _ => None,
                },
                Property::Cpu => Some(span.cpu.into()).filter(|_| span.cpu != u32::MAX),
                Property::Result => span.result.map(signed),
                Property::Irq => names.number(span).map(u64::from),
                Property::Begin => Some(signed(span.begin.as_ns())),
                Property::End => Some(signed(span.end.as_ns())),
                _ => None,
            },
        }
    }

    fn float(record: &Record<'_>, key: &Key) -> Option<f64> {
        let Key::Named(name) = key else { return None };
        match record.reader.borrow_mut().named(record.span, record.names, name)? {
            Read::Float(value) => Some(value),
            _ => None,
        }
    }

    fn text<'a>(record: &'a Record<'_>, key: &Key) -> Option<Cow<'a, [u8]>> {
        let Record { span, names, reader } = record;
        let known =
            |text: &'a str| Some(Cow::Borrowed(text.as_bytes())).filter(|of| !of.is_empty());
        match key {
            Key::Named(name) => match reader.borrow_mut().named(span, names, name)? {
                Read::Text(text) => Some(text.into()),
                _ => None,
            },
            Key::Property(property) => match property {
                Property::Family => known(span.family.key()),
                Property::Name => match names.call(span) {
                    Some(call) => known(call),
                    None => Some(names.label(span).into_bytes().into()),
                },
                Property::Comm => known(names.comm(span, &span.thread)),
                Property::File => match names.file(span) {
                    "" => {
                        let path = reader.borrow_mut().path(span, names);
                        Some(Cow::from(path.into_bytes())).filter(|path| !path.is_empty())
                    }
                    file => known(file),
                },
                Property::Error => known(span.error().and_then(error_name)?),
                Property::Waker => match &span.waker {
                    Waker::Unknown => None,
                    Waker::Interrupt => known("interrupt"),
                    Waker::Thread(thread) => known(names.comm(span, thread)),
                },
                Property::Completeness => known(span.completeness.key()),
                _ => None,
            },
        }
    }

    fn has(record: &Record<'_>, key: &Key) -> bool {
        let Key::Named(name) = key else { return false };
        record.reader.borrow_mut().named(record.span, record.names, name).is_some()
    }
}
