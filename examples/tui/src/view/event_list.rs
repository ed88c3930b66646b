//! The event list viewer.

use std::rc::Rc;

use lttv_filter::{FilterError, Filters};
use lttv_requests::{Start, SubmitError, ViewerId};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Viewer, put};
use crate::keys::Action;
use crate::look::Look;
use crate::model::event_table::{EventRow, EventTable};
use crate::session::Session;

/// The events around the current time that pass both the tab's filter and its own.
#[derive(Debug, Default)]
pub struct EventListView {
    table: Option<EventTable>,
    id: Option<ViewerId>,
    own: Option<(String, Rc<Filters>)>,
    /// The selection was moved by a key, and may not have come to its end.
    is_moving: bool,
}

/// A column: its heading, its width, and from which width of the list on it is there.
const COLUMNS: [(&str, u16, u16); 8] = [
    ("TRACE", 8, 110),
    ("TRACEFILE", 12, 80),
    ("CPU", 3, 50),
    ("EVENT", 30, 1),
    ("TIME s", 10, 60),
    ("TIME ns", 9, 34),
    ("PID", 7, 46),
    ("DESCRIPTION", 0, 70),
];

impl EventListView {
    fn refilter(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        let Some(table) = &mut self.table else { return Ok(()) };
        let filters = session.filters.iter().chain(self.own.as_ref().map(|(_, own)| own));
        let filters = filters.cloned().collect();
        let place = match session.tab.position() {
            Some(position) => Start::from(position),
            None => Start::from(session.tab.time()),
        };
        table.set_filters(&mut session.reader, filters, place)
    }

    /// Tells other viewers which event is selected.
    fn report(&self, session: &mut Session) {
        if let Some(row) = self.table.as_ref().and_then(EventTable::selected) {
            // It is of this traceset: it is not refused.
            _ = session.tab.set_position(&row.position, self.id);
        }
    }
}

impl Viewer for EventListView {
    fn title(&self) -> &'static str {
        "Events"
    }

    fn height(&self) -> (u16, u16) {
        (4, 3)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let id = *self.id.get_or_insert_with(|| session.tab.add_viewer());
        let changes = session.tab.take_changes(id);
        let is_new = self.table.is_none();
        if is_new {
            let (traces, span) = (session.traceset().traces().to_vec(), session.span());
            self.table = Some(EventTable::new(&traces, span));
        }
        if is_new || changes.filter {
            self.refilter(session)?;
        }
        let Some(table) = &mut self.table else { return Ok(()) };
        table.set_height(usize::from(area.height.saturating_sub(1)));
        if !is_new
            && changes.position
            && let Some(position) = session.tab.position()
        {
            table.go_to_position(&mut session.reader, position)?;
        } else if !is_new && (changes.time || changes.position) {
            table.go_to_time(&mut session.reader, session.tab.time())?;
        }
        table.get_on(&mut session.reader, &mut session.scheduler, session.kernel)?;
        if self.is_moving && !table.is_busy() {
            self.is_moving = false;
            self.report(session);
        }
        Ok(())
    }

    fn draw(&self, session: &Session, look: Look, area: Rect, buffer: &mut Buffer) {
        let columns = || COLUMNS.iter().filter(|column| area.width >= column.2);
        let mut x = area.x;
        for (heading, width, _) in columns() {
            put(buffer, area, x, area.y, heading, look.faint());
            x = x.saturating_add(width + 1);
        }
        let Some(table) = &self.table else { return };
        let (rows, selected) = table.visible();
        for ((at, row), y) in rows.enumerate().zip(area.y + 1..area.bottom()) {
            let style = if at == selected { look.selected() } else { Default::default() };
            let line = Rect { y, height: 1, ..area };
            buffer.set_style(line.intersection(buffer.area), style);
            let mut x = area.x;
            for (cell, (_, width, from)) in cells(session, row).iter().zip(&COLUMNS) {
                if area.width < *from {
                    continue;
                }
                let room = if *width == 0 { line.right().saturating_sub(x) } else { *width };
                put(buffer, Rect { x, width: room, ..line }.intersection(line), x, y, cell, style);
                x = x.saturating_add(width + 1);
            }
        }
    }

    fn action(&mut self, action: Action, session: &mut Session) -> Result<bool, SubmitError> {
        let Some(table) = &mut self.table else { return Ok(false) };
        match action {
            Action::Rows(by) => table.go_by(by),
            Action::Pages(by) => table.go_by(by * table.page()),
            Action::Edge { last: true } => table.go_to_end(&mut session.reader)?,
            Action::Edge { last: false } => {
                let begin = session.span().begin;
                table.go_to_time(&mut session.reader, begin)?;
            }
            Action::Enter => {
                let process = table.selected().and_then(|row| {
                    let (serial, tid) = row.process?;
                    Some(((row.trace, serial), format!("pid {}", tid?)))
                });
                if process.is_some() {
                    session.process = process;
                }
                return Ok(true);
            }
            _ => return Ok(false),
        }
        self.is_moving = true;
        self.report(session);
        Ok(true)
    }

    fn note(&self, session: &Session) -> String {
        let busy = self.table.as_ref().is_some_and(EventTable::is_busy);
        let own = self.own.as_ref().map(|(own, _)| format!("own filter: {own}"));
        let own = own.unwrap_or_default();
        match (busy, session.filters.is_some() || self.own.is_some()) {
            (true, true) => format!("searching … {own}"),
            _ => own,
        }
    }

    fn progress(&self) -> f64 {
        1.0
    }

    fn own_filter(&self) -> Option<&str> {
        Some(self.own.as_ref().map_or("", |(text, _)| text))
    }

    fn set_own_filter(&mut self, session: &mut Session, text: &str) -> Result<(), FilterError> {
        self.own = session.compile(text)?.map(|filters| (text.to_owned(), filters));
        // The position at hand is of this traceset: it is not refused.
        _ = self.refilter(session);
        Ok(())
    }
}

fn cells(session: &Session, row: &EventRow) -> [String; 8] {
    let context = session.scheduler.context().contexts();
    let tracefile = context.tracefiles().get(row.tracefile);
    let trace = session.traceset().traces().get(row.trace);
    let name = trace.and_then(|trace| trace.path().file_name());
    let ns = row.time.ns();
    [
        name.map_or_else(|| row.trace.to_string(), |name| name.to_string_lossy().into_owned()),
        tracefile.map_or_else(String::new, |of| of.tracefile().name().to_owned()),
        row.cpu.map_or_else(|| "-".to_owned(), |cpu| cpu.to_string()),
        row.name.clone(),
        ns.div_euclid(1_000_000_000).to_string(),
        format!("{:09}", ns.rem_euclid(1_000_000_000)),
        match row.process {
            None => "…".to_owned(),
            Some((_, tid)) => tid.map_or_else(|| "?".to_owned(), |tid| tid.to_string()),
        },
        fields(&row.fields).to_owned(),
    ]
}

/// The fields alone, without what stands around them in a line of a dump.
fn fields(text: &str) -> &str {
    let text = text.trim_start_matches([',', ' ']);
    match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inner) if !inner.contains("}, {") => inner.trim(),
        _ => text,
    }
}
