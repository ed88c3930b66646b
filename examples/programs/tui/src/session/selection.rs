//! The selected time range of a tab, and the times of columns on the screen.

use std::ops::Range;

use ltt_read::Timestamp;
use lttv_requests::views::TimeWindow;

use crate::session::Session;

impl Session {
    /// Selects the time range between two times, both included with the whole column that
    /// contains them.
    pub fn select_range(&mut self, one: Timestamp, other: Timestamp) {
        let axis = self.axis();
        let start_of = |time| axis.column(time).map_or(time, |column| axis.begin_of(column));
        let end_of = |time: Timestamp| match axis.column(time) {
            Some(column) => axis.begin_of(column + 1),
            None => Timestamp::from_ns(time.as_ns().saturating_add(1)),
        };
        let span = TimeWindow::covering(self.span());
        let start = start_of(one.min(other)).max(span.start());
        self.selection = TimeWindow::new(start, end_of(one.max(other)).min(span.end()));
    }

    /// Starts the selection of a range at the current time, which becomes the mark, or ends it.
    pub fn toggle_selection(&mut self) {
        self.selecting_from = match self.selecting_from {
            Some(_) => None,
            None => Some(self.tab.time()),
        };
        self.mark = self.selecting_from.or(self.mark);
    }

    /// Returns the mark: the time at which the last selection of a range has started.
    pub fn mark(&self) -> Option<Timestamp> {
        self.mark
    }

    /// Ends the selection of a range. The selected range stays.
    pub fn end_selection(&mut self) {
        self.selecting_from = None;
    }

    /// Clears the selected range.
    pub fn clear_selection(&mut self) {
        (self.selection, self.selecting_from, self.mark) = (None, None, None);
    }

    /// Extends the range that is being selected exactly to the current time.
    pub fn extend_selection(&mut self) {
        if let Some(from) = self.selecting_from {
            let to = self.tab.time();
            self.selection = TimeWindow::new(from.min(to), from.max(to));
        }
    }

    /// Shows exactly the selected time range. Returns `false` if none is selected.
    pub fn zoom_to_selection(&mut self) -> bool {
        let Some(selection) = self.selection else { return false };
        self.tab.set_window(selection, None);
        true
    }

    /// Multiplies the width of the time window by a factor. A time stays in its column.
    pub fn zoom_around(&mut self, factor: f64, time: Timestamp) {
        self.tab.set_window(self.tab.window().zoomed(factor, time), None);
    }

    /// Returns the time at the start of a column of charts, within the time window. Columns
    /// after the last one have its time.
    pub fn time_of_column(&self, column: u16) -> Timestamp {
        self.axis().begin_of(column.into()).min(self.last_time())
    }

    /// Returns the columns of charts that the selected time range covers at least in part.
    pub fn selected_columns(&self) -> Option<Range<usize>> {
        let (axis, window, selection) = (self.axis(), self.tab.window(), self.selection?);
        let start = selection.start().max(window.start());
        let last = selection.end().min(window.end()).as_ns().saturating_sub(1);
        let last = Timestamp::from_ns(last);
        (start <= last).then(|| Some(axis.column(start)?..axis.column(last)? + 1))?
    }
}
