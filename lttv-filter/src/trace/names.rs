//! The names that selectors of traces consist of.

use crate::syntax::Root;

/// The names that can follow `event.`.
pub(super) const EVENT: [&str; 11] = [
    "name", "category", "subname", "id", "loglevel", "time", "tsc", "cycles", "fields", "context",
    "header",
];

/// The names that can follow `packet.`.
pub(super) const PACKET: [&str; 2] = ["context", "header"];

/// The names that can follow `tracefile.`.
pub(super) const TRACEFILE: [&str; 3] = ["name", "channel", "cpu"];

/// The names that can follow `channel.`.
pub(super) const CHANNEL: [&str; 1] = ["name"];

/// The names that can follow `trace.`.
pub(super) const TRACE: [&str; 4] = ["name", "path", "uuid", "env"];

/// Returns the names that can follow a root.
pub(super) fn after(root: Root) -> &'static [&'static str] {
    match root {
        Root::Event => &EVENT,
        Root::Packet => &PACKET,
        Root::Tracefile => &TRACEFILE,
        Root::Channel => &CHANNEL,
        Root::Trace => &TRACE,
        Root::Unqualified | Root::State => &[],
    }
}

/// Names that users may type for other names, with those names.
pub(super) const OTHER_NAMES: [(&str, &str); 9] = [
    ("cpu_id", "cpu"),
    ("tgid", "pid"),
    ("procname", "comm"),
    ("time", "event.time"),
    ("timestamp", "event.time"),
    ("channel", "channel.name"),
    ("tracefile", "tracefile.name"),
    ("trace", "trace.name"),
    ("event", "event.name"),
];
