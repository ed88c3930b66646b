//! Colours.

/// A colour: red, green and blue, 0 to 255 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Color(pub u8, pub u8, pub u8);

#[cfg(feature = "state")]
impl Color {
    pub(super) const fn rgb(number: u32) -> Self {
        Color((number >> 16) as u8, (number >> 8) as u8, number as u8)
    }
}
