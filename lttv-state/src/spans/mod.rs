//! Spans.

pub(crate) mod action;
mod analysis;
mod arguments;
pub(crate) mod counts;
pub(crate) mod events;
mod families;
pub(crate) mod family;
mod file_calls;
pub(crate) mod inputs;
pub(crate) mod machine;
mod names;
mod needs;
pub(crate) mod outcome;
pub(crate) mod period;
pub(crate) mod place;
mod reader;
mod settings;
mod sorter;
pub(crate) mod span;
mod stored;
pub(crate) mod subjects;
pub(crate) mod threads;

pub use analysis::{FoundSpans, SpanAnalysis, SpanVisitor};
pub use arguments::{error_name, error_number, write_arguments, write_result};
pub use counts::Unmatched;
pub use families::Families;
pub use family::Family;
pub use names::SpanNames;
pub use needs::NEEDS;
pub use period::{Period, PeriodError};
pub use place::EventPlace;
pub use reader::EventReader;
pub use settings::SpanSettings;
pub use sorter::{SpanOrder, SpanSorter};
pub use span::{Completeness, Span, SpanThread, Waker};
pub use threads::{ThreadFacts, ThreadId};
