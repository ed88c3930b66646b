//! What comes up while traces are searched and opened.

use std::path::Path;

use crate::error::Error;
use crate::notice::{Notice, NoticeKind};

/// What to do about a trace, directory or file that cannot be opened or read, when
/// several traces are opened. See [`OpenOptions`](crate::OpenOptions).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum OnFailure {
    /// Open nothing: the first failure is returned as the error. This is the
    /// default, because the caller cannot overlook it.
    #[default]
    Stop,
    /// Open all that can be opened. What cannot be opened is in
    /// [`Opened::failures`](crate::Opened::failures), which the caller has to report.
    Continue,
}

/// Failures and notices so far.
#[derive(Debug)]
pub(crate) struct Findings {
    on_failure: OnFailure,
    pub(crate) failures: Vec<Error>,
    pub(crate) notices: Vec<Notice>,
}

impl Findings {
    pub(crate) fn new(on_failure: OnFailure) -> Self {
        Findings { on_failure, failures: Vec::new(), notices: Vec::new() }
    }

    /// Records a failure, or returns it if it ends everything.
    pub(crate) fn fail(&mut self, error: Error) -> Result<(), Error> {
        match self.on_failure {
            OnFailure::Stop => Err(error),
            OnFailure::Continue => {
                self.failures.push(error);
                Ok(())
            }
        }
    }

    /// Returns what is there; otherwise as [`fail`](Self::fail).
    pub(crate) fn keep<T>(&mut self, result: Result<T, Error>) -> Result<Option<T>, Error> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.fail(error).map(|()| None),
        }
    }

    /// Records something noteworthy about a file or directory as a whole.
    pub(crate) fn note(&mut self, path: &Path, kind: NoticeKind) {
        self.notices.push(Notice { kind, file: path.into(), packet: 0, offset: 0 });
    }
}
