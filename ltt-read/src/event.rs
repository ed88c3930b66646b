//! Events: borrowed views of decoded records.

use std::borrow::Cow;
use std::sync::Arc;

use crate::cursor::{Cursor, Position};
use crate::field::Field;
use crate::layout::region::Region;
use crate::layout::walk::{bytes, first_zero, scalar, visit};
use crate::packet::Packet;
use crate::range_test::RangeTests;
use crate::schema::{EventType, EventTypeId, Scope};
use crate::time::Timestamp;
use crate::trace::Trace;
use crate::tracefile::Tracefile;
use crate::value::{StructView, Value, View};
use crate::visit::Visitor;

/// The event that a cursor stands on.
///
/// It borrows the cursor; nothing of it but header and extent has been
/// decoded. All of its bytes are known to be within its packet, so reading its
/// fields cannot fail.
///
/// | to read | use |
/// |---|---|
/// | one field, now and then | [`field`](Self::field), [`scope`](Self::scope) |
/// | some fields of many events | [`integer`](Self::integer), [`get`](Self::get) with a [`Field`] |
/// | all fields | [`visit`](Self::visit) |
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    cursor: &'a Cursor,
}

impl<'a> Event<'a> {
    #[inline(always)]
    pub(crate) fn new(cursor: &'a Cursor) -> Self {
        Event { cursor }
    }

    /// Its type's id: an index into tables.
    #[inline(always)]
    pub fn type_id(&self) -> EventTypeId {
        self.cursor.current().event_type
    }

    /// Its type.
    pub fn event_type(&self) -> &'a EventType {
        self.trace().event_type(self.type_id())
    }

    /// When it happened, `None` if its stream has no clock.
    #[inline(always)]
    pub fn timestamp(&self) -> Option<Timestamp> {
        self.cursor.current().timestamp
    }

    /// The clock's value when it happened, in cycles, `None` if its stream has
    /// no clock.
    pub fn cycles(&self) -> Option<u64> {
        self.timestamp().map(|_| self.cursor.current().cycles)
    }

    /// The trace that it is in.
    pub fn trace(&self) -> &'a Arc<Trace> {
        self.cursor.trace()
    }

    /// The tracefile that it is in.
    pub fn tracefile(&self) -> &'a Tracefile {
        self.cursor.tracefile()
    }

    /// Number of its trace among those that a [`Merge`](crate::Merge) reads; 0
    /// for the event of a cursor of one's own.
    #[inline]
    pub fn trace_index(&self) -> usize {
        self.cursor.trace_number()
    }

    /// Number of that tracefile in its trace.
    pub fn tracefile_index(&self) -> usize {
        self.cursor.tracefile_index()
    }

    /// Number of the file that it is in, of those of its tracefile.
    pub fn file_index(&self) -> usize {
        self.cursor.file_index()
    }

    /// The packet that it is in.
    pub fn packet(&self) -> &'a Packet {
        self.cursor.packet_unchecked()
    }

    /// The cut before it: a cursor that goes there reads it next.
    pub fn position(&self) -> Position {
        self.cursor.position_of_event()
    }

    /// Offset of its header in its file, in bits.
    pub fn offset(&self) -> u64 {
        self.cursor.packet_unchecked().offset * 8 + self.cursor.current().begin
    }

    /// Whether its type has fields in a scope.
    pub fn has_scope(&self, scope: Scope) -> bool {
        self.root(scope).is_some()
    }

    /// Visits a scope's root structure and all that it holds; nothing if the
    /// event has no such scope. See [`Visitor`] for an example.
    pub fn visit<V: Visitor>(&self, scope: Scope, visitor: &mut V) {
        let Some((region, root)) = self.root(scope) else { return };
        let Some(view) = self.view(scope, region) else { return };
        let (first, end) = region.nodes[root].cues;
        visit(region, (first as usize, end as usize), view.window, &view.slots, visitor);
    }

    /// Visits its common context, its specific context and its payload, as far
    /// as it has them: all that changes from event to event. Faster than one
    /// visit for each.
    #[inline]
    pub fn visit_body<V: Visitor>(&self, visitor: &mut V) {
        let Some(body) = self.trace().tables().compiled_body(self.type_id()) else { return };
        let (region, slots) = (&body.region, &*self.cursor.scratch().slots);
        visit(region, (0, region.cues.len()), self.cursor.window(), slots, visitor);
    }

    /// The value of a scope's root structure; `None` if the event has no such
    /// scope.
    ///
    /// ```
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// # let mut cursor = trace.cursor(0);
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

    /// The value of a field, through its handle; `None` if this event is of
    /// another type or the field is not there.
    pub fn get(&self, field: &Field) -> Option<Value<'a>> {
        let (region, _) = self.root_for(field)?;
        let view = self.view(field.scope, region)?;
        if !field.gates.iter().all(|g| g.is_open(&view.slots)) {
            return None;
        }
        let node = &region.nodes[field.node as usize];
        if node.is_compound() {
            return self.compound(view, field);
        }
        let pos = view.slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        Some(scalar(node, pos, view.window, &view.slots).into())
    }

    /// The value of an integer field as 64 bits (signed ones sign-extended),
    /// through its handle: the fastest way to read it. `None` if this event is
    /// of another type, or the field is not there or not an integer of fixed
    /// length.
    #[inline]
    pub fn integer(&self, field: &Field) -> Option<u64> {
        if field.event_type != self.type_id() {
            return None;
        }
        let Some(read) = field.plain else { return self.integer_any(field) };
        let slots = &*self.cursor.scratch().slots;
        let pos = slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        Some(read.value(self.cursor.word_le(pos)))
    }

    /// [`integer`](Self::integer), for fields that take more than a load.
    #[cold]
    #[inline(never)]
    fn integer_any(&self, field: &Field) -> Option<u64> {
        let read = field.place.integer?;
        if !field.rest.is_empty() {
            return None;
        }
        if field.scope == Scope::EventHeader {
            return self.get(field)?.as_i64().map(|v| v as u64);
        }
        let slots = &self.cursor.scratch().slots;
        if !field.gates.iter().all(|g| g.is_open(slots)) {
            return None;
        }
        let pos = slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        Some(read.value(self.cursor.window().data, pos))
    }

    /// Whether all tests hold, which have to be of fields of this event's type:
    /// faster than reading them. Without tests they do.
    #[inline]
    pub fn all_in_range(&self, tests: &RangeTests) -> bool {
        debug_assert!(tests.event_type().is_none_or(|of| of == self.type_id()));
        let (data, begin) = self.cursor.data_and_begin();
        let hold = tests.hold_at_once(data, begin, &self.cursor.scratch().slots);
        hold.unwrap_or_else(|| self.all_in_range_one_by_one(tests))
    }

    #[inline(never)]
    fn all_in_range_one_by_one(&self, tests: &RangeTests) -> bool {
        let (data, begin) = self.cursor.data_and_begin();
        tests.hold(data, begin, &self.cursor.scratch().slots)
    }

    /// All bytes of a text or blob of constant length, through its handle: the
    /// fastest way to read it. A text's terminator and what follows it are
    /// included. `None` if this event is of another type, or the field is not there
    /// or its length not constant.
    #[inline]
    pub fn bytes(&self, field: &Field) -> Option<&'a [u8]> {
        if field.event_type != self.type_id() {
            return None;
        }
        let len = field.bytes?;
        let slots = &*self.cursor.scratch().slots;
        let pos = slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        Some(bytes(self.cursor.window().data, pos, len))
    }

    /// A text in UTF-8 of constant length, through its handle, as far as its
    /// terminator: the fastest way to read it. `None` if this event is of another
    /// type, or the field is [no such text](Field::is_plain_text).
    #[inline]
    pub fn text(&self, field: &Field) -> Option<&'a [u8]> {
        let text = self.bytes(field).filter(|_| field.is_text)?;
        Some(&text[..first_zero(text).unwrap_or(text.len())])
    }

    /// The value of the first root member of this name in payload, specific
    /// context, common context and packet context, in this order. Convenient, but
    /// looks the name up each time; see [`Trace::field`] for handles.
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        let scopes =
            [Scope::Payload, Scope::SpecificContext, Scope::CommonContext, Scope::PacketContext];
        scopes.into_iter().find_map(|s| self.scope(s)?.get(name))
    }

    fn root_for(&self, field: &Field) -> Option<(&'a Region, usize)> {
        (field.event_type == self.type_id()).then(|| self.root(field.scope))?
    }

    /// A compound field or one in it; the compound may be in an array element
    /// with an own anchor.
    fn compound(&self, mut view: View<'a>, field: &Field) -> Option<Value<'a>> {
        let node = &view.region.nodes[field.node as usize];
        let place = view.slots[field.place.anchor as usize].wrapping_add(field.place.offset);
        if node.anchor != field.place.anchor {
            let mut slots = view.slots.into_owned();
            slots.resize(slots.len().max(view.region.slots as usize), 0);
            slots[node.anchor as usize] = place - node.offset;
            view.slots = slots.into();
        }
        view.follow(field.node as usize, &field.rest)
    }

    fn view(&self, scope: Scope, region: &'a Region) -> Option<View<'a>> {
        let window = self.cursor.window();
        let scratch = self.cursor.scratch();
        let slots = if scope == Scope::EventHeader {
            // Reading in order only takes what it needs from the header.
            let mut scratch = scratch.clone();
            region.run(window, self.cursor.current().begin, &mut scratch).ok()?;
            Cow::Owned(scratch.slots)
        } else {
            Cow::Borrowed(scratch.slots.as_slice())
        };
        Some(View { region, window, slots })
    }

    fn root(&self, scope: Scope) -> Option<(&'a Region, usize)> {
        let trace = &**self.trace();
        let stream = self.packet().stream_class;
        trace.tables().scope(trace.schema(), stream, Some(self.type_id()), scope)
    }
}
