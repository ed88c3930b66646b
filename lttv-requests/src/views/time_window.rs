//! Time windows of viewers.

use ltt_read::Timestamp;
use lttv_context::TimeSpan;

/// A half-open interval of time that viewers show: it contains its start but not its end.
/// It is never empty.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_context::TimeSpan;
/// use lttv_requests::views::TimeWindow;
///
/// let at = Timestamp::from_ns;
/// let window = TimeWindow::new(at(100), at(200)).expect("not empty");
/// assert_eq!(window.zoomed(0.5, at(150)), TimeWindow::new(at(125), at(175)).unwrap());
/// assert_eq!(window.scrolled(0.1), TimeWindow::new(at(110), at(210)).unwrap());
/// let span = TimeSpan { start: at(0), end: at(205) };
/// assert_eq!(window.scrolled(0.1).clamped(span), TimeWindow::new(at(106), at(206)).unwrap());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeWindow {
    begin: i64,
    /// The width in ns, at least 1. The end does not exceed the last representable time.
    width: u64,
}

impl TimeWindow {
    /// Creates a window from its start and end. Returns `None` unless the end is later.
    pub fn new(start: Timestamp, end: Timestamp) -> Option<Self> {
        let (begin, end) = (start.as_ns(), end.as_ns());
        (begin < end).then(|| TimeWindow { begin, width: end.abs_diff(begin) })
    }

    /// Creates a window that covers a span, including the last time of the span.
    pub fn covering(span: TimeSpan) -> Self {
        let width = span.end.as_ns().saturating_add(1).abs_diff(span.start.as_ns()).max(1);
        TimeWindow { begin: span.start.as_ns(), width }.within_time()
    }

    /// Returns the start: the first time in the window.
    pub fn start(self) -> Timestamp {
        Timestamp::from_ns(self.begin)
    }

    /// Returns the end: the first time after the window.
    pub fn end(self) -> Timestamp {
        Timestamp::from_ns(self.begin.saturating_add_unsigned(self.width))
    }

    /// Returns the width in ns, at least 1.
    pub fn width(self) -> u64 {
        self.width
    }

    /// Returns `true` if a time is in the window.
    pub fn contains(self, time: Timestamp) -> bool {
        (self.start()..self.end()).contains(&time)
    }

    /// Returns a window of equal width, moved as little as possible to be within a span.
    /// Returns the whole span if the window is wider.
    #[must_use]
    pub fn clamped(self, span: TimeSpan) -> Self {
        let all = TimeWindow::covering(span);
        if self.width >= all.width {
            return all;
        }
        let last = all.end().as_ns().saturating_sub_unsigned(self.width);
        TimeWindow { begin: self.begin.clamp(all.begin, last), ..self }
    }

    /// Returns a window with the width multiplied by a factor, in which a given time
    /// keeps its relative place. Factors below 1 zoom in. A time outside of the window is
    /// replaced with the nearest time in it.
    #[must_use]
    pub fn zoomed(self, factor: f64, around: Timestamp) -> Self {
        let factor = if factor.is_finite() { factor.max(0.0) } else { 1.0 };
        let around = around.as_ns().clamp(self.begin, self.end().as_ns());
        let before = around.abs_diff(self.begin) as f64 * factor;
        TimeWindow {
            begin: around.saturating_sub_unsigned(before.round() as u64),
            width: ((self.width as f64 * factor).round() as u64).max(1),
        }
        .within_time()
    }

    /// Returns a window moved by a multiple of its width: backwards if the multiple is
    /// negative.
    #[must_use]
    pub fn scrolled(self, widths: f64) -> Self {
        let by = (self.width as f64 * widths).round() as i64;
        TimeWindow { begin: self.begin.saturating_add(by), ..self }.within_time()
    }

    /// Returns a window of equal width with a time in its middle.
    #[must_use]
    pub fn centred(self, time: Timestamp) -> Self {
        let begin = time.as_ns().saturating_sub_unsigned(self.width / 2);
        TimeWindow { begin, ..self }.within_time()
    }

    /// Returns the parts of the window outside of another one: up to two windows, before
    /// and after it. A viewer that has drawn the other window needs to request these
    /// parts.
    pub fn outside(self, other: TimeWindow) -> impl Iterator<Item = TimeWindow> {
        let before = TimeWindow::new(self.start(), self.end().min(other.start()));
        let behind = TimeWindow::new(self.start().max(other.end()), self.end());
        before.into_iter().chain(behind)
    }

    /// Clamps the window to the representable times.
    fn within_time(self) -> Self {
        let room = i64::MAX.abs_diff(self.begin);
        if room >= self.width {
            return self;
        }
        let width = self.width.min(u64::MAX / 2);
        TimeWindow { begin: i64::MAX.saturating_sub_unsigned(width), width }
    }
}
