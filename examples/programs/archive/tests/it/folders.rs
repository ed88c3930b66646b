//! The temporary folders of archives.

use lttv_archive::{ArchiveError, Folder, Limits};

use crate::support::{files, listed};

#[test]
fn folders_are_removed_with_all_that_is_in_them() {
    let parent = tempfile::tempdir().expect("a folder");
    let archive = parent.path().join("session.tar");
    std::fs::write(&archive, files(&[("kernel/metadata", b"hello")])).expect("a file");
    let place = parent.path().join("temporary");
    std::fs::create_dir(&place).expect("a folder");
    let mut folder = Folder::create(&place).expect("a folder");
    let limits = Limits::default();
    let (a, b) =
        (folder.unpack(&archive, &limits).unwrap(), folder.unpack(&archive, &limits).unwrap());
    assert!(a != b && a.ends_with("session.tar"), "{a:?}");
    for path in [&a, &b] {
        assert_eq!(listed(path), [("kernel/metadata".to_owned(), 5)]);
    }
    // What was written of an archive that is refused does not remain.
    std::fs::write(&archive, files(&[("large", &[0; 5000]), ("..", b"")])).expect("a file");
    let before = listed(&place);
    assert!(matches!(folder.unpack(&archive, &limits), Err(ArchiveError::Refused { .. })));
    assert_eq!(listed(&place), before);
    drop(folder);
    assert_eq!(std::fs::read_dir(&place).expect("a folder").count(), 0);
}

#[test]
fn folders_of_killed_programs_are_removed_by_the_next() {
    let place = tempfile::tempdir().expect("a folder");
    // A lock that nobody holds, as after a kill.
    let abandoned = place.path().join("lttv-unpacked-abc");
    std::fs::create_dir(&abandoned).expect("a folder");
    std::fs::write(abandoned.join(".lock"), "").expect("a file");
    // Others that only look alike.
    for name in ["lttv-unpacked-new", "others"] {
        std::fs::create_dir(place.path().join(name)).expect("a folder");
    }
    let first = Folder::create(place.path()).expect("a folder");
    assert!(!abandoned.exists());
    let second = Folder::create(place.path()).expect("a folder");
    assert_eq!(std::fs::read_dir(place.path()).expect("a folder").count(), 4);
    drop((first, second));
    assert_eq!(std::fs::read_dir(place.path()).expect("a folder").count(), 2);
}
