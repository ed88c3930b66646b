//! Packet indexes: the place and the times of each packet of a tracefile.
//!
//! An index is built when it is first needed, for seeking: from LTTng's index files if
//! they exist and are sound, otherwise by reading the header and context of each packet.
//! Reading in order never needs an index.
//!
//! The times that packets declare may be wrong: see [`PacketTimes`].

mod lttng;
mod scan;
mod survey;
mod times;

use std::sync::{Arc, OnceLock};

use crate::duplicates::Duplicates;
use crate::notice::{Notice, NoticeKind};
use crate::time::{TimeSpan, Timestamp};
use crate::trace::Trace;
use crate::tracefile::Tracefile;

pub(crate) use survey::Survey;
pub use times::PacketTimes;
pub(crate) use times::TimedPacket;

/// The default of
/// [`OpenOptions::verify_times_up_to`](crate::OpenOptions::verify_times_up_to), in bytes.
pub(crate) const SMALL: u64 = 16 << 20;

/// A packet in an [`Index`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexEntry {
    /// The index of its file among those of the tracefile.
    pub file: u32,
    /// The number of the packet in that file, from 0.
    pub number: u64,
    /// The offset of its first byte in that file, in bytes.
    pub offset: u64,
    /// The size of the packet in bytes, including padding.
    pub size: u64,
    /// The time at its start, or a lower bound of it.
    pub start: Timestamp,
    /// The time at its end, or an upper bound of it.
    pub end: Timestamp,
    /// The value of the default clock before it, in cycles.
    pub(crate) clock_before: u64,
    pub(crate) declared: Declared,
}

/// The times that a packet declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) begin: Option<Timestamp>,
    pub(crate) end: Option<Timestamp>,
}

impl Declared {
    /// Returns the declared end; `None` if it is before the declared start, because a
    /// tracer that crashed leaves it 0.
    pub(crate) fn known_end(self) -> Option<Timestamp> {
        self.end.filter(|end| self.begin.is_none_or(|begin| begin <= *end))
    }
}

/// The packets of one tracefile in file order, with the times that they declare.
#[derive(Debug, Default)]
pub struct Index {
    entries: Vec<IndexEntry>,
    notices: Vec<Notice>,
    /// For each file of the tracefile, `true` if its entries come from an index file that
    /// was not fully compared with the packets.
    unchecked: Vec<bool>,
    times: OnceLock<PacketTimes>,
}

/// The index of a tracefile, and the index that replaced it after an index file turned
/// out to be wrong.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    first: OnceLock<Index>,
    rebuilt: OnceLock<Index>,
}

impl Indexes {
    /// Returns the index, building it if necessary.
    pub(crate) fn get(&self, trace: &Trace, tracefile: &Tracefile) -> &Index {
        self.rebuilt
            .get()
            .unwrap_or_else(|| self.first.get_or_init(|| Index::build(trace, tracefile)))
    }

    /// Builds the index from the data alone, because an index file disagrees with it.
    fn rebuild(&self, trace: &Trace, tracefile: &Tracefile, wrong: Notice) {
        self.rebuilt.get_or_init(|| {
            let mut index = Index::from_data(trace, tracefile);
            index.notices.insert(0, wrong);
            index
        });
    }

    /// Returns the notices of all indexes built so far.
    pub(crate) fn notices(&self) -> impl Iterator<Item = &Notice> {
        let built = [self.first.get(), self.rebuilt.get()].into_iter().flatten();
        built.flat_map(|index| {
            let times = index.times.get().into_iter().flat_map(PacketTimes::notices);
            index.notices.iter().chain(times)
        })
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
        let mut clock = 0;
        for (number, file) in tracefile.files.iter().enumerate() {
            let number = number as u32;
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
        Duplicates::remove_from(decoder, tracefile, &mut index.entries);
        index.widen_times();
        index
    }

    /// Builds an index without looking for index files.
    fn from_data(trace: &Trace, tracefile: &Tracefile) -> Index {
        let decoder = trace.decoder();
        let mut index = Index::default();
        let mut clock = 0;
        for (number, file) in (0..).zip(&tracefile.files) {
            index.entries.extend(scan::packets(decoder, file, number, &mut clock));
            index.unchecked.push(false);
        }
        Duplicates::remove_from(decoder, tracefile, &mut index.entries);
        index.widen_times();
        index
    }

    /// Bounds the times that packets do not declare. An end before the start is unknown
    /// (a tracer that crashed leaves it 0) and is bounded by the start of the next
    /// packet. If clocks went back, an end is at least that of the previous packet.
    fn widen_times(&mut self) {
        let mut next_begin = Timestamp::MAX;
        for entry in self.entries.iter_mut().rev() {
            if entry.end < entry.start {
                entry.end = next_begin.max(entry.start);
            }
            next_begin = entry.start;
        }
        let mut latest = Timestamp::MIN;
        for entry in &mut self.entries {
            latest = latest.max(entry.end);
            entry.end = latest;
        }
    }

    /// Returns the entries of all packets, in file order.
    pub fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// Returns the notices about index files that were not used.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
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
            let Some(file) = tracefile.files.get(entry.file as usize) else { return true };
            !lttng::agrees(trace.decoder(), file, entry)
        })?;
        Some(Notice {
            kind: NoticeKind::IndexIgnored { reason: lttng::DISAGREES },
            file: tracefile.files.get(wrong.file as usize)?.index_path.as_path().into(),
            packet: wrong.number,
            offset: wrong.offset,
        })
    }
}

/// Returns the times of the packets of a tracefile, determining them if necessary.
pub(crate) fn times(trace: &Arc<Trace>, tracefile: usize) -> &PacketTimes {
    let index = trace.packet_index(tracefile);
    index.times.get_or_init(|| match times::doubt(trace, tracefile, index) {
        Ok(()) => PacketTimes::declared(trace, index),
        Err(doubt) => Survey::new(trace, tracefile, doubt).run(),
    })
}

/// Returns the time span of a tracefile, from the times of its packets, or from its events
/// if the end of its last packet is unknown. `None` if it has no times.
pub(crate) fn time_span(trace: &Arc<Trace>, tracefile: usize) -> Option<TimeSpan> {
    let times = times(trace, tracefile);
    if times.are_read() || times.time_span().is_some() {
        return times.time_span();
    }
    let mut cursor = trace.cursor(tracefile);
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
pub(crate) fn survey(trace: &Arc<Trace>, tracefile: usize) -> Option<Survey> {
    let index = trace.packet_index(tracefile);
    if index.times.get().is_some() {
        return None;
    }
    let doubt = times::doubt(trace, tracefile, index).err()?;
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
    tracefile: usize,
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
        let file = &trace.tracefiles()[tracefile];
        match index.check(trace, file, used) {
            None => return found.map(|packet| (packet, at < times.packets().len())),
            Some(wrong) => file.index.rebuild(trace, file, wrong),
        }
    }
}
