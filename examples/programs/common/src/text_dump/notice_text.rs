//! Warnings about data that the tracer or the reader dropped.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use ltt_read::{Notice, NoticeKind, Timestamp, Trace, Tracefile};

use crate::losses::{LossRange, Lost};
use crate::text::Text;
use crate::text::clock_text::{ClockRange, ClockText};

/// A printer of notices as warnings.
#[derive(Debug)]
pub struct Warnings {
    clock: ClockText,
    traces: Vec<(Arc<Trace>, String)>,
}

impl Warnings {
    /// Creates a printer for notices of these traces, with their names in the same order.
    pub fn new(clock: ClockText, traces: &[Arc<Trace>], names: &[String]) -> Self {
        let named = |(i, t): (usize, &Arc<Trace>)| {
            (Arc::clone(t), names.get(i).cloned().unwrap_or_default())
        };
        Warnings { clock, traces: traces.iter().enumerate().map(named).collect() }
    }

    /// Returns the warning without a line break; in the words of babeltrace if it has the
    /// same warning.
    pub fn text(&mut self, notice: &Notice) -> String {
        let (count, what, times) = match notice.kind {
            NoticeKind::DiscardedEvents { count, start, end } => (count, "event", (start, end)),
            NoticeKind::LostPackets { count, start, end } => (Some(count), "packet", (start, end)),
            _ => return format!("warning: {notice}"),
        };
        let tracefile = self.traces.iter().enumerate().find_map(|(at, (trace, _))| {
            let holds = |t: &Tracefile| t.has_byte(&notice.file, notice.offset);
            Some((at, trace.tracefiles().iter().position(holds)?))
        });
        self.lost(count, what, times, &notice.file, tracefile)
    }

    /// Returns the warning about a loss in a time window, in the words of babeltrace.
    pub fn loss(&mut self, loss: &LossRange) -> String {
        let what = match loss.what {
            Lost::Events => "event",
            Lost::Packets => "packet",
        };
        let tracefile = (loss.trace.0, loss.tracefile.0);
        self.lost(loss.count, what, (loss.start, loss.end), &loss.file, Some(tracefile))
    }

    fn lost(
        &mut self,
        count: Option<u64>,
        what: &str,
        times: (Option<Timestamp>, Option<Timestamp>),
        file: &Path,
        tracefile: Option<(usize, usize)>,
    ) -> String {
        let place = tracefile.and_then(|at| self.place(at));
        let range = place.as_ref().map_or(ClockRange::Signed, |(_, _, range)| *range);
        let mut text = Text::from("WARNING: Tracer ");
        // Writing to a text never fails.
        let _ = match count {
            Some(1) => write!(text, "discarded 1 {what} "),
            Some(n) => write!(text, "discarded {n} {what}s "),
            None => write!(text, "may have discarded {what}s "),
        };
        match times {
            (None, None) => text.append(b"(unknown time range)"),
            (Some(begin), None) => self.time(&mut text, "after [", begin, range),
            (None, Some(end)) => self.time(&mut text, "before [", end, range),
            (Some(begin), Some(end)) => {
                self.time(&mut text, "between [", begin, range);
                self.time(&mut text, " and [", end, range);
            }
        }
        let stream = file.display();
        let _ = match place {
            None => write!(text, " in stream \"{stream}\"."),
            Some((trace, ids, _)) => write!(text, " in {trace} within stream \"{stream}\" {ids}."),
        };
        text.to_string()
    }

    fn time(&mut self, text: &mut Text, before: &str, time: Timestamp, range: ClockRange) {
        text.append(before.as_bytes());
        self.clock.time(text, time, range);
        text.push(b']');
    }

    /// Returns the trace and the stream as babeltrace names them, and the range of times.
    fn place(&self, (trace, number): (usize, usize)) -> Option<(String, String, ClockRange)> {
        let (trace, name) = self.traces.get(trace)?;
        let trace_name = match trace.uuid() {
            Some(uuid) => format!("trace \"{name}\" (UUID: {uuid})"),
            None => format!("trace \"{name}\" (no UUID)"),
        };
        let (schema, tracefile) = (trace.schema(), trace.tracefiles().get(number)?);
        let class = tracefile.stream_class()?;
        let class_id = schema.stream_classes.get(class.index())?.id;
        // Streams without an id are numbered by class.
        let before = trace.tracefiles()[..number].iter();
        let number = before.filter(|t| t.stream_class() == Some(class)).count() as u64;
        let id = tracefile.stream_id().unwrap_or(number);
        let ids = format!("(stream class ID: {class_id}, stream ID: {id})");
        Some((trace_name, ids, ClockRange::of_stream(schema, class)))
    }
}

#[cfg(test)]
mod tests {
    use lttv_filter::Zone;

    use super::super::test_fields::{nested, with_event};
    use super::*;
    use crate::text::clock_text::ClockStyle;

    fn text(kind: NoticeKind, traces: &[Arc<Trace>], file: &str) -> String {
        let clock = ClockText::new(ClockStyle::Seconds, Zone::UTC);
        let notice = Notice { kind, file: Path::new(file).into(), packet: 1, offset: 0 };
        Warnings::new(clock, traces, &["vm/k".to_owned()]).text(&notice)
    }

    #[test]
    fn counts_and_times() {
        let text = |kind| text(kind, &[], "k/c_0");
        let at = |ns| Some(Timestamp::from_ns(ns));
        assert_eq!(
            text(NoticeKind::DiscardedEvents { count: Some(2), start: at(1), end: at(2) }),
            "WARNING: Tracer discarded 2 events between [0.000000001] and [0.000000002] \
             in stream \"k/c_0\"."
        );
        assert_eq!(
            text(NoticeKind::LostPackets { count: 1, start: None, end: None }),
            "WARNING: Tracer discarded 1 packet (unknown time range) in stream \"k/c_0\"."
        );
        assert_eq!(
            text(NoticeKind::DiscardedEvents { count: None, start: None, end: at(5) }),
            "WARNING: Tracer may have discarded events before [0.000000005] in stream \"k/c_0\"."
        );
    }

    #[test]
    fn trace_and_stream() {
        with_event(nested(), |event| {
            let kind = NoticeKind::LostPackets { count: 3, start: None, end: None };
            assert_eq!(
                text(kind, &[Arc::clone(event.trace())], "c_0"),
                "WARNING: Tracer discarded 3 packets (unknown time range) in trace \"vm/k\" \
                 (UUID: 4c545456-2074-7261-6365-20757569642e) within stream \"c_0\" \
                 (stream class ID: 0, stream ID: 0)."
            );
        });
    }
}
