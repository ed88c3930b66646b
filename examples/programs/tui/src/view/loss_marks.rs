//! Marks of losses in charts.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::look::Look;
use crate::session::Session;

/// Splits a chart into a line for marks, if there are any in it, and the rest.
pub(super) fn beside(session: &Session, chart: Rect) -> (Rect, Rect) {
    let height = match session.losses().columns.is_empty() || chart.height < 2 {
        true => 0,
        false => 1,
    };
    let rest = Rect { y: chart.y + height, height: chart.height - height, ..chart };
    (Rect { height, ..chart }, rest)
}

/// Marks the columns of a line in which something was lost.
pub(super) fn draw(session: &Session, look: Look, line: Rect, buffer: &mut Buffer) {
    let (sign, style) = look.loss();
    for line in lines(session, line, buffer) {
        for x in line.left()..line.right() {
            if let Some(cell) = buffer.cell_mut((x, line.y)) {
                cell.set_char(sign).set_style(style);
            }
        }
    }
}

/// Sets the style of marks where texts were drawn over them.
pub(super) fn tint(session: &Session, look: Look, line: Rect, buffer: &mut Buffer) {
    for line in lines(session, line, buffer) {
        buffer.set_style(line, look.loss().1);
    }
}

/// Returns the parts of a line with marks.
fn lines(session: &Session, line: Rect, buffer: &Buffer) -> Vec<Rect> {
    let part = |columns: &Range<usize>| {
        let [start, end] = [columns.start, columns.end].map(|column| column as u16);
        let x = line.x.saturating_add(start);
        let part = Rect { x, width: end - start, height: line.height.min(1), ..line };
        part.intersection(line).intersection(buffer.area)
    };
    session.losses().columns.iter().map(part).collect()
}

/// Returns `true` if one of these columns is the first one of a range, which stays visible.
pub(super) fn has_start(session: &Session, columns: Range<usize>) -> bool {
    session.losses().columns.iter().any(|range| columns.contains(&range.start))
}
