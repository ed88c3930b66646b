//! Arbitrary bytes as metadata and data stream. The first two bytes are the length of the
//! metadata.
#![no_main]

#[path = "../../tests/support/read_all.rs"]
#[allow(dead_code)]
mod read_all;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((len, rest)) = data.split_first_chunk::<2>() else { return };
    let len = usize::from(u16::from_le_bytes(*len)).min(rest.len());
    let (metadata, stream) = rest.split_at(len);
    let files = [("stream_0".to_owned(), stream.to_vec())];
    if let Ok(trace) = ltt_read::Trace::from_memory(metadata, files) {
        read_all::read_all(&trace);
    }
});
