//! Numbers in decimal digits, compared exactly, whatever their size.

use std::cmp::Ordering;

/// A number: its sign, and its digits before and after the point, without needless zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exact {
    negative: bool,
    whole: Vec<u8>,
    fraction: Vec<u8>,
}

impl Exact {
    /// Returns the number of a literal in an expression.
    pub(crate) fn of_text(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if let Some(digits) = text.strip_prefix("0x") {
            let number = u128::from_str_radix(digits, 16).expect("hexadecimal digits");
            return Self::new(negative, &number.to_string(), "", 0);
        }
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        Self::new(negative, whole, fraction, exponent.parse().expect("an exponent"))
    }

    /// Returns the time in ns that a number means: an integer that is too great for seconds is in ns.
    pub(crate) fn into_time(self, is_integer: bool) -> Self {
        let seconds = self.clone().shifted(9);
        let least = Self::of_integer(i64::MIN.into());
        let is_ns = is_integer && (seconds < least || Self::of_integer(i64::MAX.into()) < seconds);
        if is_ns { self } else { seconds }
    }

    pub(crate) fn of_integer(n: i128) -> Self {
        Self::of_text(&n.to_string())
    }

    /// Returns the exact value of a finite double.
    fn of_double(x: f64) -> Self {
        // A double has no more digits after the point than that.
        Self::of_text(&format!("{x:.1074}"))
    }

    /// Returns the number times a power of ten.
    pub(crate) fn shifted(&self, by: i64) -> Self {
        let text = |digits: &[u8]| String::from_utf8(digits.to_vec()).expect("digits");
        Self::new(self.negative, &text(&self.whole), &text(&self.fraction), by)
    }

    fn new(negative: bool, whole: &str, fraction: &str, exponent: i64) -> Self {
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let mut point = whole.len() as i64 + exponent;
        while point < 0 {
            digits.insert(0, b'0');
            point += 1;
        }
        while (digits.len() as i64) < point {
            digits.push(b'0');
        }
        let mut fraction = digits.split_off(point as usize);
        while fraction.last() == Some(&b'0') {
            fraction.pop();
        }
        let whole: Vec<u8> = digits.into_iter().skip_while(|digit| *digit == b'0').collect();
        let negative = negative && !(whole.is_empty() && fraction.is_empty());
        Exact { negative, whole, fraction }
    }

    /// Compares a double with the number. `None` for NaN.
    pub(crate) fn compared_with_double(&self, x: f64) -> Option<Ordering> {
        match x {
            _ if x.is_nan() => None,
            f64::INFINITY => Some(Ordering::Greater),
            f64::NEG_INFINITY => Some(Ordering::Less),
            _ => Some(Self::of_double(x).cmp(self)),
        }
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        // Digits of fractions compare like text.
        let size = |it: &Self| (it.whole.len(), it.whole.clone(), it.fraction.clone());
        match (self.negative, other.negative) {
            (false, false) => size(self).cmp(&size(other)),
            (true, true) => size(other).cmp(&size(self)),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[test]
fn exact_numbers_compare_as_numbers() {
    let texts = ["-1e400", "-12", "-1.5", "-0.5", "0", "1e-400", "0.1", "1", "1.0001", "2", "0xff"];
    for (at, text) in texts.iter().enumerate() {
        for (other_at, other) in texts.iter().enumerate() {
            let order = Exact::of_text(text).cmp(&Exact::of_text(other));
            assert_eq!(order, at.cmp(&other_at), "{text} {other}");
        }
    }
    assert_eq!(Exact::of_text("-0.0"), Exact::of_text("0"));
    assert_eq!(Exact::of_text("12.5").shifted(2), Exact::of_integer(1250));
    let tenth = Exact::of_text("0.1").compared_with_double(0.1);
    assert_eq!(tenth, Some(Ordering::Greater), "the double is a little more than a tenth");
}
