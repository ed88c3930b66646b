//! Paths as text: names separated by slashes, with backslashes as escapes.

use std::borrow::Cow;

use super::TreeError;

/// A name in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element<'p> {
    pub(super) name: Cow<'p, str>,
    /// The name contains an escape, and is therefore not a wildcard.
    pub(super) escaped: bool,
}

/// An iterator over the elements of a path. It ends after an error.
pub(super) struct Elements<'p> {
    path: &'p str,
    /// The remaining part of the path; `None` at its end.
    rest: Option<&'p str>,
}

/// Splits a path into its elements.
pub(super) fn elements(path: &str) -> Elements<'_> {
    let rest = path.strip_prefix('/').unwrap_or(path);
    Elements { path, rest: (!rest.is_empty()).then_some(rest) }
}

impl<'p> Iterator for Elements<'p> {
    type Item = Result<Element<'p>, TreeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        let mut name = Cow::Borrowed("");
        let (mut plain, mut escaped) = (0, false);
        let mut bytes = rest.bytes().enumerate();
        let mut end = rest.len();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'/' => {
                    end = at;
                    // A slash at the end of the path is not followed by a name.
                    self.rest = Some(&rest[at + 1..]).filter(|rest| !rest.is_empty());
                    break;
                }
                b'\\' => {
                    name.to_mut().push_str(&rest[plain..at]);
                    (plain, escaped) = (at + 1, true);
                    if bytes.next().is_none() {
                        return Some(Err(TreeError::Escape(self.path.to_owned())));
                    }
                }
                _ => {}
            }
        }
        match &mut name {
            Cow::Borrowed(name) if !escaped => *name = &rest[..end],
            name => name.to_mut().push_str(&rest[plain..end]),
        }
        if name.is_empty() {
            self.rest = None;
            let offset = rest.as_ptr() as usize - self.path.as_ptr() as usize;
            return Some(Err(TreeError::EmptyName { path: self.path.to_owned(), offset }));
        }
        Some(Ok(Element { name, escaped }))
    }
}

/// Appends a name to a path such that [`elements`] reads it literally.
pub(super) fn push_name(path: &mut String, name: &str) {
    if matches!(name, "*" | "**") {
        path.push('\\');
    }
    for c in name.chars() {
        if matches!(c, '/' | '\\') {
            path.push('\\');
        }
        path.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<String> {
        elements(path).map(|e| e.unwrap().name.into_owned()).collect()
    }

    #[test]
    fn slashes_separate_names_unless_escaped() {
        assert_eq!(names("a/b"), ["a", "b"]);
        assert_eq!(names("/a/b/"), ["a", "b"]);
        assert_eq!(names(r"a\/b/\*/\\"), ["a/b", "*", "\\"]);
        assert_eq!(names("é/\\é\n"), ["é", "é\n"]);
        assert!(names("").is_empty());
        assert!(names("/").is_empty());
    }

    #[test]
    fn malformed_paths_are_reported_with_their_offset() {
        let error = |path: &str| elements(path).find_map(Result::err).unwrap();
        assert_eq!(error("a//b"), TreeError::EmptyName { path: "a//b".into(), offset: 2 });
        assert_eq!(error("//b"), TreeError::EmptyName { path: "//b".into(), offset: 1 });
        assert_eq!(error("a/b\\"), TreeError::Escape("a/b\\".into()));
    }
}
