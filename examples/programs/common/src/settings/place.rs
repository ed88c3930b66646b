//! The place of the configuration file.

use std::ffi::OsString;
use std::path::PathBuf;

/// A choice of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// No file.
    None,
    /// This file, which must exist.
    Given(PathBuf),
    /// This file, if it exists.
    Usual(PathBuf),
}

impl Place {
    /// Returns the place that the environment determines: the file `LTTV_CONFIG`, or else
    /// `lttv/config.toml` in `XDG_CONFIG_HOME` or `~/.config`.
    ///
    /// ```
    /// use lttv_common::settings::Place;
    ///
    /// let home = |name: &str| (name == "HOME").then(|| "/home/me".into());
    /// assert_eq!(
    ///     Place::of_environment(home),
    ///     Place::Usual("/home/me/.config/lttv/config.toml".into())
    /// );
    /// ```
    pub fn of_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(path) = set("LTTV_CONFIG") {
            return Place::Given(path);
        }
        // A relative path is invalid there.
        let folder = set("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        let folder = folder.or_else(|| Some(set("HOME")?.join(".config")));
        folder.map_or(Place::None, |folder| Place::Usual(folder.join("lttv/config.toml")))
    }
}
