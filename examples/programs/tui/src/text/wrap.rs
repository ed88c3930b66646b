//! Texts in several lines.

use lttv_common::escape;
use ratatui::text::Line;

/// Divides a text into lines of at most this many columns, preferably at spaces. The text's own
/// line breaks stay; other control characters are escaped.
///
/// ```
/// use lttv_tui::text::wrap::wrap;
///
/// assert_eq!(wrap("one two three", 8), ["one two", "three"]);
/// assert_eq!(wrap("a_long_word b", 5), ["a_lon", "g_wor", "d b"]);
/// assert_eq!(wrap("one\n\ntwo", 80), ["one", "", "two"]);
/// ```
pub fn wrap(text: &str, width: u16) -> Vec<String> {
    let width = usize::from(width).max(1);
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        wrap_paragraph(&escape::name(paragraph), width, &mut lines);
    }
    lines
}

fn wrap_paragraph(text: &str, width: usize, lines: &mut Vec<String>) {
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        let (bare, all) = (columns(word.trim_end_matches(' ')), columns(word));
        if used > 0 && used + bare > width {
            finish(&mut line, lines);
            used = 0;
        }
        if bare <= width {
            line.push_str(word);
            used += all;
            continue;
        }
        // A word that is longer than a line.
        for c in word.chars() {
            let of = columns(c.encode_utf8(&mut [0; 4]));
            if used > 0 && used + of > width {
                finish(&mut line, lines);
                used = 0;
            }
            line.push(c);
            used += of;
        }
    }
    finish(&mut line, lines);
}

fn finish(line: &mut String, lines: &mut Vec<String>) {
    let kept = line.trim_end_matches(' ').len();
    line.truncate(kept);
    lines.push(std::mem::take(line));
}

/// Returns the number of columns of a text on the screen.
pub fn columns(text: &str) -> usize {
    match text.is_ascii() {
        true => text.len(),
        false => Line::raw(text).width(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_allowed_and_no_character_is_lost() {
        let text =
            "wide 日本語のテキスト and a/very/long/path/without/any/space, at  last \u{1b}[31m";
        for width in 1..90 {
            let lines = wrap(text, width);
            let is_narrow = |line: &String| columns(line) <= usize::from(width).max(2);
            assert!(lines.iter().all(is_narrow), "{width} {lines:#?}");
            let bare = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            assert_eq!(bare(&lines.concat()), bare(&escape::name(text)), "{width}");
        }
    }
}
