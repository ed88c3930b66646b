//! Parts that several benchmarks share: ways to read, decoders written by hand, and state
//! histories. The traces that they read are those of `lttv_traces`.

mod by_hand;
mod reading;
mod serving;
pub mod states;
mod sums;

pub use by_hand::{sum_plain, sum_ust_like};
pub use reading::{
    bench_events, each_event, first_two_integers, handles, processor_time, time_range,
};
pub use serving::{counting, drain};
pub use sums::Sums;
