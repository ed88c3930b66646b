//! Arbitrary bytes as a recording of perf. Seeds are the files in `tests/data/perf`.
#![no_main]

#[path = "../../tests/support/read_all.rs"]
#[allow(dead_code)] // the target uses a part of it
mod read_all;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(trace) = ltt_read::perf::from_memory(data.to_vec()) {
        read_all::read_all(&trace);
    }
});
