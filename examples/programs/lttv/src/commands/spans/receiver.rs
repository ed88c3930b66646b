//! Receivers of spans.

use std::io;

use lttv_common::spans::Shown;

/// A receiver of spans in their order.
pub trait SpanReceiver: Send {
    /// Receives a span.
    ///
    /// # Errors
    ///
    /// If it cannot be written. This ends the read.
    fn span(&mut self, shown: &mut Shown<'_, '_, '_>) -> io::Result<()>;

    /// Is called after the last span.
    ///
    /// # Errors
    ///
    /// If what is left cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}
