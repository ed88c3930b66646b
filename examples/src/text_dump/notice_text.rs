//! Warnings about what the tracer or the reader had to leave out.

use ltt_read::{Notice, NoticeKind, Timestamp};

use super::clock_text::{ClockRange, ClockText};
use super::text::Text;

/// A warning in babeltrace's words, without line break.
pub fn warning(notice: &Notice, clock: &mut ClockText) -> String {
    let (count, what, begin, end) = match &notice.kind {
        NoticeKind::DiscardedEvents { count, begin, end } => (*count, "event", begin, end),
        NoticeKind::LostPackets { count, begin, end } => (Some(*count), "packet", begin, end),
        _ => return format!("warning: {notice}"),
    };
    let how_many = match count {
        Some(1) => format!("discarded 1 {what}"),
        Some(n) => format!("discarded {n} {what}s"),
        None => format!("may have discarded {what}s"),
    };
    let mut time = |t: &Timestamp| {
        let mut text = Text::default();
        clock.time(&mut text, *t, ClockRange::Signed);
        text.to_string()
    };
    let when = match (begin, end) {
        (Some(begin), Some(end)) => format!("between [{}] and [{}]", time(begin), time(end)),
        (Some(begin), None) => format!("after [{}]", time(begin)),
        (None, Some(end)) => format!("before [{}]", time(end)),
        (None, None) => "(unknown time range)".to_owned(),
    };
    format!("WARNING: Tracer {how_many} {when} in stream \"{}\".", notice.file.display())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use jiff::tz::TimeZone;

    use super::*;
    use crate::text_dump::clock_text::ClockStyle;

    #[test]
    fn wording() {
        let text = |kind| {
            let file: Arc<Path> = Path::new("k/c_0").into();
            let notice = Notice { kind, file, packet: 1, offset: 0 };
            warning(&notice, &mut ClockText::new(ClockStyle::Seconds, TimeZone::UTC))
        };
        let at = |ns| Some(Timestamp::from_ns(ns));
        assert_eq!(
            text(NoticeKind::DiscardedEvents { count: Some(2), begin: at(1), end: at(2) }),
            "WARNING: Tracer discarded 2 events between [0.000000001] and [0.000000002] \
             in stream \"k/c_0\"."
        );
        assert_eq!(
            text(NoticeKind::LostPackets { count: 1, begin: None, end: None }),
            "WARNING: Tracer discarded 1 packet (unknown time range) in stream \"k/c_0\"."
        );
        assert_eq!(
            text(NoticeKind::DiscardedEvents { count: None, begin: None, end: at(5) }),
            "WARNING: Tracer may have discarded events before [0.000000005] in stream \"k/c_0\"."
        );
    }
}
