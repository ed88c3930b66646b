//! The colours of functions in pictures.

use crate::paint::Color;

/// Returns a warm colour that depends on the name only, so that pictures can be compared.
pub fn color(name: &str) -> Color {
    // FNV-1a
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let part = |at: u32, from: u8, range: u64| from + ((hash >> at) % range) as u8;
    Color(part(0, 215, 41), part(16, 110, 120), part(32, 60, 50))
}
