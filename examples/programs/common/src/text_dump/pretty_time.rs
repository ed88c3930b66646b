//! The start of babeltrace's lines: the time, and the time since the previous event.

use std::ops::Range;

use ltt_read::Event;

use super::parts::{Gap, PartEnds};
use crate::text::clock_text::{ClockRange, ClockStyle, ClockText};
use crate::text::number;
use crate::text::palette::Palette;
use crate::text::{Chunk, Text};

/// A printer of times. Parts that all lines share are formatted once.
#[derive(Debug)]
pub(super) struct PrettyTime {
    clock: ClockText,
    /// The text between the time and the delta, or after a time without a delta.
    after: Chunk,
    delta: bool,
    /// The time of the last event in nanoseconds or cycles.
    last: Option<u64>,
    /// The delta of the first event that has a time.
    gap: Option<Gap>,
    /// The text after the delta.
    tail: &'static str,
}

impl PrettyTime {
    /// Creates a printer, with or without names and deltas.
    pub(super) fn new(clock: ClockText, names: bool, delta: bool, palette: Palette) -> Self {
        let Palette { heading, timestamp, reset, .. } = palette;
        let name = |name| format!("{heading}{name}{reset} = ");
        let lead = if names { name("timestamp") } else { "[".to_owned() };
        let after = match (names, delta) {
            (true, true) => format!(", {}+", name("delta")),
            (true, false) => String::new(),
            (false, true) => "] (+".to_owned(),
            (false, false) => "] ".to_owned(),
        };
        PrettyTime {
            clock: clock.with_lead(lead + timestamp),
            after: Chunk::new(format!("{reset}{after}")),
            delta,
            last: None,
            gap: None,
            tail: if delta && !names { ") " } else { "" },
        }
    }

    /// Returns the text after the time, which the caller appends.
    pub(super) fn tail(&self) -> &'static str {
        self.tail
    }

    /// Appends the time of an event, without the tail.
    #[inline(always)]
    pub(super) fn event(&mut self, event: &Event<'_>, range: ClockRange, out: &mut Text) {
        let cycles = self.clock.style() == ClockStyle::Cycles;
        let now = match event.timestamp() {
            Some(time) if !cycles => {
                self.clock.time(out, time, range);
                Some(time.as_ns().cast_unsigned())
            }
            _ => self.unusual(event, out),
        };
        if !self.delta {
            return self.after.append(out);
        }
        let delta = now.zip(self.last).map(|(now, last)| now.wrapping_sub(last));
        self.last = now.or(self.last);
        match delta {
            Some(delta) if !cycles => write_delta(&self.after, out, delta),
            _ => self.unusual_delta(now, delta, out),
        }
    }

    /// Starts a part of the events, of which the previous event is unknown.
    pub(super) fn start_part(&mut self) {
        (self.last, self.gap) = (None, None);
    }

    /// Ends a part.
    pub(super) fn end_part(&mut self) -> PartEnds {
        PartEnds { gap: self.gap.take(), last: self.last.take() }
    }

    /// Continues after a part that another printer printed. Returns the bytes of the part that stand
    /// for a delta, and the delta.
    pub(super) fn continue_after(&mut self, part: &PartEnds) -> Option<(Range<usize>, Text)> {
        let before = self.last;
        self.last = part.last.or(before);
        let (gap, before) = part.gap.as_ref().zip(before)?;
        let delta = gap.time.wrapping_sub(before);
        let mut text = Text::default();
        match self.clock.style() {
            ClockStyle::Cycles => number::padded(&mut text, delta, 12),
            _ => write_delta(&Chunk::new(""), &mut text, delta),
        }
        Some((gap.place.clone(), text))
    }

    /// Appends a time in cycles, or a placeholder for none.
    #[cold]
    #[inline(never)]
    fn unusual(&self, event: &Event<'_>, out: &mut Text) -> Option<u64> {
        self.clock.lead(out);
        if self.clock.style() == ClockStyle::Cycles {
            let cycles = event.cycles();
            number::padded(out, cycles.unwrap_or(0), 20);
            return cycles;
        }
        out.append(b"??:??:??.?????????");
        None
    }

    #[cold]
    #[inline(never)]
    fn unusual_delta(&mut self, now: Option<u64>, delta: Option<u64>, out: &mut Text) {
        self.after.append(out);
        let begin = out.len();
        match (delta, self.clock.style()) {
            (None, ClockStyle::Cycles) => out.append(b"????????????"),
            (None, _) => out.append(b"?.?????????"),
            (Some(delta), _) => number::padded(out, delta, 12),
        }
        if let (None, Some(time)) = (delta, now) {
            self.gap = Some(Gap { place: begin..out.len(), time });
        }
    }
}

/// Appends a delta. A negative one shows as a huge one, as in babeltrace.
#[inline(always)]
fn write_delta(after: &Chunk, out: &mut Text, delta: u64) {
    let (seconds, ns) = (delta / 1_000_000_000, delta % 1_000_000_000);
    match number::short_decimal(seconds) {
        Some(seconds) => after.append_with(out, seconds),
        None => {
            after.append(out);
            number::decimal(out, seconds);
        }
    }
    out.push(b'.');
    out.append(&number::nanoseconds(ns));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_get_the_delta_of_their_first_event() {
        for (style, expected) in
            [(ClockStyle::Seconds, "1.000000002"), (ClockStyle::Cycles, "001000000002")]
        {
            let clock = ClockText::new(style, lttv_filter::Zone::UTC);
            let mut time = PrettyTime::new(clock, false, true, Palette::PLAIN);
            let gap = Gap { place: 4..15, time: 1_000_000_007 };
            let part = |gap, last| PartEnds { gap, last };
            assert!(time.continue_after(&part(Some(gap.clone()), None)).is_none());
            assert!(time.continue_after(&part(None, Some(5))).is_none());
            let (place, text) = time.continue_after(&part(Some(gap), Some(9))).expect("a delta");
            assert_eq!((place, text.to_string().as_str()), (4..15, expected));
            // A part without times changes nothing.
            assert!(time.continue_after(&part(None, None)).is_none());
            assert_eq!(time.end_part(), part(None, Some(9)));
        }
    }

    #[test]
    fn deltas() {
        let delta = |delta| {
            let mut out = Text::default();
            write_delta(&Chunk::new("(+"), &mut out, delta);
            out.to_string()
        };
        assert_eq!(delta(1_000_000_731), "(+1.000000731");
        assert_eq!(delta(0u64.wrapping_sub(2)), "(+18446744073.709551614");
    }
}
