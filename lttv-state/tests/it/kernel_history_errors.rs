//! Recording a history returns the errors and notices of the traces, however many threads read.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use crate::support;
use lttv_context::{Bounds, SliceThreads, Traceset, TracesetContext};
use lttv_state::kernel_history::{HistoryTarget, record_on};

/// The place of the content size in the context of a packet of the bundled trace.
const CONTENT_SIZE: usize = 48;

/// Copies the bundled trace, and changes a packet of some of its tracefiles: the content ends within
/// an event.
fn damaged(to: &Path, is_damaged: impl Fn(usize) -> bool) -> Traceset {
    let files =
        fs::read_dir(support::bundled().join("kernel")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    for (number, path) in files.into_iter().enumerate() {
        let name = path.file_name().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        if name != "metadata" && is_damaged(number) {
            // In bits: the headers and the context of the packet, and a part of an event.
            bytes[CONTENT_SIZE..][..8].copy_from_slice(&(8 * 100_u64).to_le_bytes());
        }
        fs::write(to.join(name), bytes).unwrap();
    }
    Traceset::open(to).unwrap()
}

#[test]
fn errors_of_first_packets_are_returned_by_any_number_of_threads() {
    for which in ["none", "the second tracefile", "every third one", "all"] {
        let directory = tempfile::tempdir().unwrap();
        let traceset = damaged(directory.path(), |number| match which {
            "none" => false,
            "the second tracefile" => number == 2,
            "every third one" => number % 3 == 0,
            _ => true,
        });
        let mut context = TracesetContext::new(&traceset);
        let read = context.read(&Bounds::all()).unwrap();
        let mut expected: Vec<_> = context.take_errors().iter().map(ToString::to_string).collect();
        expected.sort();
        assert_eq!(expected.is_empty(), which == "none");
        for threads in [1, 2, 4] {
            for file in [None, Some(directory.path().join(format!("history{threads}")))] {
                let target = file.as_deref().map_or(HistoryTarget::Memory, HistoryTarget::Replace);
                let threads = SliceThreads::new(threads);
                let goes_on = |_| ControlFlow::Continue(());
                let found = record_on(threads, &traceset, target, |_| (), goes_on).unwrap();
                let mut errors: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
                errors.sort();
                assert_eq!(errors, expected, "{which}, {threads:?}, {file:?}");
                assert_eq!((found.events, found.errors_omitted), (read.events, 0), "{which}");
            }
        }
    }
}
