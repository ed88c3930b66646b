//! The answers of earlier prompts, in a file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// The version of the format.
const VERSION: u32 = 1;
/// The greatest length of a file, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// The greatest number of answers of a kind.
const MOST: usize = 100;
/// The greatest length of an answer that is kept, in bytes.
const MOST_LENGTH: usize = 1000;

/// The answers of earlier prompts, by the kind of the prompt.
///
/// ```
/// use lttv_tui::prompt::History;
///
/// let mut history = History::default();
/// history.add("time", "+20ms");
/// history.add("time", "+1s");
/// history.add("time", "+20ms");
/// assert_eq!(history.of("time"), ["+1s", "+20ms"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct History {
    path: Option<PathBuf>,
    answers: BTreeMap<String, Vec<String>>,
    /// The answers that the file does not contain yet.
    added: Vec<(String, String)>,
}

/// The contents of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    version: u32,
    answers: BTreeMap<String, Vec<String>>,
}

/// The reason why a history was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The file cannot be read.
    #[error("the history of prompts {path} cannot be read: {error}")]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The file does not contain a history of this version. It stays as it is.
    #[error("the history of prompts {path} is not used: {reason}")]
    Foreign {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file cannot be written.
    #[error("the history of prompts {path} cannot be written: {error}")]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

impl History {
    /// Reads the history of a file, which [`save`](Self::save) writes to. The file need not
    /// exist.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or contains something else.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, HistoryError> {
        let path = path.into();
        let answers = read(&path)?;
        Ok(History { path: Some(path), answers, added: Vec::new() })
    }

    /// Returns the answers to a kind of prompts, the last one at the end.
    pub fn of(&self, kind: &str) -> &[String] {
        self.answers.get(kind).map_or(&[], Vec::as_slice)
    }

    /// Adds an answer. An equal one is moved to the end. Empty and very long ones are not kept.
    pub fn add(&mut self, kind: &str, answer: &str) {
        if answer.trim().is_empty() || answer.len() > MOST_LENGTH {
            return;
        }
        append(&mut self.answers, kind, answer);
        self.added.push((kind.to_owned(), answer.to_owned()));
    }

    /// Writes the answers to the file, if there are new ones. Those that another program has
    /// added meanwhile stay. Returns whether the file was written.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or contains something else meanwhile.
    pub fn save(&mut self) -> Result<bool, HistoryError> {
        let Some(path) = self.path.clone().filter(|_| !self.added.is_empty()) else {
            return Ok(false);
        };
        let mut answers = read(&path)?;
        for (kind, answer) in &self.added {
            append(&mut answers, kind, answer);
        }
        let contents = Contents { version: VERSION, answers };
        replace(&path, &contents).map_err(|error| HistoryError::Write { path, error })?;
        self.added.clear();
        Ok(true)
    }
}

/// Adds an answer at the end.
fn append(answers: &mut BTreeMap<String, Vec<String>>, kind: &str, answer: &str) {
    let of_kind = answers.entry(kind.to_owned()).or_default();
    of_kind.retain(|other| other != answer);
    of_kind.push(answer.to_owned());
    let excess = of_kind.len().saturating_sub(MOST);
    of_kind.drain(..excess);
}

/// Reads the answers of a file; none if it does not exist.
fn read(path: &Path) -> Result<BTreeMap<String, Vec<String>>, HistoryError> {
    let foreign = |reason: String| HistoryError::Foreign { path: path.to_owned(), reason };
    let mut text = String::new();
    let read =
        File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            return Err(foreign(error.to_string()));
        }
        Err(error) => return Err(HistoryError::Read { path: path.to_owned(), error }),
        Ok(_) if text.len() as u64 > MOST_BYTES => {
            return Err(foreign("it is too long".to_owned()));
        }
        Ok(_) => {}
    }
    let contents: Contents =
        serde_json::from_str(&text).map_err(|error| foreign(format!("it is damaged: {error}")))?;
    match contents.version {
        VERSION => Ok(contents.answers),
        other => Err(foreign(format!("its format {other} is of another version of the program"))),
    }
}

/// Replaces the file at once.
fn replace(path: &Path, contents: &Contents) -> io::Result<()> {
    // A link stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut file, contents)?;
    file.write_all(b"\n")?;
    file.persist(&path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_two_programs_are_merged() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state/prompts.json");
        let [mut one, mut other] = [(); 2].map(|()| History::open(&path).expect("no file"));
        assert!(!one.save().expect("nothing is new"));
        assert!(!path.exists());
        one.add("time", "+1s");
        other.add("time", "+2s");
        other.add("filter", "cpu == 1");
        other.add("filter", "  ");
        other.add("filter", &"x".repeat(2000));
        assert!(one.save().expect("it can be written"));
        assert!(other.save().expect("it can be written"));
        let both = History::open(&path).expect("a history");
        assert_eq!(both.of("time"), ["+1s", "+2s"]);
        assert_eq!(both.of("filter"), ["cpu == 1"]);
        assert!(both.of("trace").is_empty());
    }

    #[test]
    fn the_number_of_answers_is_limited() {
        let mut history = History::default();
        (0..1000).for_each(|number| history.add("time", &number.to_string()));
        assert_eq!(history.of("time").len(), MOST);
        assert_eq!(history.of("time").last().map(String::as_str), Some("999"));
        assert!(!history.save().expect("there is no file"));
    }

    #[test]
    fn a_file_with_something_else_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("prompts.json");
        for text in ["nonsense", "{\"version\": 2, \"answers\": {}}", "\u{0}", "[]"] {
            fs::write(&path, text).expect("a file");
            let error = History::open(&path).expect_err("something else");
            assert!(matches!(error, HistoryError::Foreign { .. }), "{error}");
            assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
        }
    }
}
