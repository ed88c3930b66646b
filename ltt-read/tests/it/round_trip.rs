//! Random traces, written and read back: from memory and from files, stream by stream and
//! merged, by visitors, values and field handles.

use std::sync::Arc;

use crate::support::case::{Case, Expected, case};
use crate::support::config::cases;
use crate::support::read_back::Reader;
use ltt_read::schema::Format;
use ltt_read::writer::{metadata_text, packetized_metadata};
use ltt_read::{Merge, Trace, TracefileIndex};
use proptest::prelude::*;

fn check(case: &Case) -> Result<(), TestCaseError> {
    let expected = case.expected();
    for trace in [from_memory(case)?, from_files(case)?] {
        let names: Vec<&str> = trace.tracefiles().iter().map(|t| t.name()).collect();
        let streams: Vec<usize> =
            (0..expected.len()).filter(|i| !expected[*i].is_empty()).collect();
        let written: Vec<String> = streams.iter().map(|i| Case::file_name(*i)).collect();
        prop_assert_eq!(names, written);
        for (tracefile, stream) in streams.iter().enumerate() {
            check_stream(&trace, tracefile, &expected[*stream])?;
        }
        check_merge(&trace, &streams, &expected)?;
    }
    Ok(())
}

/// Opens the files in another order than that of their names, which must not matter.
fn from_memory(case: &Case) -> Result<Arc<Trace>, TestCaseError> {
    let fail = |e: &dyn std::fmt::Display| TestCaseError::fail(e.to_string());
    let text = metadata_text(&case.schema).map_err(|e| fail(&e))?;
    let metadata = match case.packetized_metadata {
        true => packetized_metadata(&case.schema, &text, 512),
        false => text.into_bytes(),
    };
    let mut files = Vec::new();
    for i in (0..case.streams.len()).rev() {
        files.push((Case::file_name(i), case.bytes(i).map_err(|e| fail(&e))?));
    }
    Trace::from_memory(&metadata, files).map_err(|e| fail(&e))
}

fn from_files(case: &Case) -> Result<Arc<Trace>, TestCaseError> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    case.write(dir.path()).map_err(|e| TestCaseError::fail(e.to_string()))?;
    for i in 0..case.streams.len() {
        let file = std::fs::read(dir.path().join(Case::file_name(i))).expect("a stream");
        prop_assert_eq!(Some(file), case.bytes(i).ok());
    }
    let trace = Trace::open(dir.path()).map_err(|e| TestCaseError::fail(e.to_string()))?;
    for tracefile in 0..trace.tracefiles().len() {
        trace.packet_index(TracefileIndex(tracefile)); // while the files are there
    }
    Ok(trace)
}

fn check_stream(
    trace: &Arc<Trace>,
    tracefile: usize,
    expected: &[Expected],
) -> Result<(), TestCaseError> {
    let mut reader = Reader::default();
    let mut cursor = trace.cursor(TracefileIndex(tracefile));
    for (i, expected) in expected.iter().enumerate() {
        let event = cursor.next().map_err(|e| TestCaseError::fail(format!("event {i}: {e}")))?;
        let Some(event) = event else {
            return Err(TestCaseError::fail(format!("no event {i}")));
        };
        let time = event.timestamp().map(|t| i128::from(t.as_ns()));
        prop_assert_eq!(time, expected.time(trace.schema()));
        let read = reader.read(event)?;
        prop_assert!(expected.is(&read), "event {i}: {expected:?}, got {read:?}");
    }
    let end = cursor.next().map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert!(end.is_none(), "more events than were written");
    prop_assert_eq!(cursor.take_notices(), vec![]);
    Ok(())
}

/// All events by time, then by tracefile, then by their order in it.
fn check_merge(
    trace: &Arc<Trace>,
    streams: &[usize],
    expected: &[Vec<Expected>],
) -> Result<(), TestCaseError> {
    let mut order = Vec::new();
    for (tracefile, stream) in streams.iter().enumerate() {
        for (i, event) in expected[*stream].iter().enumerate() {
            order.push((event.time(trace.schema()), tracefile, i));
        }
    }
    order.sort();
    let mut merge = Merge::new(std::slice::from_ref(trace));
    let mut reader = Reader::default();
    for (_, tracefile, i) in order {
        let Some(event) = merge.next() else { return Err(TestCaseError::fail("too few events")) };
        prop_assert_eq!(event.tracefile_index().0, tracefile);
        prop_assert!(expected[streams[tracefile]][i].is(&reader.read(event)?));
    }
    prop_assert!(merge.next().is_none());
    prop_assert!(merge.errors().is_empty());
    prop_assert_eq!(merge.take_notices(), vec![]);
    Ok(())
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn ctf_1_8(case in case(Format::Ctf1)) {
        check(&case)?;
    }

    #[test]
    fn ctf_2(case in case(Format::Ctf2)) {
        check(&case)?;
    }
}
