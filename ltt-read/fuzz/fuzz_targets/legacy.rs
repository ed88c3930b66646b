//! Arbitrary bytes as the files of a legacy trace. The first byte chooses the kind of
//! trace. The remaining bytes are split evenly: metadata or description, then events.
#![no_main]

#[path = "../../tests/support/read_all.rs"]
#[allow(dead_code)]
mod read_all;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else { return };
    let (first, second) = rest.split_at(rest.len() / 2);
    let system = b"<system endian=LITTLE_ENDIAN arch_size=ILP32 ltt_block_size=128>".as_slice();
    let files: &[(&str, &[u8])] = match kind % 4 {
        0 => &[("metadata_0", first), ("kernel_0", second)],
        1 => &[("control/metadata_0", first), ("cpu_0", second)],
        2 => &[("control/facilities_0", first), ("eventdefs/core.xml", second), ("cpu_0", first)],
        _ => &[("info/system.xml", system), ("eventdefs/core.xml", first), ("cpu/0", second)],
    };
    let files = files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()));
    if let Ok(trace) = ltt_read::legacy::from_memory(files) {
        read_all::read_all(&trace);
    }
});
