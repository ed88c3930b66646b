//! Traces with random schemas, exported as Parquet and read back.

mod common;
#[path = "common/rows.rs"]
mod rows;
#[allow(dead_code)] // the tests of ltt-read use the rest
#[path = "../../../../../ltt-read/tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use arrow_array::RecordBatch;
use ltt_read::TracefileIndex;
use ltt_read::schema::Format;
use lttv_context::Traceset;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use rows::{Expected, compare, expected};
use support::case::{Case, case};
use support::config::cases;
use support::read_back::Reader;

/// Exports a trace on some threads, and compares all values with those that were written.
fn check(case: &Case, threads: u32) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("a directory");
    let (input, output) = (folder.path().join("trace"), folder.path().join("files"));
    fs::create_dir(&input).expect("a directory");
    case.write(&input).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let traceset = Traceset::open(&input).map_err(|e| TestCaseError::fail(e.to_string()))?;
    as_written(case, &traceset)?;
    let Expected { all, by_name, errors } = expected(&traceset);
    prop_assert_eq!(errors, 0);
    let done = Command::new(env!("CARGO_BIN_EXE_export"))
        .args(["--with", "events", "--threads", &threads.to_string(), "-o"])
        .args([&output, &input])
        .output()
        .expect("the program runs");
    let messages = String::from_utf8_lossy(&done.stderr);
    // The index of a random trace need not fit its clocks, which the reader notices.
    let is_notice = |line: &str| line.ends_with("its entries differ from the packets");
    prop_assert!(done.status.success() && messages.lines().all(is_notice), "{}", messages);
    let mut found = read(&output);
    found.remove("notices");
    compare("events", &all, &found.remove("events").unwrap_or_default());
    for (name, wanted) in &by_name {
        let rows = found.remove(&format!("name={}", name.replace(' ', "%20")));
        compare(name, wanted, &rows.unwrap_or_default());
    }
    prop_assert!(found.is_empty(), "{:?}", found.keys());
    Ok(())
}

/// Checks that the reader, to whose values rows are compared, finds the values that were written.
fn as_written(case: &Case, traceset: &Traceset) -> Result<(), TestCaseError> {
    let written = case.expected().into_iter().filter(|stream| !stream.is_empty());
    let mut reader = Reader::default();
    for (index, stream) in written.enumerate() {
        let mut cursor = traceset.traces()[0].cursor(TracefileIndex(index));
        for wanted in &stream {
            let event = cursor.next().map_err(|e| TestCaseError::fail(e.to_string()))?;
            let Some(event) = event else { return Err(TestCaseError::fail("too few events")) };
            prop_assert!(wanted.is(&reader.read(event)?), "{:?}", wanted);
        }
    }
    Ok(())
}

/// Returns the rows of all files of an export, by folder and in the order of the files.
fn read(output: &Path) -> BTreeMap<String, Vec<RecordBatch>> {
    let entries = |path: &Path| {
        let entries = fs::read_dir(path).expect("a directory");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        paths
    };
    let rows = |file: &Path| {
        let file = File::open(file).expect("a file");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
        reader.build().expect("a reader").map(|batch| batch.expect("rows")).collect::<Vec<_>>()
    };
    let folders = entries(output).into_iter().map(|folder| {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        (name, entries(&folder).iter().flat_map(|file| rows(file)).collect())
    });
    folders.collect()
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn ctf_1_8(case in case(Format::Ctf1), threads in 1..4u32) {
        check(&case, threads)?;
    }

    #[test]
    fn ctf_2(case in case(Format::Ctf2), threads in 1..4u32) {
        check(&case, threads)?;
    }
}
