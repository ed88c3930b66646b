//! The histogram viewer: how many events there are in each column.

use lttv_requests::{SubmitError, ViewerId};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Viewer, canvas, marker, put, split};
use crate::keys::Action;
use crate::look::Look;
use crate::model::chart::Filled;
use crate::model::histogram::Histogram;
use crate::session::Session;

/// How many events there are in each column, of those that pass the tab's filter.
#[derive(Debug, Default)]
pub struct HistogramView {
    filled: Filled<Histogram>,
    id: Option<ViewerId>,
}

impl Viewer for HistogramView {
    fn title(&self) -> &'static str {
        "Histogram"
    }

    fn height(&self) -> (u16, u16) {
        (3, 1)
    }

    fn update(&mut self, session: &mut Session, _: Rect) -> Result<(), SubmitError> {
        let id = *self.id.get_or_insert_with(|| session.tab.add_viewer());
        let (kernel, axis) = (session.kernel, session.axis());
        let filters = session.filters.clone();
        let scheduler = &mut session.scheduler;
        if session.tab.take_changes(id).filter {
            return self.filled.restart(scheduler, kernel, axis, filters.as_ref());
        }
        self.filled.set_axis(scheduler, kernel, axis, filters.as_ref())
    }

    fn draw(&self, session: &Session, look: Look, area: Rect, buffer: &mut Buffer) {
        let (left, chart) = split(session, area);
        canvas(look, chart, buffer);
        let Some(now) = self.filled.now() else { return };
        let counts = now.chart.counts();
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let per = session.tab.window().width() as f64 / counts.len().max(1) as f64;
        put(buffer, left, left.x, left.y, &format!("{most:>8} at most"), look.faint());
        if left.height > 1 {
            let width = format!("per {}", crate::time_text::length(per as u64));
            put(buffer, left, left.x, left.y + 1, &width, look.faint());
        }
        if left.height > 2 {
            let total = format!("{:>8} in all", counts.iter().sum::<u64>());
            put(buffer, left, left.x, left.y + 2, &total, look.faint());
        }
        let height = u64::from(chart.height);
        for (count, x) in counts.iter().zip(chart.left()..chart.right()) {
            // Whatever is not nothing is seen.
            let eighths =
                (u128::from(*count) * u128::from(height * 8)).div_ceil(most.into()) as u64;
            for (y, below) in (chart.top()..chart.bottom()).rev().zip(0u64..) {
                let part = eighths.saturating_sub(below * 8).min(8) as usize;
                let (sign, style) = look.bar(part);
                if let Some(cell) = buffer.cell_mut((x, y)) {
                    cell.set_char(sign).set_style(style);
                }
            }
        }
        marker(session, look, chart, buffer);
    }

    fn action(&mut self, _: Action, _: &mut Session) -> Result<bool, SubmitError> {
        Ok(false)
    }

    fn note(&self, session: &Session) -> String {
        let filtered =
            if session.filters.is_some() { "of events that pass the filter" } else { "" };
        filtered.to_owned()
    }

    fn progress(&self) -> f64 {
        self.filled.progress()
    }
}
