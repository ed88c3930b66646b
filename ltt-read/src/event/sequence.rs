//! Sequences of events that are put in order once and read again elsewhere.

use super::Event;
use crate::cursor::Cursor;
use crate::trace::TracefileNumber;

/// The order of some events of several tracefiles, without the events: one thread merges tracefiles
/// and notes their order, another thread reads the events of the sequence again, without a merge.
///
/// A sequence takes 16 bytes for an event, and a copy of the cursor for each packet.
///
/// ```
/// use ltt_read::Merge;
/// use ltt_read::tuning::EventSequence;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traces = ltt_read::open_all(path)?;
/// let (mut merge, mut sequence) = (Merge::new(&traces), EventSequence::default());
/// while let Some(number) = merge.next().is_some().then(|| merge.current_tracefile()).flatten() {
///     if let Some(event) = merge.current() {
///         sequence.push(number, &event);
///     }
/// }
/// let count = std::thread::spawn(move || {
///     let mut switches = 0;
///     sequence.replay(|_, event| switches += u32::from(event.event_type().name() == "sched_switch"));
///     switches
/// });
/// assert_eq!(count.join().expect("no panic"), 497);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct EventSequence {
    events: Vec<Place>,
    packets: Vec<PacketReader>,
    /// The last packet of each tracefile, by its number; [`Last::NONE`] if there is none.
    last: Vec<Last>,
}

/// The place of an event.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The index of the reader of its packet.
    packet: u32,
    /// The start of its header, in bits from the packet's start.
    begin: u64,
}

/// A reader of the events of a packet that are in a sequence.
#[derive(Debug)]
struct PacketReader {
    tracefile: TracefileNumber,
    /// A cursor whose current event is at the first of them, or at the one that was read last.
    cursor: Cursor,
}

/// The last event of a tracefile in a sequence.
#[derive(Debug, Clone, Copy)]
struct Last {
    packet: u32,
    /// The number of packets that the cursor had entered.
    entered: u64,
    begin: u64,
}

impl Last {
    const NONE: Last = Last { packet: u32::MAX, entered: 0, begin: 0 };
}

impl EventSequence {
    /// Adds an event of a tracefile: the current one of a cursor that reads forward. The number of the
    /// tracefile is the caller's, and each number stands for one cursor.
    #[inline]
    pub fn push(&mut self, tracefile: TracefileNumber, event: &Event<'_>) {
        let begin = event.cursor.current().begin;
        let packet = match self.last.get_mut(tracefile.0) {
            Some(last)
                if last.packet != Last::NONE.packet
                    && last.entered == event.cursor.packets_entered()
                    && last.begin < begin =>
            {
                last.begin = begin;
                last.packet
            }
            _ => self.add_packet(tracefile, event.cursor),
        };
        self.events.push(Place { packet, begin });
    }

    /// Adds a reader of the packet that a cursor is in, at its current event, and returns its index.
    #[inline(never)]
    fn add_packet(&mut self, tracefile: TracefileNumber, cursor: &Cursor) -> u32 {
        let packet = self.packets.len() as u32;
        self.packets.push(PacketReader { tracefile, cursor: cursor.clone() });
        if self.last.len() <= tracefile.0 {
            self.last.resize(tracefile.0 + 1, Last::NONE);
        }
        let (entered, begin) = (cursor.packets_entered(), cursor.current().begin);
        self.last[tracefile.0] = Last { packet, entered, begin };
        packet
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns `true` if there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Calls a function with each event, in order, with the number of its tracefile. The sequence is
    /// empty afterwards.
    ///
    /// Events are left out if their bytes have changed meanwhile and no longer are what they were.
    pub fn replay(&mut self, mut each: impl FnMut(TracefileNumber, &Event<'_>)) {
        for place in &self.events {
            let Some(packet) = self.packets.get_mut(place.packet as usize) else { continue };
            let cursor = &mut packet.cursor;
            // Events between those of the sequence are skipped.
            while cursor.current().begin < place.begin
                && matches!(cursor.advance_in_packet(), Ok(true))
            {}
            if cursor.current().begin == place.begin {
                each(packet.tracefile, &Event::new(cursor));
            }
        }
        self.clear();
    }

    /// Removes all events, and keeps the memory for others.
    pub fn clear(&mut self) {
        for PacketReader { tracefile, .. } in &self.packets {
            self.last[tracefile.0] = Last::NONE;
        }
        self.packets.clear();
        self.events.clear();
    }
}
