//! Events of traces as [Arrow](https://arrow.apache.org) record batches.
//!
//! [`Tables`] describes the tables of a traceset: one for each event type, with a typed column for
//! each field, and one for all events. A [`Scan`] reads chosen columns of some of them in one read
//! of the traces, within a window of time and through a filter. Programs that know Arrow can take
//! the batches over without copying.
//!
//! | field class | type of the column |
//! |---|---|
//! | integer | the smallest integer with enough bits |
//! | enumeration | its integer; beside it `NAME_label`, with several labels joined by `\|`, null without one |
//! | boolean, float | boolean; 32 or 64 bits |
//! | bit map | 64-bit integer; beside it `NAME_flags`, the list of the set flags |
//! | text | UTF-8, with `\xNN` in place of each byte that is none |
//! | blob | binary |
//! | array, sequence | list |
//! | structure | structure; without members a boolean, which tells whether it is there |
//! | option | the type of its content; null if absent |
//! | variant | structure of the name of the option, `tag`, and a member for each option, all but one of them null |

#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]
#![forbid(unsafe_code)]

mod batch;
mod damage;
#[cfg(feature = "export")]
pub mod export;
mod order;
mod priorities;
mod scan;
mod shape;
mod sink;
mod spans;
mod states;
mod statistics;
mod table;
mod tables;

pub use batch::Selection;
pub use damage::Damage;
pub use order::is_in_order;
pub use scan::{BATCH_ROWS, Scan};
pub use sink::Sink;
pub use spans::{read_spans, spans_schema};
pub use states::{StatesError, read_states, states_schema};
pub use statistics::{statistics_batch, statistics_schema};
pub use table::{EVENTS, EventTable};
pub use tables::Tables;
