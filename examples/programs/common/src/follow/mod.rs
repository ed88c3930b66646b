//! Traces that are being recorded, as programs name them: directories that grow, and live sessions.

mod address;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ltt_read::Follower;
use ltt_read::live::{LiveClient, LiveReader, LiveStart};
use lttv_context::Recording;

pub use address::Address;

use crate::report::Usage;
use crate::stdin::is_stdin;

/// The time between two looks at a recording that has nothing new.
pub const PAUSE: Duration = Duration::from_millis(20);

/// The options of traces that are being recorded.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct FollowArgs {
    /// Follow the directories while they are recorded
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
    /// Directories of traces that are being recorded.
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
            _ if args.follow => match paths.iter().find(|path| is_stdin(path) || path.is_file()) {
                Some(file) => Err(not_followed(file)),
                None => Ok(Place::Growing),
            },
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
                Ok(Some(Follower::new(paths).with_silence(silence).into()))
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

/// Returns the error for a recording in a file or from standard input, which cannot be followed.
fn not_followed(file: &Path) -> Usage {
    Usage::new(format_args!(
        "--follow: {}: only directories of LTTng and live sessions are followed; without --follow, what recordings of \
         perf and ftrace contain so far is read",
        file.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_not_followed() {
        let follow = FollowArgs { follow: true, ..FollowArgs::default() };
        let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
        for path in [traces.join("perf/perf.data"), "-".into()] {
            let error = Place::new(std::slice::from_ref(&path), follow).expect_err("a refusal");
            assert!(error.to_string().contains("without --follow"), "{error}");
            assert_eq!(
                Place::new(&[path], FollowArgs::default()).expect("a place"),
                Place::Recorded
            );
        }
        assert_eq!(Place::new(&[traces.join("kernel")], follow).expect("a place"), Place::Growing);
    }
}
