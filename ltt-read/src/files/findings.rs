//! Failures and notices from the search for traces and from opening them.

use std::path::Path;

use crate::report::Error;
use crate::report::{Notice, NoticeKind};

/// The reaction to a trace, directory or file that cannot be opened or read, when several
/// traces are opened. See [`OpenOptions`](crate::OpenOptions).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// Opens nothing and returns the first failure as the error. This is the default
    /// because the caller cannot overlook it.
    #[default]
    Stop,
    /// Opens everything that can be opened. The other failures are in
    /// [`Opened::failures`](crate::Opened::failures), which the caller has to report.
    Continue,
}

/// The failures and notices so far.
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

    /// Records a failure, or returns it with [`OnFailure::Stop`].
    pub(crate) fn fail(&mut self, error: Error) -> Result<(), Error> {
        match self.on_failure {
            OnFailure::Stop => Err(error),
            OnFailure::Continue => {
                self.failures.push(error);
                Ok(())
            }
        }
    }

    /// Returns the value of a result, or handles its error as [`fail`](Self::fail) does.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Error>) -> Result<Option<T>, Error> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.fail(error).map(|()| None),
        }
    }

    /// Records a notice about a file or directory as a whole.
    pub(crate) fn note(&mut self, path: &Path, kind: NoticeKind) {
        self.notices.push(Notice { kind, file: path.into(), packet: 0, offset: 0 });
    }
}
