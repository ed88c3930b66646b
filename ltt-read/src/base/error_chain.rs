//! The text of an error with its causes.

use std::error::Error;
use std::fmt;

/// The text of an error and of all its causes, separated by `: `.
///
/// `Display` of an error of these crates writes its own text. The error that caused it, of the operating
/// system, of a hook or of another part, is its [`source`](Error::source) and is not repeated in that text.
/// A program that prints an error prints the chain, and each text once:
///
/// ```
/// use ltt_read::ErrorChain;
///
/// let error = ltt_read::open_all("/nowhere").expect_err("there is no such directory");
/// assert_eq!(error.to_string(), "cannot read /nowhere");
/// let text = ErrorChain(&error).to_string();
/// assert!(text.starts_with("cannot read /nowhere: No such file or directory"), "{text}");
/// ```
///
/// `Debug` of the errors writes the chain, too, for programs whose `main` returns an error.
#[derive(Clone, Copy)]
// Exhaustive: an error, as the caller has it.
pub struct ErrorChain<'e>(pub &'e (dyn Error + 'e));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Implements `Debug` of error types as the text of the error with its causes, for programs whose `main` returns
/// an error.
///
/// ```
/// #[derive(thiserror::Error)]
/// #[error("the table cannot be filled")]
/// struct TableError {
///     #[from]
///     source: ltt_read::Error,
/// }
///
/// ltt_read::debug_as_chain!(TableError);
/// ```
#[macro_export]
macro_rules! debug_as_chain {
    ($($error:ty),+ $(,)?) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&$crate::ErrorChain(self), f)
            }
        }
    )+};
}
