//! The event list viewer.

use std::rc::Rc;

use ltt_read::TraceIndex;
use lttv_context::TracesetPosition;
use lttv_requests::views::{ProcessKey, ViewerId};
use lttv_requests::{Start, SubmitError};
use lttv_state::filter::KernelFilters;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};

use super::{note_marks, put};
use crate::keys::{Key, Move};
use crate::model::event_list::{EventList, EventRow};
use crate::model::who_ran::{Ran, WhoRan};
use crate::session::Session;
use crate::traceset_change::TracesetChange;
use crate::viewer::{Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind};

/// The events around the current time that pass the filters of the tab and of the list.
#[derive(Debug)]
pub struct EventListView {
    list: EventList,
    who_ran: WhoRan,
    id: ViewerId,
    /// `true` until the list has been filled for the first time.
    is_new: bool,
    /// The text and the compiled form of the list's filter.
    own: Option<(String, Rc<KernelFilters>)>,
    /// The position at which the list starts that has one of its own.
    start: Option<TracesetPosition>,
    /// `true` if the list has a position of its own, and does not follow that of the tab.
    stays: bool,
    /// `true` after a key until the selection has arrived.
    is_moving: bool,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let process = "process of event";
    let stay = "stay, or follow time";
    let filter = ViewerAction::new("filter", "filter of this list", [Key::char('\\')]);
    ViewerKind::new("events", "Events", |setup| Box::new(EventListView::new(setup)))
        .summary("the events around the current time that pass the filters")
        .action(ViewerAction::new("process", process, [Key::new(KeyCode::Enter)]))
        .action(filter.without_focus())
        .action(ViewerAction::new("stay", stay, [Key::char('f')]))
}

/// The columns: heading, width, and the least width of the list at which the column is
/// visible.
const COLUMNS: [(&str, u16, u16); 8] = [
    ("TRACE", 8, 140),
    ("TRACEFILE", 12, 120),
    ("CPU", 3, 50),
    ("EVENT", 30, 1),
    ("TIME s", 10, 100),
    ("TIME ns", 9, 34),
    ("PID", 7, 60),
    ("DESCRIPTION", 0, 70),
];

impl EventListView {
    fn new(setup: &mut Setup<'_>) -> Self {
        EventListView {
            list: EventList::new(setup.owner(), setup.session.traceset().traces()),
            who_ran: WhoRan::new(setup.owner()),
            id: setup.viewer(),
            is_new: true,
            own: None,
            start: None,
            stays: false,
            is_moving: false,
        }
    }

    /// Applies the filters again.
    fn refilter(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        let filters = session.filters.iter().chain(self.own.as_ref().map(|(_, own)| own));
        let filters = filters.cloned().collect();
        let own = self.list.selected().filter(|_| self.stays).map(|row| row.position);
        let own = self.start.take().or(own);
        let place = match own.as_ref().or(session.tab.position()) {
            Some(position) => Start::from(position),
            None => Start::from(session.tab.time()),
        };
        self.list.set_filters(&mut session.servers(), filters, place)
    }

    /// Goes to the position or the time of the tab.
    fn follow(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        match session.tab.position().cloned() {
            Some(position) => self.list.go_to_position(&mut session.servers(), &position),
            None => {
                let time = session.tab.time();
                self.list.go_to_time(&mut session.servers(), time)
            }
        }
    }

    /// Sets the position of the tab to the selected event.
    fn report(&self, session: &mut Session) {
        if self.stays {
            return;
        }
        let row = self.list.selected();
        if let Some(position) = row.map(|row| row.position.clone()) {
            // The position is of this traceset, so it is not refused.
            _ = session.tab.set_position(&position, Some(self.id));
        }
    }
}

impl Viewer for EventListView {
    fn height(&self) -> (u16, u16) {
        (4, 3)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let changes = session.tab.take_changes(self.id);
        let is_new = std::mem::take(&mut self.is_new);
        if is_new || changes.filter {
            self.refilter(session)?;
        }
        let list = &mut self.list;
        list.set_height(usize::from(area.height.saturating_sub(1)));
        if self.stays {
            // The list keeps its position.
        } else if !is_new
            && changes.position
            && let Some(position) = session.tab.position().cloned()
        {
            list.go_to_position(&mut session.servers(), &position)?;
        } else if !is_new && (changes.time || changes.position) {
            let time = session.tab.time();
            list.go_to_time(&mut session.servers(), time)?;
        }
        list.get_on(&mut session.servers())?;
        if !list.is_busy() && !list.is_stopped() {
            let rows = list.rows();
            let shown = rows.range(list.visible()).map(|row| (row.position.clone(), row.time));
            self.who_ran.ask(&mut session.scheduler, session.kernel, shown)?;
        }
        if self.is_moving && !list.is_busy() {
            self.is_moving = false;
            self.report(session);
        }
        Ok(())
    }

    fn stop(&mut self, _: &mut Session) {
        self.list.stop();
        self.is_moving = false;
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        self.who_ran.resume();
        self.list.resume(&mut session.servers())
    }

    fn reset(&mut self, session: &mut Session, change: &TracesetChange) {
        let own = self.list.selected().filter(|_| self.stays);
        self.start = own.map(|row| change.position(&row.position));
        self.list = EventList::new(self.list.owner(), session.traceset().traces());
        self.who_ran.clear();
        (self.is_new, self.is_moving) = (true, false);
        if let Some((text, _)) = self.own.take() {
            match session.compile(&text) {
                Ok(own) => self.own = own.map(|filters| (text, filters)),
                Err(error) => {
                    let fault = Fault::from(error);
                    session.message = Some(format!("the filter of a list is removed: {fault}"));
                }
            }
        }
    }

    fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, .. } = pane;
        let area = note_marks::beside(session, area);
        let columns = || COLUMNS.iter().filter(|column| area.width >= column.2);
        let mut x = area.x;
        for (heading, width, _) in columns() {
            put(buffer, area, x, area.y, heading, look.faint());
            x = x.saturating_add(width + 1);
        }
        let list = &self.list;
        let (all, visible, selected) = (list.rows(), list.visible(), list.selected_at());
        let rows = visible.clone().zip(all.range(visible));
        for ((at, row), y) in rows.zip(area.y + 1..area.bottom()) {
            let style = if Some(at) == selected { look.selected() } else { Default::default() };
            let line = Rect { y, height: 1, ..area };
            buffer.set_style(line.intersection(buffer.area), style);
            if area.x > pane.area.x {
                let before = at.checked_sub(1).and_then(|at| all.get(at)).map(|row| row.time);
                note_marks::draw(
                    session,
                    row,
                    before,
                    Rect { y, height: 1, ..pane.area },
                    look,
                    buffer,
                );
            }
            let mut x = area.x;
            for (cell, (_, width, from)) in
                cells(session, row, self.who_ran.at(&row.position)).iter().zip(&COLUMNS)
            {
                if area.width < *from {
                    continue;
                }
                let room = if *width == 0 { line.right().saturating_sub(x) } else { *width };
                put(buffer, Rect { x, width: room, ..line }.intersection(line), x, y, cell, style);
                x = x.saturating_add(width + 1);
            }
        }
    }

    fn spot(&self, _: &Session, area: Rect, at: Position) -> Spot {
        let line = at.y.checked_sub(area.y + 1);
        let row = line.and_then(|line| self.list.row(line.into()));
        Spot::of_row(row)
    }

    fn go(&mut self, to: Move, session: &mut Session) -> Result<bool, SubmitError> {
        if self.list.is_stopped() {
            self.resume(session)?;
        }
        let list = &mut self.list;
        match to {
            Move::Rows(by) | Move::View { rows: by, .. } => list.go_by(by),
            Move::To(row) => list.go_to_row(row),
            Move::Pages(by) => list.go_by(by.saturating_mul(list.page())),
            Move::First => {
                let begin = session.span().start;
                list.go_to_time(&mut session.servers(), begin)?;
            }
            Move::Last => list.go_to_end(&mut session.servers())?,
        }
        self.is_moving = true;
        self.report(session);
        Ok(true)
    }

    fn act(&mut self, action: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        match action {
            "process" => {
                let process = self.list.selected().and_then(|row| {
                    let Ran { serial, tid } = self.who_ran.at(&row.position)??;
                    let key = ProcessKey { trace: TraceIndex(row.content.trace), serial };
                    Some((key, format!("pid {}", tid?)))
                });
                if process.is_some() {
                    session.process = process;
                }
            }
            "filter" => {
                let text = self.own.as_ref().map_or_else(String::new, |(text, _)| text.clone());
                return Ok(Reply::Ask { title: "filter of the list: ", text, is_filter: true });
            }
            "stay" => {
                self.stays = !self.stays;
                if !self.stays {
                    self.follow(session)?;
                }
            }
            _ => {}
        }
        Ok(Reply::Done)
    }

    fn answer(&mut self, _: &str, text: &str, session: &mut Session) -> Result<(), Fault> {
        let own = session.compile(text)?;
        session.note(own.as_deref());
        self.own = own.map(|filters| (text.to_owned(), filters));
        self.refilter(session).map_err(|error| Fault::new(error.to_string()))
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        self.own.iter().map(|(text, _)| ("filter", text.clone())).collect()
    }

    fn restore(&mut self, name: &str, value: &str, session: &mut Session) -> Result<(), Fault> {
        if name == "filter" {
            let own = session.compile(value)?;
            self.own = own.map(|filters| (value.to_owned(), filters));
        }
        Ok(())
    }

    fn note(&self, session: &Session) -> String {
        let busy = self.list.is_busy();
        let own = self.own.as_ref().map(|(own, _)| format!("own filter: {own}"));
        let stays = self.stays.then(|| "stays here".to_owned());
        let own = stays.into_iter().chain(own).collect::<Vec<_>>().join("  ");
        match (busy, session.filters.is_some() || self.own.is_some()) {
            (true, true) => format!("searching … {own}"),
            _ => own,
        }
    }

    fn message(&self, session: &Session) -> Option<String> {
        if !self.list.found_nothing() {
            return None;
        }
        let filter = match (&session.filters, &self.own) {
            (Some(_), Some(_)) => "this filter and the filter of the list",
            (None, Some(_)) => "the filter of the list",
            _ => "this filter",
        };
        Some(format!("no event matches {filter}"))
    }
}

/// Returns the texts of a row.
fn cells(session: &Session, row: &EventRow, ran: Option<Option<Ran>>) -> [String; 8] {
    let (context, of) = (session.scheduler.context().contexts(), &row.content);
    let tracefile = context.tracefiles().get(of.tracefile);
    let trace = session.traceset().traces().get(of.trace);
    let name = trace.and_then(|trace| trace.path().file_name());
    let ns = row.time.as_ns();
    [
        name.map_or_else(|| of.trace.to_string(), |name| name.to_string_lossy().into_owned()),
        tracefile.map_or_else(String::new, |of| of.tracefile().name().to_owned()),
        of.cpu.map_or_else(|| "-".to_owned(), |cpu| cpu.to_string()),
        of.name.clone(),
        ns.div_euclid(1_000_000_000).to_string(),
        format!("{:09}", ns.rem_euclid(1_000_000_000)),
        match ran.map(|ran| ran.and_then(|ran| ran.tid)) {
            None => "…".to_owned(),
            Some(tid) => tid.map_or_else(|| "?".to_owned(), |tid| tid.to_string()),
        },
        fields(&of.fields),
    ]
}

/// Rearranges the fields of a line: first the payload, then the contexts, which vary less
/// between events.
fn fields(text: &str) -> String {
    let text = text.trim_start_matches([',', ' ']);
    let (context, payload) = text.split_at(payload(text).unwrap_or(text.len()));
    let context = context.trim_end();
    let payload = payload.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    match (payload.unwrap_or_default().trim(), context) {
        ("", "") => String::new(),
        (payload, "") => payload.to_owned(),
        ("", context) => format!("({context})"),
        (payload, context) => format!("{payload}  ({context})"),
    }
}

/// Returns the start of the last pair of braces, if it ends at the end of the text.
fn payload(text: &str) -> Option<usize> {
    let (mut depth, mut begin, mut end) = (0usize, None, 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if std::mem::take(&mut is_escaped) => {}
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '{' if !is_quoted => {
                if depth == 0 {
                    begin = Some(at);
                }
                depth += 1;
            }
            '}' if !is_quoted => {
                depth = depth.saturating_sub(1);
                end = at + 1;
            }
            _ => {}
        }
    }
    begin.filter(|_| depth == 0 && end == text.len())
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn fields_of_the_event_come_first() {
        for (text, expected) in [
            ("", ""),
            (" { a = 1, b = { 2 } }", "a = 1, b = { 2 }"),
            (
                ", tid = 1, name = \"x {\" { a = \"}\\\"\" }",
                "a = \"}\\\"\"  (tid = 1, name = \"x {\")",
            ),
            (", tid = 1", "(tid = 1)"),
            (", ctx = { 1 }, tid = 1", "(ctx = { 1 }, tid = 1)"),
        ] {
            assert_eq!(fields(text), expected);
        }
    }
}
