//! Events: borrowed views of decoded records.

use std::sync::Arc;

use crate::cursor::{Cursor, Position};
use crate::layout::region::Region;
use crate::layout::walk::Walk;
use crate::packet::Packet;
use crate::schema::{EventType, EventTypeId, Scope};
use crate::time::Timestamp;
use crate::trace::Trace;
use crate::tracefile::Tracefile;
use crate::visit::Visitor;

/// The event that a cursor stands on.
///
/// It borrows the cursor; nothing of it but header and extent has been
/// decoded. All of its bytes are known to be within its packet.
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

    /// The clock's value when it happened, `None` if its stream has no clock.
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

    /// Number of that tracefile in its trace.
    pub fn tracefile_index(&self) -> usize {
        self.cursor.tracefile_index()
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
    /// event has no such scope.
    pub fn visit<V: Visitor>(&self, scope: Scope, visitor: &mut V) {
        let Some((region, root)) = self.root(scope) else { return };
        let window = self.cursor.window();
        let end = region.nodes[root].next as usize;
        let slots = self.cursor.scratch();
        if scope == Scope::EventHeader {
            // Reading in order only takes what it needs from the header.
            let mut scratch = slots.clone();
            if region.run(window, self.cursor.current().begin, &mut scratch).is_ok() {
                Walk { nodes: &region.nodes, window, slots: scratch }.siblings(root, end, visitor);
            }
        } else if region.moves_anchors {
            let mut scratch = slots.clone();
            scratch.slots.resize(scratch.slots.len().max(region.slots as usize), 0);
            Walk { nodes: &region.nodes, window, slots: scratch }.siblings(root, end, visitor);
        } else {
            let slots = slots.slots.as_slice();
            Walk { nodes: &region.nodes, window, slots }.siblings(root, end, visitor);
        }
    }

    /// The region and root node of a scope.
    fn root(&self, scope: Scope) -> Option<(&'a Region, usize)> {
        let trace = &**self.trace();
        let tables = trace.tables();
        let stream = &tables.streams[self.packet().stream_class.index()];
        let body = || tables.body(trace.schema(), self.type_id()).ok();
        let (region, number) = match scope {
            Scope::PacketHeader => (tables.packet_header.as_ref()?, 0),
            Scope::PacketContext => (stream.packet_context.as_ref()?, 0),
            Scope::EventHeader => (&stream.header.region, 0),
            Scope::CommonContext => (body()?, 0),
            Scope::SpecificContext => (body()?, 1),
            Scope::Payload => (body()?, 2),
        };
        let root = region.roots.get(number).copied().flatten()?;
        Some((region, root as usize))
    }
}
