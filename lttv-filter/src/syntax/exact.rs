//! Exact numbers of any size.

use std::cmp::Ordering;
use std::fmt;

/// A number in decimal digits: exact, whatever its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactNumber {
    negative: bool,
    /// The ASCII digits of an integer, without leading and trailing zeros. Empty for 0.
    digits: String,
    /// The power of ten by which the integer is multiplied.
    exponent: i64,
}

/// A bound on the absolute values of numbers that are compared with literals.
const LIMIT: i128 = i128::MAX / 4;

/// The maximum absolute value of exponents.
const MAX_EXPONENT: i64 = 1_000_000_000;

impl ExactNumber {
    /// Parses digits with an optional sign, point and exponent. Returns `None` for other
    /// text, or if the exponent is out of range.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (negative, abs) = match text.strip_prefix('-') {
            Some(abs) => (true, abs),
            None => (false, text),
        };
        let (mantissa, exponent) = abs.split_once(['e', 'E']).unwrap_or((abs, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = || whole.bytes().chain(fraction.bytes());
        if whole.is_empty() || !digits().all(|c| c.is_ascii_digit()) {
            return None;
        }
        let exponent: i64 = exponent.parse().ok()?;
        if exponent.abs() > MAX_EXPONENT {
            return None;
        }
        let digits = digits().map(char::from).skip_while(|c| *c == '0').collect();
        Some(Self::normal(negative, digits, exponent - fraction.len() as i64))
    }

    /// Creates the product of an integer and a power of ten.
    ///
    /// ```
    /// use lttv_filter::ExactNumber;
    ///
    /// assert_eq!(ExactNumber::new(-25, -1).to_string(), "-2.5");
    /// assert_eq!(ExactNumber::new(12, 2), ExactNumber::from(1200));
    /// ```
    pub fn new(integer: i128, power: i16) -> Self {
        Self::normal(integer < 0, integer.unsigned_abs().to_string(), power.into())
    }

    /// Converts a double to the shortest decimal number that rounds to it. Returns `None`
    /// if it is not finite.
    pub(crate) fn from_double(number: f64) -> Option<Self> {
        Self::read(&format!("{number:e}"))
    }

    fn normal(negative: bool, mut digits: String, mut exponent: i64) -> Self {
        let zeros = digits.len() - digits.trim_start_matches('0').len();
        digits.drain(..zeros);
        let kept = digits.trim_end_matches('0').len();
        exponent += (digits.len() - kept) as i64;
        digits.truncate(kept);
        match digits.is_empty() {
            true => ExactNumber { negative: false, digits, exponent: 0 },
            false => ExactNumber { negative, digits, exponent },
        }
    }

    /// Returns the product with a factor.
    pub(crate) fn times(&self, factor: u64) -> Self {
        let mut product = Vec::with_capacity(self.digits.len() + 20);
        let mut carry = 0;
        for digit in self.digits.bytes().rev() {
            let sum = carry + u128::from(factor) * u128::from(digit - b'0');
            product.push(char::from(b'0' + (sum % 10) as u8));
            carry = sum / 10;
        }
        while carry > 0 {
            product.push(char::from(b'0' + (carry % 10) as u8));
            carry /= 10;
        }
        Self::normal(self.negative, product.into_iter().rev().collect(), self.exponent)
    }

    /// Returns the number as an integer. `None` if it is not an integer of 128 bits.
    pub(crate) fn as_i128(&self) -> Option<i128> {
        let zeros = usize::try_from(self.exponent).ok().filter(|zeros| *zeros < 40)?;
        let digits = format!("{}{}", self.digits, "0".repeat(zeros));
        let sign = if self.negative { "-" } else { "" };
        match &*digits {
            "" => Some(0),
            digits => format!("{sign}{digits}").parse().ok(),
        }
    }

    /// Returns the greatest integer that is not above the number times a power of ten,
    /// and the least that is not below it. Results with more than 37 digits are replaced
    /// with others that exceed 64 bits, too.
    pub(crate) fn between(&self, power: u32) -> (i128, i128) {
        let exponent = self.exponent + i64::from(power);
        let (sign, limit) = if self.negative { (-1, -LIMIT) } else { (1, LIMIT) };
        // The number of digits before the point.
        let whole = self.digits.len() as i64 + exponent;
        if self.digits.is_empty() {
            return (0, 0);
        }
        if whole > 37 {
            return (limit, limit);
        }
        let kept = self.digits.len().min(usize::try_from(whole).unwrap_or(0));
        let zeros = usize::try_from(exponent).unwrap_or(0);
        let digits = format!("0{}{}", &self.digits[..kept], "0".repeat(zeros));
        let abs: i128 = digits.parse().unwrap_or(LIMIT); // 38 digits fit
        match (exponent >= 0, self.negative) {
            (true, _) => (sign * abs, sign * abs),
            (false, false) => (abs, abs + 1),
            (false, true) => (-abs - 1, -abs),
        }
    }

    /// Returns the nearest double, which may be infinite.
    pub(crate) fn nearest_double(&self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN) // digits always parse
    }

    /// Returns the greatest double that is not above the number, and the least that is
    /// not below it. Only correct for integers, and for numbers beyond all finite
    /// doubles.
    pub(crate) fn doubles(&self) -> (f64, f64) {
        let near = self.nearest_double();
        match near {
            f64::INFINITY => (f64::MAX, near),
            f64::NEG_INFINITY => (near, f64::MIN),
            _ => {
                // The double nearest to an integer is an integer.
                let exact = Self::read(&format!("{near:.0}"));
                match exact.map_or(Ordering::Equal, |exact| exact.cmp(self)) {
                    Ordering::Less => (near, near.next_up()),
                    Ordering::Equal => (near, near),
                    Ordering::Greater => (near.next_down(), near),
                }
            }
        }
    }

    /// Formats the number without an exponent.
    pub(crate) fn positional(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
        if self.exponent >= 0 {
            return match &*self.digits {
                "" => "0".to_owned(),
                digits => format!("{sign}{digits}{}", zeros(self.exponent)),
            };
        }
        let places = self.exponent.unsigned_abs() as usize;
        let digits =
            format!("{}{}", zeros(places as i64 + 1 - self.digits.len() as i64), self.digits);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        format!("{sign}{whole}.{fraction}")
    }
}

impl From<i128> for ExactNumber {
    fn from(n: i128) -> Self {
        Self::new(n, 0)
    }
}

impl Ord for ExactNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        // Numbers are compared by the place of the first digit, then by their digits as
        // text.
        let size = |it: &Self| match it.digits.is_empty() {
            true => i64::MIN,
            false => it.digits.len() as i64 + it.exponent,
        };
        let larger = |a: &Self, b: &Self| (size(a), &*a.digits).cmp(&(size(b), &*b.digits));
        match (self.negative, other.negative) {
            (false, false) => larger(self, other),
            (true, true) => larger(other, self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for ExactNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ExactNumber {
    /// Writes all digits if there are few, otherwise an integer with an exponent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The number of digits before the point, or after it, that are easily read.
        const SHORT: i64 = 20;
        let whole = self.digits.len() as i64 + self.exponent;
        if whole <= SHORT && self.exponent >= -SHORT {
            return f.write_str(&self.positional());
        }
        let sign = if self.negative { "-" } else { "" };
        write!(f, "{sign}{}e{}", self.digits, self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> ExactNumber {
        ExactNumber::read(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn integers_around_a_number() {
        for (text, power, around) in [
            ("0", 0, (0, 0)),
            ("12.5", 0, (12, 13)),
            ("12.5", 1, (125, 125)),
            ("-12.5", 0, (-13, -12)),
            ("-0.001", 0, (-1, 0)),
            ("1e-1000000", 9, (0, 1)),
            ("1e1000000", 0, (LIMIT, LIMIT)),
            ("-18446744073709551616", 0, (-(1 << 64), -(1 << 64))),
            ("9007199254740993.00000000000000000001", 0, ((1 << 53) + 1, (1 << 53) + 2)),
            ("1.844674407370955161600e19", 0, (1 << 64, 1 << 64)),
        ] {
            assert_eq!(number(text).between(power), around, "{text}");
        }
    }

    #[test]
    fn doubles_around_a_number() {
        let two_53 = 9_007_199_254_740_992.0;
        for (text, around) in [
            ("9007199254740992", (two_53, two_53)),
            ("9007199254740993", (two_53, two_53 + 2.0)),
            ("-9007199254740993", (-two_53 - 2.0, -two_53)),
            ("9007199254740995", (two_53 + 2.0, two_53 + 4.0)),
            ("0", (0.0, 0.0)),
            ("1e400", (f64::MAX, f64::INFINITY)),
            ("-1e400", (f64::NEG_INFINITY, f64::MIN)),
        ] {
            assert_eq!(number(text).doubles(), around, "{text}");
        }
    }

    #[test]
    fn order_product_and_text() {
        let texts = ["-1e30", "-12", "-1.5", "0", "1e-9", "0.12", "1.2", "12", "1e30", "1.1e30"];
        assert!(texts.windows(2).all(|pair| number(pair[0]) < number(pair[1])));
        assert_eq!(number("-0.5").times(86_400), number("-43200"));
        assert_eq!(number("0").times(7), number("0"));
        for (text, printed, positional) in [
            ("1.50", "1.5", "1.5"),
            ("-0.05", "-0.05", "-0.05"),
            ("1200", "1200", "1200"),
            ("0.0", "0", "0"),
            ("1e21", "1e21", "1000000000000000000000"),
            ("-1.5e-20", "-15e-21", "-0.000000000000000000015"),
        ] {
            assert_eq!(number(text).to_string(), printed);
            assert_eq!(number(text).positional(), positional);
        }
        assert_eq!(number("1200").as_i128(), Some(1200));
        assert_eq!(number("1e39").as_i128(), None);
        assert_eq!(number("0.5").as_i128(), None);
        assert!(
            ["", "-", ".5", "1e", "1e99999999999", "0x1", "inf"]
                .iter()
                .all(|text| { ExactNumber::read(text).is_none() })
        );
    }
}
