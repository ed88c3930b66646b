//! Lengths of time in options.

use lttv_filter::TimeErrorKind;

/// Parses a length of time such as `10ms` or `1.5s`; without a unit, it is in ns. Returns it in ns.
///
/// # Errors
///
/// If the text is no length of at least 1 ns, or if the length cannot be represented.
pub fn parse_length(text: &str) -> Result<u64, String> {
    let length = match text.starts_with(['+', '-']) {
        true => Err(TimeErrorKind::Length),
        false => lttv_filter::parse_length(text, 1).map_err(|error| error.kind),
    };
    match length {
        Ok(ns) if ns > 0 => Ok(ns.unsigned_abs()),
        Ok(_) => Err("expected at least 1 ns".to_owned()),
        Err(TimeErrorKind::Range) => Err("too long".to_owned()),
        Err(_) => Err("expected a length such as 10ms or 1.5s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_units() {
        assert_eq!(parse_length("5"), Ok(5));
        assert_eq!(parse_length("10ms"), Ok(10_000_000));
        assert_eq!(parse_length("1.5s"), Ok(1_500_000_000));
        for wrong in ["0", "0s", "-5", "", "ms", "many"] {
            assert!(parse_length(wrong).is_err(), "{wrong}");
        }
    }
}
