//! Traces that are being recorded, as programs name them: directories and files that grow, standard input, and live
//! sessions.

mod address;

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use ltt_read::Follower;
use ltt_read::live::{LiveClient, LiveReader, LiveStart};
use lttv_context::Recording;

pub use address::Address;

use crate::report::Usage;
use crate::stdin;

/// The time between two looks at a recording that has nothing new.
pub const PAUSE: Duration = Duration::from_millis(20);

/// The options of traces that are being recorded.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct FollowArgs {
    /// Follow the directories, recordings of perf or standard input while they are recorded
    #[arg(long)]
    pub follow: bool,

    /// With --follow: wait for events of silent CPUs this long; twice the switch timer is enough
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, requires = "follow")]
    pub silence: f64,

    /// With net://…: start with the oldest events that the relay daemon has, not with new ones
    #[arg(long)]
    pub from_start: bool,
}

impl Default for FollowArgs {
    fn default() -> Self {
        FollowArgs { follow: false, silence: 2.0, from_start: false }
    }
}

/// The place of the traces that a command line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Directories of traces that are complete.
    Recorded,
    /// Directories of traces, recordings of perf or standard input, which are being recorded.
    Growing,
    /// A relay daemon, whose sessions are to be listed.
    Daemon(String),
    /// A session of a relay daemon.
    Session {
        /// The host and port of the relay daemon.
        daemon: String,
        /// The name of the traced host.
        host: String,
        /// The name of the session.
        session: String,
    },
}

impl Place {
    /// Returns the place that paths and options name.
    ///
    /// # Errors
    ///
    /// If an address is wrong, or if options and paths do not fit together.
    pub fn new(paths: &[PathBuf], args: FollowArgs) -> Result<Place, Usage> {
        let addresses = paths.iter().map(|path| Address::parse(path));
        let addresses: Vec<_> =
            addresses.map(Option::transpose).collect::<Result<_, _>>().map_err(Usage::new)?;
        match &addresses[..] {
            [Some(Address { daemon, session: None })] => Ok(Place::Daemon(daemon.clone())),
            [Some(Address { daemon, session: Some((host, session)) })] => Ok(Place::Session {
                daemon: daemon.clone(),
                host: host.clone(),
                session: session.clone(),
            }),
            _ if addresses.iter().any(Option::is_some) => {
                Err(Usage::new("a live session cannot be read together with others"))
            }
            _ if args.follow => Ok(Place::Growing),
            _ if args.from_start => Err(Usage::new("--from-start needs net://…")),
            _ => Ok(Place::Recorded),
        }
    }

    /// Opens the recording of the traces; `None` if they are complete or to be listed. A live session
    /// keeps at most `memory` bytes of events that were not released.
    ///
    /// # Errors
    ///
    /// If a relay daemon cannot be reached, or if an option is wrong.
    pub fn recording(
        self,
        paths: &[PathBuf],
        args: FollowArgs,
        memory: Option<u64>,
    ) -> Result<Option<Recording>, Box<dyn Error>> {
        match self {
            Place::Recorded | Place::Daemon(_) => Ok(None),
            Place::Growing => {
                let silence = Duration::try_from_secs_f64(args.silence);
                let silence =
                    silence.map_err(|error| Usage::new(format_args!("--silence: {error}")))?;
                let (streams, paths): (Vec<_>, Vec<_>) =
                    paths.iter().partition(|path| stdin::is_stdin(path));
                let mut follower = Follower::new(paths).with_silence(silence);
                for path in streams {
                    follower = follower.with_stream(path, stdin::stream()?);
                }
                Ok(Some(follower.into()))
            }
            Place::Session { daemon, host, session } => {
                let start = if args.from_start { LiveStart::Beginning } else { LiveStart::Now };
                let client = LiveClient::attach(&daemon, &host, &session, start);
                let client = match memory {
                    Some(bytes) => client.with_memory(bytes),
                    None => client,
                };
                Ok(Some(LiveReader::connect(client)?.into()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn files_and_standard_input_are_followed() {
        let follow = FollowArgs { follow: true, ..FollowArgs::default() };
        let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
        for path in [traces.join("perf/perf.data"), traces.join("kernel"), "-".into()] {
            let paths = [path];
            assert_eq!(Place::new(&paths, follow).expect("a place"), Place::Growing);
            assert_eq!(
                Place::new(&paths, FollowArgs::default()).expect("a place"),
                Place::Recorded
            );
        }
    }
}
