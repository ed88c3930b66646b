//! The time axis below charts.

use ltt_read::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{marker, note_marks, put, split};
use crate::look::Look;
use crate::session::Session;
use crate::time_text::{length, step};

/// The number of columns for a mark and its label.
const MARK: u64 = 14;

/// Draws marks at round times after the start of the traceset.
pub fn draw(session: &Session, look: Look, area: Rect, buffer: &mut Buffer) {
    let (left, chart) = split(session, area);
    let title = if left.width < 20 { "TIME" } else { "TIME from the start" };
    put(buffer, left, left.x, left.y, title, look.faint());
    let (axis, window) = (session.axis(), session.tab.window());
    let step = step(window.width(), (u64::from(chart.width) / MARK).max(1));
    let begin = session.span().start.as_ns();
    let first = window.start().as_ns().saturating_sub(begin).max(0) as u64;
    let mut at = first.div_ceil(step).saturating_mul(step);
    while let Some(column) = axis.column(Timestamp::from_ns(begin.saturating_add_unsigned(at))) {
        let x = chart.x.saturating_add(column as u16);
        put(buffer, chart, x, area.y, &format!("╵{}", label(at, step)), look.faint());
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    marker(session, look, chart, buffer);
    let (sign, style) = look.note();
    for (start, end) in note_marks::columns(session) {
        let line = Style::new().add_modifier(Modifier::UNDERLINED);
        let width = end.map_or(0, |end| end + 1 - start) as u16;
        let range = Rect { x: chart.x.saturating_add(start as u16), width, ..chart };
        buffer.set_style(range.intersection(chart).intersection(buffer.area), line);
        put(buffer, chart, range.x, area.y, &sign.to_string(), style);
    }
}

/// Formats a time after the start, with the precision of the marks' distance.
fn label(at: u64, step: u64) -> String {
    if step >= 1_000_000_000 {
        return length(at);
    }
    let (per, unit) = match step {
        1_000_000.. => (1_000_000, "ms"),
        1_000.. => (1_000, "µs"),
        _ => (1, "ns"),
    };
    format!("{} {unit}", at / per)
}
