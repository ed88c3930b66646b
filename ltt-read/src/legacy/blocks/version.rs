//! Versions of the legacy format.

use std::fmt;

/// A version of the legacy format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// The facility format of 2003, which has no version number.
    Of2003,
    /// 0.7 and 0.8: facilities.
    Facilities(u8),
    /// 1.0: markers in the container of 0.8.
    OneZero,
    /// 2.0 to 2.6: markers.
    Markers(u8),
}

impl Version {
    /// Creates a version from its numbers, or returns `None` if the version is not
    /// supported.
    pub(crate) fn new(major: u8, minor: u8) -> Option<Self> {
        Some(match (major, minor) {
            (0, 7 | 8) => Version::Facilities(minor),
            (1, 0) => Version::OneZero,
            (2, 0..=6) => Version::Markers(minor),
            _ => return None,
        })
    }

    /// Returns the major and minor number; 0.0 for the format of 2003.
    pub(crate) fn numbers(self) -> (u8, u8) {
        match self {
            Version::Of2003 => (0, 0),
            Version::Facilities(minor) => (0, minor),
            Version::OneZero => (1, 0),
            Version::Markers(minor) => (2, minor),
        }
    }

    /// Returns `true` if event ids count per channel, so that metadata names channels.
    pub(crate) fn has_channels(self) -> bool {
        self >= Version::Markers(3)
    }

    /// Returns `true` if format strings of markers describe events.
    pub(crate) fn has_markers(self) -> bool {
        self >= Version::OneZero
    }

    /// Returns the alignment in bytes of an object of a size, by the rule of the version
    /// and the alignment value of the trace.
    pub(crate) fn align(self, alignment: u8, size: u8) -> u8 {
        match alignment {
            0 => 1,
            _ if self == Version::Markers(5) => size,
            _ => size.min(alignment),
        }
        .max(1)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.numbers() {
            (0, 0) => f.write_str("of 2003"),
            (major, minor) => write!(f, "{major}.{minor}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip() {
        for (major, minor) in [(0, 7), (0, 8), (1, 0), (2, 0), (2, 6)] {
            assert_eq!(Version::new(major, minor).unwrap().numbers(), (major, minor));
        }
        for (major, minor) in [(0, 0), (0, 6), (1, 1), (2, 7), (3, 0)] {
            assert_eq!(Version::new(major, minor), None);
        }
        assert!(Version::Markers(3).has_channels() && !Version::Markers(2).has_channels());
    }

    #[test]
    fn alignment_is_capped_except_in_2_5() {
        assert_eq!(Version::Markers(6).align(4, 8), 4);
        assert_eq!(Version::Markers(5).align(4, 8), 8);
        assert_eq!(Version::Markers(5).align(0, 8), 1);
        assert_eq!(Version::Markers(3).align(8, 2), 2);
    }
}
