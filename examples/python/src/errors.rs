//! The exceptions and warnings of the package.

use std::error::Error as StdError;
use std::path::Path;

use ltt_read::ErrorChain;
use pyo3::create_exception;
use pyo3::exceptions::{PyBaseException, PyException, PyOSError, PyUserWarning, PyValueError};
use pyo3::prelude::*;

use crate::outside::outside;

create_exception!(
    lttv,
    TraceError,
    PyException,
    "A trace, or a part of one, cannot be read or written."
);
create_exception!(
    lttv,
    FilterError,
    PyValueError,
    "A filter expression is wrong, or does not fit the traces."
);
create_exception!(lttv, OptionError, PyValueError, "An option of an analysis is wrong.");
create_exception!(lttv, DamageWarning, PyUserWarning, "A part of a trace cannot be read.");
create_exception!(lttv, LossWarning, PyUserWarning, "The tracer has lost events.");
create_exception!(
    lttv,
    TraceWarning,
    PyUserWarning,
    "A trace or a question about it has something unexpected."
);

/// Returns the exception of an error of the reader. It has the attributes `file`, `packet` and `offset`, which are
/// `None` for errors without a place.
pub(crate) fn of_read(py: Python<'_>, error: &ltt_read::Error) -> PyErr {
    let message = ErrorChain(error).to_string();
    let raised = match error {
        ltt_read::Error::Io { error, path } if error.raw_os_error().is_some() => {
            let reason = error.to_string();
            PyOSError::new_err((error.raw_os_error(), reason, path.display().to_string()))
        }
        _ => TraceError::new_err(message),
    };
    let (file, numbers) = place_of(error);
    set_place(raised.value(py), file, numbers);
    raised
}

/// Returns the file that an error is in, with the number of the packet and the offset in bytes.
fn place_of(error: &ltt_read::Error) -> (Option<&Path>, Option<(u64, u64)>) {
    let path = match error {
        ltt_read::Error::Io { path, .. }
        | ltt_read::Error::Metadata { path, .. }
        | ltt_read::Error::MetadataChanged { path, .. }
        | ltt_read::Error::NotATrace { path, .. }
        | ltt_read::Error::Section { path, .. }
        | ltt_read::Error::TooDeep { path }
        | ltt_read::Error::Unsupported { path, .. } => Some(path.as_path()),
        _ => None,
    };
    let place = error.place();
    let file = place.map(|place| &*place.file).or(path);
    (file, place.map(|place| (place.packet, place.offset)))
}

/// Sets the attributes of an exception or warning that tell the place of an error.
pub(crate) fn set_place(
    value: &Bound<'_, PyBaseException>,
    file: Option<&Path>,
    numbers: Option<(u64, u64)>,
) {
    // Attributes of an exception that has just been created can be set.
    let _ = value.setattr("file", file.map(|file| file.to_string_lossy().into_owned()));
    let _ = value.setattr("packet", numbers.map(|(packet, _)| packet));
    let _ = value.setattr("offset", numbers.map(|(_, offset)| offset));
}

/// Returns the exception of another error, with all its causes.
pub(crate) fn of_other(py: Python<'_>, error: &(dyn StdError + 'static)) -> PyErr {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    if let Some(read) = causes.find_map(|cause| cause.downcast_ref::<ltt_read::Error>()) {
        return of_read(py, read);
    }
    let raised = TraceError::new_err(ErrorChain(error).to_string());
    set_place(raised.value(py), None, None);
    raised
}

/// Returns the exception of a wrong filter, with the drawn diagnostic.
pub(crate) fn of_filter(error: &lttv_filter::FilterError) -> PyErr {
    FilterError::new_err(error.render(false).trim_end().to_owned())
}

/// Issues a warning.
pub(crate) fn warn<W: pyo3::PyTypeInfo>(py: Python<'_>, text: &str) -> PyResult<()> {
    warn_of_place::<W>(py, text, (None, None))
}

/// Issues a warning with the attributes `file`, `packet` and `offset`.
fn warn_of_place<W: pyo3::PyTypeInfo>(
    py: Python<'_>,
    text: &str,
    (file, numbers): (Option<&Path>, Option<(u64, u64)>),
) -> PyResult<()> {
    let warning = py.get_type::<W>().call1((text,))?.cast_into::<PyBaseException>()?;
    set_place(&warning, file, numbers);
    let warn = py.import("warnings")?.getattr("warn")?;
    outside(|| warn.call1((warning,))).map(drop)
}

/// Issues a warning about an error.
pub(crate) fn warn_of_error(py: Python<'_>, error: &ltt_read::Error) -> PyResult<()> {
    warn_of_place::<DamageWarning>(py, &ErrorChain(error).to_string(), place_of(error))
}

/// Issues warnings about damage and losses.
pub(crate) fn warn_of_damage(
    py: Python<'_>,
    errors: &[ltt_read::Error],
    omitted: u64,
    notices: &[ltt_read::Notice],
) -> PyResult<()> {
    if let Some(first) = errors.first() {
        let more = errors.len() as u64 - 1 + omitted;
        let text = match more {
            0 => ErrorChain(first).to_string(),
            _ => format!("{}; and {more} more errors", ErrorChain(first)),
        };
        warn_of_place::<DamageWarning>(py, &text, place_of(first))?;
    }
    let mut losses = notices.iter().filter(|notice| notice.kind.is_loss());
    if let Some(first) = losses.next() {
        let text = match losses.count() {
            0 => first.to_string(),
            more => format!("{first}; and {more} more losses"),
        };
        warn::<LossWarning>(py, &text)?;
    }
    Ok(())
}

/// Returns `true` if an error is that of a wrong option.
pub(crate) fn is_usage(error: &(dyn StdError + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(|cause| cause.is::<lttv_common::report::Usage>())
}
