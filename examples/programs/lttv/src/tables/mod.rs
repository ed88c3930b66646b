//! The tables of all commands and modules: columns together with their cells.

pub(crate) mod calls;
pub(crate) mod compare;
pub(crate) mod counters;
pub(crate) mod disk;
pub(crate) mod heap;
pub(crate) mod info;
pub(crate) mod interrupts;
pub(crate) mod latency;
pub(crate) mod samples;
pub(crate) mod state;
pub(crate) mod stats;
pub(crate) mod sync;
pub(crate) mod usage;
pub(crate) mod waits;
