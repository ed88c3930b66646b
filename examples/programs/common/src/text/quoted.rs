//! Paths as words of a shell.

use std::path::Path;

/// Returns a path as one word of a shell.
///
/// ```
/// use std::path::Path;
///
/// use lttv_common::text::quoted::shell_word;
///
/// assert_eq!(shell_word(Path::new("/a/b-1/trace.dat")), "/a/b-1/trace.dat");
/// assert_eq!(shell_word(Path::new("/a b/it's")), r"'/a b/it'\''s'");
/// assert_eq!(shell_word(Path::new("-x")), "./-x");
/// ```
pub fn shell_word(path: &Path) -> String {
    let mut text = path.display().to_string();
    if text.starts_with('-') {
        text.insert_str(0, "./");
    }
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:,@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
