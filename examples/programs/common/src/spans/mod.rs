//! Single spans, as programs show them.

mod object;
mod ordered;
mod shown;

pub use object::{object, values};
pub use ordered::OrderedSpans;
pub use shown::Shown;
