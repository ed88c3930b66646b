//! The columns of a chart's row.

use lttv_common::paint::Paint;
use lttv_requests::views::Segment;

use super::axis::Axis;

/// One column of a row: the active state with the most time in it, or the inactive state
/// with the most time if there is no active one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The paint of the state.
    pub paint: Paint,
    /// The share of active time in 255ths, rounded up; 0 if none was active.
    pub share: u8,
}

/// Computes the cells of segments. `paint` returns the paint of a state; `None` for states
/// that are not drawn.
pub fn cells<S: Copy>(
    segments: impl Iterator<Item = Segment<S>>,
    paint: impl Fn(S) -> Option<Paint>,
    axis: Axis,
) -> Vec<Option<Cell>> {
    let mut cells = vec![None; axis.columns()];
    let mut column = Column::default();
    let window = axis.window();
    for segment in segments {
        let Some(paint) = paint(segment.state) else { continue };
        let end = segment.end.min(window.end());
        let mut begin = segment.start.max(window.start());
        let Some(first) = axis.column(begin) else { continue };
        for at in first.. {
            if begin >= end {
                break;
            }
            if at != column.at {
                column.put(axis.step(), &mut cells);
                column = Column { at, ..Column::default() };
            }
            let until = end.min(axis.begin_of(at + 1));
            column.add(paint, until.as_ns().abs_diff(begin.as_ns()), &segment);
            begin = until;
        }
    }
    column.put(axis.step(), &mut cells);
    cells
}

/// The times in one column, in ns.
#[derive(Debug, Clone, Copy, Default)]
struct Column {
    /// The index of the column.
    at: usize,
    /// The time of each paint, by [`Paint::index`].
    spent: [u64; Paint::ALL.len()],
    /// The active time.
    active: u64,
}

impl Column {
    /// Adds `time` ns of a segment.
    fn add<S>(&mut self, paint: Paint, time: u64, of: &Segment<S>) {
        let length = of.length();
        let active = match of.active {
            0 => 0,
            active if active == length => time,
            active => (u128::from(active) * u128::from(time) / u128::from(length)) as u64,
        };
        self.active = self.active.saturating_add(active);
        // At least 1, so that short activity is visible.
        let share = if of.active > 0 { active.max(1) } else { time };
        self.spent[paint.index()] = self.spent[paint.index()].saturating_add(share);
    }

    /// Stores the cell of the column.
    fn put(&self, width: u64, cells: &mut [Option<Cell>]) {
        let Some(cell) = cells.get_mut(self.at) else { return };
        // The inactive and the active state with the most time.
        let mut most = [None; 2];
        for (paint, time) in Paint::ALL.into_iter().zip(self.spent) {
            let most = &mut most[usize::from(paint.is_active())];
            if time > 0 && time >= most.map_or(0, |(time, _)| time) {
                *most = Some((time, paint));
            }
        }
        let share = (u128::from(self.active) * 255).div_ceil(u128::from(width.max(1))).min(255);
        let [waited, worked] = most.map(|most| most.map(|(_, paint)| paint));
        let worked = worked.map(|paint| Cell { paint, share: (share as u8).max(1) });
        *cell = worked.or_else(|| waited.map(|paint| Cell { paint, share: 0 }));
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::Timestamp;
    use lttv_requests::views::{SegmentState, TimeWindow, Timeline};

    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Is(Paint);

    impl SegmentState for Is {
        fn is_active(self) -> bool {
            self.0.is_active()
        }
    }

    fn drawn(states: &[(i64, Option<Paint>)]) -> Vec<Option<Cell>> {
        let at = Timestamp::from_ns;
        let window = TimeWindow::new(at(0), at(30)).unwrap();
        let mut timeline = Timeline::new(window, 10);
        for (time, paint) in states {
            match paint {
                Some(paint) => timeline.set((), at(*time), Is(*paint)),
                None => timeline.end(&(), at(*time)),
            }
        }
        timeline.know(window.end());
        cells(timeline.rows()[0].segments(), |is| Some(is.0), Axis::new(window, 3))
    }

    #[test]
    fn the_active_state_with_the_most_time_is_shown() {
        let found = drawn(&[
            (-5, Some(Paint::Wait)),
            (2, Some(Paint::User)),
            (4, Some(Paint::Syscall)),
            (5, Some(Paint::Wait)),
        ]);
        let wait = Some(Cell { paint: Paint::Wait, share: 0 });
        assert_eq!(found, [Some(Cell { paint: Paint::User, share: 77 }), wait, wait]);
    }

    #[test]
    fn nothing_is_shown_before_the_start_and_after_the_end() {
        let found = drawn(&[(10, Some(Paint::User)), (20, None)]);
        let user = Some(Cell { paint: Paint::User, share: 255 });
        assert_eq!(found, [None, user, None]);
    }
}
