//! Arrays with many elements of few or no bits. The cost of an event is bounded by its
//! data.

use std::sync::Arc;

use ltt_read::{DecodeError, Error, FieldInfo, LayoutError, Trace, TracefileIndex, Visitor};

const TRACE: &str = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
    typealias integer { size = 64; } := u64; typealias integer { size = 8; } := u8;
    typealias integer { size = 1; } := u1; typealias enum : u8 { A, B } := ab; stream { };";

/// Opens a trace with one event type with these fields.
fn trace(fields: &str, data: &[u8]) -> Arc<Trace> {
    let metadata = format!("{TRACE} event {{ name = e; fields := struct {{ {fields} }}; }};");
    let files = [("stream".to_owned(), data.to_vec())];
    Trace::from_memory(metadata.as_bytes(), files).expect("a trace")
}

#[derive(Default)]
struct Calls(u64);

impl Visitor for Calls {
    fn uint(&mut self, _: &FieldInfo, _: u64) {
        self.0 += 1;
    }
    fn begin_struct(&mut self, _: &FieldInfo) {
        self.0 += 1;
    }
    fn begin_array(&mut self, _: &FieldInfo, _: u64) {
        self.0 += 1;
    }
}

/// Returns the number of visitor calls for the only event.
#[track_caller]
fn accepted(fields: &str, data: &[u8]) -> u64 {
    let trace = trace(fields, data);
    let mut cursor = trace.cursor(TracefileIndex(0));
    let mut calls = Calls::default();
    cursor.next().expect("a sound event").expect("an event").visit_body(&mut calls);
    assert!(cursor.next().expect("the end").is_none());
    calls.0
}

#[track_caller]
fn refused(fields: &str, data: &[u8]) {
    let trace = trace(fields, data);
    match trace.cursor(TracefileIndex(0)).next() {
        Err(Error::Decode { place, kind }) => {
            assert_eq!((place.packet, place.offset), (0, 0));
            let expected = matches!(
                kind,
                DecodeError::TooManyFields { .. }
                    | DecodeError::Layout(LayoutError::ArrayTooLong { .. })
            );
            assert!(expected, "{kind}");
        }
        other => panic!("{:?}", other.map(|event| event.is_some())),
    }
}

fn numbers(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

#[test]
fn nested_arrays_without_data_are_refused_however_they_are_nested() {
    let many = numbers(&[0xffff, 0]);
    refused("u64 n; u64 m; struct { u64 z[m]; } x[n][n];", &many);
    refused("u64 n; u64 m; struct { } x[n][n][n];", &numbers(&[1000, 0]));
    refused("u64 n; u64 m; struct { struct { } y[60000]; } x[n];", &many);
    refused("u64 n; ab t; struct { variant <t> { struct { } A[n]; u8 B; } v; } x[n];", &many);
    // Several arrays in one structure.
    let fields: String = (0..9).map(|i| format!("struct {{ }} x{i}[n];")).collect();
    refused(&format!("u64 n; {fields}"), &numbers(&[20_000]));
    let fields: String = (0..9).map(|i| format!("struct {{ }} x{i}[20000];")).collect();
    refused(&format!("u64 n; {fields}"), &many);
    // More elements than fit in 64 bits.
    refused("u64 n; struct { } x[n][n];", &numbers(&[u64::MAX]));
    refused("u64 n; u64 m; struct { u64 z[m]; } x[n];", &numbers(&[u64::MAX, 0]));
}

#[test]
fn arrays_with_data_for_their_elements_are_read_whatever_their_size() {
    let with = |counts: &[u64], bytes: usize| [numbers(counts), vec![0; bytes]].concat();
    assert_eq!(accepted("u64 n; u8 x[n];", &with(&[200_000], 200_000)), 200_003);
    assert_eq!(accepted("u64 n; u1 x[n];", &with(&[1_600_000], 200_000)), 1_600_003);
    let rows = "u64 n; u64 m; u8 x[n][m];";
    assert_eq!(accepted(rows, &with(&[100_000, 2], 200_000)), 300_004);
    let pairs = "u64 n; struct { u8 k; u8 v[k]; } x[n];";
    assert_eq!(accepted(pairs, &with(&[200_000], 200_000)), 600_003);
    // A number of elements without data is accepted in every event.
    assert_eq!(accepted("u64 n; struct { } x[n];", &numbers(&[30_000])), 30_003);
    let trace = trace("u8 n; struct { } x[n][n];", &[100; 50]);
    let mut cursor = trace.cursor(TracefileIndex(0));
    for _ in 0..50 {
        assert!(cursor.advance().expect("a sound event"));
    }
}
