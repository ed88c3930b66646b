//! Completion of paths.

use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A path that can stand in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathChoice {
    /// The bytes of the prompt that it replaces: the name after the last slash.
    pub span: Range<usize>,
    /// The name, with a slash after that of a folder.
    pub text: String,
    /// The kind of the file: a trace, a folder or another file.
    pub description: &'static str,
}

/// The greatest number of names that are read in a folder.
const MOST_READ: usize = 10_000;
/// The greatest number of choices.
const MOST: usize = 200;

/// Returns the names that can stand before the cursor, in order. If `only_folders`, there are no
/// other files. Hidden ones need a point.
pub fn complete(text: &str, cursor: usize, only_folders: bool) -> Vec<PathChoice> {
    let Some(before) = text.get(..cursor) else { return Vec::new() };
    let start = before.rfind('/').map_or(0, |slash| slash + 1);
    let (folder, prefix) = before.split_at(start);
    let end = text[start..].find('/').map_or(text.len(), |slash| start + slash);
    let folder = match folder {
        "" => PathBuf::from("."),
        folder => expanded(folder, |name| std::env::var_os(name)),
    };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut choices = Vec::new();
    for entry in entries.take(MOST_READ).filter_map(Result::ok) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.starts_with(prefix) || name.starts_with('.') && !prefix.starts_with('.') {
            continue;
        }
        // A link counts as the file to which it leads.
        let is_folder = fs::metadata(entry.path()).is_ok_and(|found| found.is_dir());
        if only_folders && !is_folder {
            continue;
        }
        let description = match is_folder {
            true if is_trace(&entry.path()) => "trace",
            true => "folder",
            false => "file",
        };
        let slash = if is_folder { "/" } else { "" };
        choices.push(PathChoice { span: start..end, text: format!("{name}{slash}"), description });
    }
    choices.sort_by(|one, other| one.text.cmp(&other.text));
    choices.truncate(MOST);
    choices
}

/// Returns `true` if a folder contains a trace itself.
fn is_trace(folder: &Path) -> bool {
    folder.join("metadata").is_file()
}

/// Returns a path with the home folder in place of `~`.
///
/// ```
/// use std::path::Path;
/// use lttv_tui::prompt::expanded;
///
/// let of = |name: &str| (name == "HOME").then(|| "/home/ada".into());
/// assert_eq!(expanded("~/a", of), Path::new("/home/ada/a"));
/// assert_eq!(expanded("~", of), Path::new("/home/ada"));
/// assert_eq!(expanded("a~", of), Path::new("a~"));
/// ```
pub fn expanded(path: &str, variable: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let rest = match path {
        "~" => Some(""),
        path => path.strip_prefix("~/"),
    };
    match (rest, variable("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest.trim_start_matches('/')),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_after_the_last_slash_are_completed() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for name in ["kernel", "kept", ".hidden", "other"] {
            fs::create_dir(root.join(name)).expect("a folder");
        }
        fs::write(root.join("kernel/metadata"), "").expect("a file");
        fs::write(root.join("key.txt"), "").expect("a file");
        let text = format!("{}/ke", root.display());
        let start = text.len() - 2;
        let choice = |text: &str, description| PathChoice {
            span: start..start + 2,
            text: text.to_owned(),
            description,
        };
        let mut expected = vec![choice("kept/", "folder"), choice("kernel/", "trace")];
        expected.sort_by(|one, other| one.text.cmp(&other.text));
        assert_eq!(complete(&text, text.len(), true), expected);
        expected.push(choice("key.txt", "file"));
        expected.sort_by(|one, other| one.text.cmp(&other.text));
        assert_eq!(complete(&text, text.len(), false), expected);
        // Hidden names are offered after a point, and a folder that does not exist has no names.
        let all = format!("{}/", root.display());
        assert_eq!(complete(&all, all.len(), true).len(), 3);
        let hidden = format!("{all}.");
        assert_eq!(complete(&hidden, hidden.len(), true).len(), 1);
        assert!(complete("/nowhere/a", 10, true).is_empty());
        // The rest of the name is replaced, and what follows stays.
        let inside = format!("{all}kernel/metadata");
        let found = complete(&inside, all.len() + 3, true);
        assert_eq!(found[0].span, all.len()..all.len() + 6);
    }
}
