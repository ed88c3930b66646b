//! A row of a chart: what something was doing, column by column.

use lttv_examples::palette::Paint;

use super::axis::Axis;

/// What is shown in a column of a row: the active state that took most of its
/// time, and how much of it was active; or, if none was, the other state that took
/// most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Which state.
    pub paint: Paint,
    /// Which part of the time was active, in 255ths, rounded up; 0 if none was.
    pub share: u8,
}

/// A row: cells up to where reading has come, and what is in progress there.
#[derive(Debug, Clone, Default)]
pub struct Strip {
    cells: Vec<Option<Cell>>,
    /// The state now, and since when; `None` before there is one.
    now: Option<(Paint, i64)>,
    /// How long each state took in the next column, in ns.
    spent: [u64; Paint::ALL.len()],
    /// Whether anything was active at all.
    is_active: bool,
}

impl Strip {
    /// The cells so far; fewer than columns while there is more to come.
    pub fn cells(&self) -> &[Option<Cell>] {
        &self.cells
    }

    /// Whether anything was active in it.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// Another state begins at a time, in ns, no earlier than the last one.
    #[inline]
    pub fn set(&mut self, bounds: &[i64], time: i64, paint: Paint) {
        if self.now.is_none_or(|(now, _)| now != paint) {
            self.advance(bounds, time);
            self.is_active |= paint.is_active();
            self.now = Some((paint, time.max(bounds.first().copied().unwrap_or(time))));
        }
    }

    /// Nothing is there any more from a time on.
    pub fn end(&mut self, bounds: &[i64], time: i64) {
        self.advance(bounds, time);
        self.now = None;
    }

    /// Fills all columns that end before a time, or at it.
    pub fn advance(&mut self, bounds: &[i64], time: i64) {
        loop {
            let column = self.cells.len();
            let Some(end) = bounds.get(column + 1).copied() else { return };
            if let Some((paint, since)) = &mut self.now {
                let until = end.min(time);
                if until > *since {
                    self.spent[paint.index()] += until.abs_diff(*since);
                    *since = until;
                }
            }
            if end > time {
                return;
            }
            let width = end.abs_diff(bounds[column]).max(1);
            let cell = cell(&self.spent, width).or_else(|| {
                // Nothing took any time, in a column that has none.
                self.now
                    .filter(|_| bounds[column] == end)
                    .map(|(paint, _)| Cell { paint, share: 0 })
            });
            self.spent = Default::default();
            self.cells.push(cell);
        }
    }

    /// The cells of an earlier picture, moved to where they are on another axis.
    pub fn moved(cells: &[Option<Cell>], from: Axis, to: Axis) -> Vec<Option<Cell>> {
        let cell = |column| *cells.get(to.in_other(column, from)?)?;
        (0..to.columns()).map(cell).collect()
    }
}

fn cell(spent: &[u64; Paint::ALL.len()], width: u64) -> Option<Cell> {
    let most = |active: bool| {
        let all = Paint::ALL.into_iter().filter(|paint| paint.is_active() == active);
        let all = all.map(|paint| (spent[paint.index()], paint)).filter(|(time, _)| *time > 0);
        all.max_by_key(|(time, _)| *time).map(|(_, paint)| paint)
    };
    let active = Paint::ALL.into_iter().filter(|paint| paint.is_active());
    let active: u64 = active.map(|paint| spent[paint.index()]).sum();
    let share = (u128::from(active) * 255).div_ceil(u128::from(width)).min(255) as u8;
    let paint = most(true).or_else(|| most(false))?;
    Some(Cell { paint, share })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: [i64; 4] = [0, 10, 20, 30];

    #[test]
    fn the_active_state_that_took_most_is_shown() {
        let mut strip = Strip::default();
        strip.set(&BOUNDS, -5, Paint::Wait);
        strip.set(&BOUNDS, 2, Paint::User);
        strip.set(&BOUNDS, 4, Paint::Syscall);
        strip.set(&BOUNDS, 5, Paint::Wait);
        strip.advance(&BOUNDS, 30);
        let wait = Some(Cell { paint: Paint::Wait, share: 0 });
        assert_eq!(strip.cells(), [Some(Cell { paint: Paint::User, share: 77 }), wait, wait]);
        assert!(strip.is_active());
    }

    #[test]
    fn nothing_is_shown_before_begin_and_after_end() {
        let mut strip = Strip::default();
        strip.set(&BOUNDS, 10, Paint::User);
        strip.end(&BOUNDS, 20);
        strip.advance(&BOUNDS, 30);
        let user = Some(Cell { paint: Paint::User, share: 255 });
        assert_eq!(strip.cells(), [None, user, None]);
    }
}
