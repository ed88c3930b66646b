//! The argument with which an extension is installed.

use crate::hooks::Commands;
use crate::state::Extensions;
use crate::traceset::Contexts;

/// The argument of [`Extension::install`](crate::Extension::install).
#[derive(Debug)]
#[non_exhaustive]
pub struct Setup<'a, 'h> {
    /// All traces and tracefiles of the traceset.
    pub contexts: &'a Contexts,
    /// The extensions attached so far. The new extension is the last of them.
    pub extensions: &'a mut Extensions,
    /// The hooks for events to add. They stay as long as the context exists, and are also called
    /// when events are replayed to compute the state.
    pub hooks: &'a mut Commands<'h>,
}
