//! Damaged traces: truncation at every byte, a flip of every bit. Nothing may
//! panic or hang, every error names its place, and what was sound before the
//! damage is still read.

mod support {
    pub(crate) mod read_all;
}

use std::sync::Arc;

use ltt_read::Trace;
use support::read_all::{Seen, read_all, read_tracefile, visit_event};

const LTTNG: &[u8] = include_bytes!("../fuzz/metadata/lttng.tsdl");
const DYNAMIC: &[u8] = include_bytes!("../fuzz/metadata/dynamic.tsdl");
const CTF2: &[u8] = include_bytes!("../fuzz/metadata/all-classes.ctf2");

fn trace(metadata: &[u8], stream: &[u8]) -> Arc<Trace> {
    Trace::from_memory(metadata, [("stream_0".to_owned(), stream.to_vec())]).unwrap()
}

/// Events of a stream until its first error.
fn events(metadata: &[u8], stream: &[u8]) -> Seen {
    let trace = trace(metadata, stream);
    let mut seen = Seen::default();
    if !trace.tracefiles().is_empty() {
        read_tracefile(&mut trace.cursor(0), &mut seen, visit_event);
    }
    seen
}

/// Two packets of LTTng's form, four events each.
fn lttng_stream() -> Vec<u8> {
    let mut stream = Vec::new();
    for packet in 0..2u64 {
        let mut p = Vec::new();
        p.extend(0xc1fc_1fc1u32.to_le_bytes());
        p.extend(0u32.to_le_bytes());
        p.extend((packet * 1000 + 10).to_le_bytes());
        p.extend((packet * 1000 + 500).to_le_bytes());
        let sizes_at = p.len();
        p.extend([0; 4]);
        p.extend([packet as u8, 0, 3]);
        let mut event = |id: u32, time: u32, body: &[u8]| {
            p.extend((time << 5 | id).to_le_bytes());
            p.extend(7u32.to_le_bytes());
            p.extend(body);
        };
        let base = packet as u32 * 1000;
        event(0, base + 20, &[1, 2, 0]);
        event(1, base + 30, b"text\0\x02\x01\x00\x02\x00comm");
        event(0, base + 30, &[9, 9, 9]);
        event(1, base + 40, b"\0\0cmd\0");
        let content = p.len() * 8;
        p.extend([0; 5]);
        let total = p.len() * 8;
        p[sizes_at..sizes_at + 2].copy_from_slice(&(content as u16).to_le_bytes());
        p[sizes_at + 2..sizes_at + 4].copy_from_slice(&(total as u16).to_le_bytes());
        stream.extend(p);
    }
    stream
}

/// Streams without packet headers: one packet, ending with the file.
fn dynamic_stream() -> Vec<u8> {
    let pad = |s: &mut Vec<u8>| s.resize(s.len().next_multiple_of(4), 0);
    let mut s = vec![0u8]; // nested; its fields are aligned to 4 bytes
    pad(&mut s);
    s.extend([2, 1]); // n, m
    for _ in 0..2 {
        pad(&mut s);
        s.extend(b"\x02ab\0c\0"); // k, names
        pad(&mut s);
        s.extend([0xe0, 0, 0, 0, 1, 2, 0, 0, 0x40, 0, 0, 0, 3, 4]); // pairs
    }
    pad(&mut s);
    s.extend([0x20, 0, 0, 0, 5, 6]); // flat
    s.extend([1, 2, 77]); // chosen: A
    s.extend([77, 0, 1, 2, 3, 4, 5, 6]); // odd and wide, bit-packed
    s
}

fn ctf2_stream() -> Vec<u8> {
    let mut s = vec![0, 5]; // scalars, time 5
    s.extend([0x20, 0xff, 0x0f]);
    s.extend([0u8; 8]);
    s.extend([0xff, 0x7f]);
    s.extend(1.5f64.to_le_bytes());
    s.extend([1, 0x80, 0x01, 0x00]); // dynamic, time 128
    s.extend([2]);
    s.extend(b"h\0i\0\0\0\0x\0y\0\0dsSBSdb");
    s.extend([1, 0xff, 0x0f, 2, 1, 2, 3]);
    s.extend(b"opt\0");
    s.push(5);
    s
}

#[test]
fn sound_streams_are_read_whole() {
    let seen = events(LTTNG, &lttng_stream());
    assert_eq!((seen.events, seen.errors.as_slice()), (8, [].as_slice()));
    let seen = events(DYNAMIC, &dynamic_stream());
    assert_eq!((seen.events, seen.errors.len()), (2, 0), "{:?}", seen.errors);
    let seen = events(CTF2, &ctf2_stream());
    assert_eq!((seen.events, seen.errors.len()), (2, 0), "{:?}", seen.errors);
}

#[test]
fn truncation_at_every_byte_keeps_what_was_before() {
    let whole = lttng_stream();
    let mut last = 0;
    for cut in 0..whole.len() {
        let seen = events(LTTNG, &whole[..cut]);
        assert!(seen.events >= last, "cut at {cut} lost an event");
        last = seen.events;
        // A cut between packets is no damage; anywhere else it is told.
        let at_edge = cut == 0 || cut == whole.len() / 2;
        assert_eq!(seen.errors.is_empty(), at_edge, "cut at {cut}: {:?}", seen.errors);
        assert!(
            seen.errors.iter().all(|e| e.starts_with("stream_0: packet ")),
            "{:?}",
            seen.errors
        );
        read_all(&trace(LTTNG, &whole[..cut]));
    }
    for (metadata, whole) in [(DYNAMIC, dynamic_stream()), (CTF2, ctf2_stream())] {
        for cut in 0..whole.len() {
            assert!(events(metadata, &whole[..cut]).events <= 2);
            read_all(&trace(metadata, &whole[..cut]));
        }
    }
}

#[test]
fn a_flip_of_every_bit_is_survived() {
    for (metadata, whole) in
        [(LTTNG, lttng_stream()), (DYNAMIC, dynamic_stream()), (CTF2, ctf2_stream())]
    {
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            read_all(&trace(metadata, &damaged));
        }
    }
}

#[test]
fn a_flip_of_every_bit_of_metadata_is_survived() {
    for (metadata, stream) in
        [(LTTNG, lttng_stream()), (DYNAMIC, dynamic_stream()), (CTF2, ctf2_stream())]
    {
        for bit in 0..metadata.len() * 8 {
            let mut damaged = metadata.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let files = [("stream_0".to_owned(), stream.clone())];
            match Trace::from_memory(&damaged, files) {
                Ok(trace) => drop(read_all(&trace)),
                Err(error) => assert!(error.to_string().contains("metadata"), "{error}"),
            }
        }
    }
}
