//! The statistics of a window, as tables and reports show them.

mod call;
mod collected;
mod groups;

pub(crate) use call::Call;
pub(crate) use collected::Collected;
pub(crate) use groups::{Group, busiest, groups};
