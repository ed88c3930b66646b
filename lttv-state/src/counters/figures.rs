//! The figures of a counter over a time.

use super::number::Number;

/// The figures of a series over a time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CounterFigures {
    count: u64,
    first: Option<Number>,
    last: Option<Number>,
    range: Option<(Number, Number)>,
    /// The sum of the products of value and time, in ns.
    area: Option<Number>,
    time: u64,
}

impl CounterFigures {
    /// Returns the figures of a value that holds for a time in ns, without an event.
    pub(super) fn of(value: Number, time: u64) -> Self {
        let mut figures = CounterFigures::default();
        figures.pass(value, time);
        figures
    }

    /// Adds a time in ns for which a value held.
    pub(super) fn pass(&mut self, value: Number, time: u64) {
        if time == 0 {
            return;
        }
        self.reach(value);
        let area = value.times(time);
        self.area = Some(self.area.map_or(area, |sum| sum.plus(area)));
        self.time = self.time.saturating_add(time);
    }

    /// Adds an event after which there is a value.
    pub(super) fn event(&mut self, value: Number) {
        self.count += 1;
        self.first.get_or_insert(value);
        self.last = Some(value);
        self.reach(value);
    }

    fn reach(&mut self, value: Number) {
        self.range = Some(match self.range {
            Some((least, greatest)) => (least.least(value), greatest.greatest(value)),
            None => (value, value),
        });
    }

    /// Returns the number of events.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the value after the first event.
    pub fn first(&self) -> Option<Number> {
        self.first
    }

    /// Returns the value after the last event.
    pub fn last(&self) -> Option<Number> {
        self.last
    }

    /// Returns the least value; `None` if it was never known.
    pub fn least(&self) -> Option<Number> {
        self.range.map(|(least, _)| least)
    }

    /// Returns the greatest value; `None` if it was never known.
    pub fn greatest(&self) -> Option<Number> {
        self.range.map(|(_, greatest)| greatest)
    }

    /// Returns the mean over the [time](Self::time) in which the value was known; `None` if that is 0.
    pub fn mean(&self) -> Option<f64> {
        let area = self.area.filter(|_| self.time > 0)?;
        Some(area.as_f64() / self.time as f64)
    }

    /// Returns the time in which the value was known, in ns.
    pub fn time(&self) -> u64 {
        self.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floating_point_numbers_and_integers_have_common_figures() {
        let (float, integer) = (Number::Float, Number::Integer);
        let mut figures = CounterFigures::default();
        assert_eq!((figures.mean(), figures.least(), figures.first()), (None, None, None));
        figures.event(integer(-2));
        figures.pass(integer(-2), 10);
        figures.event(float(1.5));
        figures.pass(float(1.5), 30);
        assert_eq!((figures.count(), figures.time()), (2, 40));
        assert_eq!((figures.first(), figures.last()), (Some(integer(-2)), Some(float(1.5))));
        assert_eq!((figures.least(), figures.greatest()), (Some(integer(-2)), Some(float(1.5))));
        assert_eq!(figures.mean(), Some((1.5 * 30.0 - 2.0 * 10.0) / 40.0));
        let most = integer(u64::MAX.into());
        assert_eq!(CounterFigures::of(most, i64::MAX as u64).mean(), Some(u64::MAX as f64));
    }
}
