//! Marks of notes in lists and charts.

use ltt_read::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::put;
use crate::look::Look;
use crate::model::event_list::EventRow;
use crate::session::Session;
use crate::tab_notes::RowMark;

/// The width of the marks of events, in columns.
const MARKS: u16 = 2;

/// Returns the columns of charts with notes: the one of each instant, and those of the start
/// and the end of each time range, as far as they are in the time window.
pub(super) fn columns(session: &Session) -> Vec<(usize, Option<usize>)> {
    let (axis, window) = (session.axis(), session.tab.window());
    let Some(notes) = session.notes.all() else { return Vec::new() };
    let column =
        |time: Timestamp| axis.column(time.clamp(window.start(), session.last_time())).unwrap_or(0);
    let notes = notes.overlapping(window.start()..window.end());
    let columns =
        notes.map(|(_, note)| (column(note.start()), note.range().map(|_| column(note.last()))));
    columns.collect()
}

/// Returns the area of the columns, beside the marks of notes if there are any.
pub(super) fn beside(session: &Session, area: Rect) -> Rect {
    let width = match session.notes.all() {
        Some(notes) if !notes.is_empty() => MARKS.min(area.width),
        _ => 0,
    };
    Rect { x: area.x + width, width: area.width - width, ..area }
}

/// Draws the mark of an event's note at the start of a line.
pub(super) fn draw(
    session: &Session,
    row: &EventRow,
    before: Option<Timestamp>,
    line: Rect,
    look: Look,
    buffer: &mut Buffer,
) {
    let (sign, style) = look.note();
    let sign = match session.notes.mark(session.traceset(), &row.position, row.time, before) {
        Some(RowMark::Note) => sign,
        Some(RowMark::Range) => '│',
        None => return,
    };
    put(buffer, line, line.x, line.y, &sign.to_string(), style);
}
