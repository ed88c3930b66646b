//! The recorded events of a slice, in a few vectors.

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Field, TracefileNumber};

use crate::kernel::fields::{EventFields, Fields};
use crate::kernel::modes::ProcessType;
use crate::kernel::packets::{PacketFacts, cpu_number};
use crate::kernel::resources::RequestOperation;
use crate::kernel::rule::{CpuField, Rule};
use crate::kernel::transition::{MAX_SLOTS, SlotKind};

/// The recorded events of a slice, in order.
#[derive(Debug, Default)]
pub(crate) struct RecordedEvents {
    events: Vec<RecordedEvent>,
    /// For each event that changes the state a head, followed by one word for each of its fields. For
    /// each other event with a CPU number of its own that number.
    words: Vec<u64>,
    /// The texts of fields.
    bytes: Vec<u8>,
    /// The packets that events may be the first of.
    packets: Vec<PacketFacts>,
    /// The file and offset of the packet with the last event of this slice that changes the state,
    /// by tracefile.
    current: Vec<(u32, u64)>,
}

/// A recorded event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordedEvent {
    /// The time of delivery, in ns.
    pub(crate) time: i64,
    tracefile: u32,
    /// The event type, with flags.
    event_type: u32,
}

/// The event changes the state.
const CHANGES: u32 = 1 << 31;
/// The event's packet is recorded: it is not known to be that of the last event that changes the
/// state.
const HAS_PACKET: u32 = 1 << 30;
/// The event contains its CPU number.
const HAS_CPU: u32 = 1 << 29;
/// The event does not count: it only changes states.
const UNCOUNTED: u32 = 1 << 28;
/// The event does not pass the filter.
const UNSELECTED: u32 = 1 << 27;
const TYPE: u32 = UNSELECTED - 1;

/// The marks of an event: properties besides its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks {
    /// `true` if the event counts: it is in the window.
    pub(crate) counts: bool,
    /// `true` if the event passes the filter.
    pub(crate) is_selected: bool,
}

impl Marks {
    /// The marks of events of a read without a window and a filter.
    pub(crate) const NONE: Marks = Marks { counts: true, is_selected: true };

    #[inline]
    fn flags(self) -> u32 {
        let uncounted = u32::from(!self.counts) * UNCOUNTED;
        uncounted | (u32::from(!self.is_selected) * UNSELECTED)
    }
}

/// No packet.
const NO_PACKET: (u32, u64) = (u32::MAX, u64::MAX);

impl RecordedEvent {
    /// Creates an event of which nothing else is recorded, at the time of its delivery in ns.
    #[inline]
    pub(crate) fn new(
        marks: Marks,
        (tracefile, time): (TracefileNumber, i64),
        event_type: EventTypeId,
    ) -> Self {
        let event_type = marks.flags() | event_type.0 & TYPE;
        RecordedEvent { time, tracefile: tracefile.0 as u32, event_type }
    }

    /// Returns the number of the tracefile.
    #[inline]
    pub(crate) fn tracefile(&self) -> TracefileNumber {
        TracefileNumber(self.tracefile as usize)
    }

    /// Returns the event type.
    #[inline]
    pub(crate) fn event_type(&self) -> EventTypeId {
        EventTypeId(self.event_type & TYPE)
    }

    /// Returns `true` if the event changes the state.
    #[inline]
    pub(crate) fn changes_state(&self) -> bool {
        self.event_type & CHANGES != 0
    }

    /// Returns the marks of the event.
    #[inline]
    pub(crate) fn marks(&self) -> Marks {
        let has = |flag| self.event_type & flag != 0;
        Marks { counts: !has(UNCOUNTED), is_selected: !has(UNSELECTED) }
    }

    /// Returns `true` if the event may be on another CPU than the last event of its tracefile that
    /// changes the state.
    #[inline]
    pub(super) fn may_be_elsewhere(&self) -> bool {
        self.event_type & (HAS_PACKET | HAS_CPU) != 0
    }
}

/// The fields of a rule that are recorded.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The slots with fields, and what they contain.
    fields: Vec<(u8, SlotKind, Field)>,
    /// The place of the word of each slot after the head.
    places: [u8; MAX_SLOTS],
}

impl Layout {
    /// Returns the layout for a rule.
    pub(super) fn of(rule: &Rule) -> Self {
        let slots = 0..MAX_SLOTS as u8;
        let fields: Vec<_> = slots
            .filter_map(|slot| {
                let field = rule.field(slot.into()).filter(|_| rule.reads(slot.into()))?;
                Some((slot, rule.transition.slot_kind(slot.into()), field.clone()))
            })
            .collect();
        let mut places = [0; MAX_SLOTS];
        for ((slot, _, _), place) in fields.iter().zip(1..) {
            places[usize::from(*slot)] = place;
        }
        Layout { fields, places }
    }
}

impl RecordedEvents {
    /// Returns the events.
    pub(crate) fn events(&self) -> &[RecordedEvent] {
        &self.events
    }

    /// Removes all events and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.words.clear();
        self.bytes.clear();
        self.packets.clear();
        self.current.clear();
    }

    /// Records an event that changes the state.
    #[inline]
    pub(super) fn push_change(
        &mut self,
        (rule, layout): (&Rule, &Layout),
        (tracefile, time): (TracefileNumber, i64),
        event: &Event<'_>,
        marks: Marks,
    ) {
        let mut flags = CHANGES | marks.flags();
        let packet = (event.file_index() as u32, event.packet().offset);
        if self.current.get(tracefile.0) != Some(&packet) {
            self.enter(tracefile, packet);
            self.packets.push(PacketFacts::of(&rule.cpu, event));
            flags |= HAS_PACKET;
        }
        let at = self.words.len();
        let mut head = 0;
        if let CpuField::Event(field) = &rule.cpu {
            head = u64::from(cpu_number(field, event)) << 32;
            flags |= HAS_CPU;
        }
        self.words.push(head);
        let fields = EventFields { rule, event };
        for (slot, kind, field) in &layout.fields {
            let at = usize::from(*slot);
            let word = match kind {
                SlotKind::Integer => event.integer(field),
                SlotKind::Text => fields.text(at).map(|text| self.push_text(text)),
                SlotKind::RawText => fields.raw_text(at).map(|text| self.push_text(text)),
                SlotKind::Operation => Some(fields.operation(at) as u64),
                SlotKind::ProcessType => fields.process_type(at).map(|of| of as u64),
                SlotKind::Descriptors => fields.descriptors(at).map(|[first, second]| {
                    u64::from(second as u32) << 32 | u64::from(first as u32)
                }),
            };
            head |= u64::from(word.is_some()) << slot;
            self.words.push(word.unwrap_or(0));
        }
        self.words[at] = head;
        self.push(flags, tracefile, time, event);
    }

    /// Records an event that does not change the state.
    #[inline]
    pub(super) fn push_other(
        &mut self,
        cpu: &CpuField,
        (tracefile, time): (TracefileNumber, i64),
        event: &Event<'_>,
        marks: Marks,
    ) {
        let mut flags = marks.flags();
        match cpu {
            CpuField::Tracefile => {}
            CpuField::Packet(_) => {
                let packet = (event.file_index() as u32, event.packet().offset);
                if self.current.get(tracefile.0) != Some(&packet) {
                    self.packets.push(PacketFacts::of(cpu, event));
                    flags |= HAS_PACKET;
                }
            }
            CpuField::Event(field) => {
                self.words.push(cpu_number(field, event).into());
                flags |= HAS_CPU;
            }
        }
        self.push(flags, tracefile, time, event);
    }

    #[inline]
    fn push(&mut self, flags: u32, tracefile: TracefileNumber, time: i64, event: &Event<'_>) {
        let event_type = flags | event.type_id().0 & TYPE;
        self.events.push(RecordedEvent { time, tracefile: tracefile.0 as u32, event_type });
    }

    #[inline]
    fn push_text(&mut self, text: &[u8]) -> u64 {
        let (at, len) = (self.bytes.len() as u64, text.len() as u64);
        self.bytes.extend_from_slice(text);
        at << 32 | len
    }

    #[cold]
    fn enter(&mut self, tracefile: TracefileNumber, packet: (u32, u64)) {
        if self.current.len() <= tracefile.0 {
            self.current.resize(tracefile.0 + 1, NO_PACKET);
        }
        self.current[tracefile.0] = packet;
    }

    /// Returns a reader of recorded events, which are passed to it in order.
    pub(super) fn details(&self) -> Details<'_> {
        Details { recorded: self, words: &self.words, packets: &self.packets }
    }
}

/// A reader of recorded events.
#[derive(Debug)]
pub(super) struct Details<'r> {
    recorded: &'r RecordedEvents,
    words: &'r [u64],
    packets: &'r [PacketFacts],
}

impl<'r> Details<'r> {
    /// Returns the packet of the next event, if it was recorded.
    #[inline]
    pub(super) fn packet(&mut self, event: &RecordedEvent) -> Option<&'r PacketFacts> {
        if event.event_type & HAS_PACKET == 0 {
            return None;
        }
        self.packets.split_off_first()
    }

    /// Returns the CPU number in the next event, which changes the state, and its fields.
    #[inline]
    pub(super) fn change(
        &mut self,
        event: &RecordedEvent,
        layout: &'r Layout,
    ) -> (Option<u32>, RecordedFields<'r>) {
        let len = layout.fields.len() + 1;
        let (words, rest) = self.words.split_at_checked(len).unwrap_or_default();
        self.words = rest;
        let head = words.first().copied().unwrap_or(0);
        let cpu = (event.event_type & HAS_CPU != 0).then_some((head >> 32) as u32);
        (cpu, RecordedFields { words, layout, head: head as u16, bytes: &self.recorded.bytes })
    }

    /// Returns the CPU number in the next event, which does not change the state.
    #[inline]
    pub(super) fn cpu(&mut self, event: &RecordedEvent) -> Option<u32> {
        if event.event_type & HAS_CPU == 0 {
            return None;
        }
        self.words.split_off_first().map(|cpu| *cpu as u32)
    }
}

/// The recorded fields of an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordedFields<'r> {
    /// The head and the words of fields.
    words: &'r [u64],
    layout: &'r Layout,
    /// The slots with values.
    head: u16,
    bytes: &'r [u8],
}

impl Fields for RecordedFields<'_> {
    #[inline]
    fn integer(&self, slot: usize) -> Option<u64> {
        if self.head >> slot & 1 == 0 {
            return None;
        }
        self.words.get(usize::from(self.layout.places[slot])).copied()
    }

    #[inline]
    fn text(&self, slot: usize) -> Option<&[u8]> {
        let word = self.integer(slot)?;
        let (at, len) = ((word >> 32) as usize, word as u32 as usize);
        self.bytes.get(at..at + len)
    }

    #[inline]
    fn raw_text(&self, slot: usize) -> Option<&[u8]> {
        self.text(slot)
    }

    fn descriptors(&self, slot: usize) -> Option<[i32; 2]> {
        self.integer(slot).map(|both| [both as i32, (both >> 32) as i32])
    }

    fn operation(&self, slot: usize) -> RequestOperation {
        let code = self.integer(slot).unwrap_or(RequestOperation::Flush as u64);
        RequestOperation::ALL.get(code as usize).copied().unwrap_or(RequestOperation::Flush)
    }

    fn process_type(&self, slot: usize) -> Option<ProcessType> {
        let code = self.integer(slot)?;
        [ProcessType::User, ProcessType::Kernel].into_iter().find(|of| *of as u64 == code)
    }
}
