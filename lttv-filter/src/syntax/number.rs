//! Numbers, with or without a unit of time.

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
            let value = if negative { -value } else { value };
            return Ok(LiteralKind::Integer(value.into()));
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
        let text = format!("{signed}{unit}");
        let is_number = text.parse::<f64>().is_ok();
        return match (is_number, ExactNumber::read(&text)) {
            (true, Some(number)) => Ok(LiteralKind::Decimal(number)),
            (true, None) => Err(NumberError::TooLarge),
            (false, _) => Err(NumberError::Unit(unit.to_owned())),
        };
    }
    let number = ExactNumber::read(&signed).ok_or(NumberError::TooLarge)?;
    if !unit.is_empty() {
        let scale = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
        let scale = scale.ok_or_else(|| NumberError::Unit(unit.to_owned()))?;
        return Ok(LiteralKind::Duration(number.times(scale)));
    }
    Ok(match fraction {
        None => LiteralKind::Integer(number),
        Some(_) => LiteralKind::Decimal(number),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_accepts_all_forms() {
        use LiteralKind::*;
        let exact = |text: &str| ExactNumber::read(text).expect("a number");
        let int = |n: i128| Integer(n.into());
        let duration = |ns: i128| Duration(ns.into());
        for (text, value) in [
            ("0", int(0)),
            ("-9223372036854775808", int(i64::MIN.into())),
            ("18446744073709551615", int(u64::MAX.into())),
            ("0xff", int(255)),
            ("-0X1_0", int(-16)),
            ("0b1010", int(10)),
            ("0o17", int(15)),
            ("1_000", int(1000)),
            ("1.5", Decimal(ExactNumber::new(15, -1))),
            ("-0.000000001", Decimal(ExactNumber::new(-1, -9))),
            ("1795231463.430870569", Decimal(ExactNumber::new(1_795_231_463_430_870_569, -9))),
            ("1.0000000001", Decimal(exact("1.0000000001"))),
            ("18446744073709551616", int(1 << 64)),
            ("-9223372036854775809", int(-(1 << 63) - 1)),
            ("9007199254740993.00000000000", Decimal(exact("9007199254740993"))),
            ("1e999", Decimal(exact("1e999"))),
            ("1e-999", Decimal(exact("1e-999"))),
            ("2.00000000000000000001", Decimal(exact("2.00000000000000000001"))),
            ("999999999999999999999999999999999999999999", Integer(exact(&"9".repeat(42)))),
            ("1e3", Decimal(1000.into())),
            ("-2.5E-3", Decimal(exact("-0.0025"))),
            ("12ms", duration(12_000_000)),
            ("1.5s", duration(1_500_000_000)),
            ("0.25us", duration(250)),
            ("3µs", duration(3_000)),
            ("2h", duration(7_200_000_000_000)),
            ("-1min", duration(-60_000_000_000)),
            ("0.5ns", Duration(exact("0.5"))),
            ("-1.0000000001s", Duration(exact("-1000000000.1"))),
            ("1000000d", duration(86_400_000_000_000_000_000)),
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
