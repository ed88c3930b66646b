//! Lengths of time in options.

use super::arg::{TimeArg, TimeArgError};

/// Parses a length of time such as `10ms` or `1.5s`; without a unit, it is in ns. Returns it in ns.
///
/// # Errors
///
/// If the text is no length of at least 1 ns, or if the length cannot be represented.
pub fn parse_length(text: &str) -> Result<u64, String> {
    let text = match text.ends_with(|c: char| c.is_ascii_digit()) {
        true => format!("{text}ns"),
        false => text.to_owned(),
    };
    match format!("+{text}").parse() {
        Ok(TimeArg::AfterFirst(ns)) if ns > 0 => Ok(ns.unsigned_abs()),
        Ok(_) => Err("expected at least 1 ns".to_owned()),
        Err(TimeArgError::Range) => Err("too long".to_owned()),
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
