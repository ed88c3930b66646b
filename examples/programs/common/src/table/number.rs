//! Numbers for people: separated thousands, and four significant digits.

/// Formats an integer with a text between its thousands.
pub(super) fn count(number: i128, separator: &str) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text += separator;
        }
        text.push(digit);
    }
    text
}

/// Formats a number with four significant digits, or as an integer if it has more.
pub(super) fn decimal(number: f64, separator: &str) -> String {
    let size = number.abs();
    match () {
        () if !number.is_finite() => number.to_string(),
        () if size == 0.0 => "0".to_owned(),
        () if size < 9.9995 => format!("{number:.3}"),
        () if size < 99.995 => format!("{number:.2}"),
        () if size < 999.95 => format!("{number:.1}"),
        // A cast saturates.
        () => count(number.round() as i128, separator),
    }
}

/// Formats a part of a whole in per cent.
pub(super) fn percent(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        0.0..99.995 => format!("{number:.2}"),
        _ => format!("{number:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(count(0, ","), "0");
        assert_eq!(count(-999, ","), "-999");
        assert_eq!(count(1_234_567, ","), "1,234,567");
        assert_eq!(count(-100_000, " "), "-100 000");
        assert_eq!(count(1_234_567, ""), "1234567");
    }

    #[test]
    fn decimals_have_four_digits_or_are_integers() {
        for (number, text) in [
            (0.0, "0"),
            (0.0004, "0.000"),
            (1.23456, "1.235"),
            (9.99949, "9.999"),
            (9.9996, "10.00"),
            (45.678, "45.68"),
            (99.996, "100.0"),
            (999.94, "999.9"),
            (999.96, "1,000"),
            (-1_234_567.8, "-1,234,568"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(decimal(number, ","), text);
        }
    }

    #[test]
    fn percentages_have_at_most_four_digits() {
        let texts = [0.0, 0.004, 45.678, 99.994, 99.996, 100.0].map(percent);
        assert_eq!(texts, ["0", "0.00", "45.68", "99.99", "100.0", "100.0"]);
    }
}
