//! Values of a scope of an event, as the writer takes them.

use crate::event::{Event, StrValue, Visitor};
use crate::layout::FieldInfo;
use crate::schema::{FieldClass, FieldKind, Role, Roles, Scope};
use crate::writer::record::Record;
use crate::writer::value::FieldValue;

impl Record {
    /// Copies an event. Fields with a role are automatic, so that a writer fills them in
    /// for the new place of the record. The event type has the same index in the
    /// writer's schema.
    ///
    /// [`StreamCopier`](crate::writer::StreamCopier) copies events much faster.
    ///
    /// ```
    /// use ltt_read::writer::Record;
    ///
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
    /// let event = cursor.next()?.expect("an event");
    /// let record = Record::of(&event);
    /// assert_eq!(Some(record.timestamp), event.cycles());
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn of(event: &Event<'_>) -> Self {
        Record {
            event_type: event.type_id(),
            timestamp: event.cycles().unwrap_or(0),
            header: other_fields(event, Scope::EventHeader),
            common_context: FieldValue::of(event, Scope::CommonContext),
            specific_context: FieldValue::of(event, Scope::SpecificContext),
            payload: FieldValue::of(event, Scope::Payload),
        }
    }
}

impl FieldValue {
    /// Copies the root structure of a scope of an event. Fields with a role are automatic.
    /// [`FieldValue::Auto`] if the event has no such scope.
    pub fn of(event: &Event<'_>, scope: Scope) -> Self {
        let mut values = Values::default();
        event.visit(scope, &mut values);
        values.done
    }
}

/// Copies the fields of a header or packet context if it has some without a role;
/// otherwise returns an automatic value, which encodes faster.
pub(super) fn other_fields(event: &Event<'_>, scope: Scope) -> FieldValue {
    let stream = &event.trace().schema().stream_classes[event.packet().stream_class.index()];
    let class = match scope {
        Scope::EventHeader => &stream.event_header,
        Scope::PacketContext => &stream.packet_context,
        _ => &event.trace().schema().packet_header,
    };
    match class.as_deref().is_some_and(has_other_fields) {
        true => FieldValue::of(event, scope),
        false => FieldValue::Auto,
    }
}

/// Returns `true` if a class has a field that no role explains. A variant has a selector, so
/// its options count alone.
pub(super) fn has_other_fields(class: &FieldClass) -> bool {
    match &class.kind {
        FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => i.roles.is_empty(),
        FieldKind::Struct(s) => s.members.iter().any(|m| has_other_fields(&m.class)),
        FieldKind::Variant(v) => v.options.iter().any(|o| has_other_fields(&o.class)),
        FieldKind::Option(o) => has_other_fields(&o.class),
        FieldKind::Array(a) => !a.roles.has(Role::Uuid),
        FieldKind::Blob(b) => !b.roles.has(Role::Uuid),
        _ => true,
    }
}

/// A visitor that builds a value.
#[derive(Default)]
struct Values {
    open: Vec<Open>,
    done: FieldValue,
}

/// A value whose parts are being visited.
enum Open {
    Struct(Vec<FieldValue>),
    Array(Vec<FieldValue>, bool),
    Variant(usize, FieldValue),
    Option(Option<FieldValue>),
}

impl Values {
    fn put(&mut self, value: FieldValue) {
        match self.open.last_mut() {
            Some(Open::Struct(parts) | Open::Array(parts, _)) => parts.push(value),
            Some(Open::Variant(_, content)) => *content = value,
            Some(Open::Option(content)) => *content = Some(value),
            None => self.done = value,
        }
    }

    fn number(&mut self, field: &FieldInfo, value: FieldValue) {
        let auto = !roles(field.class()).is_empty();
        self.put(if auto { FieldValue::Auto } else { value });
    }

    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        self.put(match open {
            Open::Struct(parts) => FieldValue::Struct(parts),
            Open::Array(_, true) => FieldValue::Auto,
            Open::Array(parts, false) => FieldValue::Array(parts),
            Open::Variant(option, content) => FieldValue::variant(option, content),
            Open::Option(content) => FieldValue::Option(content.map(Box::new)),
        });
    }
}

fn roles(class: &FieldClass) -> Roles {
    match &class.kind {
        FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => i.roles,
        FieldKind::Array(a) => a.roles,
        FieldKind::Blob(b) => b.roles,
        _ => Roles::NONE,
    }
}

impl Visitor for Values {
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        self.number(field, FieldValue::Uint(value));
    }
    fn sint(&mut self, field: &FieldInfo, value: i64) {
        self.number(field, FieldValue::Sint(value));
    }
    fn boolean(&mut self, _: &FieldInfo, value: bool) {
        self.put(FieldValue::Bool(value));
    }
    fn bits(&mut self, _: &FieldInfo, value: u64) {
        self.put(FieldValue::Bits(value));
    }
    fn float(&mut self, _: &FieldInfo, value: f64) {
        self.put(FieldValue::Float(value));
    }
    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        let mut bytes = value.bytes.to_vec();
        // The length of a text of dynamic length is that of the whole field.
        bytes.extend(std::iter::repeat_n(0, value.padding as usize));
        if let FieldKind::String(s) = &field.class().kind
            && s.length.is_none()
        {
            bytes.truncate(value.bytes.len());
        }
        self.put(FieldValue::Bytes(bytes));
    }
    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        self.number(field, FieldValue::Bytes(value.to_vec()));
    }
    fn begin_struct(&mut self, _: &FieldInfo) {
        self.open.push(Open::Struct(Vec::new()));
    }
    fn end_struct(&mut self, _: &FieldInfo) {
        self.close();
    }
    fn begin_array(&mut self, field: &FieldInfo, _: u64) {
        self.open.push(Open::Array(Vec::new(), roles(field.class()).has(Role::Uuid)));
    }
    fn end_array(&mut self, _: &FieldInfo) {
        self.close();
    }
    fn begin_variant(&mut self, _: &FieldInfo, option: usize) {
        self.open.push(Open::Variant(option, FieldValue::Auto));
    }
    fn end_variant(&mut self, _: &FieldInfo) {
        self.close();
    }
    fn begin_option(&mut self, _: &FieldInfo, _: bool) {
        self.open.push(Open::Option(None));
    }
    fn end_option(&mut self, _: &FieldInfo) {
        self.close();
    }
}
