//! Commands of the program `lttv` within the interpreter.

use std::error::Error as StdError;
use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use ltt_read::ErrorChain;
use lttv_common::host::{Host, Severity};
use lttv_common::report::Report;
use lttv_context::Traceset;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::{
    DamageWarning, OptionError, TraceError, TraceWarning, is_usage, set_place, warn,
};
use crate::outside;

/// The time between two looks for an interrupt by the user.
const PATIENCE: Duration = Duration::from_millis(50);

/// An error of a command, for another thread.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    is_usage: bool,
    place: Option<(PathBuf, u64, u64)>,
}

impl Failure {
    /// Returns the failure of an error.
    pub(crate) fn of(error: &(dyn StdError + 'static)) -> Failure {
        let mut causes = std::iter::successors(Some(error), |&error| error.source());
        let place = causes.find_map(|cause| cause.downcast_ref::<ltt_read::Error>()?.place());
        Failure {
            message: ErrorChain(error).to_string(),
            is_usage: is_usage(error),
            place: place.map(|place| (place.file.to_path_buf(), place.packet, place.offset)),
        }
    }

    /// Returns the exception.
    pub(crate) fn raised(self, py: Python<'_>) -> PyErr {
        if self.is_usage {
            return OptionError::new_err(self.message);
        }
        let raised = TraceError::new_err(self.message);
        let (file, numbers) = match self.place {
            Some((file, packet, offset)) => (Some(file), Some((packet, offset))),
            None => (None, None),
        };
        set_place(raised.value(py), file.as_deref(), numbers);
        raised
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Box<dyn StdError>> for Failure {
    fn from(error: Box<dyn StdError>) -> Failure {
        Failure::of(&*error)
    }
}

/// Runs a command on a thread of its own, without the interpreter. An interrupt by the user stops it. Its messages
/// become warnings.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    traceset: &Traceset,
    progress: Option<&Py<PyAny>>,
    command: impl FnOnce(&mut Report) -> Result<R, Failure> + Send,
) -> PyResult<(R, Arc<Host>)> {
    let host = Arc::new(Host::new(traceset.clone()));
    let (result, interrupt) = thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let of_command = Arc::clone(&host);
        scope.spawn(move || {
            let run = || of_command.run(|| command(&mut Report::new("lttv")));
            // The receiver waits.
            let _ = send.send(catch_unwind(AssertUnwindSafe(run)));
        });
        let mut interrupt = None;
        let mut receive = receive;
        loop {
            let (back, result) = py.detach(move || {
                let result = receive.recv_timeout(PATIENCE);
                (receive, result)
            });
            receive = back;
            match result {
                Ok(result) => break (result.ok(), interrupt),
                Err(RecvTimeoutError::Disconnected) => break (None, interrupt),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let looked = outside::check_signals(py).and_then(|()| match progress {
                Some(callback) => outside::call(py, callback, host.progress()),
                None => Ok(()),
            });
            if let Err(error) = looked {
                host.stop_flag().store(true, Ordering::Relaxed);
                interrupt.get_or_insert(error);
            }
        }
    });
    if let Some(interrupt) = interrupt {
        return Err(interrupt);
    }
    for message in host.take_messages() {
        match message.severity {
            Severity::Error => warn::<DamageWarning>(py, &message.text)?,
            Severity::Warning => warn::<TraceWarning>(py, &message.text)?,
            Severity::Note => {}
        }
    }
    match result {
        Some(Ok(result)) => Ok((result, host)),
        Some(Err(failure)) => Err(failure.raised(py)),
        None => Err(PyRuntimeError::new_err("an internal error, which should be reported")),
    }
}
