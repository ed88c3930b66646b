//! Following the files of traces that are being recorded.

mod delivered;
mod files;
mod followed;
mod follower;
mod packet_run;
mod recording;
mod silence;
mod tail;
mod trace;

pub use follower::Follower;
