//! The axes of a picture.

use std::fmt::Write;

/// A range of ns, and its place in the picture.
#[derive(Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// Creates an axis with a range of ns between two coordinates.
    pub(super) fn new(low: f64, high: f64, from: f64, to: f64) -> Self {
        Axis { low, high, from, to }
    }

    /// Returns the coordinate of a value.
    pub(super) fn at(&self, ns: f64) -> f64 {
        // Far beyond the picture, coordinates are of no use.
        let part = ((ns - self.low) / (self.high - self.low)).clamp(-10.0, 11.0);
        self.from + part * (self.to - self.from)
    }

    /// Returns about eight round values of the range, with their texts.
    fn marks(&self) -> Vec<(f64, String)> {
        let wanted = ((self.high - self.low) / 8.0).max(1.0);
        let power = 10_f64.powf(wanted.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|of| of * power).find(|of| *of >= wanted);
        let step = step.unwrap_or(wanted);
        let greatest = self.low.abs().max(self.high.abs());
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        let text = |place: i64| {
            let ns = place as f64 * step;
            let (amount, unit) = number(ns, greatest);
            (ns, format!("{amount} {unit}"))
        };
        (first..=last.min(first + 100)).map(text).collect()
    }

    /// Draws lines at round values of the horizontal axis.
    pub(super) fn vertical_lines(&self, svg: &mut String, top: f64, bottom: f64) {
        for (ns, text) in self.marks() {
            let x = self.at(ns);
            _ = writeln!(
                svg,
                r##"<path d="M{x:.1} {top}V{bottom}" stroke="#3a3a3a"/><text x="{x:.1}" y="{}" text-anchor="middle" fill="#9a9a9a">{text}</text>"##,
                bottom + 16.0
            );
        }
    }

    /// Draws lines at round values of the vertical axis.
    pub(super) fn horizontal_lines(&self, svg: &mut String, left: f64, right: f64) {
        for (ns, text) in self.marks() {
            let y = self.at(ns);
            let color = if ns == 0.0 { "#5a5a5a" } else { "#3a3a3a" };
            _ = writeln!(
                svg,
                r##"<path d="M{left} {y:.1}H{right}" stroke="{color}"/><text x="{}" y="{:.1}" text-anchor="end" fill="#9a9a9a">{text}</text>"##,
                left - 6.0,
                y + 4.0
            );
        }
    }
}

/// Returns a number of ns in the unit of `greatest`, and the unit.
pub(super) fn number(ns: f64, greatest: f64) -> (String, &'static str) {
    let (per, unit) = match greatest.abs() {
        1e9.. => (1e9, "s"),
        1e6.. => (1e6, "ms"),
        1e3.. => (1e3, "µs"),
        _ => (1.0, "ns"),
    };
    let text = format!("{:.3}", ns / per);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    (if text == "-0" { "0" } else { text }.replace('-', "−"), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_within_the_range() {
        let texts = |low, high| {
            let axis = Axis::new(low, high, 0.0, 100.0);
            axis.marks().into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(texts(-2500.0, 2500.0), "−2 µs, −1 µs, 0 µs, 1 µs, 2 µs");
        assert_eq!(texts(0.0, 1.0), "0 ns, 1 ns");
        assert_eq!(texts(0.0, 4e9), "0 s, 0.5 s, 1 s, 1.5 s, 2 s, 2.5 s, 3 s, 3.5 s, 4 s");
        assert_eq!(number(-1234.5, 1234.5), ("−1.234".to_owned(), "µs"));
    }
}
