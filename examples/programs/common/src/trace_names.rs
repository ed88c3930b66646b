//! Short names of traces.

use std::path::{Component, Path};

/// Returns a name for each path: its last components, as many as distinguish it from the
/// others. Equal paths have equal names.
///
/// ```
/// use lttv_common::trace_names::trace_names;
///
/// assert_eq!(trace_names(["/a/before/kernel", "/a/after/kernel"]), ["before/kernel", "after/kernel"]);
/// assert_eq!(trace_names(["/a/one", "/a/two/"]), ["one", "two"]);
/// assert_eq!(trace_names(["/a/kernel"]), ["kernel"]);
/// ```
pub fn trace_names<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Vec<String> {
    let paths: Vec<Vec<String>> = paths.into_iter().map(|path| parts(path.as_ref())).collect();
    let name = |path: &Vec<String>| {
        let others = || paths.iter().filter(|other| *other != path);
        let end = |of: &[String], len: usize| of[of.len().saturating_sub(len)..].to_vec();
        let is_alone = |len: usize| others().all(|other| end(other, len) != end(path, len));
        let len = (1..path.len()).find(|len| is_alone(*len)).unwrap_or(path.len());
        let is_absolute = path.first().is_some_and(|first| first == "/");
        match end(path, len) {
            end if end.len() == path.len() && is_absolute => format!("/{}", end[1..].join("/")),
            end => end.join("/"),
        }
    };
    paths.iter().map(name).collect()
}

/// Returns the components of a path, those of the current directory instead of `.`.
fn parts(path: &Path) -> Vec<String> {
    let is_relative = path.components().all(|part| part == Component::CurDir)
        || path.components().any(|part| part == Component::ParentDir);
    let whole = if is_relative { path.canonicalize().ok() } else { None };
    let path = whole.as_deref().unwrap_or(path);
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_shortest_that_differ() {
        for (paths, expected) in [
            (&["a/kernel", "a/ust"][..], &["kernel", "ust"][..]),
            (&["x/a/kernel", "y/a/kernel"], &["x/a/kernel", "y/a/kernel"]),
            (&["/a/k", "/b/k", "/b/j"], &["a/k", "b/k", "j"]),
            (&["kernel", "old/kernel"], &["kernel", "old/kernel"]),
            (&["/kernel", "/old/kernel"], &["/kernel", "old/kernel"]),
            (&["same", "same"], &["same", "same"]),
            (&["./one/", "./two"], &["one", "two"]),
            (&["/"], &["/"]),
        ] {
            assert_eq!(trace_names(paths), expected, "{paths:?}");
        }
        let here = trace_names(["."]);
        assert!(!here[0].is_empty() && here[0] != ".", "{here:?}");
    }
}
