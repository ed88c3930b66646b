//! Access to the contents of an event: all fields in order ([`visit`]), by name
//! ([`value`]) or by handle ([`field`]).

mod field;
mod field_path;
mod key_fields;
mod owned;
mod range_test;
mod sequence;
mod value;
mod value_text;
mod visit;
mod walk;

use std::borrow::Cow;
use std::sync::Arc;

use crate::base::clock_transform::ClockTransform;
use crate::base::time::Timestamp;
use crate::cursor::{Cursor, Position, Run};
use crate::format::SchemaId;
use crate::layout::node::Node;
use crate::layout::program::Window;
use crate::layout::region::Region;
use crate::packet::Packet;
use crate::report::Error;
use crate::schema::{EventType, EventTypeId, Scope};
use crate::trace::{Trace, TraceIndex, Tracefile, TracefileIndex};

use value::View;
use walk::{bytes, scalar};

pub use field::Field;
pub use field_path::FieldStep;
pub use key_fields::KeyFields;
pub use owned::{OwnedEvent, OwnedStruct, OwnedValue};
pub use range_test::RangeTests;
pub use sequence::EventSequence;
pub use value::{ArrayView, StructView, Value};
pub use visit::{StrValue, Visitor};
pub(crate) use walk::first_zero;

impl Cursor {
    /// Reads the next event and returns it; `None` after the last one.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if the bytes that follow are not a sound event record or packet.
    /// After that, the cursor returns `None` unless [`skip_packet`](Self::skip_packet)
    /// finds a packet or a file to continue with.
    #[allow(clippy::should_implement_trait)] // events borrow the cursor
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        match self.advance()? {
            true => Ok(Some(Event::new(self))),
            false => Ok(None),
        }
    }

    /// Returns the current event.
    ///
    /// Valid only directly after [`advance`](Self::advance) returned `Ok(true)`.
    /// Otherwise the event has no meaning, and its methods may panic.
    #[inline(always)]
    pub fn event(&self) -> Event<'_> {
        Event::new(self)
    }
}

/// The current event of a cursor.
///
/// An event borrows its cursor. Only its header and its size have been decoded. All of
/// its bytes are known to be within its packet, so reading its fields cannot fail.
///
/// | to read | use |
/// |---|---|
/// | a field of few events | [`field`](Self::field), [`scope`](Self::scope) |
/// | some fields of many events | [`integer`](Self::integer), [`get`](Self::get) with a [`Field`] |
/// | several integers as one key | [`key`](Self::key) with [`KeyFields`] |
/// | all fields | [`visit`](Self::visit) |
/// | after the cursor has moved, or in another thread | [`to_owned_event`](Self::to_owned_event) |
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    cursor: &'a Cursor,
}

impl<'a> Event<'a> {
    #[inline(always)]
    pub(crate) fn new(cursor: &'a Cursor) -> Self {
        Event { cursor }
    }

    /// Returns the cursor that reads it.
    #[cfg(feature = "writer")]
    pub(crate) fn cursor(&self) -> &'a Cursor {
        self.cursor
    }

    /// Returns the id of its event type, which can be used as an index into tables.
    #[inline(always)]
    pub fn type_id(&self) -> EventTypeId {
        self.cursor.current().event_type
    }

    /// Returns its event type.
    pub fn event_type(&self) -> &'a EventType {
        &self.cursor.decoder().schema.event_types[self.type_id().index()]
    }

    /// Returns its timestamp; `None` if its stream has no clock.
    #[inline(always)]
    pub fn timestamp(&self) -> Option<Timestamp> {
        self.cursor.current().timestamp
    }

    /// Returns the clock value of its timestamp, in cycles; `None` if its stream has no
    /// clock.
    pub fn cycles(&self) -> Option<u64> {
        self.timestamp().map(|_| self.cursor.current().cycles)
    }

    /// Returns its time before the [transform](crate::Trace::with_clock_transforms) of its clock:
    /// the one that the tracer recorded, in ns. It equals [`timestamp`](Self::timestamp) if
    /// the trace has no transforms. `None` if its stream has no clock.
    ///
    /// Events of the format of 2003 have no times of their own, so theirs may differ by 1 ns.
    pub fn recorded_timestamp(&self) -> Option<Timestamp> {
        let time = self.timestamp()?;
        let decoder = self.cursor.decoder();
        if decoder.transforms.iter().all(ClockTransform::is_identity) {
            return Some(time);
        }
        decoder.recorded(self.cursor.packet()?, self.cursor.current().cycles, time)
    }

    /// Returns the trace that contains it.
    pub fn trace(&self) -> &'a Arc<Trace> {
        self.cursor.trace()
    }

    /// Returns the tracefile that contains it.
    pub fn tracefile(&self) -> &'a Tracefile {
        self.cursor.tracefile()
    }

    /// Returns the index of its trace among those that a [`Merge`](crate::Merge) reads; 0
    /// for the event of a cursor that belongs to no merge.
    #[inline]
    pub fn trace_index(&self) -> TraceIndex {
        TraceIndex(self.cursor.trace_number())
    }

    /// Returns the index of its tracefile in [`Trace::tracefiles`].
    pub fn tracefile_index(&self) -> TracefileIndex {
        self.cursor.tracefile_index()
    }

    /// Returns the index of its file among those of its tracefile.
    pub fn file_index(&self) -> usize {
        self.cursor.file_index()
    }

    /// Returns the packet that contains it.
    pub fn packet(&self) -> &'a Packet {
        self.cursor.packet_unchecked()
    }

    /// Returns the packet after the one that contains it, from the header and the context; no event is
    /// read. `None` after the last packet, if that packet is damaged, or if readers leave it out. Whether
    /// events were lost in between is told by the [counters](Packet::discarded) of both, or by the packet
    /// [itself](Packet::follows_loss).
    ///
    /// ```
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
    /// let event = cursor.next()?.expect("an event");
    /// match event.packet_after() {
    ///     Some(after) => assert_eq!(after.number, event.packet().number + 1),
    ///     None => println!("the last packet"),
    /// }
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn packet_after(&self) -> Option<Packet> {
        self.cursor.packet_after()
    }

    /// Returns the position before it: a cursor that seeks this position reads it next.
    pub fn position(&self) -> Position {
        self.cursor.position_of_event()
    }

    /// Returns the offset of its header in its file, in bits.
    pub fn offset(&self) -> u64 {
        self.cursor.packet_unchecked().offset * 8 + self.cursor.current().begin
    }

    /// Returns `true` if its type has fields in a scope.
    pub fn has_scope(&self, scope: Scope) -> bool {
        self.root(scope).is_some()
    }

    /// Visits the root structure of a scope and all fields in it, or nothing if the event
    /// has no such scope. [`Visitor`] has an example.
    pub fn visit<V: Visitor>(&self, scope: Scope, visitor: &mut V) {
        let Some((region, root)) = self.root(scope) else { return };
        let Some(view) = self.view(scope, region) else { return };
        let Some(root) = region.visit_of(root) else { return };
        let (roots, shapes) = (std::slice::from_ref(root), &[root.shape]);
        walk::visit(region, roots, shapes, view.window, &view.slots, visitor);
    }

    /// Visits its common context, its specific context and its payload, if it has them:
    /// all scopes that change from event to event. Faster than one [`visit`](Self::visit)
    /// for each.
    #[inline]
    pub fn visit_body<V: Visitor>(&self, visitor: &mut V) {
        let visits = self.cursor.decoder().tables.visits(self.type_id());
        let Some((region, shapes)) = visits else { return };
        let slots = &*self.cursor.scratch().slots;
        let Some(window) = self.cursor.window_of_packet() else { return };
        walk::visit(region, &region.visits, shapes, window, slots, visitor);
    }

    /// Returns the root structure of a scope; `None` if the event has no such scope.
    ///
    /// ```
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// # let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
    /// # let event = cursor.next()?.expect("an event");
    /// use ltt_read::schema::Scope;
    ///
    /// for (info, value) in event.scope(Scope::Payload).iter().flat_map(|s| s.members()) {
    ///     println!("{}: {value:?}", info.name().unwrap_or_default());
    /// }
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn scope(&self, scope: Scope) -> Option<StructView<'a>> {
        let (region, root) = self.root(scope)?;
        match self.view(scope, region)?.value(root)? {
            Value::Struct(s) => Some(s),
            _ => None,
        }
    }

    /// Returns `true` if this is an event of a type of a trace.
    #[inline(always)]
    pub(crate) fn is_of(&self, schema: SchemaId, event_type: EventTypeId) -> bool {
        event_type == self.type_id() && schema == self.cursor.schema_id()
    }

    /// Returns the value of a field, given its handle; `None` if this event has another
    /// type or the field is absent from it.
    pub fn get(&self, field: &Field) -> Option<Value<'a>> {
        let (region, _) = self.root_for(field)?;
        let view = self.view(field.scope, region)?;
        if !field.conditions.iter().all(|c| c.holds(&view.slots)) {
            return None;
        }
        let node = &region.nodes[field.node as usize];
        if node.is_compound() {
            return self.compound(view, field);
        }
        let pos = view.slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        Some(scalar(node, pos, view.window, &view.slots).into())
    }

    /// Returns the value of an integer field as 64 bits, sign-extended if signed, given
    /// its handle. This is the fastest way to read an integer whose class is known: see
    /// [`signed`](Self::signed) and [`unsigned`](Self::unsigned) for its value. `None` if this event has
    /// another type, or if the field is absent or not an integer of fixed length.
    #[inline]
    pub fn integer(&self, field: &Field) -> Option<u64> {
        if !self.is_of(field.schema, field.event_type) {
            return None;
        }
        let Some(read) = field.plain else { return self.integer_slowly(field) };
        let slots = &*self.cursor.scratch().slots;
        let pos = slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        Some(read.value(self.cursor.word_le(pos)))
    }

    /// Returns the value of an integer field, given its handle; `None` as for [`integer`](Self::integer), and
    /// if the value is negative.
    #[inline]
    pub fn unsigned(&self, field: &Field) -> Option<u64> {
        let value = self.integer(field)?;
        if field.is_signed {
            i64::from_ne_bytes(value.to_ne_bytes()).try_into().ok()
        } else {
            Some(value)
        }
    }

    /// Returns the value of an integer field, given its handle; `None` as for [`integer`](Self::integer), and
    /// if the value is beyond [`i64::MAX`].
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
    /// # let trace = ltt_read::Trace::open(path)?;
    /// use ltt_read::schema::Scope;
    ///
    /// let exit = trace.event_types_named("syscall_exit_openat").next().expect("a kernel trace");
    /// let ret = trace.field(exit, Scope::Payload, "ret").expect("a field of it");
    /// let mut failed = 0;
    /// let mut merge = ltt_read::Merge::new(std::slice::from_ref(&trace));
    /// while let Some(event) = merge.next() {
    ///     failed += u32::from(event.signed(&ret).is_some_and(|ret| ret < 0));
    /// }
    /// # assert!(failed > 0);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    #[inline]
    pub fn signed(&self, field: &Field) -> Option<i64> {
        let value = self.integer(field)?;
        let signed = i64::from_ne_bytes(value.to_ne_bytes());
        (field.is_signed || signed >= 0).then_some(signed)
    }

    /// [`integer`](Self::integer) for fields that cannot be read by a single load.
    #[cold]
    #[inline(never)]
    fn integer_slowly(&self, field: &Field) -> Option<u64> {
        let read = field.place.integer?;
        if !field.rest.is_empty() {
            return None;
        }
        if field.scope == Scope::EventHeader {
            return self.get(field)?.as_i64().map(|v| v as u64);
        }
        let slots = &self.cursor.scratch().slots;
        if !field.conditions.iter().all(|c| c.holds(slots)) {
            return None;
        }
        let pos = slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        Some(read.value(self.cursor.window().data, pos))
    }

    /// Returns `true` if all tests hold, or if there are none; `false` if they are of fields of another event
    /// type. Faster than reading the fields.
    #[inline]
    pub fn all_in_range(&self, tests: &RangeTests) -> bool {
        if !tests.event_type().is_none_or(|(schema, of)| self.is_of(schema, of)) {
            return false;
        }
        let (data, begin) = self.cursor.data_and_begin();
        tests.hold(data, begin, &self.cursor.scratch().slots)
    }

    /// Returns all bytes of a text or blob of constant length, given its handle. This is
    /// the fastest way to read it. The terminator of a text and the bytes after it are
    /// included. `None` if this event has another type, or if the field is not in every
    /// event of its type or has no constant length.
    #[inline]
    pub fn bytes(&self, field: &Field) -> Option<&'a [u8]> {
        if !self.is_of(field.schema, field.event_type) {
            return None;
        }
        let len = field.bytes?;
        let slots = &*self.cursor.scratch().slots;
        let pos = slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        Some(bytes(self.cursor.window().data, pos, len))
    }

    /// Returns a UTF-8 text of constant length up to its terminator, given its handle.
    /// This is the fastest way to read it. The bytes need not be valid UTF-8. `None` if
    /// this event has another type, or if the field is [not such a
    /// text](Field::is_plain_text).
    #[inline]
    pub fn text(&self, field: &Field) -> Option<&'a [u8]> {
        let text = self.bytes(field).filter(|_| field.is_text)?;
        Some(&text[..first_zero(text).unwrap_or(text.len())])
    }

    /// Returns the value of the first field with a name among the members of the payload,
    /// the specific context, the common context and the packet context, in this order.
    /// This looks the name up each time; [`Trace::field`] returns a handle for repeated
    /// use.
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        let scopes =
            [Scope::Payload, Scope::SpecificContext, Scope::CommonContext, Scope::PacketContext];
        scopes.into_iter().find_map(|s| self.scope(s)?.get(name))
    }

    /// Returns what reading the fields of events of a type in its packet takes; `None` if the layout
    /// of the type is not compiled.
    pub(crate) fn run_of(&self, event_type: EventTypeId) -> Option<Run<'a>> {
        let body = self.cursor.decoder().tables.compiled_body(event_type)?;
        Some(Run { body, window: self.cursor.window() })
    }

    /// Returns the value of a field of the body that contains no fields and is in each event of its
    /// type, which must be that of this event.
    pub(crate) fn scalar(&self, field: &Field) -> Option<Value<'a>> {
        let body = self.cursor.decoder().tables.compiled_body(self.type_id())?;
        let slots = &*self.cursor.scratch().slots;
        let node = body.region.nodes.get(field.node as usize)?;
        let pos = slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        Some(scalar(node, pos, self.cursor.window(), slots).into())
    }

    fn root_for(&self, field: &Field) -> Option<(&'a Region, usize)> {
        self.is_of(field.schema, field.event_type).then(|| self.root(field.scope))?
    }

    /// Returns the value of a compound field or of a field in it. The compound may be in an
    /// array element with an anchor of its own.
    fn compound(&self, mut view: View<'a>, field: &Field) -> Option<Value<'a>> {
        let node = &view.region.nodes[field.node as usize];
        let place = view.slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        if node.anchor != field.place.anchor {
            let mut slots = view.slots.into_owned();
            slots.resize(slots.len().max(view.region.slots as usize), 0);
            slots[node.anchor as usize] = place - node.offset;
            view.slots = slots.into();
        }
        view.resolve(field.node as usize, &field.rest)
    }

    fn view(&self, scope: Scope, region: &'a Region) -> Option<View<'a>> {
        let window = self.cursor.window();
        let scratch = self.cursor.scratch();
        let slots = if scope == Scope::EventHeader {
            // Reading in order decodes only the id and the clock of a header.
            let mut scratch = scratch.clone();
            region.run(window, self.cursor.current().begin, &mut scratch).ok()?;
            Cow::Owned(scratch.slots.into_vec())
        } else {
            Cow::Borrowed(scratch.slots.as_slice())
        };
        Some(View { region, window, slots })
    }

    fn root(&self, scope: Scope) -> Option<(&'a Region, usize)> {
        let decoder = &**self.cursor.decoder();
        let stream = self.packet().stream_class;
        decoder.tables.scope(&decoder.schema, stream, Some(self.type_id()), scope)
    }
}

/// Reads the value of a scalar field of constant size at a position.
#[inline]
pub(crate) fn scalar_at<'a>(node: &Node, pos: u64, window: Window<'a>) -> Value<'a> {
    scalar(node, pos, window, &[]).into()
}
