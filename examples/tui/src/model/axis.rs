//! Columns of time.

use ltt_read::Timestamp;
use lttv_requests::TimeWindow;

/// A time window, divided into columns: no two differ by more than 1 ns in width.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_requests::TimeWindow;
/// use lttv_tui::model::axis::Axis;
///
/// let at = Timestamp::from_ns;
/// let window = TimeWindow::new(at(1_000), at(2_000)).expect("not empty");
/// let axis = Axis::new(window, 10);
/// assert_eq!(axis.column(at(1_250)), Some(2));
/// assert_eq!(axis.begin_of(2), 1_200);
/// assert_eq!(axis.column(at(2_000)), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    window: TimeWindow,
    columns: u16,
}

impl Axis {
    /// A window in at least one column.
    pub fn new(window: TimeWindow, columns: u16) -> Self {
        Axis { window, columns: columns.max(1) }
    }

    /// The window.
    pub fn window(self) -> TimeWindow {
        self.window
    }

    /// How many columns there are.
    pub fn columns(self) -> usize {
        self.columns.into()
    }

    /// The column of a time; `None` if it is not in the window.
    pub fn column(self, time: Timestamp) -> Option<usize> {
        self.window.contains(time).then(|| {
            let offset = u128::from(time.ns().abs_diff(self.window.begin().ns()));
            // The last column that does not begin behind the time.
            (((offset + 1) * u128::from(self.columns) - 1) / u128::from(self.window.width()))
                as usize
        })
    }

    /// The time, in ns, at which a column begins; that of the one behind the last
    /// is the window's end.
    pub fn begin_of(self, column: usize) -> i64 {
        let offset = u128::from(self.window.width()) * column.min(self.columns()) as u128;
        self.window.begin().ns().saturating_add_unsigned((offset / u128::from(self.columns)) as u64)
    }

    /// When columns begin, and the last one ends.
    pub fn bounds(self) -> Vec<i64> {
        (0..=self.columns()).map(|column| self.begin_of(column)).collect()
    }

    /// The column of another axis that shows the same time as one of this does in
    /// its middle.
    pub fn in_other(self, column: usize, other: Axis) -> Option<usize> {
        let (begin, end) = (self.begin_of(column), self.begin_of(column + 1));
        let middle = begin.saturating_add_unsigned(end.abs_diff(begin) / 2);
        other.column(Timestamp::from_ns(middle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_in_the_column_whose_bounds_are_around_it() {
        for (width, columns) in [(1, 1), (1, 7), (3, 7), (7, 3), (100, 9), (1000, 999)] {
            let at = Timestamp::from_ns;
            let axis = Axis::new(TimeWindow::new(at(-5), at(width - 5)).unwrap(), columns);
            for time in -5..width - 5 {
                let column = axis.column(at(time)).unwrap();
                let bounds = axis.begin_of(column)..axis.begin_of(column + 1);
                assert!(bounds.contains(&time), "{time} {column} {bounds:?} of {axis:?}");
            }
        }
    }
}
