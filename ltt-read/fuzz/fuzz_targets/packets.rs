//! Arbitrary bytes as a data stream file with one of several sound metadata texts, which
//! the first byte chooses.
#![no_main]

#[path = "../../tests/support/read_all.rs"]
#[allow(dead_code)]
mod read_all;

const METADATA: [&[u8]; 3] = [
    include_bytes!("../metadata/lttng.tsdl"),
    include_bytes!("../metadata/dynamic.tsdl"),
    include_bytes!("../metadata/all-classes.ctf2"),
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((choice, stream)) = data.split_first() else { return };
    let metadata = METADATA[usize::from(*choice) % METADATA.len()];
    let files = [("stream_0".to_owned(), stream.to_vec())];
    let trace = ltt_read::Trace::from_memory(metadata, files).expect("sound metadata");
    read_all::read_all(&trace);
});
