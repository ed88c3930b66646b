//! Text output: buffers, numbers, times, colours and the files that text is written to.

mod buffer;
pub mod clock_text;
pub mod number;
pub mod output;
pub mod palette;
pub mod quoted;
mod sink;
mod without_middle;

pub use self::buffer::Text;
pub(crate) use self::buffer::{Chunk, PIECE, Short};
pub use self::without_middle::without_middle;
