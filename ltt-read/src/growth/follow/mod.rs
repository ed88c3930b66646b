//! Following the files of traces that are being recorded.

mod follower;
mod packet_run;
mod silence;
mod tail;
mod trace;

pub use follower::Follower;
