//! The statistics of a window, as tables and reports show them.

mod call;
mod collected;
mod groups;
mod picked;

pub(crate) use call::Call;
pub(crate) use collected::Collected;
pub(crate) use groups::{Group, groups};
pub(crate) use picked::Picked;
