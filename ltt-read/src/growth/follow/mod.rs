//! Following the files of traces that are being recorded.

mod delivered;
mod follower;
mod packet_run;
mod silence;
mod tail;
mod trace;

pub use follower::Follower;
