//! The directories below which traces may be opened.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::WorkspaceError;

/// The greatest number of files in a directory of traces.
pub(super) const MOST_FILES: usize = 100_000;

/// Directories with all below them. Links are resolved before the comparison.
#[derive(Debug, Clone, Default)]
pub struct Roots(Vec<PathBuf>);

impl Roots {
    /// Creates the list of directories.
    ///
    /// # Errors
    ///
    /// If one of them does not exist: returns it, with the reason.
    pub fn new(
        paths: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Self, (PathBuf, std::io::Error)> {
        let resolve = |path: PathBuf| path.canonicalize().map_err(|error| (path, error));
        paths.into_iter().map(resolve).collect::<Result<_, _>>().map(Roots)
    }

    /// Returns the resolved form of a path that a client has named, if everything at and below
    /// it lies below the roots. Paths with `..` are refused.
    ///
    /// # Errors
    ///
    /// If the path does not exist or leads out of the roots: the error is the same, so that
    /// clients learn nothing about other paths. If there are too many files below it.
    pub fn resolve(&self, named: &str) -> Result<PathBuf, WorkspaceError> {
        let named = Path::new(named.strip_prefix("file://").unwrap_or(named));
        if named.components().any(|part| part == Component::ParentDir) {
            return Err(WorkspaceError::NoSuchPath);
        }
        let path = named.canonicalize().map_err(|_| WorkspaceError::NoSuchPath)?;
        if !self.contains(&path) {
            return Err(WorkspaceError::NoSuchPath);
        }
        self.check_all(&path, &mut { MOST_FILES })?;
        Ok(path)
    }

    fn contains(&self, path: &Path) -> bool {
        self.0.iter().any(|root| path.starts_with(root))
    }

    /// Checks that no link below a directory leads out of the roots.
    fn check_all(&self, directory: &Path, rest: &mut usize) -> Result<(), WorkspaceError> {
        let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
        for entry in entries.filter_map(Result::ok) {
            *rest = rest.checked_sub(1).ok_or(WorkspaceError::TooManyFiles)?;
            let kind = entry.file_type().map_err(|_| WorkspaceError::NoSuchPath)?;
            let path = entry.path();
            if kind.is_dir() {
                self.check_all(&path, rest)?;
            } else if kind.is_symlink()
                // A link to nothing is never read.
                && path.canonicalize().is_ok_and(|target| !self.contains(&target))
            {
                return Err(WorkspaceError::NoSuchPath);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_of_the_roots_are_as_if_they_did_not_exist() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        for path in ["in/trace", "in/linked", "out/trace", "in-too/trace"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        let roots = Roots::new([at("in")]).unwrap();
        let resolve = |path: PathBuf| roots.resolve(path.to_str().unwrap());
        assert_eq!(resolve(at("in/trace")).unwrap(), at("in/trace").canonicalize().unwrap());
        assert!(resolve(at("in")).is_ok());
        for outside in ["out/trace", "in/../out/trace", "in/trace/../trace", "in-too/trace", "no"] {
            assert!(matches!(resolve(at(outside)), Err(WorkspaceError::NoSuchPath)), "{outside}");
        }
        for text in ["", "/", "/etc", "trace\0", "file:///etc"] {
            assert!(matches!(roots.resolve(text), Err(WorkspaceError::NoSuchPath)), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_of_the_roots_are_refused() {
        use std::os::unix::fs::symlink;

        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        for path in ["in/a/deep", "in/b", "in/c", "out"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("out/secret"), "x").unwrap();
        fs::write(at("in/c/data"), "x").unwrap();
        symlink(at("out"), at("in/link")).unwrap();
        symlink(at("out/secret"), at("in/a/deep/file")).unwrap();
        symlink(at("in/c/data"), at("in/b/file")).unwrap();
        let roots = Roots::new([at("in")]).unwrap();
        let resolve = |path: &str| roots.resolve(at(path).to_str().unwrap());
        assert!(resolve("in/link").is_err());
        assert!(resolve("in/a").is_err());
        assert!(resolve("in/b").is_ok());
    }
}
