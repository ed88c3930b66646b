//! The results that commands and modules compute and tables show.

pub(crate) mod comparison;
pub(crate) mod contents;
pub(crate) mod interrupts;
pub(crate) mod statistics;
pub(crate) mod waits;
pub(crate) mod why;
