//! Files that are compressed as a whole are refused with the command that decompresses them.

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
