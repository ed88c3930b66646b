//! Arrows over the rows of a chart.

use std::collections::HashMap;

use lttv_requests::views::ProcessKey;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::look::Look;
use crate::model::arrows::Arrow;

/// The greatest number of arrows that are drawn if no process is selected. More of them would hide
/// the chart, so that only their ends are marked.
const MOST: usize = 100;

/// The place of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Above,
    At(u16),
    Below,
}

/// Draws arrows over the rows of processes. `rows` contains all processes with a row, in order, of
/// which those from the index `top` on are in the lines of the chart.
///
/// If a process is selected that is at an end of one of them, only its arrows are drawn. The ends
/// of others are marked.
pub(super) fn draw(
    arrows: &[Arrow],
    rows: &[ProcessKey],
    top: usize,
    selected: Option<ProcessKey>,
    look: Look,
    chart: Rect,
    buffer: &mut Buffer,
) {
    let places: HashMap<_, _> = rows.iter().enumerate().map(|(at, row)| (*row, at)).collect();
    let place = |process: Option<ProcessKey>| {
        Some(match places.get(&process?)?.checked_sub(top) {
            None => Place::Above,
            Some(line) if line < usize::from(chart.height) => Place::At(chart.y + line as u16),
            Some(_) => Place::Below,
        })
    };
    let is_of = |arrow: &&Arrow| {
        selected.is_some() && [arrow.from.process, arrow.to.process].contains(&selected)
    };
    let has_selected = arrows.iter().any(|arrow| is_of(&arrow));
    let mut put = |x: u16, y: u16, sign: char| {
        if chart.contains((x, y).into())
            && let Some(cell) = buffer.cell_mut((x, y))
        {
            let style = look.message();
            cell.set_char(sign).set_style(style);
        }
    };
    let column = |column: usize| chart.x.saturating_add(column.min(usize::from(u16::MAX)) as u16);
    for arrow in arrows {
        let (from_x, to_x) = (column(arrow.from.column), column(arrow.to.column));
        let is_drawn = if has_selected { is_of(&arrow) } else { arrows.len() <= MOST };
        match (place(arrow.from.process), place(arrow.to.process)) {
            (Some(from), Some(to)) if is_drawn => {
                let (start, end) = (line_of(from, chart), line_of(to, chart));
                let inner = start.min(end)..=start.max(end);
                for y in inner.filter(|y| Place::At(*y) != from && Place::At(*y) != to) {
                    put(from_x, y, '│');
                }
                if let Place::At(y) = to {
                    for x in from_x.min(to_x)..=from_x.max(to_x) {
                        put(x, y, '─');
                    }
                    let is_down = start <= end;
                    put(from_x, y, corner(from_x, to_x, is_down));
                    if from_x != to_x {
                        put(to_x, y, if from_x < to_x { '▶' } else { '◀' });
                    }
                }
                if let Place::At(y) = from {
                    put(from_x, y, '●');
                }
            }
            (from, to) => {
                if let Some(Place::At(y)) = to {
                    put(to_x, y, '○');
                }
                if let Some(Place::At(y)) = from {
                    put(from_x, y, '●');
                }
            }
        }
    }
}

/// Returns the line of a place, or the nearest one of the chart.
fn line_of(place: Place, chart: Rect) -> u16 {
    match place {
        Place::Above => chart.y,
        Place::At(y) => y,
        Place::Below => chart.bottom().saturating_sub(1),
    }
}

/// Returns the sign where a vertical line reaches the row of the receiver.
fn corner(from_x: u16, to_x: u16, is_down: bool) -> char {
    match (from_x.cmp(&to_x), is_down) {
        (std::cmp::Ordering::Equal, true) => '▼',
        (std::cmp::Ordering::Equal, false) => '▲',
        (std::cmp::Ordering::Less, true) => '╰',
        (std::cmp::Ordering::Less, false) => '╭',
        (std::cmp::Ordering::Greater, true) => '╯',
        (std::cmp::Ordering::Greater, false) => '╮',
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::TraceIndex;
    use lttv_state::kernel::Serial;

    use super::*;
    use crate::model::arrows::ArrowEnd;

    /// Returns the process of a row.
    fn process(number: u32) -> ProcessKey {
        ProcessKey { trace: TraceIndex(0), serial: Serial(number) }
    }

    /// Creates an arrow between processes and columns.
    fn arrow(from: (Option<u32>, usize), to: (Option<u32>, usize)) -> Arrow {
        let end = |(number, column): (Option<u32>, usize)| {
            let process = number.map(process);
            ArrowEnd { process, column }
        };
        Arrow { from: end(from), to: end(to) }
    }

    /// Returns the lines of a chart of 8 columns and 4 rows, of the processes from `top` on, within
    /// a buffer that is larger.
    fn drawn(arrows: &[Arrow], top: u32, selected: Option<u32>) -> String {
        let mut buffer = Buffer::filled(
            Rect { x: 0, y: 0, width: 10, height: 6 },
            ratatui::buffer::Cell::new("."),
        );
        let chart = Rect { x: 1, y: 1, width: 8, height: 4 };
        let rows: Vec<_> = (0..10).map(process).collect();
        let selected = selected.map(process);
        draw(arrows, &rows, top as usize, selected, Look::Mono, chart, &mut buffer);
        let signs: Vec<_> = buffer.content().iter().map(|cell| cell.symbol()).collect();
        let lines = signs.chunks(10).map(|line| line.concat());
        let lines: Vec<_> = lines.collect();
        // Nothing is drawn around the chart.
        assert_eq!((&*lines[0], &*lines[5]), ("..........", ".........."));
        assert!(lines.iter().all(|line| line.starts_with('.') && line.ends_with('.')));
        lines[1..5].iter().map(|line| format!("{}\n", &line[1..line.len() - 1])).collect()
    }

    #[test]
    fn arrows_lead_from_the_sender_to_the_receiver() {
        let (down, up) = (arrow((Some(0), 1), (Some(2), 4)), arrow((Some(3), 7), (Some(1), 5)));
        assert_eq!(drawn(&[down], 0, None), ".●......\n.│......\n.╰──▶...\n........\n");
        assert_eq!(drawn(&[up], 0, None), "........\n.....◀─╮\n.......│\n.......●\n");
        let (at_once, back) =
            (arrow((Some(0), 2), (Some(2), 2)), arrow((Some(2), 5), (Some(0), 5)));
        assert_eq!(drawn(&[at_once, back], 0, None), "..●..▲..\n..│..│..\n..▼..●..\n........\n");
        // Messages whose times are out of order.
        let late = arrow((Some(0), 4), (Some(2), 1));
        assert_eq!(drawn(&[late], 0, None), "....●...\n....│...\n.◀──╯...\n........\n");
        let up = arrow((Some(2), 1), (Some(0), 4));
        assert_eq!(drawn(&[up], 0, None), ".╭──▶...\n.│......\n.●......\n........\n");
    }

    #[test]
    fn arrows_to_hidden_rows_leave_the_chart() {
        let (above, below) = (arrow((Some(0), 1), (Some(5), 3)), arrow((Some(4), 6), (Some(9), 7)));
        let expected = ".│......\n.│....●.\n.╰─▶..│.\n......│.\n";
        assert_eq!(drawn(&[above, below], 3, None), expected);
    }

    #[test]
    fn ends_without_another_process_are_marks() {
        let arrows = [arrow((Some(0), 1), (None, 4)), arrow((None, 2), (Some(1), 6))];
        assert_eq!(drawn(&arrows, 0, None), ".●......\n......○.\n........\n........\n");
    }

    #[test]
    fn only_the_arrows_of_the_selected_process_are_drawn() {
        let arrows = [arrow((Some(0), 1), (Some(2), 1)), arrow((Some(1), 5), (Some(3), 5))];
        let all = ".●......\n.│...●..\n.▼...│..\n.....▼..\n";
        assert_eq!(drawn(&arrows, 0, None), all);
        assert_eq!(drawn(&arrows, 0, Some(9)), all);
        let first = ".●......\n.│...●..\n.▼......\n.....○..\n";
        assert_eq!(drawn(&arrows, 0, Some(2)), first);
    }

    #[test]
    fn many_arrows_are_marks() {
        let one = arrow((Some(0), 1), (Some(2), 4));
        let many = vec![one; MOST + 1];
        assert_eq!(drawn(&many, 0, None), ".●......\n........\n....○...\n........\n");
        assert_eq!(drawn(&many[1..], 0, None), drawn(&[one], 0, None));
        // Columns and rows beyond those of the screen.
        let far = arrow((Some(0), usize::MAX), (Some(2), 70_000));
        assert_eq!(drawn(&[far], 0, None), "........\n".repeat(4));
    }
}
