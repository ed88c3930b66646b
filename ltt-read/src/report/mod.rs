//! Errors, which stop reading, and notices, which do not.

mod error;
mod notice;

pub use error::{DecodeError, Error, LayoutError, Place};
pub use notice::{Notice, NoticeKind};
