//! Lines that fit a screen.

use lttv_common::text::without_middle;

/// The greatest number of columns of a line.
const COLUMNS: usize = 100;
/// The indentation of the second line of a text, and of those that follow.
const INDENT: usize = 4;
/// The greatest number of lines of a text.
const LINES: usize = 3;

/// Returns a line without its middle, if it is too long.
pub(super) fn fitting(line: &str) -> String {
    without_middle(line.trim_end(), COLUMNS).into_owned()
}

/// Returns a text in a few lines, without its middle if it is longer.
pub(super) fn wrapped(text: &str) -> Vec<String> {
    let text: Vec<char> =
        without_middle(text.trim_end(), COLUMNS + (LINES - 1) * (COLUMNS - INDENT))
            .chars()
            .collect();
    let (first, rest) = text.split_at(text.len().min(COLUMNS));
    let mut lines = vec![first.iter().collect::<String>().trim_end().to_owned()];
    lines.extend(rest.chunks(COLUMNS - INDENT).map(|chunk| {
        let chunk: String = chunk.iter().collect();
        format!("{:INDENT$}{}", "", chunk.trim_end())
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_keep_their_ends() {
        assert_eq!(fitting("short "), "short");
        let long = format!("{}= 3  <1 ms>", "é".repeat(300));
        let fitting = fitting(&long);
        assert_eq!(fitting.chars().count(), COLUMNS);
        assert!(fitting.starts_with("éé") && fitting.contains('…') && fitting.ends_with("<1 ms>"));
    }

    #[test]
    fn texts_are_wrapped_to_lines() {
        assert_eq!(wrapped("short"), ["short"]);
        for length in [100, 101, 196, 197, 292, 293, 1_000] {
            let lines = wrapped(&"x".repeat(length));
            assert!(lines.len() <= LINES && lines.iter().all(|line| line.len() <= COLUMNS + 2));
            let shown: usize = lines.iter().map(|line| line.matches('x').count()).sum();
            let all = COLUMNS + (LINES - 1) * (COLUMNS - INDENT);
            assert_eq!(shown, if length <= all { length } else { all - 1 }, "{length}");
        }
    }
}
