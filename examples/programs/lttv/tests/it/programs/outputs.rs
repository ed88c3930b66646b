//! Outputs that would replace an input.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};

use super::{run, text};

/// Writes a kernel trace with an index file.
fn trace(path: &Path) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let payload = FieldClass::structure([("value", FieldClass::uint(8, ByteOrder::Little))]);
    let event = schema.add_event_type(StreamClassId(0), "event", payload);
    let trace = TraceWriter::create(path, schema).unwrap().with_index();
    let mut stream = trace.stream(StreamClassId(0), "channel_0").unwrap();
    stream.begin_packet(0).unwrap();
    stream.event(event, 10, FieldValue::structure([FieldValue::from(1u8)])).unwrap();
    stream.end_packet(1000).unwrap();
    stream.finish().unwrap();
    fs::write(path.join("channel_1"), "").unwrap();
}

/// Returns all files below a folder, with their contents.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => found.extend(contents(&entry)),
            false => found.push((entry.clone(), fs::read(&entry).unwrap())),
        }
    }
    found.sort();
    found
}

#[test]
fn no_output_replaces_a_file_of_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    trace(&a);
    trace(&b);
    let index = fs::read_dir(b.join("index")).unwrap().next().unwrap().unwrap().path();
    let (soft, hard) = (folder.path().join("soft"), folder.path().join("hard"));
    symlink(b.join("channel_0"), &soft).unwrap();
    fs::hard_link(b.join("metadata"), &hard).unwrap();
    let indirect = folder.path().join("a/../b/metadata");
    let outputs = [b.join("metadata"), b.join("channel_0"), b.join("channel_1"), index];
    let before = contents(folder.path());
    for output in outputs.iter().chain([&soft, &hard, &indirect]) {
        let commands: [(&[&str], &[&str]); 12] = [
            (&["dump", "A", "B"], &["-o", "OUT"]),
            (&["dump", "--count", "B"], &["--output", "OUT"]),
            (&["dump", "A", "B"], &["-o", "OUT"]),
            (&["run", "-m", "textDump", "-t", "A", "-t", "B"], &["-o", "OUT"]),
            (&["run", "-m", "precompute", "-t", "B"], &["--history", "OUT"]),
            (&["run", "-m", "precompute", "-t", "B"], &["--checkpoints", "OUT"]),
            (&["state", "B", "--at=+0", "--method=checkpoint"], &["--checkpoints", "OUT"]),
            (&["history", "build", "B"], &["OUT", "--force"]),
            (&["chart", "flow", "A", "B"], &["-o", "OUT"]),
            (&["sync", "A", "B"], &["-o", "OUT"]),
            (&["sync", "A", "B"], &["--write", "OUT"]),
            (&["sync", "A", "B"], &["--picture", "OUT"]),
        ];
        let resources: (&[&str], &[&str]) = (&["chart", "usage", "B"], &["-o", "OUT"]);
        for (before_output, with_output) in commands.iter().chain([&resources]) {
            let word = |word: &&str| match *word {
                "A" => a.clone().into_os_string(),
                "B" => b.clone().into_os_string(),
                "OUT" => output.clone().into_os_string(),
                word => OsString::from(word),
            };
            let args: Vec<_> = before_output.iter().chain(*with_output).map(word).collect();
            let done = run(&args);
            let stderr = text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{args:?}: {stderr}");
            assert!(stderr.contains("cannot write to an input"), "{args:?}: {stderr}");
            assert!(contents(folder.path()) == before, "{args:?} wrote something");
        }
    }
}

#[test]
fn an_output_elsewhere_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (a, out) = (folder.path().join("a"), folder.path().join("out"));
    trace(&a);
    fs::write(&out, "a text that is longer than what replaces it, by far").unwrap();
    let done =
        run(&["dump".as_ref(), "--count".as_ref(), a.as_os_str(), "-o".as_ref(), out.as_ref()]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "1\n");
    // The file of a filter is an input, too.
    let args = ["run", "-m", "textDump", "-t"].map(OsString::from).into_iter();
    let args = args.chain([a.into(), "-f".into(), out.clone().into(), "-o".into(), out.into()]);
    let done = run(&args.collect::<Vec<_>>());
    assert_eq!(done.status.code(), Some(2), "{done:?}");
}
