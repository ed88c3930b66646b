//! Runs: successive events without anomalies, whose headers and sizes are found in one loop.

use super::{Current, Cursor};
use crate::base::source::prefetch;
use crate::base::time::Timestamp;
use crate::layout::header::Quick;
use crate::layout::ids::IdEntry;
use crate::layout::program::Window;
use crate::layout::tables::{Body, StreamTable, Tables};
use crate::schema::EventTypeId;

/// The most events of a run that are found at a time: what is known about them stays near the
/// processor.
pub(crate) const RUN: usize = 512;

/// The types, times and places of the events of a run. The entries after its end have no meaning.
#[derive(Debug, Clone)]
pub(crate) struct RunEvents {
    pub(crate) types: [EventTypeId; RUN],
    /// The times in ns.
    pub(crate) times: [i64; RUN],
    /// The starts of the bodies, in bytes from the start of the packet.
    pub(crate) bodies: [usize; RUN],
    /// The ends of the bodies, in bytes rounded down.
    pub(crate) ends: [usize; RUN],
    /// The number of events from the start on that are known to be of one type, with bodies at equal
    /// distances. There may be more of them. Of their places, only the first [`SAME`] are set.
    alike: usize,
}

/// A receiver of the events of a run.
pub(crate) trait RunSink {
    /// The most events that it takes at a time.
    const MOST: usize;

    /// Takes the event number `at` of a run, whose body is given in bits. Returns `false` if it takes no
    /// further ones of this run.
    fn put(
        &mut self,
        at: usize,
        event_type: EventTypeId,
        time: Timestamp,
        body: u64,
        end: u64,
    ) -> bool;

    /// Returns the events, if those of one type in a row can be added to them at once.
    fn events(&mut self) -> Option<&mut RunEvents>;
}

impl Default for RunEvents {
    fn default() -> Self {
        RunEvents {
            types: [EventTypeId(0); RUN],
            times: [0; RUN],
            bodies: [0; RUN],
            ends: [0; RUN],
            alike: 0,
        }
    }
}

impl RunSink for RunEvents {
    const MOST: usize = RUN;

    #[inline(always)]
    fn put(
        &mut self,
        at: usize,
        event_type: EventTypeId,
        time: Timestamp,
        body: u64,
        end: u64,
    ) -> bool {
        if at < RUN {
            self.types[at] = event_type;
            self.times[at] = time.as_ns();
            self.bodies[at] = (body / 8) as usize;
            self.ends[at] = (end / 8) as usize;
        }
        true
    }

    #[inline(always)]
    fn events(&mut self) -> Option<&mut RunEvents> {
        Some(self)
    }
}

/// A receiver of events that keeps nothing of them.
struct Passed;

impl RunSink for Passed {
    const MOST: usize = usize::MAX;

    #[inline(always)]
    fn put(&mut self, _: usize, _: EventTypeId, _: Timestamp, _: u64, _: u64) -> bool {
        true
    }

    #[inline(always)]
    fn events(&mut self) -> Option<&mut RunEvents> {
        None
    }
}

impl RunEvents {
    /// Returns `true` if the last events of the first `count` are of one type.
    fn ends_with_one_type(&self, count: usize) -> bool {
        let last = self.types.get(count.wrapping_sub(SAME)..count).unwrap_or(&[]);
        last.iter().all(|event_type| Some(event_type) == last.first())
    }

    /// Sets all but the times of `count` events from `first` on, whose bodies have the distance
    /// `step` in bits. `body` are the start and the end of the first one.
    fn repeat(
        &mut self,
        first: usize,
        count: usize,
        event_type: EventTypeId,
        body: (u64, u64),
        step: u64,
    ) {
        self.types[first..][..count].fill(event_type);
        let step = (step / 8) as usize;
        let is_alike = |pair: &[usize]| pair[1].wrapping_sub(pair[0]) == step;
        if first == SAME && self.bodies[..SAME].windows(2).all(is_alike) {
            self.alike = first + count;
            return;
        }
        fill(&mut self.bodies[first..][..count], (body.0 / 8) as usize, step);
        fill(&mut self.ends[first..][..count], (body.1 / 8) as usize, step);
    }

    /// Sets the places of all events that are known to be alike.
    pub(crate) fn set_all_places(&mut self) {
        if let Some(step) = self.distance(self.alike) {
            let (body, end) = (self.bodies[0], self.ends[0]);
            fill(&mut self.bodies[..self.alike], body, step);
            fill(&mut self.ends[..self.alike], end, step);
        }
    }

    /// Returns the distance of the first `count` bodies if these are known to be alike; `None` says
    /// nothing about them.
    pub(crate) fn distance(&self, count: usize) -> Option<usize> {
        self.are_alike(count).then(|| self.bodies[1].saturating_sub(self.bodies[0]))
    }

    /// Returns `true` if the first `count` events are known to be of one type, with bodies at equal
    /// distances. `false` says nothing about them.
    fn are_alike(&self, count: usize) -> bool {
        count > 0 && count <= self.alike
    }

    /// Removes the events of other types from the first `count` ones. Returns the number of those
    /// that remain.
    pub(crate) fn keep_only(&mut self, wanted: EventTypeId, count: usize) -> usize {
        let count = count.min(RUN);
        if self.are_alike(count) {
            return if self.types[0] == wanted { count } else { 0 };
        }
        if self.types[..count].iter().all(|event_type| *event_type == wanted) {
            return count;
        }
        self.alike = 0;
        let mut kept = 0;
        for at in 0..count {
            self.times[kept] = self.times[at];
            (self.bodies[kept], self.ends[kept]) = (self.bodies[at], self.ends[at]);
            kept += usize::from(self.types[at] == wanted);
        }
        self.types[..kept].fill(wanted);
        kept
    }
}

/// Sets places at equal distances.
fn fill(places: &mut [usize], first: usize, step: usize) {
    let mut next = first;
    for place in places {
        *place = next;
        next = next.wrapping_add(step);
    }
}

/// The data by which fields of the events of a run are read.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) body: &'a Body,
    pub(crate) window: Window<'a>,
}

impl Cursor {
    /// Reads at most `most` of the events that follow in the current packet, and returns their number.
    /// The last one of them is the current event.
    ///
    /// This takes a part of the time of [`advance_in_packet`](Self::advance_in_packet) for each event. It
    /// stops before any event that needs more than a look at its header and its length: the return
    /// value may be 0, and says nothing about what follows.
    ///
    /// ```
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let mut events = 0;
    /// for mut cursor in trace.cursors() {
    ///     while cursor.next_packet()? {
    ///         events += cursor.pass_events(u64::MAX);
    ///         while cursor.advance_in_packet()? {
    ///             events += 1 + cursor.pass_events(u64::MAX);
    ///         }
    ///     }
    /// }
    /// assert_eq!(events, 6087);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn pass_events(&mut self, most: u64) -> u64 {
        self.read_run(most, &mut Passed, |_, _| true) as u64
    }

    /// Skips at most `most` events of the current packet that are before `time`, without notices about
    /// them, and returns their number. It stops where [`pass_events`](Self::pass_events) does.
    pub(crate) fn skip_run(&mut self, time: Timestamp, most: u64) -> u64 {
        self.last_timestamp = Timestamp::MIN;
        let skipped = self.read_run(most, &mut Passed, |_, at| at < time);
        self.last_timestamp = Timestamp::MIN;
        skipped as u64
    }

    /// Reads at most `most` events of the current packet, and passes them to `sink` until it takes no
    /// more, as long as they have headers of a known form, bodies that can be skipped and no anomaly,
    /// and `accepts` returns `true` for their type and time. Returns the number of events read.
    #[inline(always)]
    pub(crate) fn read_run<S: RunSink>(
        &mut self,
        most: u64,
        sink: &mut S,
        accepts: impl Fn(EventTypeId, Timestamp) -> bool,
    ) -> usize {
        let Some(table) = self.table.as_deref() else { return 0 };
        let Some(quick) = table.quick.as_ref().filter(|quick| quick.keeps_bytes()) else {
            return 0;
        };
        let data = self.bytes.get().get(self.packet.offset as usize..).unwrap_or(&[]);
        let window = Window { data, end: self.content_end };
        let reader = RunReader { table, quick, tables: &self.decoder.tables, window };
        let at = Place { next: self.next, clock: self.clock, time: self.last_timestamp };
        let most = most.min(S::MOST as u64) as usize;
        let read = match quick.is_simple() {
            true => reader.read::<true, S>(at, most, sink, accepts),
            false => reader.read::<false, S>(at, most, sink, accepts),
        };
        let Some((read, last, next)) = read else { return 0 };
        let event_type = last.event_type;
        self.current = Current {
            begin: last.begin,
            event_type,
            timestamp: Some(next.time),
            cycles: next.clock,
            clock_before: last.clock_before,
        };
        // The slots are those of the last event.
        if let Some(slot) = self.scratch.slots.get_mut(table.body_anchor as usize) {
            *slot = last.body;
        }
        if let Some(of) = reader.tables.compiled_body(event_type)
            && of.region.fixed.is_none()
        {
            // Its end is known; only the slots are needed. There may be too few of them yet.
            let end = of.region.end(window, last.body, &mut self.scratch);
            _ = end.or_else(|| of.region.run(window, last.body, &mut self.scratch).ok());
        }
        (self.next, self.clock, self.last_timestamp) = (next.next, next.clock, next.time);
        read
    }
}

/// The state between two events of a run.
#[derive(Clone, Copy)]
struct Place {
    /// The end of the previous record, in bits.
    next: u64,
    /// The value of the default clock, in cycles.
    clock: u64,
    time: Timestamp,
}

/// The last event of a run.
#[derive(Clone, Copy)]
struct Last {
    event_type: EventTypeId,
    /// The starts of its header and of its body, in bits.
    begin: u64,
    body: u64,
    clock_before: u64,
}

/// A reader of runs in one packet.
#[derive(Clone, Copy)]
struct RunReader<'p> {
    table: &'p StreamTable,
    quick: &'p Quick,
    tables: &'p Tables,
    window: Window<'p>,
}

/// The number of events after which a run is tested for events of one type.
const SAME: usize = 8;

/// The distance in bytes at which data is prefetched. Hardware prefetchers do not cross the boundary of a
/// page.
const PREFETCH_DISTANCE: usize = 1024;

/// The size of the word with id and clock.
const WORD: usize = size_of::<u64>();

impl RunReader<'_> {
    /// Reads a run. Returns the number of events, the last one, and the place after it; `None` if
    /// there are no events.
    #[inline(always)]
    fn read<const SIMPLE: bool, S: RunSink>(
        &self,
        mut at: Place,
        most: usize,
        sink: &mut S,
        accepts: impl Fn(EventTypeId, Timestamp) -> bool,
    ) -> Option<(usize, Last, Place)> {
        let RunReader { table, quick, tables, window } = *self;
        // With copies of its own, the loop need not load them again after each store.
        let (quick, ids) = (*quick, table.event_ids.dense());
        let mut last = Last { event_type: EventTypeId(0), begin: 0, body: 0, clock_before: 0 };
        if let Some(events) = sink.events() {
            events.alike = 0;
        }
        let mut read = 0;
        while read < most {
            let begin = quick.begin(at.next);
            let Some((mut id, now)) = quick.words::<SIMPLE>(window.data, (begin / 8) as usize)
            else {
                break;
            };
            let (mut body, mut cycles) = (begin + quick.bits, quick.cycles(now, at.clock));
            let mut entry = ids.entry(id);
            let is_quick = quick.has_id(id);
            if !is_quick {
                let header = table.header.read_plan(window, begin, at.clock);
                let Some(header) = header.filter(|header| header.end.is_multiple_of(8)) else {
                    break;
                };
                let Some(header_id) = header.id else { break };
                (id, body, cycles) = (header_id, header.end, header.clock);
                entry = ids.entry(id);
            }
            let Some(entry) = entry else { break };
            let end = match entry.fixed() {
                Some(bits) => body + bits,
                None => {
                    let start = window.data.get((body / 8) as usize..).unwrap_or(&[]);
                    let skip = table.event_ids.skip(id).zip(start.first_chunk());
                    match skip.and_then(|(skip, start)| skip.size_of_body(start)) {
                        Some(size) => body + 8 * size,
                        None => match dynamic_end(tables, entry, window, body) {
                            Some(end) => end,
                            None => break,
                        },
                    }
                }
            };
            prefetch(window.data, (end / 8) as usize + PREFETCH_DISTANCE);
            let Some(time) = quick.time::<SIMPLE>(cycles) else { break };
            let event_type = entry.event();
            if end > window.end || time < at.time || !accepts(event_type, time) {
                break;
            }
            let takes_more = sink.put(read, event_type, time, body, end);
            last = Last { event_type, begin, body, clock_before: at.clock };
            at = Place { next: end, clock: cycles, time };
            read += 1;
            if !takes_more {
                break;
            }
            // The id of any other header may not fit in the field of a quick one.
            if SIMPLE
                && is_quick
                && read % SAME == 0
                && let Some(events) = sink.events()
                && events.ends_with_one_type(read)
            {
                let size = end - begin;
                if entry.fixed() != Some(size - quick.bits) {
                    continue;
                }
                let times = &mut events.times[read..most];
                if let Some((count, next, clock_before)) = self.read_same(id, size, at, times) {
                    let step = quick.begin(size);
                    events.repeat(read, count, event_type, (body + step, end + step), step);
                    let begin = begin + count as u64 * step;
                    last = Last { event_type, begin, body: begin + quick.bits, clock_before };
                    at = next;
                    read += count;
                }
            }
        }
        if let Some(events) = sink.events()
            && read > events.alike
        {
            events.set_all_places();
            events.alike = 0;
        }
        (read > 0).then_some((read, last, at))
    }

    /// Reads the times of successive events with the same id, each of `size` bits, as many as there
    /// are `times`. The place of each is known before its id, so that the processor need not wait
    /// for it. Returns their number, the place after them, and the clock before the last one; `None`
    /// if there are none, or if the time of one may be beyond the range of times.
    #[inline(never)]
    fn read_same(
        &self,
        id: u64,
        size: u64,
        at: Place,
        times: &mut [i64],
    ) -> Option<(usize, Place, u64)> {
        let RunReader { quick, window, .. } = *self;
        let (begin, step) = (quick.begin(at.next), quick.begin(size));
        let room = window.end.checked_sub(begin)?.checked_sub(size)? / step.max(8) + 1;
        let most = times.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let mut rows = window.data.get((begin / 8) as usize..)?;
        let ((shift, mask), (id_mask, id)) = (quick.clock_bits(), quick.id_bits(id));
        let longest = mask.checked_mul(most as u64)?.checked_add(at.clock)?;
        let row = (step / 8) as usize;
        if longest > quick.converter.max_cycles() || row < WORD {
            return None;
        }
        let (mut clock, mut recorded, mut passed, mut count) = (at.clock, at.clock, 0, 0);
        let mut next = |word: u64| {
            // The difference of two recorded values takes part in the chain of additions only as a whole.
            let now = word >> shift;
            passed = now.wrapping_sub(recorded) & mask;
            (recorded, clock) = (now, clock + passed);
            quick.converter.linear_ns(clock)
        };
        // The ids of several events are compared at once.
        for times in times[..most].as_chunks_mut::<SAME>().0 {
            let Some((group, rest)) = rows.split_at_checked(SAME * row) else { break };
            let mut words = [0; SAME];
            for (word, row) in words.iter_mut().zip(group.chunks_exact(row)) {
                *word = row.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            }
            if words.iter().fold(0, |bits, word| bits | (word ^ id)) & id_mask != 0 {
                break;
            }
            *times = words.map(&mut next);
            prefetch(rest, PREFETCH_DISTANCE);
            count += SAME;
            rows = rest;
        }
        for (time, row) in times[count..most].iter_mut().zip(rows.chunks(row)) {
            let Some(word) = row.first_chunk() else { break };
            let word = u64::from_le_bytes(*word);
            if word & id_mask != id {
                break;
            }
            *time = next(word);
            count += 1;
        }
        let before = clock - passed;
        let time = Timestamp::from_ns(*times[..count].last()?);
        let next = begin + (count as u64 - 1) * step + size;
        Some((count, Place { next, clock, time }, before))
    }
}

/// Returns the end of a body of dynamic size, in bits; `None` if it takes more than a skip.
#[inline(never)] // rare, and it makes calls
fn dynamic_end(tables: &Tables, entry: IdEntry, window: Window<'_>, body: u64) -> Option<u64> {
    let skip = tables.ready_body(entry)?.region.byte_aligned_skip.as_ref()?;
    Some(8 * skip.end(window.data, body / 8)?)
}
