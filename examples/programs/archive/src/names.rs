//! The names of entries.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::error::Refusal;

/// The greatest length of a name in bytes.
const MAX_BYTES: usize = 4096;

/// The greatest number of folders in a name.
const MAX_DEPTH: usize = 64;

/// Returns the path of an entry below the folder of the archive; `None` for the folder itself.
pub(crate) fn relative(name: &[u8]) -> Result<Option<PathBuf>, Refusal> {
    if name.is_empty() || name.len() > MAX_BYTES || name.contains(&0) {
        return Err(Refusal::Name);
    }
    let mut path = PathBuf::new();
    for (depth, part) in Path::new(OsStr::from_bytes(name)).components().enumerate() {
        match part {
            _ if depth > MAX_DEPTH => return Err(Refusal::Name),
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Refusal::Escape);
            }
        }
    }
    Ok(Some(path).filter(|path| !path.as_os_str().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        let path =
            |name: &str| relative(name.as_bytes()).map(|of| of.map(|of| of.display().to_string()));
        assert_eq!(path("a/b"), Ok(Some("a/b".to_owned())));
        assert_eq!(path("./a//b/."), Ok(Some("a/b".to_owned())));
        assert_eq!(path("./"), Ok(None));
        for escape in ["/etc/passwd", "..", "a/../b", "../a", "a/.."] {
            assert_eq!(path(escape), Err(Refusal::Escape), "{escape}");
        }
        for wrong in ["", "a\0b", &"a".repeat(5000), &"a/".repeat(100)] {
            assert_eq!(path(wrong), Err(Refusal::Name), "{wrong}");
        }
    }
}
