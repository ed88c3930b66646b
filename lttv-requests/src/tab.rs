//! What viewers of one traceset show in common.

use ltt_read::Timestamp;
use lttv_context::attributes::Attributes;
use lttv_context::{Generation, StalePosition, TimeSpan, TracesetPosition};

use crate::window::TimeWindow;

/// What viewers of one traceset show in common: the time window, the current time
/// and position, the filter. It keeps them consistent, and tells every viewer what
/// others have changed.
///
/// It is a plain value that knows no user interface. A viewer that changes
/// something names itself, and is not told of that. Viewers look what has changed
/// when it suits them ([`take_changes`](Self::take_changes)), or the application
/// tells them ([`deliver`](Self::deliver)); what they report while they are told
/// does not count, so that changes cannot call for each other without end.
///
/// `F` is what a filter is to the application: its text, say.
///
/// ```
/// use lttv_context::{TracesetContext, Traceset};
/// use lttv_requests::Tab;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let context = TracesetContext::new(Traceset::open(path)?);
/// let mut tab: Tab<String> = Tab::new(context.traceset().generation(), context.contexts().time_span());
/// let (list, chart) = (tab.add_viewer(), tab.add_viewer());
/// let before = tab.window();
/// tab.zoom(0.5, Some(list));
///
/// assert!(tab.take_changes(list).is_none());
/// let changes = tab.take_changes(chart);
/// assert_eq!(changes.window, Some(before)); // what overlaps need not be drawn anew
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tab<F> {
    traceset: Generation,
    span: Option<TimeSpan>,
    window: TimeWindow,
    time: Timestamp,
    position: Option<TracesetPosition>,
    filter: Option<F>,
    divider: f64,
    attributes: Attributes,
    viewers: Vec<Option<Changes>>,
    /// While viewers are told of changes.
    is_delivering: bool,
}

/// A viewer of a [`Tab`]: valid there only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ViewerId(usize);

/// What has changed since a viewer looked last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Changes {
    /// If the time window has: what it was when the viewer looked.
    pub window: Option<TimeWindow>,
    /// Whether the current time has.
    pub time: bool,
    /// Whether the current position has.
    pub position: bool,
    /// Whether the filter has.
    pub filter: bool,
    /// Whether the divider has.
    pub divider: bool,
    /// Whether the traceset has: what was drawn means nothing any more.
    pub traceset: bool,
    /// Whether somebody wants everything drawn anew.
    pub redraw: bool,
}

impl Changes {
    /// Whether nothing has.
    pub fn is_none(&self) -> bool {
        *self == Changes::default()
    }
}

/// The width of the first window, if there is more time than that: 1 s.
const FIRST_WIDTH: i64 = 1_000_000_000;
/// Where the divider is first.
const FIRST_DIVIDER: f64 = 0.25;

impl<F: PartialEq> Tab<F> {
    /// The first second of a traceset, of this generation and span.
    pub fn new(traceset: Generation, span: Option<TimeSpan>) -> Self {
        let begin = span.map_or(Timestamp::from_ns(0), |span| span.begin);
        Tab {
            traceset,
            span,
            window: first_window(span),
            time: begin,
            position: None,
            filter: None,
            divider: FIRST_DIVIDER,
            attributes: Attributes::new(),
            viewers: Vec::new(),
            is_delivering: false,
        }
    }

    /// Adds a viewer, to be told of changes from now on.
    pub fn add_viewer(&mut self) -> ViewerId {
        self.viewers.push(Some(Changes::default()));
        ViewerId(self.viewers.len() - 1)
    }

    /// Removes a viewer.
    pub fn remove_viewer(&mut self, viewer: ViewerId) {
        if let Some(changes) = self.viewers.get_mut(viewer.0) {
            *changes = None;
        }
    }

    /// What has changed since the last call for this viewer.
    pub fn take_changes(&mut self, viewer: ViewerId) -> Changes {
        self.viewers
            .get_mut(viewer.0)
            .and_then(Option::as_mut)
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Tells each viewer that has something to be told what has changed. Until all
    /// know, what they change themselves does not count: they follow, none leads.
    pub fn deliver(&mut self, mut tell: impl FnMut(&mut Self, ViewerId, Changes)) {
        if std::mem::replace(&mut self.is_delivering, true) {
            return;
        }
        for viewer in 0..self.viewers.len() {
            let changes = self.take_changes(ViewerId(viewer));
            if !changes.is_none() {
                tell(self, ViewerId(viewer), changes);
            }
        }
        self.is_delivering = false;
    }

    /// The span of the traceset.
    pub fn span(&self) -> Option<TimeSpan> {
        self.span
    }

    /// The time window.
    pub fn window(&self) -> TimeWindow {
        self.window
    }

    /// The current time.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// The current position, if it is known that exactly.
    pub fn position(&self) -> Option<&TracesetPosition> {
        self.position.as_ref()
    }

    /// The filter.
    pub fn filter(&self) -> Option<&F> {
        self.filter.as_ref()
    }

    /// Shows another time window, as far as it is in the traceset's span.
    pub fn set_window(&mut self, window: TimeWindow, by: Option<ViewerId>) {
        let window = self.span.map_or(window, |span| window.clamped(span));
        if window == self.window || self.is_delivering {
            return;
        }
        let before = std::mem::replace(&mut self.window, window);
        self.tell(by, |changes| _ = changes.window.get_or_insert(before));
    }

    /// Makes the window so many times as wide, around the current time; around its
    /// middle, if that is outside.
    pub fn zoom(&mut self, factor: f64, by: Option<ViewerId>) {
        let middle = self.window.begin().ns().saturating_add_unsigned(self.window.width() / 2);
        let is_inside = self.window.contains(self.time);
        let around = if is_inside { self.time } else { Timestamp::from_ns(middle) };
        self.set_window(self.window.zoomed(factor, around), by);
    }

    /// Moves the window by so many times its width, back if that is negative.
    pub fn scroll(&mut self, widths: f64, by: Option<ViewerId>) {
        self.set_window(self.window.scrolled(widths), by);
    }

    /// Shows all of the traceset.
    pub fn fit(&mut self, by: Option<ViewerId>) {
        if let Some(span) = self.span {
            self.set_window(TimeWindow::of(span), by);
        }
    }

    /// Goes to a time. The position is not known then. If it is not in the window,
    /// that moves to have it in the middle.
    pub fn set_time(&mut self, time: Timestamp, by: Option<ViewerId>) {
        if self.is_delivering {
            return;
        }
        let is_new = self.time != time;
        self.time = time;
        if is_new {
            self.tell(by, |changes| changes.time = true);
        }
        if self.position.take().is_some() {
            self.tell(by, |changes| changes.position = true);
        }
        self.show_time(by);
    }

    /// Goes to a position, and to its time.
    ///
    /// # Errors
    ///
    /// If it is of another traceset; then nothing changes.
    pub fn set_position(
        &mut self,
        position: &TracesetPosition,
        by: Option<ViewerId>,
    ) -> Result<(), StalePosition> {
        if position.generation() != self.traceset {
            return Err(StalePosition { position: position.generation(), traceset: self.traceset });
        }
        if self.position.as_ref() == Some(position) || self.is_delivering {
            return Ok(());
        }
        let end = self.span.map_or(self.time, |span| span.end);
        let time = position.time().unwrap_or(end);
        if std::mem::replace(&mut self.time, time) != time {
            self.tell(by, |changes| changes.time = true);
        }
        self.position = Some(position.clone());
        self.tell(by, |changes| changes.position = true);
        self.show_time(by);
        Ok(())
    }

    /// Shows only what passes a filter, or everything again.
    pub fn set_filter(&mut self, filter: Option<F>, by: Option<ViewerId>) {
        if self.filter != filter && !self.is_delivering {
            self.filter = filter;
            self.tell(by, |changes| changes.filter = true);
        }
    }

    /// Where viewers that have a list on the left and a chart on the right divide
    /// their width, so that their charts are below each other: from 0 to 1.
    pub fn divider(&self) -> f64 {
        self.divider
    }

    /// Moves the divider of all viewers.
    pub fn set_divider(&mut self, part: f64, by: Option<ViewerId>) {
        let part = if part.is_nan() { FIRST_DIVIDER } else { part.clamp(0.0, 1.0) };
        if part != self.divider && !self.is_delivering {
            self.divider = part;
            self.tell(by, |changes| changes.divider = true);
        }
    }

    /// What else viewers have in common, or keep from one session to the next:
    /// whatever they agree upon. Nobody is told of changes.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The same, to be changed.
    pub fn attributes_mut(&mut self) -> &mut Attributes {
        &mut self.attributes
    }

    /// Another traceset is shown. Window and time are kept as far as they are in its
    /// span, the position is not.
    pub fn set_traceset(&mut self, traceset: Generation, span: Option<TimeSpan>) {
        let had_none = self.span.is_none();
        (self.traceset, self.span) = (traceset, span);
        self.tell(None, |changes| changes.traceset = true);
        if self.position.take().is_some() {
            self.tell(None, |changes| changes.position = true);
        }
        let window = if had_none { first_window(span) } else { self.window };
        self.set_window(window, None);
        let Some(span) = span else { return };
        let time = self.time.clamp(span.begin, span.end.max(span.begin));
        if std::mem::replace(&mut self.time, time) != time {
            self.tell(None, |changes| changes.time = true);
        }
    }

    /// Everything is to be drawn anew.
    pub fn redraw(&mut self, by: Option<ViewerId>) {
        if !self.is_delivering {
            self.tell(by, |changes| changes.redraw = true);
        }
    }

    fn show_time(&mut self, by: Option<ViewerId>) {
        if !self.window.contains(self.time) {
            self.set_window(self.window.centred(self.time), by);
        }
    }

    /// Notes a change for all viewers but the one that made it.
    fn tell(&mut self, by: Option<ViewerId>, note: impl Fn(&mut Changes)) {
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
    let begin = span.map_or(0, |span| span.begin.ns());
    let span = span
        .unwrap_or(TimeSpan { begin: Timestamp::from_ns(0), end: Timestamp::from_ns(FIRST_WIDTH) });
    let second = TimeSpan {
        begin: span.begin,
        end: Timestamp::from_ns(begin.saturating_add(FIRST_WIDTH - 1)),
    };
    TimeWindow::of(second).clamped(span)
}
