//! The file with the transforms of clocks, in JSON.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ltt_read::{ClockTransform, ClockTransformError, Timestamp};
use serde::{Deserialize, Serialize};

/// The version that is written and read.
const VERSION: u64 = 1;

/// The transforms of clocks, as `lttv sync --write` writes them.
///
/// ```
/// use lttv_common::clocks::TransformFile;
///
/// let text = r#"{"version": 1, "clocks": [{"host": "host a",
///     "origin_ns": 5, "origin_time_ns": 7, "slope": 4611686018427387904}]}"#;
/// let file = TransformFile::parse("clocks.json".as_ref(), text)?;
/// let transform = file.transform("host a").expect("a clock of the file");
/// assert_eq!(transform.apply(ltt_read::Timestamp::from_ns(10)).as_ns(), 12);
/// # Ok::<(), lttv_common::clocks::TransformFileError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TransformFile {
    path: PathBuf,
    clocks: Vec<(ClockEntry, ClockTransform)>,
}

/// The transform of one clock in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockEntry {
    /// The identity of the host: see [`Hosts`](lttv_context::synchronize::matching::Hosts).
    pub host: String,
    /// The name of the host, for the reader.
    #[serde(default)]
    pub name: Option<String>,
    /// The paths of its traces, for the reader.
    #[serde(default)]
    pub traces: Vec<String>,
    /// The identity of the host to whose clock the times are mapped.
    #[serde(default)]
    pub reference: Option<String>,
    /// A recorded time, in ns.
    pub origin_ns: i64,
    /// The time of the reference at this recorded time, in ns.
    pub origin_time_ns: i64,
    /// The time of the reference per recorded time, in units of 2⁻⁶².
    pub slope: u64,
    /// The deviation of the slope from 1 in millionths, for the reader.
    #[serde(default)]
    pub drift_ppm: Option<f64>,
    /// The difference between both times at the origin, for the reader.
    #[serde(default)]
    pub offset_ns: Option<i64>,
    /// The greatest possible error while messages were exchanged.
    #[serde(default)]
    pub accuracy_ns: Option<u64>,
    /// The origin of the transform.
    #[serde(default)]
    pub quality: Option<Quality>,
}

/// The origin of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quality {
    /// The clock is the reference.
    Reference,
    /// The messages of both directions limit the transform.
    Accurate,
}

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u64,
    clocks: Vec<ClockEntry>,
}

/// The part of the file that all versions have.
#[derive(Debug, Deserialize)]
struct Head {
    version: u64,
}

/// An error from reading or writing a file with transforms.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransformFileError {
    /// The file cannot be read or written.
    #[error("cannot read or write {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is no JSON, or has other members. The reason contains the line and the column.
    #[error("{}: no file with clock transforms", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// The file has an unknown version.
    #[error("{}: version {version} of a file with clock transforms is unknown; this program reads version {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version.
        version: u64,
    },
    /// A transform cannot be used.
    #[error("{}: clocks[{index}] of `{host}`", path.display())]
    Transform {
        /// The file.
        path: PathBuf,
        /// The place in the list of clocks.
        index: usize,
        /// The identity of the host.
        host: String,
        /// The reason.
        source: ClockTransformError,
    },
    /// Two transforms are of the same host.
    #[error("{}: clocks[{index}] of `{host}`: this host has a transform already", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
        /// The place in the list of clocks.
        index: usize,
        /// The identity of the host.
        host: String,
    },
}

impl TransformFile {
    /// Creates the contents of a file.
    ///
    /// # Errors
    ///
    /// If a slope is out of range, or if a host has several transforms.
    pub fn new(
        path: &Path,
        clocks: impl IntoIterator<Item = ClockEntry>,
    ) -> Result<Self, TransformFileError> {
        let mut file = TransformFile { path: path.to_owned(), clocks: Vec::new() };
        for (index, entry) in clocks.into_iter().enumerate() {
            let (path, host) = (path.to_owned(), entry.host.clone());
            if file.entry(&host).is_some() {
                return Err(TransformFileError::Twice { path, index, host });
            }
            let at = Timestamp::from_ns;
            let (origin, time) = (at(entry.origin_ns), at(entry.origin_time_ns));
            match ClockTransform::new(origin, time, entry.slope) {
                Ok(transform) => file.clocks.push((entry, transform)),
                Err(source) => {
                    return Err(TransformFileError::Transform { path, index, host, source });
                }
            }
        }
        Ok(file)
    }

    /// Parses the contents of a file. The path is that of the messages.
    ///
    /// # Errors
    ///
    /// If the text is not that of a file with transforms, or of an unknown version.
    pub fn parse(path: &Path, text: &str) -> Result<Self, TransformFileError> {
        let wrong = |source| TransformFileError::Json { path: path.to_owned(), source };
        let Head { version } = serde_json::from_str(text).map_err(wrong)?;
        if version != VERSION {
            return Err(TransformFileError::Version { path: path.to_owned(), version });
        }
        let contents: Contents = serde_json::from_str(text).map_err(wrong)?;
        TransformFile::new(path, contents.clocks)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`parse`](Self::parse), or if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, TransformFileError> {
        let failed = |source| TransformFileError::Io { path: path.to_owned(), source };
        let text = fs::read_to_string(path).map_err(failed)?;
        TransformFile::parse(path, &text)
    }

    /// Returns the text of the file.
    ///
    /// # Errors
    ///
    /// Never, since all parts have a form in JSON.
    pub fn text(&self) -> Result<String, TransformFileError> {
        let clocks = self.clocks.iter().map(|(entry, _)| entry.clone()).collect();
        let text = serde_json::to_string_pretty(&Contents { version: VERSION, clocks });
        let wrong = |source| TransformFileError::Json { path: self.path.clone(), source };
        text.map(|text| text + "\n").map_err(wrong)
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self) -> Result<(), TransformFileError> {
        let failed = |source| TransformFileError::Io { path: self.path.clone(), source };
        fs::write(&self.path, self.text()?).map_err(failed)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the clocks of the file.
    pub fn entries(&self) -> impl Iterator<Item = &ClockEntry> {
        self.clocks.iter().map(|(entry, _)| entry)
    }

    /// Returns what the file contains about a host.
    pub fn entry(&self, host: &str) -> Option<&ClockEntry> {
        self.entries().find(|entry| entry.host == host)
    }

    /// Returns the transform of a host.
    pub fn transform(&self, host: &str) -> Option<ClockTransform> {
        let found = self.clocks.iter().find(|(entry, _)| entry.host == host);
        found.map(|(_, transform)| *transform)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(host: &str, slope: u64) -> ClockEntry {
        ClockEntry {
            host: host.to_owned(),
            name: Some("a\u{1b}\"b".to_owned()),
            traces: vec!["/t".to_owned()],
            reference: Some("other".to_owned()),
            origin_ns: i64::MIN,
            origin_time_ns: i64::MAX,
            slope,
            drift_ppm: Some(-0.25),
            offset_ns: Some(-1),
            accuracy_ns: None,
            quality: Some(Quality::Accurate),
        }
    }

    #[test]
    fn what_is_written_is_read_with_all_digits() {
        let path = Path::new("c.json");
        let clocks = [entry("a", ClockTransform::ONE + 1), entry("b", 2 * ClockTransform::ONE)];
        let file = TransformFile::new(path, clocks).unwrap();
        let text = file.text().unwrap();
        assert_eq!(TransformFile::parse(path, &text).unwrap(), file, "{text}");
        assert_eq!(file.transform("b").unwrap().slope(), 1 << 63);
        assert_eq!(file.transform("c"), None);
    }

    #[test]
    fn faults_name_the_file_and_the_place() {
        let path = Path::new("c.json");
        let of = |text: &str| {
            ltt_read::ErrorChain(&TransformFile::parse(path, text).unwrap_err()).to_string()
        };
        let clock = |host: &str, slope: u64| {
            format!(
                r#"{{"host": "{host}", "origin_ns": 0, "origin_time_ns": 0, "slope": {slope}}}"#
            )
        };
        let file =
            |clocks: &[String]| format!("{{\"version\": 1, \"clocks\": [{}]}}", clocks.join(","));
        let one = ClockTransform::ONE;
        for (text, expected) in [
            ("".to_owned(), "c.json: no file with clock transforms: EOF"),
            ("{\"version\": 2}".to_owned(), "c.json: version 2 of a file"),
            ("{\"version\": 1}".to_owned(), "c.json: no file with clock transforms: missing field"),
            (
                file(&["{\"host\": 5}".to_owned()]),
                "invalid type: integer `5`, expected a string at line 1",
            ),
            (
                file(&[clock("a", one), clock("b", one / 2 - 1)]),
                "c.json: clocks[1] of `b`: the slope",
            ),
            (file(&[clock("a", one), clock("a", one)]), "c.json: clocks[1] of `a`: this host has"),
        ] {
            assert!(of(&text).contains(expected), "{}", of(&text));
        }
    }
}
