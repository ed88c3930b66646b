//! The lines that tell where one is.

use lttv_requests::views::Paint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::put;
use crate::look::Look;
use crate::session::Session;
use crate::time_text::{length, seconds};

/// The time window, the current time and the filter.
pub fn draw(session: &Session, look: Look, area: Rect, buffer: &mut Buffer) {
    let window = session.tab.window();
    let parts = [
        ("window ", format!("{} – {}", seconds(window.begin()), seconds(window.end()))),
        ("width ", length(window.width())),
        ("current ", seconds(session.tab.time())),
        ("process ", session.process.as_ref().map_or_else(|| "-".to_owned(), |p| p.1.clone())),
        (
            "background ",
            match session.background_progress() {
                1.0.. => "done".to_owned(),
                part => format!("{:.0} %", part * 100.0),
            },
        ),
        ("filter ", session.tab.filter().cloned().unwrap_or_else(|| "-".to_owned())),
    ];
    let mut x = area.x;
    for (name, value) in parts {
        x = put(buffer, area, x, area.y, name, look.faint());
        x = put(buffer, area, x, area.y, &value, look.heading()) + 2;
    }
}

/// What colours mean, in one line at the top of an area.
pub fn legend(paints: &[Paint], look: Look, area: Rect, buffer: &mut Buffer) {
    let mut x = area.x;
    for paint in paints {
        // Whole or not at all.
        if x.saturating_add(3 + paint.label().len() as u16) > area.right() {
            break;
        }
        let (sign, style) = look.legend(*paint);
        x = put(buffer, area, x, area.y, &sign.to_string(), style);
        x = put(buffer, area, x + 1, area.y, paint.label(), look.canvas()) + 2;
    }
}
