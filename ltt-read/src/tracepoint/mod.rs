//! Descriptions of the kernel's tracepoints, as recordings of [ftrace](crate::ftrace) and
//! [perf](crate::perf) contain them.

pub(crate) mod classes;
pub(crate) mod descriptions;
pub(crate) mod formats;
pub(crate) mod input;
