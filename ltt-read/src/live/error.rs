//! Errors of live sessions.

use crate::report::Error;

/// The reason why a live session cannot be read any further.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The network failed.
    #[error("{daemon}: the connection failed")]
    Io {
        /// The address of the relay daemon.
        daemon: String,
        /// The error of the operating system.
        #[source]
        error: std::io::Error,
    },
    /// The daemon closed the connection before the end of the session.
    #[error("{daemon}: the relay daemon closed the connection{}", waiting(waiting_for))]
    Closed {
        /// The address of the relay daemon.
        daemon: String,
        /// The thing that was requested, such as the next packet of a stream; empty if none was.
        waiting_for: String,
    },
    /// The daemon has no session of this host and name.
    #[error("{daemon}: no session `{session}` of host `{host}`")]
    NoSuchSession {
        /// The address of the relay daemon.
        daemon: String,
        /// The name of the host.
        host: String,
        /// The name of the session.
        session: String,
    },
    /// The daemon refused a request.
    #[error("{daemon}: {what}: {refusal}")]
    Refused {
        /// The address of the relay daemon.
        daemon: String,
        /// The request, with the session or stream that it is about.
        what: String,
        /// The reason.
        refusal: Refusal,
    },
    /// The daemon sent what the protocol does not allow.
    #[error("{daemon}: {what}: not a valid answer: {reason}")]
    Protocol {
        /// The address of the relay daemon.
        daemon: String,
        /// The request that was answered.
        what: String,
        /// The violation.
        reason: String,
    },
    /// More events are kept than twice the limit: see [`LiveClient`](super::LiveClient). They are
    /// not released, or the daemon does not say up to which times its packets are.
    #[error("{daemon}: more than twice the limit of {limit} bytes of events is kept")]
    Memory {
        /// The address of the relay daemon.
        daemon: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The data of the session cannot be read.
    #[error("{daemon}: the data of the session cannot be read")]
    Data {
        /// The address of the relay daemon.
        daemon: String,
        /// The error in the data.
        #[source]
        error: Error,
    },
}

crate::debug_as_chain!(LiveError, Refusal);

fn waiting(what: &str) -> String {
    if what.is_empty() { String::new() } else { format!(" while it was asked for {what}") }
}

/// The reason for which a relay daemon refuses a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Another viewer reads the session. Only one can at a time.
    #[error("another viewer is attached to the session")]
    AlreadyAttached,
    /// The session does not exist or is closing, or has the format CTF 2 and the daemon speaks a
    /// version before 2.15.
    #[error("the session is unknown or closing")]
    UnknownSession,
    /// The session was not created with `lttng create --live`.
    #[error("the session is not live")]
    NotLive,
    /// The place at which to start is unknown.
    #[error("the place at which to start is not supported")]
    UnknownStart,
    /// No viewer session was created before.
    #[error("there is no viewer session")]
    NoViewerSession,
    /// The daemon gives no reason.
    #[error("the relay daemon reports an error")]
    Failed,
    /// The viewer is not attached to the session.
    #[error("not attached to the session")]
    NotAttached,
}
