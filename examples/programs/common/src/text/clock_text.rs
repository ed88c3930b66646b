//! Timestamps as text.

use ltt_read::Timestamp;
use ltt_read::schema::{EventType, Schema, StreamClassId};
use lttv_filter::{Environment, Notation, Zone};

use super::buffer::{Chunk, Text};
use super::number;

/// Nanoseconds per second.
const NS_PER_S: u64 = 1_000_000_000;

/// The notation of timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClockStyle {
    /// The cycles of the clock, in twenty digits.
    Cycles,
    /// Seconds since the origin: `1795230127.783410916`.
    #[default]
    Seconds,
    /// The time of day: `03:02:07.783410916`.
    TimeOfDay,
    /// Date and time: `2026-11-21 03:02:07.783410916`.
    DateTime,
}

/// The range of the timestamps of an event type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockRange {
    /// The events have no clock.
    NoClock,
    /// Nanoseconds before or after the origin.
    Signed,
    /// Nanoseconds after the origin modulo 2⁶⁴, for a clock whose offset alone is out of
    /// the range of [`Timestamp`].
    Wrapped,
}

impl ClockRange {
    /// Returns the range of an event type.
    pub fn of(schema: &Schema, event_type: &EventType) -> Self {
        Self::of_stream(schema, event_type.stream)
    }

    /// Returns the range of the event types of a stream class.
    pub(crate) fn of_stream(schema: &Schema, stream: StreamClassId) -> Self {
        let stream = &schema.stream_classes[stream.index()];
        match stream.default_clock.and_then(|clock| schema.clocks.get(clock as usize)) {
            None => ClockRange::NoClock,
            Some(clock) if clock.offset_ns().is_some() => ClockRange::Signed,
            Some(_) => ClockRange::Wrapped,
        }
    }
}

/// A printer of timestamps. Caches the text of the last whole second, since the next event
/// is likely to be in the same one.
#[derive(Debug)]
pub struct ClockText {
    style: ClockStyle,
    environment: Environment,
    /// The text before each timestamp.
    lead: String,
    /// The time in ns that is printed as zero.
    origin: i64,
    /// The second whose text is cached; no timestamp has the initial value.
    second: u64,
    text: Chunk,
    /// The offset from UTC after each timestamp of the second: empty, unless clocks are set back.
    offset: String,
}

impl ClockText {
    /// Creates a printer for a notation. Dates and times of day are those of the time zone.
    pub fn new(style: ClockStyle, zone: Zone) -> Self {
        let notation = match style {
            ClockStyle::Cycles | ClockStyle::Seconds => Notation::Seconds,
            ClockStyle::TimeOfDay => Notation::TimeOfDay,
            ClockStyle::DateTime => Notation::DateTime,
        };
        let environment = Environment::new().in_zone(zone).in_notation(notation);
        let (lead, offset) = (String::new(), String::new());
        ClockText {
            style,
            environment,
            lead,
            origin: 0,
            second: u64::MAX,
            text: Chunk::new(""),
            offset,
        }
    }

    /// Creates a printer of the seconds since a time.
    pub fn since(origin: Timestamp) -> Self {
        ClockText { origin: origin.as_ns(), ..ClockText::new(ClockStyle::Seconds, Zone::UTC) }
    }

    /// Sets the text before each timestamp.
    #[must_use]
    pub(crate) fn with_lead(mut self, lead: String) -> Self {
        self.lead = lead;
        self
    }

    /// Appends the text before a timestamp.
    pub(crate) fn lead(&self, out: &mut Text) {
        out.append(self.lead.as_bytes());
    }

    /// Returns the notation of timestamps.
    pub fn style(&self) -> ClockStyle {
        self.style
    }

    /// Appends a timestamp. A time before the origin is always in seconds, as in babeltrace.
    #[inline(always)]
    pub fn time(&mut self, out: &mut Text, time: Timestamp, range: ClockRange) {
        let since_origin = time.as_ns().wrapping_sub(self.origin);
        let ns = since_origin.cast_unsigned();
        if since_origin < 0 && range == ClockRange::Signed {
            return self.negative(out, ns.wrapping_neg());
        }
        let (second, ns) = (ns / NS_PER_S, ns % NS_PER_S);
        if second != self.second {
            self.format_second(second);
        }
        self.text.append_with_block(out, number::nanoseconds(ns), 9);
        if !self.offset.is_empty() {
            out.append(self.offset.as_bytes());
        }
    }

    /// Appends the absolute value of a time before the origin, in seconds.
    #[cold]
    #[inline(never)]
    fn negative(&self, out: &mut Text, ns: u64) {
        self.lead(out);
        out.push(b'-');
        number::decimal(out, ns / NS_PER_S);
        out.push(b'.');
        out.append(&number::nanoseconds(ns % NS_PER_S));
    }

    /// Caches the text of a second.
    #[cold]
    #[inline(never)]
    fn format_second(&mut self, second: u64) {
        let text = self.environment.format_ns(i128::from(second) * i128::from(NS_PER_S));
        let (text, fraction) = text.split_once('.').unwrap_or((&text, ""));
        self.offset = fraction.trim_start_matches('0').to_owned();
        self.second = second;
        self.text = Chunk::new(format!("{}{text}.", self.lead));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(style: ClockStyle, zone: Zone, times: &[i64]) -> Vec<String> {
        let mut clock = ClockText::new(style, zone);
        let text = |&ns| {
            let mut out = Text::default();
            clock.time(&mut out, Timestamp::from_ns(ns), ClockRange::Signed);
            out.to_string()
        };
        times.iter().map(text).collect()
    }

    const T: i64 = 1_795_230_127_783_410_916;

    #[test]
    fn each_style_has_its_notation() {
        let times = [T, T + 1, T + 1_000_000_000];
        assert_eq!(
            all(ClockStyle::Seconds, Zone::UTC, &times),
            ["1795230127.783410916", "1795230127.783410917", "1795230128.783410916"]
        );
        assert_eq!(
            all(ClockStyle::TimeOfDay, Zone::UTC, &times),
            ["03:02:07.783410916", "03:02:07.783410917", "03:02:08.783410916"]
        );
        assert_eq!(
            all(ClockStyle::DateTime, Zone::UTC, &times[..1]),
            ["2026-11-21 03:02:07.783410916"]
        );
        let east = Zone::offset(5 * 3600).unwrap();
        assert_eq!(all(ClockStyle::TimeOfDay, east, &times[..1]), ["08:02:07.783410916"]);
    }

    #[test]
    fn least_and_greatest_times() {
        assert_eq!(
            all(ClockStyle::Seconds, Zone::UTC, &[0, -1, -1_500_000_000, i64::MIN, i64::MAX]),
            [
                "0.000000000",
                "-0.000000001",
                "-1.500000000",
                "-9223372036.854775808",
                "9223372036.854775807"
            ]
        );
        let mut clock = ClockText::new(ClockStyle::Seconds, Zone::UTC);
        let mut out = Text::default();
        clock.time(
            &mut out,
            Timestamp::from_ns(9_618_701_287_609_447_559_u64.cast_signed()),
            ClockRange::Wrapped,
        );
        assert_eq!(out.as_bytes(), b"9618701287.609447559");
        let mut clock = ClockText::new(ClockStyle::TimeOfDay, Zone::UTC);
        let mut out = Text::default();
        let wrapped = 9_618_701_287_609_447_559_u64.cast_signed();
        clock.time(&mut out, Timestamp::from_ns(wrapped), ClockRange::Wrapped);
        assert_eq!(out.as_bytes(), b"13:28:07.609447559");
        let late = all(ClockStyle::DateTime, Zone::UTC, &[i64::MAX, -5]);
        assert_eq!(late, ["2262-04-11 23:47:16.854775807", "-0.000000005"]);
    }
}
