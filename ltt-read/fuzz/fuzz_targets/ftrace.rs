//! Arbitrary bytes as a recording of ftrace. Seeds are the files in `tests/data/ftrace`.
#![no_main]

#[path = "../../tests/support/read_all.rs"]
#[allow(dead_code)] // the target uses a part of it
mod read_all;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for trace in ltt_read::ftrace::from_memory(data.to_vec()).into_iter().flatten() {
        read_all::read_all(&trace);
    }
});
