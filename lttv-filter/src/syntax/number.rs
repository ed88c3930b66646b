//! Numbers, with or without a unit of time.

use super::literal::LiteralKind;

/// Units of time, in nanoseconds.
const UNITS: [(&str, i128); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", NS_PER_S),
    ("min", 60 * NS_PER_S),
    ("m", 60 * NS_PER_S),
    ("h", 3600 * NS_PER_S),
    ("d", 86_400 * NS_PER_S),
];

pub(super) const NS_PER_S: i128 = 1_000_000_000;

/// Why a text that begins with a digit is no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NumberError {
    /// Beyond 64 bits.
    TooLarge,
    /// A digit that its base does not have, or none at all.
    Digits { base: &'static str },
    /// Letters that are no unit.
    Unit(String),
    /// More than 9 digits after the point, with a unit.
    TooFine,
}

/// Reads a number: `-12`, `0x1f`, `1_000`, `1.5`, `1e-3`, `12ms`.
pub(super) fn read(text: &str) -> Result<LiteralKind, NumberError> {
    let (negative, abs) = match text.strip_prefix('-') {
        Some(abs) => (true, abs),
        None => (false, text),
    };
    let sign = if negative { -1 } else { 1 };
    for (prefix, radix, base) in
        [("0x", 16, "hexadecimal"), ("0o", 8, "octal"), ("0b", 2, "binary")]
    {
        let head = abs.get(..2).filter(|head| head.eq_ignore_ascii_case(prefix));
        if head.is_some() {
            let digits: String = abs[2..].chars().filter(|c| *c != '_').collect();
            let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            if !all {
                return Err(NumberError::Digits { base });
            }
            let value = i128::from_str_radix(&digits, radix).map_err(|_| NumberError::TooLarge)?;
            return integer(sign * value);
        }
    }
    let number = abs.find(|c: char| !(c.is_ascii_digit() || c == '_' || c == '.'));
    let (number, unit) = abs.split_at(number.unwrap_or(abs.len()));
    let digits: String = number.chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (&*digits, None),
    };
    if whole.is_empty() || fraction.is_some_and(|f| f.is_empty() || f.contains('.')) {
        return Err(NumberError::Digits { base: "decimal" });
    }
    if unit.starts_with(['e', 'E']) {
        return float(&format!("{}{digits}{unit}", if negative { "-" } else { "" }), unit);
    }
    let scale = match unit {
        "" => None,
        _ => Some(
            UNITS
                .iter()
                .find(|(name, _)| *name == unit)
                .ok_or_else(|| NumberError::Unit(unit.to_owned()))?
                .1,
        ),
    };
    match (fraction, scale) {
        (None, None) => integer(sign * whole.parse::<i128>().map_err(|_| NumberError::TooLarge)?),
        (None, Some(scale)) => {
            let whole: i128 = whole.parse().map_err(|_| NumberError::TooLarge)?;
            duration(whole.checked_mul(scale).map(|ns| sign * ns))
        }
        (Some(fraction), None) => match nano(whole, fraction) {
            Some(units) => Ok(LiteralKind::Decimal(sign * units)),
            None => float(&format!("{}{digits}", if negative { "-" } else { "" }), unit),
        },
        (Some(fraction), Some(scale)) => {
            let units = nano(whole, fraction).ok_or(NumberError::TooFine)?;
            let ns = units.checked_mul(scale).ok_or(NumberError::TooLarge)?;
            if ns % NS_PER_S != 0 {
                return Err(NumberError::TooFine);
            }
            duration(Some(sign * (ns / NS_PER_S)))
        }
    }
}

fn integer(value: i128) -> Result<LiteralKind, NumberError> {
    let fits = i128::from(i64::MIN) <= value && value <= i128::from(u64::MAX);
    if fits { Ok(LiteralKind::Int(value)) } else { Err(NumberError::TooLarge) }
}

fn duration(ns: Option<i128>) -> Result<LiteralKind, NumberError> {
    let fits = |ns: &i128| ns.unsigned_abs() <= u128::from(u64::MAX);
    ns.filter(fits).map(LiteralKind::Duration).ok_or(NumberError::TooLarge)
}

/// Whole part and fraction in units of 10⁻⁹; `None` if that is not exact, or
/// absurdly large.
fn nano(whole: &str, fraction: &str) -> Option<i128> {
    if fraction.len() > 9 || whole.len() > 20 {
        return None;
    }
    let whole: i128 = whole.parse().ok()?;
    let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
    Some(whole * NS_PER_S + fraction)
}

fn float(text: &str, unit: &str) -> Result<LiteralKind, NumberError> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(LiteralKind::Float(value)),
        Ok(_) => Err(NumberError::TooLarge),
        Err(_) => Err(NumberError::Unit(unit.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms() {
        use LiteralKind::*;
        for (text, value) in [
            ("0", Int(0)),
            ("-9223372036854775808", Int(i64::MIN.into())),
            ("18446744073709551615", Int(u64::MAX.into())),
            ("0xff", Int(255)),
            ("-0X1_0", Int(-16)),
            ("0b1010", Int(10)),
            ("0o17", Int(15)),
            ("1_000", Int(1000)),
            ("1.5", Decimal(1_500_000_000)),
            ("-0.000000001", Decimal(-1)),
            ("1795231463.430870569", Decimal(1_795_231_463_430_870_569)),
            ("1.0000000001", Float(1.0000000001)),
            ("1e3", Float(1000.0)),
            ("-2.5E-3", Float(-0.0025)),
            ("12ms", Duration(12_000_000)),
            ("1.5s", Duration(1_500_000_000)),
            ("0.25us", Duration(250)),
            ("3µs", Duration(3_000)),
            ("2h", Duration(7_200_000_000_000)),
            ("-1min", Duration(-60_000_000_000)),
        ] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn refusals() {
        use NumberError::*;
        for (text, error) in [
            ("18446744073709551616", TooLarge),
            ("-9223372036854775809", TooLarge),
            ("1e999", TooLarge),
            ("99999999999999999999999999999999999999999999", TooLarge),
            ("0x", Digits { base: "hexadecimal" }),
            ("0xfg", Digits { base: "hexadecimal" }),
            ("0b2", Digits { base: "binary" }),
            ("1.", Digits { base: "decimal" }),
            ("1.2.3", Digits { base: "decimal" }),
            ("12xs", Unit("xs".to_owned())),
            ("0.5ns", TooFine),
            ("1e", Unit("e".to_owned())),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
        }
    }
}
