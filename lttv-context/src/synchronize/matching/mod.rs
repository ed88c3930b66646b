//! Events to messages: rules, and the matching of sends with receives.
//!
//! [`Rules`] name the events that are ends of messages, and the fields that identify a message.
//! A [`Matcher`] joins ends to messages and knows nothing of traces. [`MessageEvents`] finds
//! the ends among the events of a traceset, and [`read_messages`] does both in one pass.

mod built_in;
mod entry;
mod hosts;
mod matcher;
mod message_events;
mod read;
mod rule;

pub use hosts::{Host, Hosts};
pub use matcher::{MatchCounts, MatchLimits, Matcher, MessageEnd};
pub use message_events::MessageEvents;
pub use read::{MessagesRead, read_messages};
pub use rule::{Direction, Rule, Rules};
