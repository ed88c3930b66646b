//! Events and packets that the tracer lost: where, and how many.
//!
//! Packets count the losses, so the losses in a time window are known without the events
//! outside of it. After a command has read its window, it calls [`Losses::of`] and
//! [`Report::losses`](crate::report::Report::losses), and writes them with its tables
//! ([`Common::write_with`](crate::args::Common::write_with)):
//!
//! ```
//! use lttv_common::losses::Losses;
//! use lttv_common::time::Window;
//!
//! let traces = ltt_read::open_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel"))?;
//! let losses = Losses::of(&traces, Window::default());
//! assert!(losses.is_empty() && losses.summary(Some(6087)).is_none());
//! # Ok::<(), ltt_read::Error>(())
//! ```

mod range;
mod summary;
mod table;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use ltt_read::{Notice, TimeSpan, Timestamp, Trace, TraceIndex, TracefileIndex};

use crate::time::Window;

pub use range::{LossRange, Lost};

/// The losses of traces in a time window.
#[derive(Debug, Clone, Default)]
pub struct Losses {
    /// In the order of time.
    ranges: Vec<LossRange>,
}

impl Losses {
    /// Finds the losses in a window, which may be without events. This reads the header of each
    /// packet from the start of the window on, but no events.
    pub fn of(traces: &[Arc<Trace>], window: Window) -> Self {
        let mut ranges = Vec::new();
        for (trace, of) in (0..).map(TraceIndex).zip(traces) {
            for tracefile in (0..of.tracefiles().len()).map(TracefileIndex) {
                let losses = match window.begin {
                    Some(begin) => of.losses_from(tracefile, begin),
                    None => of.losses(tracefile),
                };
                let of_notice = |notice| LossRange::new(notice, trace, tracefile, window);
                ranges.extend(losses.iter().filter_map(of_notice));
            }
        }
        Losses::sorted(ranges)
    }

    /// Collects the losses among the notices of a read of whole traces.
    pub fn from_notices<'n>(
        traces: &[Arc<Trace>],
        notices: impl IntoIterator<Item = &'n Notice>,
    ) -> Self {
        let mut places: HashMap<&Path, Vec<(TraceIndex, TracefileIndex)>> = HashMap::new();
        for (trace, of) in (0..).map(TraceIndex).zip(traces) {
            for (tracefile, of) in (0..).map(TracefileIndex).zip(of.tracefiles()) {
                for file in of.files() {
                    places.entry(file).or_default().push((trace, tracefile));
                }
            }
        }
        let range = |notice: &Notice| {
            // A file may have several streams.
            let is_of = |(trace, tracefile): &&(TraceIndex, TracefileIndex)| {
                let of = traces.get(trace.0).and_then(|of| of.tracefiles().get(tracefile.0));
                of.is_some_and(|of| of.has_byte(&notice.file, notice.offset))
            };
            let (trace, tracefile) = *match &places.get(&*notice.file)?[..] {
                [only] => only,
                several => several.iter().find(is_of)?,
            };
            LossRange::new(notice, trace, tracefile, Window::default())
        };
        Losses::sorted(notices.into_iter().filter_map(range).collect())
    }

    fn sorted(mut ranges: Vec<LossRange>) -> Self {
        // Unknown starts come first.
        ranges.sort_by_key(|range| (range.start, range.end, range.trace, range.tracefile));
        Losses { ranges }
    }

    /// Returns `true` if nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the ranges in which something was lost, in the order of time.
    pub fn ranges(&self) -> &[LossRange] {
        &self.ranges
    }

    /// Returns the losses in a window, as [`of`](Self::of) finds them there.
    #[must_use]
    pub fn within(&self, window: Window) -> Self {
        let parts = self.ranges.iter().filter_map(|range| range.within(window));
        Losses::sorted(parts.collect())
    }

    /// Returns the losses of one tracefile.
    #[must_use]
    pub fn of_tracefile(&self, trace: TraceIndex, tracefile: TracefileIndex) -> Self {
        let is_of = |range: &&LossRange| (range.trace, range.tracefile) == (trace, tracefile);
        Losses { ranges: self.ranges.iter().filter(is_of).cloned().collect() }
    }

    /// Returns the times in which something was lost, within a span: in order, and without
    /// overlaps.
    pub fn spans(&self, within: TimeSpan) -> Vec<TimeSpan> {
        let mut spans: Vec<TimeSpan> = Vec::new();
        for range in &self.ranges {
            let start = range.start.unwrap_or(Timestamp::MIN).max(within.start);
            let end = range.end.unwrap_or(Timestamp::MAX).min(within.end);
            match spans.last_mut() {
                _ if start > end => {}
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => spans.push(TimeSpan { start, end }),
            }
        }
        spans
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::NoticeKind;

    use super::*;

    fn at(ns: i64) -> Option<Timestamp> {
        Some(Timestamp::from_ns(ns))
    }

    fn range(kind: NoticeKind, window: (i64, i64)) -> Option<LossRange> {
        let notice = Notice { kind, file: Path::new("c_0").into(), packet: 1, offset: 0 };
        let window = Window { begin: at(window.0), end: at(window.1) };
        LossRange::new(&notice, TraceIndex(0), TracefileIndex(0), window)
    }

    fn events(count: u64, start: i64, end: i64) -> NoticeKind {
        NoticeKind::DiscardedEvents { count: Some(count), start: at(start), end: at(end) }
    }

    #[test]
    fn a_window_has_the_losses_that_overlap_it() {
        let known =
            |window| range(events(5, 100, 200), window).map(|it| (it.count, it.start, it.end));
        assert_eq!(known((0, 99)), None);
        assert_eq!(known((201, 300)), None);
        assert_eq!(known((100, 200)), Some((Some(5), at(100), at(200))));
        assert_eq!(known((0, 300)), Some((Some(5), at(100), at(200))));
        // How many of them were lost in the window is unknown.
        assert_eq!(known((0, 100)), Some((None, at(100), at(100))));
        assert_eq!(known((120, 130)), Some((None, at(120), at(130))));
        assert_eq!(known((101, 300)), Some((None, at(101), at(200))));
        let open = NoticeKind::LostPackets { count: 2, start: None, end: at(200) };
        let open = |window| range(open.clone(), window).map(|it| (it.count, it.start, it.end));
        assert_eq!(open((201, 300)), None);
        assert_eq!(open((150, 300)), Some((None, at(150), at(200))));
        let other = NoticeKind::PacketSkipped;
        assert!(range(other, (0, 300)).is_none());
    }

    #[test]
    fn parts_of_windows_are_those_of_the_notices() {
        let kinds = [
            events(5, 100, 200),
            events(7, 150, 400),
            NoticeKind::LostPackets { count: 2, start: None, end: at(300) },
            NoticeKind::DiscardedEvents { count: None, start: at(350), end: None },
        ];
        let of = |window: (i64, i64)| {
            let ranges = kinds.iter().filter_map(|kind| range(kind.clone(), window)).collect();
            Losses::sorted(ranges)
        };
        // Those of the same time are in the order of the notices.
        let sorted = |losses: Losses| {
            let mut ranges: Vec<_> = losses.ranges.iter().map(|it| format!("{it:?}")).collect();
            ranges.sort();
            ranges
        };
        let all = of((i64::MIN, i64::MAX));
        for (begin, end) in (0..500).step_by(25).flat_map(|it| (it..500).map(move |to| (it, to))) {
            let window = Window { begin: at(begin), end: at(end) };
            assert_eq!(sorted(all.within(window)), sorted(of((begin, end))), "{begin} {end}");
        }
        // Twice cut is cut once.
        let cut = all.within(Window { begin: at(120), end: at(380) });
        let window = Window { begin: at(130), end: at(140) };
        assert_eq!(sorted(cut.within(window)), sorted(of((130, 140))));
    }

    #[test]
    fn the_summary_is_one_sentence() {
        let summary = |kinds: &[NoticeKind], window, events| {
            let ranges = kinds.iter().filter_map(|kind| range(kind.clone(), window)).collect();
            Losses::sorted(ranges).summary(events)
        };
        let packets = |count| NoticeKind::LostPackets { count, start: at(50), end: at(60) };
        let all = (0, 1_000_000_000);
        assert_eq!(summary(&[], all, Some(10)), None);
        assert_eq!(
            summary(&[events(1000, 100, 200), events(234, 50, 60)], all, Some(6259)).unwrap(),
            "2 ranges lost 1234 events of about 7493 (16.5 %), first at 0.000000050"
        );
        assert_eq!(
            summary(&[events(1, 100, 200)], all, None).unwrap(),
            "1 range lost 1 event, first at 0.000000100"
        );
        assert_eq!(
            summary(&[events(1, 100, 200), packets(3)], all, None).unwrap(),
            "2 ranges lost 1 event and 3 packets, first at 0.000000050"
        );
        assert_eq!(
            summary(&[packets(1)], all, Some(7)).unwrap(),
            "1 range lost 1 packet, first at 0.000000050"
        );
        assert_eq!(
            summary(&[events(7, 100, 200)], (120, 130), Some(0)).unwrap(),
            "1 range lost up to 7 events, first at 0.000000120"
        );
        assert_eq!(
            summary(&[events(7, 100, 200), events(2, 40, 60)], (0, 130), Some(5)).unwrap(),
            "2 ranges lost 2 to 9 events, first at 0.000000040"
        );
        // Packets that were lost before the first one of a tracefile.
        let before = NoticeKind::LostPackets { count: 2, start: None, end: at(70) };
        let ranges = |kinds: &[NoticeKind]| {
            let notice = |kind: &NoticeKind| {
                let (file, kind) = (Path::new("c_0").into(), kind.clone());
                let notice = Notice { kind, file, packet: 0, offset: 0 };
                LossRange::new(&notice, TraceIndex(0), TracefileIndex(0), Window::default())
            };
            Losses::sorted(kinds.iter().filter_map(notice).collect()).summary(None).unwrap()
        };
        assert_eq!(
            ranges(std::slice::from_ref(&before)),
            "1 range lost 2 packets, first before 0.000000070"
        );
        assert_eq!(
            ranges(&[before, events(1, 60, 100)]),
            "2 ranges lost 1 event and 2 packets, first at 0.000000060"
        );
        let uncounted = NoticeKind::DiscardedEvents { count: None, start: None, end: None };
        assert_eq!(
            summary(&[uncounted], all, Some(5)).unwrap(),
            "1 range lost an unknown number of events, first at 0.000000000"
        );
    }

    #[test]
    fn the_numbers_are_described_in_a_few_words() {
        let numbers = |kinds: &[NoticeKind], window| {
            let ranges = kinds.iter().filter_map(|kind| range(kind.clone(), window)).collect();
            Losses::sorted(ranges).numbers()
        };
        assert_eq!(numbers(&[], (0, 999)), None);
        let packets = NoticeKind::LostPackets { count: 1, start: at(50), end: at(60) };
        let kinds = [events(36, 100, 200), packets, events(4, 300, 310)];
        assert_eq!(numbers(&kinds[..1], (0, 999)).unwrap(), "36 events");
        assert_eq!(numbers(&kinds, (0, 999)).unwrap(), "40 events and 1 packet");
        assert_eq!(numbers(&kinds, (120, 999)).unwrap(), "4 to 40 events");
    }

    #[test]
    fn spans_are_joined() {
        let kinds =
            [events(1, 100, 200), events(1, 150, 160), events(1, 180, 300), events(1, 400, 500)];
        let ranges = kinds.into_iter().filter_map(|kind| range(kind, (0, 1000))).collect();
        let losses = Losses::sorted(ranges);
        let span = |start, end| {
            let [start, end] = [start, end].map(Timestamp::from_ns);
            TimeSpan { start, end }
        };
        assert_eq!(losses.spans(span(0, 1000)), [span(100, 300), span(400, 500)]);
        assert_eq!(losses.spans(span(250, 410)), [span(250, 300), span(400, 410)]);
        assert_eq!(losses.spans(span(310, 390)), []);
    }
}
