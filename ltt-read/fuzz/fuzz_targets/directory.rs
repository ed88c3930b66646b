//! Arbitrary bytes as the directory of a trace: files, links, indexes, sizes. It is
//! opened and read in all ways, which have to agree.
#![no_main]

#[path = "../../tests/support/directory.rs"]
mod directory;

libfuzzer_sys::fuzz_target!(|data: &[u8]| directory::check(data));
