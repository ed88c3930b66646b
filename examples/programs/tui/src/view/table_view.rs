//! Viewers of a table that is collected from the time window.

use std::fmt;

use ltt_read::Timestamp;
use lttv_requests::SubmitError;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::order_of;
use super::table::{Column, Table};
use crate::keys::Move;
use crate::model::axis::Axis;
use crate::model::collected::{Collect, Collected, Soon};
use crate::model::row_order::RowOrder;
use crate::model::row_search::{Found, RowQuery, Step};
use crate::session::Session;
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Fault, Pane, Reply, Setup, Spot, Viewer};

/// The rows of a [`TableView`], and what it shows beside them.
pub(super) trait TableContent: fmt::Debug {
    /// The result from which the rows are made.
    type Found: Collect + fmt::Debug;

    /// The name of the table in a file.
    const NAME: &'static str;

    /// The columns of the table.
    const COLUMNS: &'static [Column];

    /// The least number of lines and the weight, as [`Viewer::height`] returns them.
    const HEIGHT: (u16, u16);

    /// Creates the content for the traces of a session.
    fn new(session: &Session) -> Self;

    /// Returns the time window and the columns of a chart for which events are collected.
    fn axis(session: &Session) -> Axis {
        Axis::new(session.tab.window(), 1)
    }

    /// Replaces the rows of the table by those of a result.
    fn fill(&mut self, table: &mut Table, now: &Soon<Self::Found>);

    /// Takes note that the user has selected a row, given its number among those that were
    /// filled in.
    fn select(&self, row: Option<usize>, session: &mut Session) {
        let _ = (row, session);
    }

    /// Returns the time to which the action of the viewer goes from a row.
    fn target(&self, row: usize) -> Option<Timestamp> {
        let _ = row;
        None
    }

    /// Draws the viewer.
    fn draw(&self, table: &Table, session: &Session, pane: Pane, buffer: &mut Buffer) {
        let _ = session;
        table.draw(Self::COLUMNS, pane, buffer);
    }

    /// Returns the content at a point apart from the row.
    fn spot(session: &Session, area: Rect, at: Position) -> Spot {
        let _ = (session, area, at);
        Spot::default()
    }

    /// Returns the text in the heading after the title.
    fn note(&self, table: &Table, session: &Session) -> String;
}

/// A table whose rows can be found, sorted and copied.
#[derive(Debug)]
pub(super) struct TableView<C: TableContent> {
    found: Collected<C::Found>,
    table: Table,
    content: C,
}

impl<C: TableContent> TableView<C> {
    /// Creates an empty viewer.
    pub(super) fn new(setup: &mut Setup<'_>) -> Self {
        let found = Collected::new(setup.owner());
        TableView { found, table: Table::default(), content: C::new(setup.session) }
    }
}

impl<C: TableContent> Viewer for TableView<C> {
    fn height(&self) -> (u16, u16) {
        C::HEIGHT
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let (kernel, axis) = (session.kernel, C::axis(session));
        self.found.set_axis(&mut session.scheduler, kernel, axis)?;
        if let Some(now) = self.found.now() {
            self.content.fill(&mut self.table, &now);
        }
        self.table.fit(area);
        Ok(())
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        self.found.resume(&mut session.scheduler, session.kernel)
    }

    fn reset(&mut self, session: &mut Session, _: &TracesetChange) {
        self.found.clear();
        self.content = C::new(session);
    }

    fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
        self.content.draw(&self.table, session, pane, buffer);
    }

    fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        C::spot(session, area, at).in_row(self.table.row(area, at))
    }

    fn go(&mut self, to: Move, session: &mut Session) -> Result<bool, SubmitError> {
        self.table.go(to);
        if !matches!(to, Move::View { .. }) {
            self.content.select(self.table.selected(), session);
        }
        Ok(true)
    }

    fn act(&mut self, _: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        if let Some(time) = self.table.selected().and_then(|row| self.content.target(row)) {
            session.tab.set_time(time, None);
        }
        Ok(Reply::Done)
    }

    fn has_named_rows(&self) -> bool {
        true
    }

    fn find_row(&mut self, query: &RowQuery, step: Step, session: &mut Session) -> Option<Found> {
        let found = self.table.find(query, step)?;
        self.content.select(self.table.selected(), session);
        Some(found)
    }

    fn sort_rows(&mut self) {
        self.table.set_order(self.table.order().next_of(&RowOrder::OF_TABLES));
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![("order", self.table.order().name().to_owned())]
    }

    fn restore(&mut self, name: &str, value: &str, _: &mut Session) -> Result<(), Fault> {
        if name == "order" {
            self.table.set_order(order_of(value)?);
        }
        Ok(())
    }

    fn selected_text(&self, _: &Session) -> Option<String> {
        self.table.selected_text()
    }

    fn contents(&self, _: &Session) -> Contents {
        Contents::Table(self.table.contents(C::NAME, C::COLUMNS))
    }

    fn note(&self, session: &Session) -> String {
        self.content.note(&self.table, session)
    }

    fn progress(&self) -> f64 {
        self.found.progress()
    }
}
