//! The SVG picture: a row for each service, and a colour for each state.

use std::error::Error;
use std::io::Write;
use std::ops::Range;

use lttv_common::escape;
use lttv_common::paint::Color;
use lttv_state::history::{History, Timestamp};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;

use crate::query::{name, state_text};
use crate::time::{Duration, Time};

const LEFT: u32 = 190;
const RIGHT: u32 = 24;
const TOP: u32 = 66;
const ROW: u32 = 24;
const BAR: u32 = 16;
/// The greatest number of characters of a label.
const LABEL: usize = 26;

/// The colours of states with a common meaning.
const KNOWN: [(&[&str], Color); 4] = [
    (&["up", "ok", "on", "running"], Color(0x2e, 0xa0, 0x43)),
    (&["degraded", "slow", "high", "warning"], Color(0xe3, 0xa0, 0x08)),
    (&["down", "failed", "error"], Color(0xd7, 0x35, 0x35)),
    (&["maintenance", "stopped", "off"], Color(0x3b, 0x7d, 0xd8)),
];

/// The colours of the other states, in the order in which they occur. They are used again if
/// there are more states.
const OTHERS: [Color; 6] = [
    Color(0x7a, 0x5c, 0xc4),
    Color(0x17, 0x9c, 0x9c),
    Color(0xc4, 0x5c, 0x9a),
    Color(0x8a, 0x6d, 0x3b),
    Color(0x6b, 0x8e, 0x23),
    Color(0x70, 0x80, 0x90),
];

/// The states so far, with their colours.
#[derive(Debug, Default)]
struct Legend {
    states: Vec<(String, Color)>,
    others: usize,
}

impl Legend {
    fn color(&mut self, state: String) -> Color {
        if let Some((_, color)) = self.states.iter().find(|(known, _)| *known == state) {
            return *color;
        }
        let known = KNOWN.iter().find(|(names, _)| names.contains(&state.as_str()));
        let color = known.map_or_else(
            || {
                self.others += 1;
                OTHERS[(self.others - 1) % OTHERS.len()]
            },
            |(_, color)| *color,
        );
        self.states.push((state, color));
        color
    }
}

/// The horizontal scale.
#[derive(Debug)]
struct Scale {
    start: Timestamp,
    time: f64,
    width: f64,
}

impl Scale {
    /// Returns the place of a time in pixels.
    fn x(&self, time: Timestamp) -> f64 {
        f64::from(LEFT) + time.since(self.start) as f64 / self.time * self.width
    }
}

/// Writes the picture.
pub(crate) fn write(
    out: &mut impl Write,
    history: &History,
    services: &[Quark],
    range: &Range<Timestamp>,
    width: u32,
) -> Result<(), Box<dyn Error>> {
    let time = range.end.since(range.start).max(1);
    let columns = f64::from(width - LEFT - RIGHT);
    let scale = Scale { start: range.start, time: time as f64, width: columns };
    let bottom = TOP + services.len() as u32 * ROW;
    // The rows determine the legend, and the legend the height.
    let mut legend = Legend::default();
    let mut rows = Vec::new();
    for (number, quark) in (0..).zip(services) {
        let y = TOP + number * ROW;
        let label = escape::xml(&shortened(&name(history, *quark)));
        let (label_x, text_y) = (LEFT - 10, y + BAR - 4);
        writeln!(rows, r##"<text x="{label_x}" y="{text_y}" text-anchor="end">{label}</text>"##)?;
        row(&mut rows, history, *quark, range, &scale, y, &mut legend)?;
    }
    let (mut x, mut y) = (LEFT, bottom + 34);
    for (state, color) in &legend.states {
        let label = shortened(state);
        let columns = 36 + label.chars().count() as u32 * 7;
        if x > LEFT && x + columns > width {
            (x, y) = (LEFT, y + 18);
        }
        let (text_x, text_y, label) = (x + 17, y + 10, escape::xml(&label));
        writeln!(
            rows,
            r##"<rect x="{x}" y="{y}" width="12" height="12" fill="{color}"/><text x="{text_x}" y="{text_y}">{label}</text>"##
        )?;
        x += columns;
    }
    let height = y + 30;
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="11" fill="#24292f">
<rect width="{width}" height="{height}" fill="#ffffff"/>
<text x="12" y="24" font-size="15">States of services</text>
<text x="12" y="42" fill="#6a737d">{} to {}: {}</text>"##,
        Time(range.start),
        Time(range.end),
        Duration(time)
    )?;
    axis(out, &scale, range, bottom)?;
    out.write_all(&rows)?;
    writeln!(out, "</svg>")?;
    Ok(())
}

/// Returns the end of a text that is too long for a label.
fn shortened(text: &str) -> String {
    match text.char_indices().rev().nth(LABEL - 1) {
        Some((at, _)) if at > 0 => format!("…{}", &text[at..]),
        _ => text.to_owned(),
    }
}

/// Writes the row of a service. A state is at least one pixel wide, so that short ones are
/// visible; of several within one pixel, the first is drawn.
fn row(
    out: &mut impl Write,
    history: &History,
    quark: Quark,
    range: &Range<Timestamp>,
    scale: &Scale,
    y: u32,
    legend: &mut Legend,
) -> Result<(), Box<dyn Error>> {
    let mut drawn = f64::MIN;
    for interval in history.intervals(quark, range.clone())? {
        let interval = interval?;
        if interval.value == StateValue::Null {
            continue;
        }
        let (left, right) =
            (scale.x(interval.start.max(range.start)), scale.x(interval.end.min(range.end)));
        if right <= drawn {
            continue;
        }
        let left = left.max(drawn);
        let right = right.max(left + 1.0);
        drawn = right;
        let state = state_text(interval.value);
        let time = Duration(interval.duration());
        let title = escape::xml(&format!("{state} for {time}, from {}", Time(interval.start)));
        let (color, pixels) = (legend.color(state), right - left);
        writeln!(
            out,
            r##"<rect x="{left:.1}" y="{y}" width="{pixels:.1}" height="{BAR}" fill="{color}"><title>{title}</title></rect>"##
        )?;
    }
    Ok(())
}

/// The distances of lines of the axis, in seconds.
const STEPS: [u64; 16] = [
    1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000,
    31_536_000,
];

/// Writes lines at round times, in UTC.
fn axis(
    out: &mut impl Write,
    scale: &Scale,
    range: &Range<Timestamp>,
    bottom: u32,
) -> Result<(), Box<dyn Error>> {
    // A label takes about 60 pixels.
    let most = (scale.width / 60.0).max(1.0);
    let seconds = scale.time / 1e9;
    let step = STEPS.iter().find(|step| seconds / **step as f64 <= most);
    let step = *step.unwrap_or(&(3600 * 24 * 365 * 50)) as i64 * 1_000_000_000;
    let is_date = step >= 86_400_000_000_000;
    let first = range.start.as_ns().div_euclid(step) + 1;
    for line in first - 1.. {
        let Some(ns) = line.checked_mul(step).filter(|ns| *ns <= range.end.as_ns()) else { break };
        if ns < range.start.as_ns() {
            continue;
        }
        let x = scale.x(Timestamp::from_ns(ns));
        let text = Time(Timestamp::from_ns(ns)).to_string();
        let (date, time) = text.split_once('T').unwrap_or((&text, ""));
        let short = if is_date { date } else { time.trim_end_matches('Z') };
        let short = short.strip_suffix(":00").filter(|_| step >= 60_000_000_000).unwrap_or(short);
        let (top, text_y) = (TOP - 8, bottom + 18);
        writeln!(
            out,
            r##"<path d="M{x:.1} {top}V{}" stroke="#d8dee4"/><text x="{x:.1}" y="{text_y}" text-anchor="middle" fill="#6a737d">{short}</text>"##,
            bottom + 4
        )?;
    }
    Ok(())
}
