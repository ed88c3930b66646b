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

use self::columns::{cells, columns};
use super::{note_marks, put};
use crate::keys::{Key, Move};
use crate::model::event_detail::EventDetail;
use crate::model::event_list::{EventList, EventRow};
use crate::model::threads::ThreadKey;
use crate::model::time_format::{TimeBase, TimeFormat};
use crate::model::who_ran::WhoRan;
use crate::session::{SelectedProcess, Session};
use crate::text::popup::{Popup, PopupLine};
use crate::time_text::seconds;
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind};

mod columns;

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
    /// The notation of times.
    time: TimeFormat,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let process = "process of event";
    let stay = "stay, or follow time";
    let time = ViewerAction::new("time", "notation of times", [Key::char('T')]);
    let filter = ViewerAction::new("filter", "filter of this list", [Key::char('\\')]);
    ViewerKind::new("events", "Events", |setup| Box::new(EventListView::new(setup)))
        .summary("the events around the current time that pass the filters")
        .action(ViewerAction::new("fields", "all fields", [Key::new(KeyCode::Enter)]))
        .action(ViewerAction::new("process", process, [Key::char('P')]))
        .action(filter.without_focus())
        .action(time.without_focus())
        .action(ViewerAction::new("stay", stay, [Key::char('f')]))
}

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
            time: TimeFormat::of_settings(),
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

    /// Returns the time of a row in the notation of the list; `None` for seconds since the epoch.
    fn time_of(&self, session: &Session, row: &EventRow, at: usize) -> Option<String> {
        if self.time == TimeFormat::Epoch {
            return None;
        }
        let rows = self.list.rows();
        let previous = at.checked_sub(1).and_then(|at| rows.get(at)).map(|row| row.time);
        let base = TimeBase { first: session.first(), previous, mark: session.mark() };
        Some(self.time.text(row.time, base, session.zone()))
    }

    /// Returns all fields of the selected event.
    fn fields(&self, session: &Session) -> Option<Popup> {
        let row = self.list.selected()?;
        let detail = EventDetail::read(session.traceset(), &row.position)?;
        let base = TimeBase { first: session.first(), previous: None, mark: session.mark() };
        let time = |format: TimeFormat| format.text(row.time, base, session.zone());
        let mut lines = vec![
            PopupLine::new("time", time(TimeFormat::DateTime)),
            PopupLine::new("since the epoch", format!("{} s", time(TimeFormat::Epoch))),
            PopupLine::new("from the start", format!("{} s", time(TimeFormat::FromStart))),
        ];
        if base.mark.is_some() {
            lines.push(PopupLine::new(
                "since the mark",
                format!("{} s", time(TimeFormat::FromMark)),
            ));
        }
        if let Some(tid) = self.who_ran.at(&row.position).flatten().and_then(|ran| ran.tid) {
            lines.push(PopupLine::new("thread", tid.to_string()));
        }
        lines.extend(detail.facts.into_iter().map(|(name, value)| PopupLine::new(name, value)));
        for field in detail.fields {
            if field.depth == 0 {
                lines.push(PopupLine::default());
            }
            lines.push(PopupLine {
                indent: field.depth * 2,
                label: field.name,
                text: field.value,
                remark: field.class,
            });
        }
        Some(Popup::new(detail.name, lines))
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
        if self.stays || !is_new && session.slides() {
            // The list keeps its position, or shows the last events.
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
            let shown =
                rows.range(list.visible()).map(|row| (row.position.clone(), row.delivery_time));
            self.who_ran.ask(&mut session.scheduler, session.kernel, shown)?;
        }
        if self.is_moving && !list.is_busy() {
            self.is_moving = false;
            self.report(session);
        }
        Ok(())
    }

    fn grow(&mut self, session: &mut Session, slides: bool) -> Result<(), SubmitError> {
        self.list.grow(&mut session.servers(), slides && !self.stays)
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
        let columns = columns(self.time);
        let mut x = area.x;
        for (heading, width, _) in columns.iter().filter(|column| area.width >= column.2) {
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
            let time = self.time_of(session, row, at);
            let texts = cells(session, row, self.who_ran.at(&row.position), time);
            for (cell, (_, width, from)) in texts.iter().zip(&columns) {
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
            "fields" => {
                if let Some(popup) = self.fields(session) {
                    return Ok(Reply::Show(popup));
                }
            }
            "time" => {
                self.time = self.time.next();
                session.message = Some(match (self.time, session.mark()) {
                    (TimeFormat::FromMark, None) => {
                        "times since the mark: the key . sets it at the current time".to_owned()
                    }
                    (time, _) => format!("times: {}", time.name()),
                });
            }
            "process" => {
                let Some(row) = self.list.selected() else { return Ok(Reply::Done) };
                let trace = TraceIndex(row.content.trace);
                let ran = self.who_ran.at(&row.position).flatten();
                let ran = ran.and_then(|ran| Some((ran.serial, ran.tid?)));
                if let Some((serial, tid)) = ran {
                    let key = ProcessKey { trace, serial };
                    let label = format!("TID {tid}");
                    let time = session.tab.time();
                    session.process = Some(SelectedProcess { key, tid: Some(tid), time, label });
                } else if let Some(tid) = row.content.tid {
                    let key = ThreadKey { trace, vtid: Some(tid) };
                    session.thread = Some((key, format!("TID {tid}")));
                    session.process = None;
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
        let filter = self.own.iter().map(|(text, _)| ("filter", text.clone()));
        let time = Some(self.time).filter(|time| *time != TimeFormat::of_settings());
        filter.chain(time.map(|time| ("time", time.name().to_owned()))).collect()
    }

    fn restore(&mut self, name: &str, value: &str, session: &mut Session) -> Result<(), Fault> {
        if name == "filter" {
            let own = session.compile(value)?;
            self.own = own.map(|filters| (value.to_owned(), filters));
        }
        if name == "time" {
            let time = TimeFormat::named(value);
            self.time = time.ok_or_else(|| Fault::new(format!("`{value}` is no notation")))?;
        }
        Ok(())
    }

    fn contents(&self, session: &Session) -> Contents {
        let own = self.own.as_ref().map(|(_, own)| own);
        Contents::Events(session.filters.iter().chain(own).cloned().collect())
    }

    fn selected_text(&self, session: &Session) -> Option<String> {
        let (at, row) = (self.list.selected_at()?, self.list.selected()?);
        let time = self.time_of(session, &row, at).unwrap_or_else(|| seconds(row.time));
        let ran = self.who_ran.at(&row.position);
        let [trace, tracefile, cpu, name, _, _, tid, _, fields] = cells(session, &row, ran, None);
        Some(format!("{time} {trace}/{tracefile} cpu {cpu} tid {tid} {name}: {fields}"))
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
