//! Horizontal bars of characters.

/// Returns a bar whose length is in proportion to a count, in eighths of characters.
pub fn bar(count: u64, most: u64, width: u64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    // Any number greater than 0 is visible.
    let eighths = u128::from(count) * u128::from(width * 8);
    let eighths = eighths.div_ceil(u128::from(most.max(1))) as u64;
    "█".repeat((eighths / 8) as usize) + PARTS[(eighths % 8) as usize]
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn bars_are_in_proportion_and_never_empty() {
        assert_eq!(bar(0, 10, 4), "");
        assert_eq!(bar(10, 10, 4), "████");
        assert_eq!(bar(5, 10, 4), "██");
        assert_eq!(bar(1, 1_000_000, 4), "▏");
        assert_eq!(bar(u64::MAX, u64::MAX, 2), "██");
    }
}
