//! Timestamps as text.

use jiff::tz::TimeZone;
use ltt_read::Timestamp;

use super::chunk::Chunk;
use super::number;

const NS_PER_S: u64 = 1_000_000_000;

/// How timestamps are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockStyle {
    /// The clock's own cycles, twenty digits.
    Cycles,
    /// `1795230127.783410916`
    Seconds,
    /// `03:02:07.783410916`
    TimeOfDay,
    /// `2026-11-21 03:02:07.783410916`
    DateTime,
}

/// Prints timestamps. Keeps the text of the last whole second, since the next
/// event is likely to be in the same one.
#[derive(Debug)]
pub struct ClockText {
    style: ClockStyle,
    zone: TimeZone,
    /// The second whose text is kept; no timestamp has the initial value.
    second: u64,
    text: Chunk,
}

impl ClockText {
    /// Prints in a style, civil times in a time zone.
    pub fn new(style: ClockStyle, zone: TimeZone) -> Self {
        ClockText { style, zone, second: u64::MAX, text: Chunk::new("") }
    }

    /// The style.
    pub fn style(&self) -> ClockStyle {
        self.style
    }

    /// Appends a timestamp. One before the origin is always in seconds, like
    /// in babeltrace.
    #[inline]
    pub fn time(&mut self, out: &mut Vec<u8>, time: Timestamp) {
        let abs = time.ns().unsigned_abs();
        let (second, ns) = (abs / NS_PER_S, (abs % NS_PER_S) as u32);
        if time.ns() < 0 {
            out.push(b'-');
            number::decimal(out, second);
            out.push(b'.');
        } else {
            if second != self.second {
                self.spell(second);
            }
            self.text.append(out);
        }
        number::nanoseconds(out, ns);
    }

    #[cold]
    fn spell(&mut self, second: u64) {
        let civil = match self.style {
            ClockStyle::Seconds => None,
            _ => jiff::Timestamp::from_second(second.cast_signed())
                .ok()
                .map(|t| self.zone.to_datetime(t)),
        };
        let text = match civil {
            None => format!("{second}."),
            Some(t) => {
                let time = format!("{:02}:{:02}:{:02}.", t.hour(), t.minute(), t.second());
                match self.style {
                    ClockStyle::DateTime => {
                        format!("{:04}-{:02}-{:02} {time}", t.year(), t.month(), t.day())
                    }
                    _ => time,
                }
            }
        };
        self.second = second;
        self.text = Chunk::new(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(style: ClockStyle, zone: TimeZone, times: &[i64]) -> Vec<String> {
        let mut clock = ClockText::new(style, zone);
        let text = |&ns| {
            let mut out = Vec::new();
            clock.time(&mut out, Timestamp::from_ns(ns));
            String::from_utf8(out).unwrap()
        };
        times.iter().map(text).collect()
    }

    const T: i64 = 1_795_230_127_783_410_916;

    #[test]
    fn styles() {
        let times = [T, T + 1, T + 1_000_000_000];
        assert_eq!(
            all(ClockStyle::Seconds, TimeZone::UTC, &times),
            ["1795230127.783410916", "1795230127.783410917", "1795230128.783410916"]
        );
        assert_eq!(
            all(ClockStyle::TimeOfDay, TimeZone::UTC, &times),
            ["03:02:07.783410916", "03:02:07.783410917", "03:02:08.783410916"]
        );
        assert_eq!(
            all(ClockStyle::DateTime, TimeZone::UTC, &times[..1]),
            ["2026-11-21 03:02:07.783410916"]
        );
        let east = TimeZone::fixed(jiff::tz::offset(5));
        assert_eq!(all(ClockStyle::TimeOfDay, east, &times[..1]), ["08:02:07.783410916"]);
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(
            all(ClockStyle::Seconds, TimeZone::UTC, &[0, -1, -1_500_000_000, i64::MIN, i64::MAX]),
            [
                "0.000000000",
                "-0.000000001",
                "-1.500000000",
                "-9223372036.854775808",
                "9223372036.854775807"
            ]
        );
        let late = all(ClockStyle::DateTime, TimeZone::UTC, &[i64::MAX, -5]);
        assert_eq!(late, ["2262-04-11 23:47:16.854775807", "-0.000000005"]);
    }
}
