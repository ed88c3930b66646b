//! Lines that are too long for a screen.

use std::borrow::Cow;

/// The number of characters at the end of a line that stay, if no arguments end there.
const TAIL: usize = 40;

/// Returns a text without its middle, if it has more characters than `columns`. What follows the arguments of a
/// call stays: its result and duration. It is not more than half of the columns.
///
/// ```
/// use lttv_common::text::without_middle;
///
/// assert_eq!(without_middle("a short line", 20), "a short line");
/// let call = "openat(0123456789012345) = 3  <1 ms>";
/// assert_eq!(without_middle(call, 30), "openat(012345678…) = 3  <1 ms>");
/// ```
pub fn without_middle(text: &str, columns: usize) -> Cow<'_, str> {
    let length = if text.len() <= columns { 0 } else { text.chars().count() };
    if length <= columns {
        return text.into();
    }
    let after_arguments = text.rfind(") ").map(|at| text[at..].chars().count());
    let tail = after_arguments.unwrap_or(TAIL).min(columns / 2);
    let head = columns.saturating_sub(tail + 1);
    let place = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(place, _)| place);
    format!("{}…{}", &text[..place(head)], &text[place(length - tail)..]).into()
}
