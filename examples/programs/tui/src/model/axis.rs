//! Columns of time.

use ltt_read::Timestamp;
use lttv_requests::views::TimeWindow;

/// A time window divided into columns. All columns have the same width, a whole number of
/// nanoseconds, so that the last one may extend past the window.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_requests::views::TimeWindow;
/// use lttv_tui::model::axis::Axis;
///
/// let at = Timestamp::from_ns;
/// let window = TimeWindow::new(at(1_000), at(2_000)).expect("not empty");
/// let axis = Axis::new(window, 10);
/// assert_eq!((axis.step(), axis.column(at(1_250))), (100, Some(2)));
/// assert_eq!(axis.begin_of(2), at(1_200));
/// assert_eq!(axis.column(at(2_000)), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    window: TimeWindow,
    columns: u16,
    /// The width of a column, in ns.
    step: u64,
}

impl Axis {
    /// Creates an axis of a window with at least one column.
    pub fn new(window: TimeWindow, columns: u16) -> Self {
        let columns = columns.max(1);
        Axis { window, columns, step: window.width().div_ceil(columns.into()) }
    }

    /// Returns the time window of the axis.
    pub fn window(self) -> TimeWindow {
        self.window
    }

    /// Returns the number of columns.
    pub fn columns(self) -> usize {
        self.columns.into()
    }

    /// Returns the width of a column, in ns.
    pub fn step(self) -> u64 {
        self.step
    }

    /// Returns the column of a time; `None` if it is not in the window.
    pub fn column(self, time: Timestamp) -> Option<usize> {
        let offset = time.as_ns().abs_diff(self.window.start().as_ns());
        self.window.contains(time).then(|| (offset / self.step) as usize)
    }

    /// Returns the start of a column.
    pub fn begin_of(self, column: usize) -> Timestamp {
        let offset = self.step.saturating_mul(column as u64);
        Timestamp::from_ns(self.window.start().as_ns().saturating_add_unsigned(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_within_the_bounds_of_its_column() {
        for (width, columns) in [(1, 1), (1, 7), (3, 7), (7, 3), (100, 9), (1000, 999)] {
            let at = Timestamp::from_ns;
            let axis = Axis::new(TimeWindow::new(at(-5), at(width - 5)).unwrap(), columns);
            for time in (-5..width - 5).map(at) {
                let column = axis.column(time).unwrap();
                assert!(column < axis.columns(), "{time} {column}");
                let bounds = axis.begin_of(column)..axis.begin_of(column + 1);
                assert!(bounds.contains(&time), "{time} {column} {bounds:?} of {axis:?}");
            }
        }
    }
}
