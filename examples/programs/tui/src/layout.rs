//! The layout of tabs in a file: their viewers, from top to bottom, and the settings of these.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// The version of the format.
const VERSION: u32 = 1;
/// The greatest length of a file, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// The greatest number of tabs in a file, and of viewers in a tab.
const MOST_TABS: usize = 50;
const MOST_VIEWERS: usize = 100;

/// The file that contains the layout.
///
/// It is JSON. A file that is damaged, or that a newer version of the program has written, is
/// not used, and stays until the user changes the layout. It is then copied to a file with the
/// extension `old`.
///
/// ```
/// use std::path::Path;
/// use lttv_tui::layout::LayoutFile;
///
/// let of = |name: &str| match name {
///     "HOME" => Some("/home/ada".into()),
///     _ => None,
/// };
/// let file = LayoutFile::of_user(of).expect("a home");
/// assert_eq!(file.path(), Path::new("/home/ada/.local/state/lttv/layout.json"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutFile {
    path: PathBuf,
}

/// The reason why a layout was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The file cannot be read.
    #[error("the layout {path} cannot be read: {error}")]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The file does not contain a layout.
    #[error("the layout {path} is damaged: {reason}")]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file is of a newer version of the program.
    #[error("the layout {path} is of a newer version of the program: format {version}")]
    Newer {
        /// The path of the file.
        path: PathBuf,
        /// The version of the format.
        version: u32,
    },
    /// The file cannot be written.
    #[error("the layout {path} cannot be written: {error}")]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// The layouts of all tabs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layout {
    version: u32,
    pub(crate) tabs: Vec<SavedTab>,
}

/// The layout of a tab.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedTab {
    /// The paths of the traces.
    pub(crate) traces: Vec<String>,
    /// The index of the viewer with the focus.
    #[serde(default)]
    pub(crate) focus: usize,
    /// `true` if only the viewer with the focus is visible.
    #[serde(default)]
    pub(crate) maximised: bool,
    /// The width of labels that the user has chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) divider: Option<u16>,
    /// The viewers, from top to bottom.
    pub(crate) viewers: Vec<SavedViewer>,
}

/// A viewer of a layout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedViewer {
    /// The name of its kind.
    pub(crate) kind: String,
    /// `true` if it is visible.
    pub(crate) shown: bool,
    /// Its settings: names and values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) settings: Vec<(String, String)>,
}

/// The part of any version of the format.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

impl LayoutFile {
    /// Creates the name of a file. It need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        LayoutFile { path: path.into() }
    }

    /// Finds the file of the user, given the environment: `lttv/layout.json` in the folder
    /// `XDG_STATE_HOME`, by default `.local/state` in the home. Returns `None` if there is no
    /// home.
    pub fn of_user(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = folder("XDG_STATE_HOME")
            .or_else(|| folder("HOME").map(|home| home.join(".local").join("state")))?;
        Some(LayoutFile::new(state.join("lttv").join("layout.json")))
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the layout; `None` if there is no file.
    pub(crate) fn read(&self) -> Result<Option<Layout>, LayoutError> {
        let path = || self.path.clone();
        let mut text = String::new();
        let read = File::open(&self.path)
            .and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
        match read {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                return Err(LayoutError::Damaged { path: path(), reason: error.to_string() });
            }
            Err(error) => return Err(LayoutError::Read { path: path(), error }),
            Ok(_) => {}
        }
        let damaged = |reason: &dyn ToString| LayoutError::Damaged {
            path: path(),
            reason: reason.to_string(),
        };
        if text.len() as u64 > MOST_BYTES {
            return Err(damaged(&"it is too long"));
        }
        let header: Header = serde_json::from_str(&text).map_err(|error| damaged(&error))?;
        if header.version > VERSION {
            return Err(LayoutError::Newer { path: path(), version: header.version });
        }
        let layout: Layout = serde_json::from_str(&text).map_err(|error| damaged(&error))?;
        if layout.tabs.len() > MOST_TABS
            || layout.tabs.iter().any(|tab| tab.viewers.len() > MOST_VIEWERS)
        {
            return Err(damaged(&"it has too many tabs or viewers"));
        }
        Ok(Some(layout))
    }

    /// Replaces the file at once: it contains either the old or the new layout at any time. If
    /// `keeps_old`, the old file is copied first.
    pub(crate) fn write(
        &self,
        mut tabs: Vec<SavedTab>,
        keeps_old: bool,
    ) -> Result<(), LayoutError> {
        tabs.truncate(MOST_TABS);
        tabs.iter_mut().for_each(|tab| tab.viewers.truncate(MOST_VIEWERS));
        let layout = Layout { version: VERSION, tabs };
        self.replace(&layout, keeps_old)
            .map_err(|error| LayoutError::Write { path: self.path.clone(), error })
    }

    fn replace(&self, layout: &Layout, keeps_old: bool) -> io::Result<()> {
        // A link stays a link.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, layout)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        if keeps_old {
            match fs::copy(&path, path.with_extension("old")) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        file.persist(&path)?;
        Ok(())
    }
}
