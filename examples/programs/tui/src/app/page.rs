//! A tab with its viewers.

use ltt_read::Timestamp;
use lttv_context::Traceset;
use lttv_requests::SubmitError;
use lttv_requests::views::TimeWindow;
use lttv_state::kernel::KernelState;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::layout::SavedViewer;
use crate::look::Look;
use crate::session::Session;
use crate::traceset_change::TracesetChange;
use crate::view::put;
use crate::viewer::{Instance, InstanceId, KindError, Pane, ViewerKinds};

/// The viewers of a new tab that are visible, and those that are hidden at first, if any trace
/// is one of a kernel.
const OF_KERNEL: [&[&str]; 2] = [
    &["events", "control-flow", "resources", "histogram"],
    &["statistics", "interrupts", "disks", "threads"],
];
/// The visible and the hidden viewers of a new tab of user-space traces.
const OF_USER_SPACE: [&[&str]; 2] = [
    &["events", "threads", "histogram"],
    &["statistics", "control-flow", "resources", "interrupts", "disks"],
];
/// The visible and the hidden viewers of a new tab of traces with calls of functions.
const OF_CALLS: [&[&str]; 2] = [
    &["events", "calls", "threads"],
    &["histogram", "statistics", "control-flow", "resources", "interrupts", "disks"],
];

/// The least width of charts to which the user can move the divider, in columns.
const LEAST_CHART: u16 = 10;

/// A tab with its viewers, from top to bottom.
#[derive(Debug)]
pub(super) struct TabPage {
    pub(super) session: Session,
    pub(super) viewers: Vec<Instance>,
    /// The index of the viewer with the focus.
    pub(super) focus: usize,
    /// `true` if only the viewer with the focus is visible.
    pub(super) is_maximised: bool,
    /// The viewers of its layout whose kinds are not known, with their indices.
    pub(super) kept: Vec<(usize, SavedViewer)>,
}

/// Returns `true` if a trace declares entries of functions.
fn has_calls(traceset: &Traceset) -> bool {
    let types = traceset.traces().iter().flat_map(|trace| &trace.schema().event_types);
    types.into_iter().any(|of| of.name().ends_with(":func_entry"))
}

impl TabPage {
    /// Creates a tab with one viewer of each kind of this crate that is registered.
    pub(super) fn new(mut session: Session, kinds: &mut ViewerKinds) -> Self {
        let mut viewers = Vec::new();
        let mut traces = session.traceset().traces().iter();
        let [shown, hidden] = match traces.any(|trace| KernelState::follows(trace)) {
            true => OF_KERNEL,
            false if has_calls(session.traceset()) => OF_CALLS,
            false => OF_USER_SPACE,
        };
        for (names, is_shown) in [(shown, true), (hidden, false)] {
            for name in names {
                if let Ok(mut instance) = kinds.open(name, &mut session) {
                    instance.is_shown = is_shown;
                    viewers.push(instance);
                }
            }
        }
        TabPage { session, viewers, focus: 1, is_maximised: false, kept: Vec::new() }
    }

    /// Closes all viewers.
    pub(super) fn close(mut self, kinds: &mut ViewerKinds) {
        for instance in self.viewers.drain(..) {
            kinds.close(instance, &mut self.session);
        }
    }

    /// Opens a viewer below the one with the focus, and moves the focus to it.
    pub(super) fn open(
        &mut self,
        name: &str,
        kinds: &mut ViewerKinds,
    ) -> Result<InstanceId, KindError> {
        let instance = kinds.open(name, &mut self.session)?;
        let id = instance.id();
        self.focus = (self.focus + 1).min(self.viewers.len());
        self.viewers.insert(self.focus, instance);
        Ok(id)
    }

    /// Closes the viewers for which a predicate holds.
    pub(super) fn close_where(
        &mut self,
        kinds: &mut ViewerKinds,
        is_meant: impl Fn(&Instance) -> bool,
    ) {
        let focus = self.viewers.get(self.focus).map(Instance::id);
        let closed: Vec<_> = self.viewers.extract_if(.., |instance| is_meant(instance)).collect();
        for instance in closed {
            kinds.close(instance, &mut self.session);
        }
        match self.viewers.iter().position(|instance| Some(instance.id()) == focus) {
            Some(at) => self.focus = at,
            None => {
                self.focus = self.focus.min(self.viewers.len().saturating_sub(1));
                self.is_maximised = false;
                if self.focused().is_some_and(|instance| !instance.is_shown) {
                    self.move_focus(1);
                }
            }
        }
    }

    /// Returns the viewer with the focus; `None` if there are no viewers.
    pub(super) fn focused(&self) -> Option<&Instance> {
        self.viewers.get(self.focus)
    }

    /// Moves the focus by this many visible viewers.
    pub(super) fn move_focus(&mut self, by: isize) {
        let shown: Vec<usize> =
            (0..self.viewers.len()).filter(|at| self.viewers[*at].is_shown).collect();
        let at = shown.iter().position(|at| *at == self.focus).unwrap_or(0) as isize;
        let next = (at + by).rem_euclid(shown.len().max(1) as isize) as usize;
        self.focus = shown.get(next).copied().unwrap_or(self.focus);
    }

    /// Moves the viewer with the focus by this many visible viewers, if there are so many.
    pub(super) fn move_viewer(&mut self, by: isize) {
        let shown: Vec<usize> =
            (0..self.viewers.len()).filter(|at| self.viewers[*at].is_shown).collect();
        let at = shown.iter().position(|at| *at == self.focus);
        let target = at.and_then(|at| at.checked_add_signed(by)).and_then(|to| shown.get(to));
        let Some(target) = target.copied() else { return };
        let moved = self.viewers.remove(self.focus);
        self.viewers.insert(target, moved);
        self.focus = target;
    }

    /// Shows or hides a viewer.
    pub(super) fn toggle(&mut self, number: usize) {
        let Some(instance) = self.viewers.get_mut(number) else { return };
        instance.is_shown = !instance.is_shown;
        if instance.is_shown {
            self.focus = number;
        } else if self.focus == number {
            self.move_focus(1);
        }
    }

    /// Returns `true` if a viewer is visible, as far as there is space.
    fn is_visible(&self, at: usize) -> bool {
        match self.is_maximised {
            true => at == self.focus,
            false => self.viewers[at].is_shown,
        }
    }

    /// Iterates over the visible viewers, from top to bottom, and their indices.
    pub(super) fn visible(&self) -> impl Iterator<Item = (usize, &Instance)> {
        self.viewers.iter().enumerate().filter(|(at, _)| self.is_visible(*at))
    }

    /// Returns the visible viewers with their areas, headings included.
    pub(super) fn areas(&self, area: Rect) -> Vec<(usize, Rect)> {
        let mut shown: Vec<usize> = self.visible().map(|(at, _)| at).collect();
        let least = |at: usize| self.viewers[at].viewer.height().0;
        // If space is short, hide viewers from the end, except for the one with the focus.
        while shown.iter().map(|at| least(*at)).sum::<u16>() > area.height {
            let Some(last) = shown.iter().rposition(|at| *at != self.focus) else { break };
            shown.remove(last);
        }
        let weights: u16 = shown.iter().map(|at| self.viewers[*at].viewer.height().1).sum();
        let used: u16 = shown.iter().map(|at| least(*at)).sum();
        let spare = area.height.saturating_sub(used);
        let mut areas = Vec::new();
        let (mut y, mut weight) = (area.y, 0);
        for at in shown {
            let share =
                |weight: u16| u32::from(spare) * u32::from(weight) / u32::from(weights.max(1));
            let before = share(weight);
            weight += self.viewers[at].viewer.height().1;
            let height = least(at) + (share(weight) - before) as u16;
            let height = height.min(area.bottom().saturating_sub(y));
            areas.push((at, Rect { y, height, ..area }));
            y += height;
        }
        areas
    }

    /// Updates all visible viewers.
    pub(super) fn update(&mut self, area: Rect) -> Result<(), SubmitError> {
        let usual = match area.width {
            200.. => 96,
            130.. => 50,
            100.. => 44,
            70.. => 28,
            40.. => 16,
            16.. => 8,
            _ => 0,
        };
        let most = area.width.saturating_sub(LEAST_CHART);
        self.session.label_width = self.session.divider.map_or(usual, |chosen| chosen.min(most));
        self.session.chart_width = area.width.saturating_sub(self.session.label_width).max(1);
        for (at, area) in self.areas(area) {
            self.viewers[at].viewer.update(&mut self.session, below_heading(area))?;
        }
        if self.viewers.iter().any(|instance| instance.is_stopped) {
            // A movement or another time window has led to new requests.
            let owners = self.session.busy_owners();
            let stopped = self.viewers.iter_mut().filter(|instance| instance.is_busy(&owners));
            stopped.for_each(|instance| instance.is_stopped = false);
        }
        Ok(())
    }

    /// Returns the time window and the current time.
    pub(super) fn place(&self) -> (TimeWindow, Timestamp) {
        (self.session.tab.window(), self.session.tab.time())
    }

    /// Lets the time window stay if the user has moved it, or the current time. A change of the
    /// width lets it slide on.
    pub(super) fn stay_if_moved(&mut self, before: Option<(TimeWindow, Timestamp)>) {
        let Some((window, time)) = before.filter(|_| self.session.slides()) else { return };
        let now = self.place();
        if now.1 != time || now.0.width() == window.width() && now.0 != window {
            self.session.slide(false);
        }
    }

    /// Fetches what was recorded. Returns `true` if the traces have grown.
    pub(super) fn grow(&mut self) -> Result<bool, SubmitError> {
        let Some(grown) = self.session.grow() else { return Ok(false) };
        for instance in &mut self.viewers {
            instance.viewer.grow(&mut self.session, grown.slides)?;
        }
        Ok(true)
    }

    /// Passes notifications of the background to the viewers that have requested them.
    pub(super) fn deliver(&mut self) {
        for notification in self.session.take_notifications() {
            let owner = notification.owner;
            let viewer = self.viewers.iter_mut().find(|instance| instance.has_owner(owner));
            if let Some(instance) = viewer {
                instance.viewer.notified(notification, &mut self.session);
            }
        }
    }

    /// Stops all requests. Returns `false` if there were none.
    pub(super) fn stop(&mut self) -> bool {
        let is_searching = self.session.search_direction().is_some();
        let owners = self.session.stop();
        for instance in &mut self.viewers {
            if instance.is_busy(&owners) {
                instance.is_stopped = true;
                instance.viewer.stop(&mut self.session);
            }
        }
        is_searching || !owners.is_empty()
    }

    /// Continues what was stopped. Returns `false` if nothing was.
    pub(super) fn resume(&mut self) -> Result<bool, SubmitError> {
        let mut has_resumed = self.session.resume_search()?;
        for instance in &mut self.viewers {
            if std::mem::take(&mut instance.is_stopped) {
                instance.viewer.resume(&mut self.session)?;
                has_resumed = true;
            }
        }
        Ok(has_resumed)
    }

    /// Lets all viewers drop their data after a change of the traces.
    pub(super) fn reset(&mut self, change: &TracesetChange) {
        for instance in &mut self.viewers {
            instance.is_stopped = false;
            instance.viewer.reset(&mut self.session, change);
        }
    }

    /// Returns the message of a visible viewer, preferably of the one with the focus.
    pub(super) fn message(&self) -> Option<String> {
        let focused = self.visible().filter(|(at, _)| *at == self.focus);
        let others = self.visible().filter(|(at, _)| *at != self.focus);
        focused.chain(others).find_map(|(_, instance)| instance.viewer.message(&self.session))
    }

    /// Returns the line of a visible viewer about its selected row, preferably of the one with
    /// the focus.
    pub(super) fn detail(&self) -> Option<String> {
        let focused = self.visible().filter(|(at, _)| *at == self.focus);
        let others = self.visible().filter(|(at, _)| *at != self.focus);
        focused.chain(others).find_map(|(_, instance)| instance.viewer.detail(&self.session))
    }

    /// Draws the headings and viewers.
    pub(super) fn draw(&self, look: Look, area: Rect, buffer: &mut Buffer) {
        if self.viewers.is_empty() {
            put(buffer, area, area.x + 1, area.y, "no viewers: v opens one", look.heading());
        }
        for (at, area) in self.areas(area) {
            let (instance, has_focus) = (&self.viewers[at], at == self.focus);
            let viewer = &instance.viewer;
            let style = if has_focus { look.focus() } else { look.heading() };
            let line = Rect { height: area.height.min(1), ..area };
            let title = format!(" {} {} ", at + 1, instance.kind().title());
            let x = put(buffer, line, line.x, line.y, &title, style);
            let x = put(buffer, line, x + 1, line.y, &viewer.note(&self.session), look.faint());
            let percent = format!("{:.0} %", viewer.progress() * 100.0);
            let progress = match (instance.is_stopped, viewer.progress() < 1.0) {
                (true, true) => format!("stopped at {percent}: incomplete, r continues"),
                (true, false) => "stopped: incomplete, r continues".to_owned(),
                (false, true) => percent,
                (false, false) => String::new(),
            };
            put(buffer, line, x + 2, line.y, &progress, look.heading());
            let area = below_heading(area);
            if area.height > 0 {
                viewer.draw(&self.session, Pane { area, look, has_focus }, buffer);
            }
        }
    }
}

/// Returns the area of a viewer without its heading.
pub(super) fn below_heading(area: Rect) -> Rect {
    Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
}
