//! NumberStatistics, with or without a unit of time.

use super::exact::ExactNumber;
use super::literal::LiteralKind;

/// The units of time, in ns.
const UNITS: [(&str, u64); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

pub(super) const NS_PER_S: i128 = 1_000_000_000;

/// An error in a token that begins with a digit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NumberError {
    /// The number has too many bits, or too large an exponent.
    TooLarge,
    /// The number has a digit that its base does not have, or none at all.
    Digits { base: &'static str },
    /// The number is followed by letters that are not a unit.
    Unit(String),
}

/// Parses a number: `-12`, `0x1f`, `1_000`, `1.5`, `1e-3`, `12ms`.
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
            return Ok(LiteralKind::Int(sign * value));
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
    let signed = format!("{}{digits}", if negative { "-" } else { "" });
    if unit.starts_with(['e', 'E']) {
        return float(&format!("{signed}{unit}"), unit);
    }
    if !unit.is_empty() {
        let scale = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
        let scale = scale.ok_or_else(|| NumberError::Unit(unit.to_owned()))?;
        let number = ExactNumber::read(&signed).ok_or(NumberError::TooLarge)?;
        let ns = number.times(scale);
        return Ok(ns.as_i128().map_or(LiteralKind::FineDuration(ns), LiteralKind::Duration));
    }
    match fraction {
        None => match signed.parse() {
            Ok(value) => Ok(LiteralKind::Int(value)),
            Err(_) => {
                let number = ExactNumber::read(&signed).ok_or(NumberError::TooLarge)?;
                Ok(LiteralKind::LargeInt(number))
            }
        },
        Some(fraction) => match nano(whole, fraction) {
            Some(units) => Ok(LiteralKind::Decimal(sign * units)),
            None => float(&signed, unit),
        },
    }
}

/// Converts a whole part and a fraction to units of 10⁻⁹. `None` if the result is not
/// exact, or the whole part has more than 20 digits.
fn nano(whole: &str, fraction: &str) -> Option<i128> {
    if fraction.len() > 9 || whole.len() > 20 {
        return None;
    }
    let whole: i128 = whole.parse().ok()?;
    let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
    Some(whole * NS_PER_S + fraction)
}

fn float(text: &str, unit: &str) -> Result<LiteralKind, NumberError> {
    let double: f64 = text.parse().map_err(|_| NumberError::Unit(unit.to_owned()))?;
    let number = ExactNumber::read(text).ok_or(NumberError::TooLarge)?;
    Ok(match ExactNumber::of_double(double).as_ref() == Some(&number) {
        true => LiteralKind::Float(double),
        false => LiteralKind::Number(number),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_accepts_all_forms() {
        use LiteralKind::*;
        let exact = |text: &str| ExactNumber::read(text).expect("a number");
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
            ("18446744073709551616", Int(1 << 64)),
            ("-9223372036854775809", Int(-(1 << 63) - 1)),
            ("9007199254740993.00000000000", Number(exact("9007199254740993"))),
            ("1e999", Number(exact("1e999"))),
            ("1e-999", Number(exact("1e-999"))),
            ("2.00000000000000000001", Number(exact("2.00000000000000000001"))),
            ("999999999999999999999999999999999999999999", LargeInt(exact(&"9".repeat(42)))),
            ("1e3", Float(1000.0)),
            ("-2.5E-3", Float(-0.0025)),
            ("12ms", Duration(12_000_000)),
            ("1.5s", Duration(1_500_000_000)),
            ("0.25us", Duration(250)),
            ("3µs", Duration(3_000)),
            ("2h", Duration(7_200_000_000_000)),
            ("-1min", Duration(-60_000_000_000)),
            ("0.5ns", FineDuration(exact("0.5"))),
            ("-1.0000000001s", FineDuration(exact("-1000000000.1"))),
            ("1000000d", Duration(86_400_000_000_000_000_000)),
        ] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn read_refuses_invalid_numbers() {
        use NumberError::*;
        for (text, error) in [
            ("0xffffffffffffffffffffffffffffffffff", TooLarge),
            ("1e99999999999", TooLarge),
            ("0x", Digits { base: "hexadecimal" }),
            ("0xfg", Digits { base: "hexadecimal" }),
            ("0b2", Digits { base: "binary" }),
            ("1.", Digits { base: "decimal" }),
            ("1.2.3", Digits { base: "decimal" }),
            ("12xs", Unit("xs".to_owned())),
            ("1e", Unit("e".to_owned())),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
        }
    }
}
