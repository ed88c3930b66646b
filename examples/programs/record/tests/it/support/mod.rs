//! An imitated machine, and the pages of its ring buffers.

pub(crate) mod machine;
pub(crate) mod pages;
pub(crate) mod recorder;
