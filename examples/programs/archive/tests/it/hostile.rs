//! Archives that are refused.

use lttv_archive::{ArchiveError, Limits, Refusal};
use proptest::prelude::*;
use tar::EntryType;

use crate::support::{files, gzip, tar, unpacked, zip, zstd};

fn refusal(bytes: &[u8], limits: &Limits) -> Refusal {
    match unpacked("archive", bytes, limits) {
        Err(ArchiveError::Refused { refusal, .. }) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let limits = Limits::default();
    for name in ["../x", "/tmp/x", "a/../../x", "a/.."] {
        assert_eq!(refusal(&files(&[(name, b"x")]), &limits), Refusal::Escape, "{name}");
        assert_eq!(refusal(&zip(&[(name, 0, b"x")]), &limits), Refusal::Escape, "{name}");
        let folder = [(name, EntryType::Directory, "", &b""[..])];
        assert_eq!(refusal(&tar(&folder), &limits), Refusal::Escape, "{name}");
    }
    let error = unpacked("archive", &files(&[("../x", b"")]), &limits).unwrap_err().to_string();
    assert!(error.ends_with("archive: a name leads out of the archive: \"../x\""), "{error}");
}

#[test]
fn links_and_special_files_are_refused() {
    let limits = Limits::default();
    let of = |kind| refusal(&tar(&[("x", kind, "/etc/passwd", b"")]), &limits);
    assert_eq!(of(EntryType::Symlink), Refusal::Link);
    assert_eq!(of(EntryType::Link), Refusal::Link);
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
        assert_eq!(of(kind), Refusal::Special, "{kind:?}");
    }
    assert_eq!(refusal(&zip(&[("x", 0o120_777, b"/etc")]), &limits), Refusal::Link);
    for mode in [0o020_666, 0o060_666, 0o010_666, 0o140_666] {
        assert_eq!(refusal(&zip(&[("x", mode, b"")]), &limits), Refusal::Special, "{mode:o}");
    }
}

#[test]
fn names_are_used_once() {
    let limits = Limits::default();
    assert_eq!(refusal(&files(&[("a", b"1"), ("a", b"2")]), &limits), Refusal::Twice);
    assert_eq!(refusal(&files(&[("a", b"1"), ("./a", b"2")]), &limits), Refusal::Twice);
    assert_eq!(refusal(&files(&[("a", b"1"), ("a/b", b"2")]), &limits), Refusal::Twice);
    assert_eq!(refusal(&files(&[("a/b", b"1"), ("a", b"2")]), &limits), Refusal::Twice);
}

#[test]
fn bombs_are_refused() {
    let limits = Limits { entries: 10, bytes: 1 << 20, ratio: 20, free: 100_000 };
    let many: Vec<(String, Vec<u8>)> =
        (0..11).map(|number| (number.to_string(), Vec::new())).collect();
    let many: Vec<(&str, &[u8])> =
        many.iter().map(|(name, bytes)| (&name[..], &bytes[..])).collect();
    assert_eq!(refusal(&files(&many), &limits), Refusal::Entries);
    assert_eq!(unpacked("a", &files(&many[..10]), &limits).unwrap().len(), 10);

    let zeros = vec![0; 2 << 20];
    assert_eq!(refusal(&files(&[("large", &zeros)]), &limits), Refusal::Size);
    // Of less than the greatest size, but from nearly nothing.
    let zeros = &zeros[..500_000];
    for bomb in
        [gzip(zeros), zstd(zeros), gzip(&files(&[("a", zeros)])), zstd(&files(&[("a", zeros)]))]
    {
        assert!(bomb.len() < 10_000, "{}", bomb.len());
        assert_eq!(refusal(&bomb, &limits), Refusal::Size);
    }
    assert!(unpacked("a", &files(&[("a", zeros)]), &limits).is_ok());
    // A bomb in a bomb is a file like others.
    assert!(unpacked("a", &gzip(&gzip(zeros)), &limits).is_ok());
    // A description that would fill the memory.
    let name = vec![b'a'; 3 << 20];
    let long = tar(&[
        ("././@LongLink", EntryType::GNULongName, "", &name),
        ("a", EntryType::Regular, "", b""),
    ]);
    assert_eq!(refusal(&long, &Limits::default()), Refusal::Header);
    // One that claims more than there is.
    let mut claim = files(&[("a", b"")]);
    claim[124..136].copy_from_slice(b"77777777777\0");
    let sum: u32 =
        (0..512).map(|at| u32::from(if (148..156).contains(&at) { b' ' } else { claim[at] })).sum();
    claim[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let failed = unpacked("a", &claim, &Limits::default());
    assert!(matches!(failed, Err(ArchiveError::Damaged { .. })), "{failed:?}");
}

#[test]
fn damage_is_told() {
    let plain = files(&[("a/metadata", &[1; 3000]), ("a/c_0", &[2; 3000])]);
    let zipped = zip(&[("a", 0, &[1; 3000])]);
    for (bytes, from) in [(&plain, 600), (&gzip(&plain), 20), (&zstd(&plain), 20), (&zipped, 10)] {
        for end in [from, bytes.len() / 2, bytes.len() - if bytes == &plain { 3000 } else { 5 }] {
            let failed = unpacked("a", &bytes[..end], &Limits::default());
            assert!(matches!(failed, Err(ArchiveError::Damaged { .. })), "{end}: {failed:?}");
        }
    }
    let mut wrong = zipped.clone();
    wrong[40] ^= 1;
    let failed = unpacked("a", &wrong, &Limits::default());
    assert!(matches!(failed, Err(ArchiveError::Damaged { .. })), "{failed:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever bytes change, an archive is unpacked into its folder or refused.
    #[test]
    fn changed_archives_stay_in_their_folder(
        which in 0..4_usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let plain = files(&[("a/metadata", b"/* CTF */"), ("a/c_0", &[2; 700])]);
        let zipped = zip(&[("a/metadata", 0o100_644, b"/* CTF */"), ("b", 0, &[2; 70])]);
        let mut bytes = [plain.clone(), gzip(&plain), zstd(&plain), zipped][which].clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let limits = Limits { bytes: 1 << 20, ..Limits::default() };
        // The function checks that nothing is outside.
        _ = unpacked("archive", &bytes, &limits);
    }
}
