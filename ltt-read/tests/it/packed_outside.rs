//! Files that are no recordings yet are refused with the command that makes one of them.

use std::fs;

use ltt_read::{Trace, open_all};

#[test]
fn a_compressed_file_is_refused_with_the_command_that_decompresses_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.dat");
    let starts: [(&[u8], &str); 5] = [
        (b"\x28\xb5\x2f\xfd rest", "`zstd -d`"),
        (b"\x1f\x8b\x08\x00 rest", "`gunzip`"),
        (b"\xfd7zXZ\x00 rest", "`unxz`"),
        (b"PK\x03\x04 rest", "`unzip`"),
        (b"something else", "a recording of trace-cmd or perf"),
    ];
    for (start, command) in starts {
        fs::write(&file, start).unwrap();
        let errors = [
            Trace::open(&file).map(|_| ()).unwrap_err().to_string(),
            open_all(&file).map(|_| ()).unwrap_err().to_string(),
        ];
        for error in errors {
            assert!(error.contains(command), "{error}");
        }
    }
    fs::write(&file, b"").unwrap();
    assert!(open_all(&file).is_err());
}

/// `trace-cmd record` keeps the pages of each CPU in a file until recording ends.
#[test]
fn pages_of_cpus_are_refused_with_the_command_that_makes_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("why-slow.dat.cpu12");
    fs::write(&file, [0; 4096]).unwrap();
    for path in [file.as_path(), folder.path()] {
        let error = open_all(path).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("`trace-cmd restore -o trace.dat`"), "{error}");
    }
    assert!(Trace::open(&file).unwrap_err().to_string().contains("trace-cmd restore"));
    // Beside a recording, they are no matter.
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ftrace/synthetic.dat");
    fs::copy(recording, folder.path().join("trace.dat")).unwrap();
    assert_eq!(open_all(folder.path()).unwrap().len(), 1);
    // Other names are no names of pages.
    let other = folder.path().join("notes.cpu");
    fs::write(&other, "some text").unwrap();
    assert!(!open_all(&other).unwrap_err().to_string().contains("trace-cmd restore"));
}
