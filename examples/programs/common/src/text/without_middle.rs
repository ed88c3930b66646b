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
/// assert_eq!(without_middle("woken by a (7) in futex(0123456789)", 30), "woken by a (7) in futex(0123…)");
/// ```
pub fn without_middle(text: &str, columns: usize) -> Cow<'_, str> {
    let length = if text.len() <= columns { 0 } else { text.chars().count() };
    if length <= columns {
        return text.into();
    }
    let after_arguments = match text.strip_suffix(')') {
        Some(arguments) => Some(arguments.len()),
        None => text.rfind(") "),
    };
    let after_arguments = after_arguments.map(|at| text[at..].chars().count());
    let tail = after_arguments.unwrap_or(TAIL).min(columns / 2);
    let head = columns.saturating_sub(tail + 1);
    let place = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(place, _)| place);
    format!("{}…{}", &text[..place(head)], &text[place(length - tail)..]).into()
}
