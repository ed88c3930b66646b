//! Where requests begin.

use ltt_read::Timestamp;
use lttv_context::TracesetPosition;

/// Where a request begins.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_requests::Start;
///
/// assert!(matches!(Start::from(Timestamp::from_ns(7)), Start::Time(_)));
/// assert!(matches!(Start::default(), Start::Begin));
/// ```
#[derive(Debug, Clone, Default)]
pub enum Start {
    /// Before the first event of the traceset.
    #[default]
    Begin,
    /// Before the first event at this time or later.
    Time(Timestamp),
    /// At this position.
    Position(TracesetPosition),
}

impl From<Timestamp> for Start {
    fn from(time: Timestamp) -> Self {
        Start::Time(time)
    }
}

impl From<TracesetPosition> for Start {
    fn from(position: TracesetPosition) -> Self {
        Start::Position(position)
    }
}

impl From<&TracesetPosition> for Start {
    fn from(position: &TracesetPosition) -> Self {
        Start::Position(position.clone())
    }
}
