//! The tests of this crate, in one program, since each program is linked on its own.
//!
//! Most of them write traces: `cargo test --all-features` includes all.

#![cfg_attr(
    not(all(feature = "writer", feature = "live-async")),
    allow(dead_code, reason = "the tests that are left out are the only users of some parts")
)]

#[path = "../support"]
mod support {
    #[cfg(feature = "writer")]
    pub(crate) mod arriving;
    #[cfg(feature = "writer")]
    pub(crate) mod case;
    pub(crate) mod config;
    pub(crate) mod daemon;
    pub(crate) mod directory;
    pub(crate) mod ftrace_file;
    pub(crate) mod ftrace_text;
    #[cfg(feature = "writer")]
    pub(crate) mod keys;
    pub(crate) mod layout;
    pub(crate) mod packed;
    pub(crate) mod perf_text;
    pub(crate) mod quarters;
    pub(crate) mod read_all;
    #[cfg(feature = "writer")]
    pub(crate) mod read_back;
    #[cfg(feature = "writer")]
    pub(crate) mod recording;
    pub(crate) mod relay;
    #[cfg(feature = "writer")]
    pub(crate) mod scripted;
    #[cfg(feature = "writer")]
    pub(crate) mod shape;
    pub(crate) mod shared;
    pub(crate) mod text;
    #[cfg(feature = "writer")]
    pub(crate) mod timeline;
    #[cfg(feature = "writer")]
    pub(crate) mod values;
    #[cfg(feature = "live")]
    pub(crate) mod viewer;
}

#[cfg(feature = "writer")]
mod auto_traits;
#[cfg(feature = "writer")]
mod clock_transforms;
mod columns;
#[cfg(feature = "writer")]
mod content_size;
#[cfg(feature = "writer")]
mod copy;
#[cfg(feature = "writer")]
mod damage;
#[cfg(feature = "writer")]
mod damaged_files;
mod directories;
mod empty_records;
#[cfg(all(feature = "live", feature = "writer"))]
mod errors;
mod field_reads;
#[cfg(feature = "writer")]
mod files;
#[cfg(feature = "writer")]
mod follow;
#[cfg(feature = "writer")]
mod follow_copied;
#[cfg(feature = "writer")]
mod follow_ends;
#[cfg(feature = "writer")]
mod foreign_handles;
mod ftrace;
mod ftrace_damage;
mod ftrace_forms;
#[cfg(feature = "writer")]
mod growing;
mod growth_logs;
mod hostile_runs;
#[cfg(feature = "writer")]
mod legacy;
mod legacy_facilities;
#[cfg(all(feature = "live", feature = "writer"))]
mod live;
#[cfg(all(feature = "live-async", feature = "writer"))]
mod live_async;
#[cfg(all(feature = "live", feature = "writer"))]
mod live_ends;
#[cfg(all(feature = "live", feature = "writer"))]
mod live_reconnect;
#[cfg(feature = "writer")]
mod losses;
mod many_elements;
#[cfg(feature = "writer")]
mod many_fields;
mod metadata_ctf2;
#[cfg(feature = "writer")]
mod metadata_cut;
mod metadata_shared;
mod metadata_size;
mod metadata_speed;
mod mutants;
#[cfg(feature = "writer")]
mod opening;
mod owned;
mod packed_outside;
mod perf;
mod perf_damage;
mod perf_growing;
mod release_pages;
#[cfg(feature = "writer")]
mod retarget;
#[cfg(feature = "writer")]
mod round_trip;
#[cfg(feature = "writer")]
mod seek;
mod shapes;
#[cfg(feature = "writer")]
mod special_files;
mod streams_of_a_file;
mod time_span;
#[cfg(feature = "writer")]
mod windows;
#[cfg(feature = "writer")]
mod writer;
#[cfg(feature = "writer")]
mod writer_streams;

/// Shows in the list of tests that some are left out.
#[cfg(not(all(
    feature = "writer",
    feature = "live-async",
    feature = "compression",
    feature = "serde"
)))]
#[test]
#[ignore = "`--all-features` includes the tests that need `writer`, `live-async`, `compression` or `serde`"]
fn tests_of_other_features() {}
