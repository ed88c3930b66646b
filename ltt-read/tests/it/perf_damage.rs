//! Damaged recordings of perf.

use std::sync::Arc;

use ltt_read::{DecodeError, Error, Merge, Trace, perf};
use proptest::prelude::*;

use crate::support::read_all::read_all;

/// A file, and a pipe with compressed records.
const RECORDINGS: [&[u8]; 2] =
    [include_bytes!("../data/perf/task.data"), include_bytes!("../data/perf/pipe-z.data")];

/// Returns the number of events of a trace, and the errors.
fn read(trace: &Arc<Trace>) -> (usize, Vec<Error>) {
    let mut merge = Merge::new(std::slice::from_ref(trace));
    let mut events = 0;
    while merge.next().is_some() {
        events += 1;
    }
    let errors = merge.finish().err().into_iter().collect();
    (events, errors)
}

/// The records before the cut are there, then comes an error with the place.
#[test]
fn cut_recordings_are_read_up_to_the_cut() {
    for whole in RECORDINGS {
        let (all, errors) = read(&perf::from_memory(whole.to_vec()).unwrap());
        assert!(errors.is_empty());
        let mut before = 0;
        for at in (0..whole.len()).step_by(997) {
            let Ok(trace) = perf::from_memory(whole[..at].to_vec()) else { continue };
            let (events, errors) = read(&trace);
            assert!((before..=all).contains(&events), "{at}: {events} after {before}");
            before = events;
            match &errors[..] {
                // A pipe may end after any record, and a file after its records.
                [] => {}
                [Error::Decode { place, kind }] => {
                    assert!(place.offset > 0 || events == 0);
                    assert!(matches!(kind, DecodeError::TruncatedPacket { .. }), "{kind}");
                }
                errors => panic!("{errors:?}"),
            }
        }
        assert!(before > all / 2);
    }
}

/// The place of damage is that in the file.
#[test]
fn damage_has_a_place() {
    let mut whole = RECORDINGS[0].to_vec();
    let data = u64::from_le_bytes(whole[40..48].try_into().unwrap()) as usize;
    // Of the first records, two are of the kernel. The size of what follows is too small.
    let (mut at, mut of_kernel) = (data, 0);
    while of_kernel < 2 {
        of_kernel += usize::from(whole[at] < 64);
        at += usize::from(whole[at + 6]) | usize::from(whole[at + 7]) << 8;
    }
    whole[at + 6..at + 8].fill(0);
    let (events, errors) = read(&perf::from_memory(whole).unwrap());
    assert_eq!(events, 2);
    let [Error::Decode { place, kind: DecodeError::NotARecord }] = &errors[..] else {
        panic!("{errors:?}");
    };
    assert_eq!(place.offset, 8 * at as u64);
}

/// Data that follows a record, and that is said to reach beyond the end.
#[test]
fn data_beyond_the_end_is_reported() {
    const AUXTRACE: u8 = 71;
    let mut whole = RECORDINGS[0].to_vec();
    let number = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
    let (mut at, end) = (number(40), number(40) + number(48));
    let mut last = at;
    while at < end {
        let size = usize::from(whole[at + 6]) | usize::from(whole[at + 7]) << 8;
        if whole[at] < 64 {
            last = at;
        }
        at += size;
    }
    let (all, _) = read(&perf::from_memory(whole.clone()).unwrap());
    whole[last] = AUXTRACE;
    whole[last + 8..last + 16].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    let (events, errors) = read(&perf::from_memory(whole).unwrap());
    assert_eq!(events, all - 1);
    let [Error::Decode { kind: DecodeError::TruncatedPacket { missing }, .. }] = errors[..] else {
        panic!("{errors:?}");
    };
    assert!((1 << 39..=1 << 40).contains(&missing));
}

#[test]
fn faults_before_the_records_name_the_section() {
    let whole = RECORDINGS[0];
    for (at, section) in [(60, "file header"), (120, "ids")] {
        let error = perf::from_memory(whole[..at].to_vec()).unwrap_err();
        let Error::Section { section: found, .. } = error else { panic!("{error}") };
        assert!(found == section || found == "attributes", "{found}");
    }
    assert!(matches!(perf::from_memory(Vec::new()), Err(Error::NotATrace { .. })));
    let old = [&b"PERFFILE"[..], &[0; 100]].concat();
    assert!(matches!(perf::from_memory(old), Err(Error::Section { .. })));
}

proptest! {
    #![proptest_config(crate::support::config::cases(300))]

    #[test]
    fn changed_bytes_do_no_harm(
        recording in 0..2_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        in_header in any::<bool>(),
    ) {
        let mut bytes = RECORDINGS[recording].to_vec();
        for (at, value) in changes {
            let len = if in_header { 2048 } else { bytes.len() };
            bytes[at.index(len)] = value;
        }
        let Ok(trace) = perf::from_memory(bytes) else { return Ok(()) };
        read_all(&trace);
        _ = trace.time_span();
    }
}
