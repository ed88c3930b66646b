//! Packet indexes: the place and the times of each packet of a tracefile.
//!
//! An index is built when it is first needed, for seeking: from LTTng's index files if
//! they exist and are sound, otherwise by reading the header and context of each packet.
//! Reading in order never needs an index.
//!
//! In a small trace, each entry of an index file is compared with its packet. In a large one, the
//! first and the last entry are, and at each seek the entries that it relies on: those of the packet
//! found, of the previous and of the next one. At the first difference the index file is ignored, with a
//! notice.
//!
//! The times that packets declare may be wrong: see [`PacketTimes`].

mod losses;
mod lttng;
mod scan;
mod seek;
mod survey;
mod trust;

use std::sync::Arc;

use crate::base::time::{TimeSpan, Timestamp};
use crate::cursor::Cursor;
use crate::format::{Decoder, PacketBounds, packet_bounds};
use crate::report::{Notice, NoticeKind};
use crate::trace::{TimedPacket, Trace, Tracefile, TracefileIndex, times_overlap};

pub use crate::trace::{Index, IndexEntry, PacketTimes};
pub(crate) use survey::Survey;

impl Trace {
    /// Returns the packet index of a tracefile. It is built by the first call or seek,
    /// and kept. Without an index file, this reads the header and context of each packet
    /// of the tracefile.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn packet_index(&self, tracefile: TracefileIndex) -> &Index {
        let tracefile = self.tracefile(tracefile);
        tracefile.index.get_or_build(|| Index::build(self, tracefile))
    }

    /// Returns the times of the events in each packet of a tracefile, on which seeking
    /// relies. They are determined by the first call or seek, and kept: from the [packet
    /// index](Self::packet_index) if it is reliable, otherwise by reading all events of
    /// the tracefile.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn packet_times(self: &Arc<Self>, tracefile: TracefileIndex) -> &PacketTimes {
        times(self, tracefile)
    }

    /// Returns the time span of the trace, from the earliest start of a tracefile to the
    /// latest end. `None` if no tracefile has times.
    ///
    /// This takes the time of a first seek in each tracefile: reading all events of a small
    /// trace, otherwise the header and context of each packet, or LTTng's index files. See
    /// [`time_span_of`](Self::time_span_of) for the exceptions.
    ///
    /// ```
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let span = trace.time_span().expect("events with times");
    /// println!("{} to {}: {} ns", span.start, span.end, span.end.since(span.start));
    /// # assert!(span.start < span.end);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn time_span(self: &Arc<Self>) -> Option<TimeSpan> {
        let tracefiles = (0..self.tracefiles().len()).map(TracefileIndex);
        let spans = tracefiles.filter_map(|tracefile| self.time_span_of(tracefile));
        spans.reduce(TimeSpan::join)
    }

    /// Returns the time span of a tracefile: that of its [packet
    /// times](Self::packet_times), or that of its events if the end of its last packet is
    /// unknown. `None` if it has no times.
    ///
    /// The packet times are kept. If the end of the last packet is unknown, each call reads
    /// all events of the tracefile, or those of its last packet in a recording of ftrace, and
    /// packets with errors are skipped.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn time_span_of(self: &Arc<Self>, tracefile: TracefileIndex) -> Option<TimeSpan> {
        time_span(self, tracefile)
    }
}

impl Index {
    /// Builds the index from index files if possible. The index of a file ends at a
    /// damaged packet header, after which no packet can be found; the packets of the next
    /// file follow.
    fn build(trace: &Trace, tracefile: &Tracefile) -> Index {
        let decoder = trace.decoder();
        let is_small = trace.is_small();
        let mut index = Index::default();
        let mut clock = tracefile.files.first().map_or(0, |file| file.before.clock);
        for (number, file) in (tracefile.first_file()..).zip(&tracefile.files) {
            let read = lttng::read(decoder, file, number, is_small);
            index.unchecked.push(!is_small && matches!(read, Ok(Some(_))));
            match read {
                Ok(Some(entries)) => index.entries.extend(entries),
                Ok(None) => index.entries.extend(scan::packets(decoder, file, number, &mut clock)),
                Err(notice) => {
                    index.notices.push(notice);
                    index.entries.extend(scan::packets(decoder, file, number, &mut clock));
                }
            }
        }
        remove_duplicates(decoder, tracefile, &mut index.entries);
        index.widen_times();
        index
    }

    /// Builds an index without looking for index files.
    fn from_data(trace: &Trace, tracefile: &Tracefile) -> Index {
        let decoder = trace.decoder();
        let mut index = Index::default();
        let mut clock = tracefile.files.first().map_or(0, |file| file.before.clock);
        for (number, file) in (tracefile.first_file()..).zip(&tracefile.files) {
            index.entries.extend(scan::packets(decoder, file, number, &mut clock));
            index.unchecked.push(false);
        }
        remove_duplicates(decoder, tracefile, &mut index.entries);
        index.widen_times();
        index
    }

    /// Compares entries that come from an index file with their packets. Returns a notice
    /// about the first entry that differs.
    fn check(
        &self,
        trace: &Trace,
        tracefile: &Tracefile,
        entries: &[IndexEntry],
    ) -> Option<Notice> {
        let mut unchecked =
            entries.iter().filter(|entry| self.unchecked.get(entry.file as usize) == Some(&true));
        let wrong = unchecked.find(|entry| {
            let Some(file) = tracefile.file(entry.file) else { return true };
            !lttng::agrees(trace.decoder(), file, entry)
        })?;
        Some(Notice {
            kind: NoticeKind::IndexIgnored { reason: lttng::DISAGREES },
            file: tracefile.file(wrong.file)?.index_path()?.into(),
            packet: wrong.number,
            offset: wrong.offset,
        })
    }
}

/// Removes the duplicates from the index entries of all packets of a tracefile.
fn remove_duplicates(decoder: &Decoder, tracefile: &Tracefile, entries: &mut Vec<IndexEntry>) {
    // Duplicates have equal times, so files must overlap if there are any.
    let overlap = |pair: &[IndexEntry]| {
        pair[0].file != pair[1].file && times_overlap((pair[0].start, pair[0].end), pair[1].start)
    };
    if tracefile.growth.is_some() || tracefile.files.len() < 2 || !entries.windows(2).any(overlap) {
        return;
    }
    let duplicates = tracefile.duplicates(decoder);
    entries.retain(|entry| !duplicates.contains(entry.file as usize, entry.offset));
}

/// Returns the times of the packets of a tracefile, determining them if necessary.
pub(crate) fn times(trace: &Arc<Trace>, tracefile: TracefileIndex) -> &PacketTimes {
    let index = trace.packet_index(tracefile);
    index.times.get_or_init(|| match trust::doubt(trace, tracefile, index) {
        Ok(()) => trust::declared(trace, index),
        Err(doubt) => Survey::new(trace, tracefile, doubt).run(),
    })
}

/// Returns the time span of a tracefile, from the times of its packets, or from its events
/// if the end of its last packet is unknown. `None` if it has no times.
pub(crate) fn time_span(trace: &Arc<Trace>, tracefile: TracefileIndex) -> Option<TimeSpan> {
    let times = times(trace, tracefile);
    if times.are_read() || times.time_span().is_some() {
        return times.time_span();
    }
    let packets = times.packets();
    if packet_bounds(trace.schema()) == PacketBounds::Starts
        && let (Some(first), Some(last)) = (packets.first(), packets.last())
    {
        let mut cursor = trace.cursor(tracefile);
        let is_entered = cursor.enter_found(Some((*last, true)), Timestamp::MIN).is_ok();
        if is_entered && let Some(span) = span_of_events(cursor) {
            return Some(TimeSpan { start: first.earliest, end: span.end });
        }
    }
    span_of_events(trace.cursor(tracefile))
}

/// Returns the time span of the events that a cursor has not read yet; `None` if they have no times.
fn span_of_events(mut cursor: Cursor) -> Option<TimeSpan> {
    let mut span: Option<TimeSpan> = None;
    loop {
        match cursor.advance() {
            Ok(true) => {
                if let Some(time) = cursor.event().timestamp() {
                    let instant = TimeSpan { start: time, end: time };
                    span = Some(span.map_or(instant, |span| span.join(instant)));
                }
            }
            // Reading events will report the error.
            Err(_) if cursor.skip_packet() => {}
            Ok(false) | Err(_) => return span,
        }
    }
}

/// Returns a survey that determines the times of the packets of a tracefile; `None` if
/// they are known, or can be determined without reading the events.
pub(crate) fn survey(trace: &Arc<Trace>, tracefile: TracefileIndex) -> Option<Survey> {
    let index = trace.packet_index(tracefile);
    if index.times.get().is_some() {
        return None;
    }
    let doubt = trust::doubt(trace, tracefile, index).err()?;
    Some(Survey::new(trace, tracefile, doubt))
}

/// Stores the result of a complete survey.
pub(crate) fn store_survey(survey: Survey) {
    let (trace, tracefile) = (survey.trace().clone(), survey.tracefile());
    // If another thread was faster, it has stored the same result.
    _ = trace.packet_index(tracefile).times.set(survey.finish());
}

/// Returns the first packet that may contain an event at a time or later, and `true`; the
/// last packet and `false` if there is no such packet. `None` if the tracefile has no
/// packets.
///
/// If the packet comes from an index file, its entry and the adjacent ones are compared
/// with the packets first. No other entry can affect the result, because the order of the
/// file's times was checked when it was read.
pub(crate) fn packet_reaching(
    trace: &Arc<Trace>,
    tracefile: TracefileIndex,
    time: Timestamp,
) -> Option<(TimedPacket, bool)> {
    loop {
        let times = times(trace, tracefile);
        let at = times.first_reaching(time);
        let found = times.packets().get(at).or(times.packets().last()).copied();
        let index = trace.packet_index(tracefile);
        if times.are_read() || !index.unchecked.contains(&true) {
            return found.map(|packet| (packet, at < times.packets().len()));
        }
        // In this case, `times.packets()` corresponds to the index.
        let last = index.entries.len().min(at.saturating_add(2));
        let used = index.entries.get(at.saturating_sub(1)..last).unwrap_or_default();
        let file = trace.tracefile(tracefile);
        match index.check(trace, file, used) {
            None => return found.map(|packet| (packet, at < times.packets().len())),
            Some(wrong) => file.index.rebuild(|| {
                let mut index = Index::from_data(trace, file);
                index.notices.insert(0, wrong);
                index
            }),
        }
    }
}
