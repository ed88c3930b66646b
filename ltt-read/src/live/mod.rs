//! Reading sessions of LTTng over the network while they are recorded.
//!
//! A relay daemon (`lttng-relayd`) offers the sessions that were created with
//! `lttng create --live` to viewers, on port 5344. A [`LiveClient`] speaks the viewer's side
//! of the protocol, versions 2.4 to 2.15, without input and output: the caller carries the bytes.
//! [`LiveReader`] does this over a TCP connection, and `AsyncLiveReader` (feature `live-async`) over
//! a connection of any asynchronous runtime. All provide the traces of the session as
//! versions of [growing traces](crate::GrowingTrace), which a [`Merge`](crate::Merge) reads.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use ltt_read::Merge;
//! use ltt_read::live::{LiveReader, LiveStart, LiveState};
//!
//! let mut reader = LiveReader::attach("localhost:5344", "my-host", "my-session", LiveStart::Now)?;
//! let mut merge = Merge::new(&[]);
//! loop {
//!     let state = reader.poll(Duration::from_millis(100))?;
//!     merge.continue_with(reader.traces());
//!     while let Some(event) = merge.next() {
//!         println!("{:?} {}", event.timestamp(), event.event_type().name());
//!     }
//!     reader.release(&merge);
//!     if state == LiveState::Ended {
//!         break;
//!     }
//! }
//! # Ok::<(), ltt_read::live::LiveError>(())
//! ```

#[cfg(feature = "live-async")]
mod async_reader;
mod client;
mod error;
mod feed;
mod reader;
mod reply;
mod request;
mod session;

#[cfg(feature = "live-async")]
pub use async_reader::AsyncLiveReader;
pub use client::{LiveAction, LiveClient, LiveStart};
pub use error::{LiveError, Refusal};
pub use reader::{LiveReader, LiveState, list_sessions};
pub use session::LiveSession;

/// The port on which relay daemons wait for viewers, unless they are told otherwise.
pub const DEFAULT_PORT: u16 = 5344;
