//! The time axis below charts.

use ltt_read::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{canvas, loss_marks, marker, note_marks, put, split};
use crate::look::Look;
use crate::session::Session;
use crate::time_text::{length, step};

/// The number of columns for a mark and its label.
const MARK: u64 = 14;

/// Draws marks at round times after the start of the traceset, and those of losses.
pub fn draw(session: &Session, look: Look, area: Rect, buffer: &mut Buffer) {
    let (left, chart) = split(session, area);
    let title = if left.width < 20 { "TIME" } else { "TIME from the start" };
    put(buffer, left, left.x, left.y, title, look.faint());
    canvas(look, chart, buffer);
    loss_marks::draw(session, look, chart, buffer);
    let faint = look.faint_on_canvas();
    let (axis, window) = (session.axis(), session.tab.window());
    let step = step(window.width(), (u64::from(chart.width) / MARK).max(1));
    // The traces start with their first packet, which may be before the first event.
    let (begin, step) = (i128::from(session.first().as_ns()), i128::from(step));
    let start = i128::from(window.start().as_ns()) - begin;
    let mut at = start.div_euclid(step) * step;
    if at < start {
        at += step;
    }
    let column = |at: i128| axis.column(Timestamp::from_ns(i64::try_from(begin + at).ok()?));
    while let Some(column) = column(at) {
        let x = chart.x.saturating_add(column as u16);
        let text = format!("╵{}", label(at, step as u64));
        if !loss_marks::has_start(session, column..column + text.chars().count()) {
            put(buffer, chart, x, area.y, &text, faint);
        }
        at += step;
    }
    loss_marks::tint(session, look, chart, buffer);
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
fn label(at: i128, step: u64) -> String {
    let sign = if at < 0 { "-" } else { "" };
    let at = u64::try_from(at.unsigned_abs()).unwrap_or(u64::MAX);
    if step >= 1_000_000_000 {
        return format!("{sign}{}", length(at));
    }
    let (per, unit) = match step {
        1_000_000.. => (1_000_000, "ms"),
        1_000.. => (1_000, "µs"),
        _ => (1, "ns"),
    };
    format!("{sign}{} {unit}", at / per)
}
