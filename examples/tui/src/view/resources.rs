//! The resources viewer: a row for each processor, interrupt and block device.

use lttv_examples::palette::Paint;
use lttv_requests::SubmitError;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Scroll, Viewer, canvas, marker, put, split, status, strip};
use crate::keys::Action;
use crate::look::Look;
use crate::model::chart::Filled;
use crate::model::resources::{Resource, ResourceRow, Resources};
use crate::model::strip::Strip;
use crate::session::Session;

/// What each resource was doing.
#[derive(Debug, Default)]
pub struct ResourcesView {
    filled: Filled<Resources>,
    scroll: Scroll,
    rows: usize,
    hidden: usize,
    shows_inactive: bool,
}

impl ResourcesView {
    fn is_shown(&self, row: &ResourceRow) -> bool {
        self.shows_inactive || matches!(row.resource, Resource::Cpu(_)) || row.strip.is_active()
    }
}

impl Viewer for ResourcesView {
    fn title(&self) -> &'static str {
        "Resources"
    }

    fn height(&self) -> (u16, u16) {
        (4, 3)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let (kernel, axis) = (session.kernel, session.axis());
        self.filled.set_axis(&mut session.scheduler, kernel, axis, None)?;
        let all = self.filled.now().map_or(0, |now| now.chart.rows().count());
        let rows = |now: &Resources| now.rows().filter(|row| self.is_shown(row)).count();
        let rows = self.filled.now().map_or(0, |now| rows(&now.chart));
        (self.rows, self.hidden) = (rows, all - rows);
        self.scroll.fit(self.rows, area.height.saturating_sub(1));
        Ok(())
    }

    fn draw(&self, session: &Session, look: Look, area: Rect, buffer: &mut Buffer) {
        let (left, chart) = split(session, area);
        canvas(look, chart, buffer);
        let several = session.traceset().traces().len() > 1;
        put(buffer, left, left.x, left.y, "RESOURCE", look.faint());
        status::legend(&Paint::OF_RESOURCES, look, chart, buffer);
        let (Some(now), before) = (self.filled.now(), self.filled.before()) else { return };
        let rows = now.chart.rows().filter(|row| self.is_shown(row));
        let shown = rows.enumerate().skip(self.scroll.top);
        for ((at, row), y) in shown.zip(area.y + 1..area.bottom()) {
            let line = Rect { y, height: 1, ..left };
            let is_selected = at == self.scroll.selected && session.focus == self.title();
            let style = if is_selected { look.selected() } else { Default::default() };
            let trace = if several { format!("{}: ", row.trace) } else { String::new() };
            buffer.set_style(line.intersection(buffer.area), style);
            put(buffer, line, line.x, y, &format!("{trace}{}", row.label), style);
            let moved = before.as_ref().and_then(|before| {
                let is_same = |other: &&ResourceRow| {
                    (other.trace, other.resource) == (row.trace, row.resource)
                };
                let other = before.chart.rows().find(is_same)?;
                Some(Strip::moved(other.strip.cells(), before.axis(), now.axis()))
            });
            strip(look, Rect { y, height: 1, ..chart }, buffer, row.strip.cells(), |column| {
                moved.as_ref()?.get(column)?.as_ref()
            });
        }
        marker(session, look, Rect { y: chart.y + 1, height: chart.height - 1, ..chart }, buffer);
    }

    fn action(&mut self, action: Action, _: &mut Session) -> Result<bool, SubmitError> {
        if action == Action::Inactive {
            self.shows_inactive = !self.shows_inactive;
            return Ok(true);
        }
        Ok(self.scroll.action(action, self.rows))
    }

    fn note(&self, _: &Session) -> String {
        match self.hidden {
            0 => String::new(),
            hidden => format!("{hidden} idle hidden"),
        }
    }

    fn progress(&self) -> f64 {
        self.filled.progress()
    }
}
