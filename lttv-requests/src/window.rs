//! The time that viewers show.

use ltt_read::Timestamp;
use lttv_context::TimeSpan;

/// A stretch of time that viewers show: its begin belongs to it, its end does not.
/// It is never empty.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_context::TimeSpan;
/// use lttv_requests::TimeWindow;
///
/// let at = Timestamp::from_ns;
/// let window = TimeWindow::new(at(100), at(200)).expect("not empty");
/// assert_eq!(window.zoomed(0.5, at(150)), TimeWindow::new(at(125), at(175)).unwrap());
/// assert_eq!(window.scrolled(0.1), TimeWindow::new(at(110), at(210)).unwrap());
/// let span = TimeSpan { begin: at(0), end: at(205) };
/// assert_eq!(window.scrolled(0.1).clamped(span), TimeWindow::new(at(106), at(206)).unwrap());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeWindow {
    begin: i64,
    /// In ns, at least 1; the end is no later than the last time there is.
    width: u64,
}

impl TimeWindow {
    /// From a time up to another; `None` if that is not later.
    pub fn new(begin: Timestamp, end: Timestamp) -> Option<Self> {
        let (begin, end) = (begin.ns(), end.ns());
        (begin < end).then(|| TimeWindow { begin, width: end.abs_diff(begin) })
    }

    /// All of a span: its last time belongs to it.
    pub fn of(span: TimeSpan) -> Self {
        let width = span.end.ns().saturating_add(1).abs_diff(span.begin.ns()).max(1);
        TimeWindow { begin: span.begin.ns(), width }.within_time()
    }

    /// Its begin.
    pub fn begin(self) -> Timestamp {
        Timestamp::from_ns(self.begin)
    }

    /// Its end, the first time that is not in it.
    pub fn end(self) -> Timestamp {
        Timestamp::from_ns(self.begin.saturating_add_unsigned(self.width))
    }

    /// Its width in nanoseconds, at least 1.
    pub fn width(self) -> u64 {
        self.width
    }

    /// Whether a time is in it.
    pub fn contains(self, time: Timestamp) -> bool {
        (self.begin()..self.end()).contains(&time)
    }

    /// As much of the time as before is shown, moved as little as needed to be in a
    /// span; all of the span, if that is less.
    #[must_use]
    pub fn clamped(self, span: TimeSpan) -> Self {
        let all = TimeWindow::of(span);
        if self.width >= all.width {
            return all;
        }
        let last = all.end().ns().saturating_sub_unsigned(self.width);
        TimeWindow { begin: self.begin.clamp(all.begin, last), ..self }
    }

    /// So many times as wide, with a time where it was in it; by less than 1, that
    /// is zooming in. A time that is not in it is taken for the nearest that is.
    #[must_use]
    pub fn zoomed(self, factor: f64, around: Timestamp) -> Self {
        let factor = if factor.is_finite() { factor.max(0.0) } else { 1.0 };
        let around = around.ns().clamp(self.begin, self.end().ns());
        let before = around.abs_diff(self.begin) as f64 * factor;
        TimeWindow {
            begin: around.saturating_sub_unsigned(before.round() as u64),
            width: ((self.width as f64 * factor).round() as u64).max(1),
        }
        .within_time()
    }

    /// Moved by so many times its width, back if that is negative.
    #[must_use]
    pub fn scrolled(self, widths: f64) -> Self {
        let by = (self.width as f64 * widths).round() as i64;
        TimeWindow { begin: self.begin.saturating_add(by), ..self }.within_time()
    }

    /// As wide, with a time in its middle.
    #[must_use]
    pub fn centred(self, time: Timestamp) -> Self {
        let begin = time.ns().saturating_sub_unsigned(self.width / 2);
        TimeWindow { begin, ..self }.within_time()
    }

    /// What of it is not in another one: up to two windows, before and behind that.
    /// A viewer that has drawn the other one has to request these.
    pub fn outside(self, other: TimeWindow) -> impl Iterator<Item = TimeWindow> {
        let before = TimeWindow::new(self.begin(), self.end().min(other.begin()));
        let behind = TimeWindow::new(self.begin().max(other.end()), self.end());
        before.into_iter().chain(behind)
    }

    /// Times beyond those that there are, are not.
    fn within_time(self) -> Self {
        let room = i64::MAX.abs_diff(self.begin);
        if room >= self.width {
            return self;
        }
        let width = self.width.min(u64::MAX / 2);
        TimeWindow { begin: i64::MAX.saturating_sub_unsigned(width), width }
    }
}
