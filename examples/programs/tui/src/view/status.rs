//! The status line and legends.

use lttv_common::paint::Paint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::put;
use crate::look::Look;
use crate::session::{Recording, Session};
use crate::time_text::{exact_length, length, seconds};

/// The name of the part about events and packets that were lost in the time window.
const LOST: &str = "lost";

/// The width below which it has no number of ranges.
const NARROW: u16 = 100;

/// Draws the current time, the time window, losses in it, the selected process, the filter,
/// and the clock of the times if clocks are corrected.
/// On narrow screens the less important parts are omitted.
pub fn draw(session: &Session, look: Look, area: Rect, buffer: &mut Buffer) {
    let window = session.tab.window();
    let progress = session.background_progress();
    let recording = session.recording();
    let is_growing = recording.is_some_and(|recording| recording != Recording::Ended);
    let process = session.process.as_ref().map(|of| of.label.clone());
    let process = process.or_else(|| session.thread.as_ref().map(|of| of.1.clone()));
    let filter = session.tab.filter();
    // Each part has a rank: parts of the greatest rank are omitted first.
    let mut parts = vec![
        (3, "window", format!("{} – {}", seconds(window.start()), seconds(session.last_time()))),
        (1, "width", length(window.width())),
        (0, "current", seconds(session.tab.time())),
        (process.as_ref().map_or(5, |_| 2), "process", process.unwrap_or_else(|| "-".to_owned())),
        match progress {
            _ if is_growing => (5, "background", "follows".to_owned()),
            1.0.. => (4, "background", "done".to_owned()),
            part => (2, "background", format!("{:.0} %", part * 100.0)),
        },
        (filter.map_or(5, |_| 1), "filter", filter.cloned().unwrap_or_else(|| "-".to_owned())),
    ];
    if let Some(part) = session.state_progress() {
        parts.insert(0, (1, "state at", format!("{:.0} %", part * 100.0)));
    }
    if let Some(range) = session.selection {
        parts.insert(3, (1, "selected", exact_length(range.width())));
    }
    if let Some(recording) = recording {
        let text = match recording {
            Recording::Slides => "slides",
            Recording::Stays => "window stays",
            Recording::Ended => "ended",
        };
        parts.insert(1, (1, "recording", text.to_owned()));
    }
    if let Some(clock) = session.clocks.clock_text() {
        parts.push((3, "clock", clock));
    }
    let losses = session.losses();
    if let Some(numbers) = &losses.numbers {
        let lost = match (area.width < NARROW, losses.ranges) {
            (true, _) => numbers.clone(),
            (false, 1) => format!("{numbers} in 1 range"),
            (false, ranges) => format!("{numbers} in {ranges} ranges"),
        };
        parts.insert(3, (1, LOST, lost));
    }
    let wide = |(_, name, value): &(u8, &str, String)| name.len() + value.chars().count() + 3;
    while parts.iter().map(wide).sum::<usize>() > usize::from(area.width) + 2 {
        let Some(least) = parts.iter().map(|part| part.0).max().filter(|least| *least > 1) else {
            break;
        };
        parts.retain(|part| part.0 < least);
    }
    let mut x = area.x;
    for (_, name, value) in parts {
        x = put(buffer, area, x, area.y, name, look.faint());
        let style = if name == LOST { look.loss().1 } else { look.heading() };
        x = put(buffer, area, x + 1, area.y, &value, style) + 2;
    }
}

/// Draws a legend in the first line of an area.
pub fn legend(paints: &[Paint], look: Look, area: Rect, buffer: &mut Buffer) {
    let mut x = area.x;
    for paint in &paints[..fitting(paints, area.width)] {
        let (sign, style) = look.legend(*paint);
        x = put(buffer, area, x, area.y, &sign.to_string(), style);
        x = put(buffer, area, x + 1, area.y, paint.label(), look.canvas()) + 2;
    }
}

/// Returns the number of legend entries that fit into a line completely.
pub fn fitting(paints: &[Paint], width: u16) -> usize {
    let mut end = 0;
    let fits = |paint: &&Paint| {
        end += paint.label().chars().count() + 4;
        end <= usize::from(width) + 2
    };
    paints.iter().take_while(fits).count()
}
