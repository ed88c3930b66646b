//! The kinds of archives, by contents.

use lttv_archive::{Kind, Limits, Packing, kind};

use crate::support::{files, gzip, unpacked, zip, zstd};

fn session() -> Vec<u8> {
    files(&[("./s/kernel/metadata", b"/* CTF 1.8 */"), ("./s/kernel/c_0", &[7; 5000])])
}

#[test]
fn archives_are_known_by_their_contents() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |bytes: &[u8]| {
        let path = folder.path().join("anything");
        std::fs::write(&path, bytes).expect("a file");
        kind(&path).expect("a file")
    };
    assert_eq!(of(&session()), Some(Kind::Tar(None)));
    assert_eq!(of(&gzip(&session())), Some(Kind::Tar(Some(Packing::Gzip))));
    assert_eq!(of(&zstd(&session())), Some(Kind::Tar(Some(Packing::Zstd))));
    assert_eq!(of(&gzip(b"PERFILE2")), Some(Kind::File(Packing::Gzip)));
    assert_eq!(of(&zstd(b"PERFILE2")), Some(Kind::File(Packing::Zstd)));
    assert_eq!(of(&zip(&[("a", 0, b"b")])), Some(Kind::Zip));
    assert_eq!(of(&zip(&[])), Some(Kind::Zip));
    for other in [&b""[..], b"P", b"PERFILE2", b"\x17\x08\x44tracing6\0", &[0; 2000]] {
        assert_eq!(of(other), None);
    }
    assert_eq!(kind(folder.path()).expect("a folder"), None);
    assert!(kind(&folder.path().join("missing")).is_err());
}

#[test]
fn all_kinds_are_unpacked() {
    let expected = vec![("s/kernel/c_0".to_owned(), 5000), ("s/kernel/metadata".to_owned(), 13)];
    let limits = Limits::default();
    let (plain, halves) = (session(), session());
    let (first, second) = halves.split_at(1000);
    // Several frames, and one that is to be skipped.
    let frames = [&zstd(first)[..], b"\x50\x2a\x4d\x18\x03\0\0\0abc", &zstd(second)].concat();
    let members = [gzip(first), gzip(second)].concat();
    let archives = [plain.clone(), gzip(&plain), zstd(&plain), frames, members];
    for (number, bytes) in archives.iter().enumerate() {
        assert_eq!(unpacked("a", bytes, &limits).expect("an archive"), expected, "{number}");
    }
    let zipped = zip(&[
        ("s/", 0o040_755, b""),
        ("s/kernel/c_0", 0o100_644, &[7; 5000]),
        ("s/kernel/metadata", 0, &[1; 13]),
    ]);
    assert_eq!(unpacked("a.zip", &zipped, &limits).expect("an archive"), expected);
    let one = unpacked("perf.data.gz", &gzip(b"PERFILE2"), &limits).expect("an archive");
    assert_eq!(one, [("perf.data".to_owned(), 8)]);
    let one = unpacked("trace.dat.zst", &zstd(b"trace"), &limits).expect("an archive");
    assert_eq!(one, [("trace.dat".to_owned(), 5)]);
}

/// Archives that the usual programs make, if they are installed.
#[test]
fn archives_of_other_programs_are_unpacked() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = "a-name-that-is-longer-than-the-hundred-bytes-of-a-header".repeat(3);
    let source = folder.path().join("session").join(&long);
    std::fs::create_dir_all(&source).expect("a folder");
    std::fs::write(source.join("metadata"), "hello").expect("a file");
    let expected = vec![(format!("session/{long}/metadata"), 5)];
    for (program, args, archive) in [
        ("tar", &["-czf", "a.tar.gz", "session"][..], "a.tar.gz"),
        ("tar", &["--format=gnu", "-cf", "g.tar", "session"], "g.tar"),
        ("tar", &["--format=pax", "-cf", "p.tar", "session"], "p.tar"),
        ("tar", &["--zstd", "-cf", "a.tar.zst", "session"], "a.tar.zst"),
        ("zip", &["-q", "-r", "a.zip", "session"], "a.zip"),
    ] {
        let run =
            std::process::Command::new(program).args(args).current_dir(folder.path()).output();
        if !run.is_ok_and(|run| run.status.success()) {
            eprintln!("skipped: no `{program} {}` here", args[0]);
            continue;
        }
        let bytes = std::fs::read(folder.path().join(archive)).expect("an archive");
        assert_eq!(unpacked(archive, &bytes, &Limits::default()).expect(archive), expected);
    }
}
