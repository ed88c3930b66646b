//! Viewers: what the application requires of them, and the registry of their kinds.
//!
//! The application draws any number of viewers of each registered [kind](ViewerKind), in any
//! tab. Those of this crate are registered like others ([`view::kinds`](crate::view::kinds)).
//!
//! ```
//! use lttv_requests::SubmitError;
//! use lttv_tui::app::App;
//! use lttv_tui::keys::Key;
//! use lttv_tui::look::Look;
//! use lttv_tui::session::Session;
//! use lttv_tui::traceset_change::TracesetChange;
//! use lttv_tui::view::put;
//! use lttv_tui::viewer::{Pane, Reply, Viewer, ViewerAction, ViewerKind};
//! use ratatui::buffer::Buffer;
//! use ratatui::layout::Rect;
//!
//! /// The start of the time window.
//! #[derive(Debug, Default)]
//! struct Begin {
//!     is_exact: bool,
//! }
//!
//! impl Viewer for Begin {
//!     fn height(&self) -> (u16, u16) {
//!         (2, 0)
//!     }
//!
//!     fn reset(&mut self, _: &mut Session, _: &TracesetChange) {}
//!
//!     fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
//!         let ns = session.tab.window().start().as_ns();
//!         let text = if self.is_exact { format!("{ns} ns") } else { format!("{} s", ns / 1_000_000_000) };
//!         put(buffer, pane.area, pane.area.x, pane.area.y, &text, pane.look.heading());
//!     }
//!
//!     fn act(&mut self, action: &str, _: &mut Session) -> Result<Reply, SubmitError> {
//!         self.is_exact ^= action == "exact";
//!         Ok(Reply::Done)
//!     }
//! }
//!
//! let kind = ViewerKind::new("begin", "Begin", |_| Box::<Begin>::default())
//!     .summary("the start of the time window")
//!     .action(ViewerAction::new("exact", "show nanoseconds", [Key::char('e')]));
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
//! let mut app = App::new(Session::open(&[path])?, Look::Mono);
//! app.register(kind)?;
//! app.open_viewer("begin")?;
//! app.open_viewer("begin")?;
//! assert_eq!(app.kinds().instances("begin").len(), 2);
//! app.unregister("begin");
//! assert!(app.kinds().find("begin").is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::rc::Rc;

use lttv_common::table::Table;
use lttv_requests::{Notification, SubmitError};
use lttv_state::filter::KernelFilters;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::keys::Move;
use crate::look::Look;
use crate::model::row_search::{Found, RowQuery, Step};
use crate::session::Session;
use crate::text::popup::Popup;
use crate::traceset_change::TracesetChange;

mod instance;
mod kind;
mod kinds;

pub use crate::model::fault::Fault;
pub(crate) use instance::Instance;
pub use instance::{InstanceId, Setup};
pub use kind::{ViewerAction, ViewerKind};
pub use kinds::{KindError, ViewerKinds};

/// A viewer of a tab.
pub trait Viewer: fmt::Debug {
    /// Returns the least number of lines that it needs, heading included, and the weight of
    /// its share of the remaining lines.
    fn height(&self) -> (u16, u16);

    /// Updates the viewer for changes of the session and submits requests for missing data.
    /// Called before each frame, with the area below the heading.
    ///
    /// # Errors
    ///
    /// If a request is refused.
    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        let _ = (session, area);
        Ok(())
    }

    /// Receives a notification that the viewer has requested from the background of the session's
    /// scheduler, by one of its owners ([`Background::notify`](lttv_requests::Background::notify)).
    ///
    /// The viewer shows what it has until then. If the traces change, it requests the
    /// notification again after [`reset`](Self::reset).
    fn notified(&mut self, notification: Notification, session: &mut Session) {
        let _ = (notification, session);
    }

    /// Takes note that the traces of the tab have grown. `slides` is `true` if the time window has
    /// moved to what is new. Requests that [wait](lttv_requests::EventsRequest::waiting) go on by
    /// themselves.
    ///
    /// # Errors
    ///
    /// If a request is refused.
    fn grow(&mut self, session: &mut Session, slides: bool) -> Result<(), SubmitError> {
        let _ = (session, slides);
        Ok(())
    }

    /// Takes note that the user has stopped all requests of the tab, which were cancelled. The
    /// viewer requests nothing until the user moves in it or changes what it shows, or until
    /// [`resume`](Self::resume).
    fn stop(&mut self, session: &mut Session) {
        let _ = session;
    }

    /// Requests the data that is missing, after [`stop`](Self::stop).
    ///
    /// # Errors
    ///
    /// If a request is refused.
    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        let _ = session;
        Ok(())
    }

    /// Drops all data, since the traces of the tab have changed. The requests of the viewer were
    /// cancelled; the next [`update`](Self::update) requests the data again.
    fn reset(&mut self, session: &mut Session, change: &TracesetChange);

    /// Draws the viewer below its heading.
    fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer);

    /// Returns the content at a point, for the mouse. `area` is the area below the heading.
    ///
    /// A click on a row calls [`go`](Self::go) with [`Move::To`], and the wheel over a row
    /// [`Move::View`]. Over a chart, clicks, drags and the wheel act on the session.
    fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        let _ = (session, area, at);
        Spot::default()
    }

    /// Moves the selection while the viewer has the focus. Returns `true` if it can be moved.
    ///
    /// # Errors
    ///
    /// If a request is refused.
    fn go(&mut self, to: Move, session: &mut Session) -> Result<bool, SubmitError> {
        let _ = (to, session);
        Ok(false)
    }

    /// Returns `true` if the viewer has rows with names, which can be found and sorted.
    fn has_named_rows(&self) -> bool {
        false
    }

    /// Selects a row that matches what the user searches for, from the selected row on. A row
    /// that is hidden becomes visible. `None` if no row matches.
    fn find_row(&mut self, query: &RowQuery, step: Step, session: &mut Session) -> Option<Found> {
        let _ = (query, step, session);
        None
    }

    /// Sorts the rows in the next order.
    fn sort_rows(&mut self) {}

    /// Performs an action of the viewer's kind, given its name.
    ///
    /// # Errors
    ///
    /// If a request is refused.
    fn act(&mut self, action: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        let _ = (action, session);
        Ok(Reply::Done)
    }

    /// Accepts the answer to the question of an action.
    ///
    /// # Errors
    ///
    /// If the answer is not valid. The question stays open then.
    fn answer(&mut self, action: &str, text: &str, session: &mut Session) -> Result<(), Fault> {
        let _ = (action, text, session);
        Ok(())
    }

    /// Returns the settings that a layout keeps: names and values.
    fn settings(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Restores a setting of a layout. The layout may be of another version of the viewer, so
    /// names may be unknown.
    ///
    /// # Errors
    ///
    /// If the value is not valid. The setting stays as it was.
    fn restore(&mut self, name: &str, value: &str, session: &mut Session) -> Result<(), Fault> {
        let _ = (name, value, session);
        Ok(())
    }

    /// Returns the text in its heading after the title.
    fn note(&self, session: &Session) -> String {
        let _ = session;
        String::new()
    }

    /// Returns what can be written to a file, apart from a picture.
    fn contents(&self, session: &Session) -> Contents {
        let _ = session;
        Contents::Picture
    }

    /// Returns the selected row as text, which the user can copy; `None` if there is none.
    fn selected_text(&self, session: &Session) -> Option<String> {
        let _ = session;
        None
    }

    /// Returns a message for the last line of the screen.
    fn message(&self, session: &Session) -> Option<String> {
        let _ = session;
        None
    }

    /// Returns a line about the selected row at the current time, for the last line of the
    /// screen while there is no message.
    fn detail(&self, session: &Session) -> Option<String> {
        let _ = session;
        None
    }

    /// Returns the part of its data that is available, from 0 to 1.
    fn progress(&self) -> f64 {
        1.0
    }
}

/// The place in which a viewer is drawn.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Pane {
    /// The area below the heading.
    pub area: Rect,
    /// The colours of the terminal.
    pub look: Look,
    /// `true` if the viewer has the focus.
    pub has_focus: bool,
}

/// The content at a point of a viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Spot {
    /// The index of the row at the point.
    pub row: Option<usize>,
    /// The column of the chart at the point.
    pub column: Option<u16>,
    /// `true` for the divider between labels and charts.
    pub is_divider: bool,
}

impl Spot {
    /// Creates the spot of a row, if there is one.
    pub fn of_row(row: Option<usize>) -> Self {
        Spot { row, ..Spot::default() }
    }

    /// Sets the row, if there is one.
    #[must_use]
    pub fn in_row(self, row: Option<usize>) -> Self {
        Spot { row, ..self }
    }
}

/// The contents of a viewer for a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Contents {
    /// Only the picture on the screen.
    Picture,
    /// A table.
    Table(Table),
    /// The events of the time window that pass all of these filters.
    Events(Vec<Rc<KernelFilters>>),
}

/// The result of an action of a viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// The action was performed.
    Done,
    /// A text is shown over the viewers until the user closes it.
    Show(Popup),
    /// The user enters a line of text, which [`Viewer::answer`] accepts.
    Ask {
        /// The text before the line.
        title: &'static str,
        /// The line to edit.
        text: String,
        /// `true` if the line is a filter.
        is_filter: bool,
    },
}

/// Parses the value of a setting that is on or off: `true` or `false`.
///
/// # Errors
///
/// If it is another text.
pub fn switch(value: &str) -> Result<bool, Fault> {
    value.parse().map_err(|_| Fault::new(format!("`{value}` is neither true nor false")))
}
