//! Messages between hosts.

use ltt_read::Timestamp;

/// The number of a host among those whose messages are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostIndex(pub usize);

/// A message between two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// The host that sent the message.
    pub sender: HostIndex,
    /// The time of the send, by the clock of the sender.
    pub sent: Timestamp,
    /// The host that received the message.
    pub receiver: HostIndex,
    /// The time of the receive, by the clock of the receiver.
    pub received: Timestamp,
}
