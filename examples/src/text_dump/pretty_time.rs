//! What babeltrace's lines begin with: the time, and how much of it passed
//! since the event before.

use ltt_read::Event;

use super::clock_text::{ClockRange, ClockStyle, ClockText};
use super::number;
use super::palette::Palette;
use super::text::{Chunk, Text};

/// Prints times. All that is the same on each line is spelt once.
#[derive(Debug)]
pub(super) struct PrettyTime {
    clock: ClockText,
    before: Chunk,
    after: Chunk,
    /// What is before and after the time passed, if that is shown.
    delta: Option<(Chunk, Chunk)>,
    /// Time of the last event in nanoseconds or cycles.
    last: Option<u64>,
}

impl PrettyTime {
    /// With or without names, with or without the time passed.
    pub(super) fn new(clock: ClockText, names: bool, delta: bool, palette: Palette) -> Self {
        let Palette { heading, timestamp, reset, .. } = palette;
        let name = |name| format!("{heading}{name}{reset} = ");
        let before = if names { name("timestamp") } else { "[".to_owned() };
        PrettyTime {
            clock,
            before: Chunk::new(before + timestamp),
            after: Chunk::new(format!("{reset}{}", if names { "" } else { "] " })),
            delta: delta.then(|| match names {
                true => (Chunk::new(format!(", {}", name("delta"))), Chunk::new("")),
                false => (Chunk::new("("), Chunk::new(") ")),
            }),
            last: None,
        }
    }

    /// Appends the time of an event, if its stream has a clock.
    #[inline]
    pub(super) fn event(&mut self, event: &Event<'_>, range: ClockRange, out: &mut Text) {
        if range == ClockRange::NoClock {
            return;
        }
        let cycles = self.clock.style() == ClockStyle::Cycles;
        self.before.append(out);
        let time = event.timestamp();
        let now = if cycles {
            let now = event.cycles();
            number::padded(out, now.unwrap_or(0), 20);
            now
        } else {
            match time {
                Some(time) => self.clock.time(out, time, range),
                None => out.append(b"??:??:??.?????????"),
            }
            time.map(|t| t.ns().cast_unsigned())
        };
        self.after.append(out);
        if let Some((before, after)) = &self.delta {
            before.append(out);
            let delta = now.zip(self.last).map(|(now, last)| now.wrapping_sub(last));
            write_delta(out, delta, cycles);
            after.append(out);
            self.last = now.or(self.last);
        }
    }
}

/// A time that went back shows as a huge one, as in babeltrace.
fn write_delta(out: &mut Text, delta: Option<u64>, cycles: bool) {
    match delta {
        None if cycles => out.append(b"+????????????"),
        None => out.append(b"+?.?????????"),
        Some(delta) if cycles => {
            out.push(b'+');
            number::padded(out, delta, 12);
        }
        Some(delta) => {
            out.push(b'+');
            number::decimal(out, delta / 1_000_000_000);
            out.push(b'.');
            out.append(&number::nanoseconds(delta % 1_000_000_000));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(delta: Option<u64>, cycles: bool) -> String {
        let mut out = Text::default();
        write_delta(&mut out, delta, cycles);
        out.to_string()
    }

    #[test]
    fn deltas() {
        assert_eq!(delta(None, false), "+?.?????????");
        assert_eq!(delta(None, true), "+????????????");
        assert_eq!(delta(Some(1_000_000_731), false), "+1.000000731");
        assert_eq!(delta(Some(731), true), "+000000000731");
        assert_eq!(delta(Some(0u64.wrapping_sub(2)), false), "+18446744073.709551614");
    }
}
