//! The ways in which following a directory ends: what could not be read is an error.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crate::support::recording::{Stream, numbers};
use ltt_read::{Error, Follower, Merge};

/// Returns the directory of a trace with one file of some packets.
fn trace(packets: impl IntoIterator<Item = u64>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    Stream::default().write(dir.path(), "c_0", packets);
    dir
}

/// Returns the bytes of a file with some packets.
fn file(packets: impl IntoIterator<Item = u64>) -> Vec<u8> {
    fs::read(trace(packets).path().join("c_0")).expect("a file")
}

fn poll(follower: &mut Follower) -> Result<bool, Error> {
    follower.poll(Instant::now())
}

/// Returns the failures of several polls in words.
fn failures(follower: &mut Follower) -> Vec<String> {
    (0..5)
        .filter_map(|_| poll(follower).err())
        .map(|error| ltt_read::ErrorChain(&error).to_string())
        .collect()
}

/// Returns the numbers of all events.
fn numbers_of(follower: &mut Follower) -> Vec<u64> {
    let mut merge = Merge::new(follower.traces());
    let mut seen = Vec::new();
    while let Some(event) = merge.next() {
        seen.extend(event.field("n").and_then(|n| n.as_u64()));
    }
    seen
}

#[test]
fn empty_metadata_is_an_error_at_the_end() {
    let dir = trace(0..2);
    fs::write(dir.path().join("metadata"), "").unwrap();
    let mut follower = Follower::new([dir.path()]);
    assert_eq!(failures(&mut follower), [""; 0]);
    let errors: Vec<_> = follower.metadata_errors().map(ToString::to_string).collect();
    assert!(
        matches!(&errors[..], [error] if error.contains("the metadata is empty")),
        "{errors:?}"
    );
    let error = follower.complete().unwrap_err().to_string();
    assert_eq!(errors, [error]);
}

#[test]
fn later_metadata_that_is_not_valid_is_an_error_at_the_end() {
    let dir = trace(0..2);
    let mut follower = Follower::new([dir.path()]);
    poll(&mut follower).unwrap();
    assert_eq!(follower.metadata_errors().count(), 0);
    let mut metadata = fs::read(dir.path().join("metadata")).unwrap();
    metadata.extend_from_slice(b" event { name = ");
    fs::write(dir.path().join("metadata"), metadata).unwrap();
    assert_eq!(failures(&mut follower), [""; 0]);
    assert_eq!(follower.metadata_errors().count(), 1);
    assert!(follower.complete().is_err());
    assert_eq!(numbers_of(&mut follower), numbers(0, 0).chain(numbers(0, 1)).collect::<Vec<_>>());
}

#[test]
fn what_cannot_be_followed_is_returned_once_and_the_rest_is_read() {
    let dir = trace(0..2);
    let old = tempfile::tempdir().unwrap();
    for dir in ["cpu", "info"] {
        fs::create_dir(old.path().join(dir)).unwrap();
    }
    fs::write(old.path().join("info/system.xml"), "").unwrap();
    let metadata = dir.path().join("metadata");
    let paths = [dir.path(), old.path(), &metadata, Path::new("does-not-exist-yet")];
    let mut follower = Follower::new(paths);
    let failures = failures(&mut follower);
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert!(failures.iter().any(|failure| failure.contains("LTTng 0.x cannot be followed")));
    assert!(failures.iter().any(|failure| failure.contains("path is a file")));
    follower.complete().unwrap();
    assert!(!numbers_of(&mut follower).is_empty());
}

#[cfg(unix)]
#[test]
fn a_stream_file_that_cannot_be_opened_is_a_failure_and_the_others_are_read() {
    let dir = trace(0..2);
    // A link to itself, before the other file in the order of names.
    std::os::unix::fs::symlink("b_0", dir.path().join("b_0")).unwrap();
    let mut follower = Follower::new([dir.path()]);
    let failures = failures(&mut follower);
    assert!(matches!(&failures[..], [one] if one.contains("b_0: ")), "{failures:?}");
    // Whoever asks only once is told as well.
    let mut follower = Follower::new([dir.path()]);
    assert!(poll(&mut follower).is_err());
    follower.complete().unwrap();
    assert!(!numbers_of(&mut follower).is_empty());
}

#[test]
fn damage_after_which_no_packet_can_be_found_is_a_failure() {
    let dir = trace(0..2);
    let path = dir.path().join("c_0");
    let mut follower = Follower::new([dir.path()]);
    assert_eq!(failures(&mut follower), [""; 0]);
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    let mut packet = self::file([2]);
    // The sizes of content and packet.
    packet[48..64].fill(0xff);
    file.write_all(&packet).unwrap();
    let failures = failures(&mut follower);
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert!(failures[0].contains("c_0: packet 2, byte "), "{failures:?}");
}

#[cfg(unix)]
#[test]
fn a_file_that_was_removed_is_read_while_it_grows() {
    let dir = trace([]);
    let path = dir.path().join("c_0");
    let mut follower = Follower::new([dir.path()]);
    let mut file = File::create(&path).unwrap();
    for packet in 0..4 {
        let bytes = self::file([packet]);
        let (first, rest) = bytes.split_at(bytes.len() / 3);
        // The file is removed between two packets, or within one.
        file.write_all(first).unwrap();
        poll(&mut follower).unwrap();
        if packet == 1 {
            fs::remove_file(&path).unwrap();
        }
        poll(&mut follower).unwrap();
        file.write_all(rest).unwrap();
        poll(&mut follower).unwrap();
        poll(&mut follower).unwrap();
    }
    follower.complete().unwrap();
    let expected: Vec<_> = (0..4).flat_map(|packet| numbers(0, packet)).collect();
    assert_eq!(numbers_of(&mut follower), expected);
}
