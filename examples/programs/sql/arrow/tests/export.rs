//! The program `export`: its files contain what was recorded.

mod common;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_select::concat::concat_batches;
use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, StreamWriter, metadata_text, presets};
use lttv_arrow::{Scan, Selection, Tables, is_in_order};
use lttv_context::Traceset;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

fn export(args: &[&str], output: &Path) -> Output {
    export_of(&common::bundled("kernel"), args, output)
}

fn export_of(trace: &Path, args: &[&str], output: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_export"));
    command.arg(trace).args(args).arg("-o").arg(output).output().expect("the program runs")
}

fn exported(args: &[&str], output: &Path) {
    exported_of(&common::bundled("kernel"), args, output);
}

fn exported_of(trace: &Path, args: &[&str], output: &Path) {
    let done = export_of(trace, args, output);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Returns the files of a directory by their folder.
fn files(dir: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut files = BTreeMap::<String, Vec<PathBuf>>::new();
    for folder in fs::read_dir(dir).expect("a directory") {
        let folder = folder.expect("an entry");
        let name = folder.file_name().to_string_lossy().into_owned();
        let mut paths: Vec<PathBuf> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|e| e.expect("a file").path())
            .collect();
        paths.sort();
        files.insert(name, paths);
    }
    files
}

fn parquet(paths: &[PathBuf]) -> Option<RecordBatch> {
    let mut batches = Vec::new();
    for path in paths {
        let file = File::open(path).expect("a file");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
        batches.extend(reader.build().expect("a reader").map(|batch| batch.expect("rows")));
    }
    concat_batches(&batches.first()?.schema(), &batches).ok()
}

/// The batches of all tables, without `ts`, read without files.
fn direct(traceset: &Traceset) -> BTreeMap<String, RecordBatch> {
    let tables = Tables::new(traceset);
    let selections: Vec<Selection> = tables
        .names()
        .iter()
        .map(|name| {
            let table = tables.of(name).expect("a table");
            let ts = table.column("ts");
            let mut selection = Selection::all(table);
            selection.columns.retain(|column| Some(*column) != ts);
            selection
        })
        .collect();
    let mut batches = vec![Vec::new(); selections.len()];
    let read = Scan::new(traceset, selections).read(&mut |table: usize, batch: RecordBatch| {
        batches[table].push(batch);
        ControlFlow::Continue(())
    });
    read.expect("batches");
    let named = tables.names().iter().zip(batches).filter(|(_, batches)| !batches.is_empty());
    named
        .map(|(name, batches)| {
            let batch = concat_batches(&batches[0].schema(), &batches).expect("one schema");
            (format!("name={name}"), batch)
        })
        .collect()
}

#[test]
fn parquet_files_contain_all_values() {
    let temporary = tempfile::tempdir().expect("a directory");
    let traceset = Traceset::open(common::bundled("kernel")).expect("a trace");
    let expected = direct(&traceset);
    for threads in ["1", "2", "5"] {
        let output = temporary.path().join(threads);
        exported(&["--threads", threads], &output);
        let files = files(&output);
        assert!(files.keys().eq(expected.keys()), "{:?}", files.keys());
        for (name, expected) in &expected {
            let found = parquet(&files[name]).expect("rows");
            assert_eq!(found.columns(), expected.columns(), "{name} with {threads} threads");
        }
    }
}

/// The times of the packets of large traces are trusted, here wrongly.
#[test]
fn rows_are_those_of_the_trace_if_a_clock_goes_back_within_packets() {
    let temporary = tempfile::tempdir().expect("a directory");
    let trace = temporary.path().join("trace");
    fs::create_dir(&trace).expect("a directory");
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    for name in ["even", "odd"] {
        let number = FieldClass::uint(64, ByteOrder::Little);
        schema.add_event_type(StreamClassId(0), name, FieldClass::structure([("n", number)]));
    }
    let schema = Arc::new(schema);
    fs::write(trace.join("metadata"), metadata_text(&schema).expect("metadata")).expect("a file");
    for file in 0..2 {
        let name = format!("chan_{file}");
        let writer = StreamWriter::new(Arc::clone(&schema), StreamClassId(0), &name, Vec::new());
        let mut writer = writer.expect("a stream").with_stream_id(file);
        for packet in 0..8 {
            let begin = packet * 1_000_000;
            writer.begin_packet(begin).expect("a packet");
            for number in 0..100_000 {
                // Every hundredth event is before the last one.
                let time = begin + 9 * number - if number % 100 == 50 { 15 } else { 0 };
                let fields = FieldValue::structure([number.into()]);
                writer.event(EventTypeId((number % 2) as u32), time, fields).expect("an event");
            }
            writer.end_packet(begin + 999_999).expect("a packet");
        }
        fs::write(trace.join(name), writer.finish().expect("a file")).expect("a file");
    }
    let traceset = Traceset::open(&trace).expect("a trace");
    assert!(is_in_order(traceset.traces()), "the packets hide it");
    let expected = direct(&traceset);
    assert_eq!(expected["name=odd"].num_rows(), 800_000);
    for threads in ["1", "2"] {
        let output = temporary.path().join(threads);
        exported_of(&trace, &["--threads", threads], &output);
        let files = files(&output);
        for (name, expected) in &expected {
            let found = parquet(&files[name]).expect("rows");
            assert!(found.columns() == expected.columns(), "{name} with {threads} threads");
            assert!(!files[name].iter().any(|path| is_said_to_be_sorted(path)), "{name}");
        }
    }
    let sorted = temporary.path().join("sorted");
    exported(&["--events", "sched_switch"], &sorted);
    assert!(files(&sorted)["name=sched_switch"].iter().all(|path| is_said_to_be_sorted(path)));
}

/// Returns `true` if a Parquet file states that its rows are in the order of a column.
fn is_said_to_be_sorted(path: &Path) -> bool {
    let file = File::open(path).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
    let groups = reader.metadata().row_groups();
    groups.iter().any(|group| group.sorting_columns().is_some_and(|columns| !columns.is_empty()))
}

#[test]
fn other_formats_have_all_rows() {
    let temporary = tempfile::tempdir().expect("a directory");
    for (format, extension) in [("csv", "csv"), ("json", "jsonl"), ("arrow", "arrow")] {
        let output = temporary.path().join(format);
        let args = ["--format", format, "--events", "sched_switch,irq_*", "--threads", "1"];
        exported(&args, &output);
        let files = files(&output);
        assert!(
            files.keys().all(|name| name == "name=sched_switch" || name.starts_with("name=irq_"))
        );
        let path = &files["name=sched_switch"][0];
        assert_eq!(path.extension().and_then(|e| e.to_str()), Some(extension));
        let rows = match format {
            "csv" => fs::read_to_string(path).expect("text").lines().count() - 1,
            "json" => {
                let text = fs::read_to_string(path).expect("text");
                let parse = |line| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
                text.lines().map(parse).filter(|row| row["next_tid"].is_i64()).count()
            }
            _ => {
                let reader =
                    arrow_ipc::reader::FileReader::try_new(File::open(path).expect("a file"), None);
                reader.expect("Arrow").map(|batch| batch.expect("rows").num_rows()).sum()
            }
        };
        assert_eq!(rows, 497, "{format}");
    }
}

#[test]
fn further_tables() {
    let temporary = tempfile::tempdir().expect("a directory");
    let output = temporary.path().join("out");
    exported(&["--events", "sched_switch", "--with", "events,states,statistics"], &output);
    let files = files(&output);
    assert!(files.keys().eq(["events", "name=sched_switch", "states", "statistics"]));
    assert_eq!(parquet(&files["events"]).expect("rows").num_rows(), 6087);
    let states = parquet(&files["states"]).expect("rows");
    let attributes = states.column_by_name("attribute").expect("a column").as_string_view();
    assert!(attributes.iter().flatten().any(|attribute| attribute == "CPUs/0"));
    let statistics = parquet(&files["statistics"]).expect("rows");
    let events = statistics.column_by_name("events").expect("a column");
    let events = events.as_primitive::<arrow_array::types::UInt64Type>();
    assert_eq!(events.iter().flatten().sum::<u64>(), 6087);
}

#[test]
fn windows_and_filters() {
    let temporary = tempfile::tempdir().expect("a directory");
    let output = temporary.path().join("out");
    exported(&["--filter", "next_tid == 0"], &output);
    let chosen = files(&output);
    assert!(chosen.keys().eq(["name=sched_switch"]));
    let rows = parquet(&chosen["name=sched_switch"]).expect("rows");
    let next = rows.column_by_name("next_tid").expect("a column");
    let next = next.as_primitive::<arrow_array::types::Int32Type>();
    assert!(next.len() > 10 && next.iter().all(|tid| tid == Some(0)));
    let output = temporary.path().join("window");
    exported(&["--begin", "+0", "--end", "+1ms", "--with", "events"], &output);
    let rows = parquet(&files(&output)["events"]).expect("rows").num_rows();
    assert!(rows > 0 && rows < 6087, "{rows}");
}

#[test]
fn nothing_is_left_of_a_failure() {
    let temporary = tempfile::tempdir().expect("a directory");
    let entries = || fs::read_dir(temporary.path()).expect("a directory").count();
    for (args, status) in [
        (&["--events", "nothing"][..], 2),
        (&["--filter", "nothing == 1"], 2),
        (&["--begin", "2040-01-01"], 2),
    ] {
        let done = export(args, &temporary.path().join("out"));
        assert_eq!(done.status.code(), Some(status), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(entries(), 0, "{args:?}");
    }
    // Something that is there stays as it is.
    let there = temporary.path().join("there");
    fs::create_dir(&there).expect("a directory");
    fs::write(there.join("file"), "mine").expect("a file");
    assert_eq!(export(&[], &there).status.code(), Some(1));
    assert_eq!((entries(), fs::read(there.join("file")).expect("a file")), (1, b"mine".to_vec()));
    // An output within the trace would become a part of it.
    let done = export(&[], &common::bundled("kernel/kernel").join("out"));
    assert_eq!(done.status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing() {
    let Some(trace) = std::env::var_os("LTTV_LARGE_KERNEL_TRACE") else {
        println!("SKIPPED: LTTV_LARGE_KERNEL_TRACE is not set; an interrupt needs a long export");
        return;
    };
    let temporary = tempfile::tempdir().expect("a directory");
    let output = temporary.path().join("out");
    let mut child = Command::new(env!("CARGO_BIN_EXE_export"))
        .arg(trace)
        .arg("-o")
        .arg(&output)
        .spawn()
        .expect("the program runs");
    // Wait for the first file, so that the interrupt comes in the middle.
    let is_writing = || {
        let folders = fs::read_dir(temporary.path()).into_iter().flatten().flatten();
        folders.flat_map(|folder| fs::read_dir(folder.path())).flatten().count() > 0
    };
    while !is_writing() {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    assert_eq!(child.wait().expect("a child").code(), Some(130));
    assert_eq!(fs::read_dir(temporary.path()).expect("a directory").count(), 0);
}
