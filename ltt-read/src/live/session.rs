//! Sessions that a relay daemon offers.

use std::fmt;

/// A session that a relay daemon offers to viewers.
///
/// The kernel and the user space of one machine are two sessions of the same host and name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveSession {
    /// The number by which the daemon knows it.
    pub id: u64,
    /// The name of the host that is traced.
    pub host: String,
    /// The name of the session.
    pub name: String,
    /// The period at which data is sent even if buffers are not full, in µs. It is 0 for
    /// a session that is not live and cannot be attached to.
    pub live_timer_us: u32,
    /// The number of viewers that are attached, at most 1.
    pub viewers: u32,
    /// The number of its streams, including those of metadata.
    pub streams: u32,
    /// `true` if its data has the format CTF 2.
    pub is_ctf2: bool,
}

/// Writes the session like babeltrace2: `HOST/NAME (timer = 200000, 3 stream(s), …)`.
impl fmt::Display for LiveSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LiveSession { host, name, live_timer_us, viewers, streams, .. } = self;
        write!(f, "{host}/{name} (timer = {live_timer_us}, {streams} stream(s), ")?;
        write!(f, "{viewers} client(s) connected)")
    }
}
