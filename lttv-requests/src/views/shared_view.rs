//! State that viewers of one traceset share.

use ltt_read::Timestamp;
use lttv_context::{Revision, StalePosition, TimeSpan, TracesetPosition};

use super::time_window::TimeWindow;

/// The state that viewers of one traceset share: the time window, the current time and
/// position, and the filter. It keeps them consistent, and notifies each viewer of
/// changes that others have made.
///
/// A shared view is a plain value without a user interface. A viewer that makes a change
/// passes its own id, and is not notified of that change. Viewers either poll their
/// changes ([`take_changes`](Self::take_changes)), or the application delivers them
/// ([`deliver`](Self::deliver)). Changes that viewers make during delivery are ignored,
/// so that changes cannot trigger each other without end.
///
/// The type `F` is the application's representation of a filter, such as its text.
///
/// ```
/// use lttv_context::{TracesetContext, Traceset};
/// use lttv_requests::views::SharedView;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let context = TracesetContext::new(Traceset::open(path)?);
/// let (traceset, span) = (context.traceset().revision(), context.contexts().time_span());
/// let mut view: SharedView<String> = SharedView::new(traceset, span);
/// let (list, chart) = (view.add_viewer(), view.add_viewer());
/// let before = view.window();
/// view.zoom(0.5, Some(list));
///
/// assert!(view.take_changes(list).is_none());
/// let changes = view.take_changes(chart);
/// assert_eq!(changes.window, Some(before)); // the overlap need not be drawn again
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SharedView<F> {
    traceset: Revision,
    span: Option<TimeSpan>,
    window: TimeWindow,
    time: Timestamp,
    position: Option<TracesetPosition>,
    filter: Option<F>,
    viewers: Vec<Option<Changes>>,
    /// `true` if [`deliver`](SharedView::deliver) is running.
    is_delivering: bool,
}

/// The id of a viewer, valid only for the [`SharedView`] that returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ViewerId(usize);

/// The changes since a viewer last took them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Changes {
    /// The previous time window, if the window has changed.
    pub window: Option<TimeWindow>,
    /// `true` if the current time has changed.
    pub time: bool,
    /// `true` if the current position has changed.
    pub position: bool,
    /// `true` if the filter has changed.
    pub filter: bool,
    /// `true` if the traceset has changed, so that everything drawn is outdated.
    pub traceset: bool,
    /// `true` if everything has to be drawn again.
    pub redraw: bool,
}

impl Changes {
    /// Returns `true` if nothing has changed.
    pub fn is_none(&self) -> bool {
        *self == Changes::default()
    }
}

/// The maximum width of the first window: 1 s.
const FIRST_WIDTH: i64 = 1_000_000_000;

impl<F: PartialEq> SharedView<F> {
    /// Creates a shared view of a traceset, given its revision and time span. The window
    /// covers the first second.
    pub fn new(traceset: Revision, span: Option<TimeSpan>) -> Self {
        let begin = span.map_or(Timestamp::from_ns(0), |span| span.start);
        SharedView {
            traceset,
            span,
            window: first_window(span),
            time: begin,
            position: None,
            filter: None,
            viewers: Vec::new(),
            is_delivering: false,
        }
    }

    /// Adds a viewer, which is notified of changes from now on.
    pub fn add_viewer(&mut self) -> ViewerId {
        self.viewers.push(Some(Changes::default()));
        ViewerId(self.viewers.len() - 1)
    }

    /// Removes a viewer. Its id is not used again.
    pub fn remove_viewer(&mut self, viewer: ViewerId) {
        if let Some(changes) = self.viewers.get_mut(viewer.0) {
            *changes = None;
        }
    }

    /// Returns the changes since the last call for a viewer, and clears them.
    pub fn take_changes(&mut self, viewer: ViewerId) -> Changes {
        self.viewers
            .get_mut(viewer.0)
            .and_then(Option::as_mut)
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Calls a function for each viewer that has changes. Changes that viewers make
    /// before all have been notified are ignored.
    pub fn deliver(&mut self, mut notify: impl FnMut(&mut Self, ViewerId, Changes)) {
        if std::mem::replace(&mut self.is_delivering, true) {
            return;
        }
        for viewer in 0..self.viewers.len() {
            let changes = self.take_changes(ViewerId(viewer));
            if !changes.is_none() {
                notify(self, ViewerId(viewer), changes);
            }
        }
        self.is_delivering = false;
    }

    /// Returns the time span of the traceset. `None` if it has no events.
    pub fn span(&self) -> Option<TimeSpan> {
        self.span
    }

    /// Returns the time window.
    pub fn window(&self) -> TimeWindow {
        self.window
    }

    /// Returns the current time.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// Returns the current position. `None` if only the current time is known.
    pub fn position(&self) -> Option<&TracesetPosition> {
        self.position.as_ref()
    }

    /// Returns the filter. `None` if all events are shown.
    pub fn filter(&self) -> Option<&F> {
        self.filter.as_ref()
    }

    /// Sets the time window, clamped to the traceset's span.
    pub fn set_window(&mut self, window: TimeWindow, by: Option<ViewerId>) {
        let window = self.span.map_or(window, |span| window.clamped(span));
        if window == self.window || self.is_delivering {
            return;
        }
        let before = std::mem::replace(&mut self.window, window);
        self.notify(by, |changes| _ = changes.window.get_or_insert(before));
    }

    /// Multiplies the width of the window by a factor, around the current time, or around
    /// the middle of the window if the current time is outside.
    pub fn zoom(&mut self, factor: f64, by: Option<ViewerId>) {
        let middle = self.window.start().as_ns().saturating_add_unsigned(self.window.width() / 2);
        let is_inside = self.window.contains(self.time);
        let around = if is_inside { self.time } else { Timestamp::from_ns(middle) };
        self.set_window(self.window.zoomed(factor, around), by);
    }

    /// Moves the window by a multiple of its width: backwards if the multiple is
    /// negative.
    pub fn scroll(&mut self, widths: f64, by: Option<ViewerId>) {
        self.set_window(self.window.scrolled(widths), by);
    }

    /// Sets the window to the whole span of the traceset.
    pub fn fit(&mut self, by: Option<ViewerId>) {
        if let Some(span) = self.span {
            self.set_window(TimeWindow::covering(span), by);
        }
    }

    /// Sets the current time, and clears the current position. If the time is outside of
    /// the window, the window is centred on it.
    pub fn set_time(&mut self, time: Timestamp, by: Option<ViewerId>) {
        if self.is_delivering {
            return;
        }
        let is_new = self.time != time;
        self.time = time;
        if is_new {
            self.notify(by, |changes| changes.time = true);
        }
        if self.position.take().is_some() {
            self.notify(by, |changes| changes.position = true);
        }
        self.show_time(by);
    }

    /// Sets the current position, and the current time to the time of the position.
    ///
    /// # Errors
    ///
    /// Returns an error if the position belongs to another traceset; the shared
    /// view is not changed then.
    pub fn set_position(
        &mut self,
        position: &TracesetPosition,
        by: Option<ViewerId>,
    ) -> Result<(), StalePosition> {
        if position.revision() != self.traceset {
            return Err(StalePosition { position: position.revision(), traceset: self.traceset });
        }
        if self.position.as_ref() == Some(position) || self.is_delivering {
            return Ok(());
        }
        let end = self.span.map_or(self.time, |span| span.end);
        let time = position.time().unwrap_or(end);
        if std::mem::replace(&mut self.time, time) != time {
            self.notify(by, |changes| changes.time = true);
        }
        self.position = Some(position.clone());
        self.notify(by, |changes| changes.position = true);
        self.show_time(by);
        Ok(())
    }

    /// Sets the filter, or removes it.
    pub fn set_filter(&mut self, filter: Option<F>, by: Option<ViewerId>) {
        if self.filter != filter && !self.is_delivering {
            self.filter = filter;
            self.notify(by, |changes| changes.filter = true);
        }
    }

    /// Sets the traceset. The window and time are clamped to its span, and the position
    /// is cleared.
    pub fn set_traceset(&mut self, traceset: Revision, span: Option<TimeSpan>) {
        let had_none = self.span.is_none();
        (self.traceset, self.span) = (traceset, span);
        self.notify(None, |changes| changes.traceset = true);
        if self.position.take().is_some() {
            self.notify(None, |changes| changes.position = true);
        }
        let window = if had_none { first_window(span) } else { self.window };
        self.set_window(window, None);
        let Some(span) = span else { return };
        let time = self.time.clamp(span.start, span.end.max(span.start));
        if std::mem::replace(&mut self.time, time) != time {
            self.notify(None, |changes| changes.time = true);
        }
    }

    /// Sets the time span of the traceset, which has grown. The window and the time stay.
    pub fn set_span(&mut self, span: TimeSpan) {
        self.span = Some(span);
    }

    /// Notifies all viewers that the filter has changed, for example because it was compiled again
    /// for a traceset that has grown.
    pub fn renew_filter(&mut self) {
        self.notify(None, |changes| changes.filter = true);
    }

    /// Requests that all viewers draw everything again.
    pub fn redraw(&mut self, by: Option<ViewerId>) {
        if !self.is_delivering {
            self.notify(by, |changes| changes.redraw = true);
        }
    }

    /// Centres the window on the current time if that is outside.
    fn show_time(&mut self, by: Option<ViewerId>) {
        if !self.window.contains(self.time) {
            self.set_window(self.window.centred(self.time), by);
        }
    }

    /// Records a change for all viewers except the one that made it.
    fn notify(&mut self, by: Option<ViewerId>, note: impl Fn(&mut Changes)) {
        for (viewer, changes) in self.viewers.iter_mut().enumerate() {
            if let Some(changes) = changes
                && by != Some(ViewerId(viewer))
            {
                note(changes);
            }
        }
    }
}

fn first_window(span: Option<TimeSpan>) -> TimeWindow {
    let begin = span.map_or(0, |span| span.start.as_ns());
    let span = span
        .unwrap_or(TimeSpan { start: Timestamp::from_ns(0), end: Timestamp::from_ns(FIRST_WIDTH) });
    let second = TimeSpan {
        start: span.start,
        end: Timestamp::from_ns(begin.saturating_add(FIRST_WIDTH - 1)),
    };
    TimeWindow::covering(second).clamped(span)
}
