//! UUIDs, with parsing, comparison and display.

use std::fmt;
use std::str::FromStr;

/// A universally unique identifier of 16 bytes, in the text form of RFC 9562.
///
/// ```
/// use ltt_read::uuid::Uuid;
///
/// let uuid: Uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564".parse()?;
/// assert_eq!(uuid.0[0], 0x2a);
/// # Ok::<(), ltt_read::uuid::ParseUuidError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, b) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{b:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error from parsing a text that is not 32 hexadecimal digits grouped 8-4-4-4-12.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a UUID: expected 32 hexadecimal digits grouped 8-4-4-4-12")]
pub struct ParseUuidError;

crate::debug_as_chain!(ParseUuidError);

impl FromStr for Uuid {
    type Err = ParseUuidError;

    fn from_str(s: &str) -> Result<Self, ParseUuidError> {
        let s = s.as_bytes();
        if s.len() != 36 {
            return Err(ParseUuidError);
        }
        let mut bytes = [0; 16];
        let mut digits = 0;
        for (i, &c) in s.iter().enumerate() {
            if matches!(i, 8 | 13 | 18 | 23) {
                if c != b'-' {
                    return Err(ParseUuidError);
                }
                continue;
            }
            let d = (c as char).to_digit(16).ok_or(ParseUuidError)? as u8;
            bytes[digits / 2] = bytes[digits / 2] << 4 | d;
            digits += 1;
        }
        Ok(Uuid(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_text_round_trips_and_other_text_is_rejected() {
        let text = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564";
        assert_eq!(text.parse::<Uuid>().unwrap().to_string(), text);
        for bad in
            ["", "2a6422d0-6cee-11e0-8c08-cb07d7b3a56", "2a6422d006cee-11e0-8c08-cb07d7b3a564"]
        {
            assert_eq!(bad.parse::<Uuid>(), Err(ParseUuidError), "{bad}");
        }
    }
}
