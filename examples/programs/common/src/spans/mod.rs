//! Single spans, as programs show them.

mod object;
mod shown;

pub use object::object;
pub use shown::Shown;
