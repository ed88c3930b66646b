//! With one damaged file among many, all events of all other files are read in order, and
//! the damage is reported once.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::recording::{cut, expected, rest_of, time_of, write_file};
use ltt_read::{Merge, NoticeKind, OnFailure, OpenOptions, Opened, Timestamp, open_all};
use proptest::prelude::*;

/// Streams of several files each.
#[derive(Debug, Clone)]
struct Plan {
    /// The number of packets of each file of each stream.
    streams: Vec<Vec<u64>>,
    /// `true` if the files are in the archives of a session rather than in one directory.
    archives: bool,
    indexed: bool,
}

#[derive(Debug, Clone, Copy)]
enum Damage {
    /// The file is truncated by this part, in thousandths.
    Cut(usize),
    /// A packet has an unknown stream class.
    Header(u64),
    /// A packet has impossible sizes.
    Sizes(u64),
    Emptied,
    Deleted,
    /// The file is replaced by a directory of the same name.
    Directory,
    /// The operating system cannot open the file.
    #[cfg(unix)]
    Unreadable,
}

fn damage() -> impl Strategy<Value = Damage> {
    let common = prop_oneof![
        4 => (0usize..1000).prop_map(Damage::Cut),
        2 => any::<u64>().prop_map(Damage::Header),
        2 => any::<u64>().prop_map(Damage::Sizes),
        1 => Just(Damage::Emptied),
        1 => Just(Damage::Deleted),
        1 => Just(Damage::Directory),
    ];
    #[cfg(unix)]
    let common = prop_oneof![11 => common, 1 => Just(Damage::Unreadable)];
    common
}

fn plan() -> impl Strategy<Value = Plan> {
    let files = prop::collection::vec(1u64..4, 1..4);
    let streams = prop::collection::vec(files, 1..4);
    (streams, any::<bool>(), any::<bool>()).prop_map(|(streams, archives, indexed)| Plan {
        streams,
        archives,
        indexed,
    })
}

impl Plan {
    fn path(&self, dir: &Path, cpu: usize, file: usize) -> PathBuf {
        match self.archives {
            true => dir.join(format!("archive-{file}/c_{cpu}")),
            false => dir.join(format!("c_{cpu}_{file}")),
        }
    }

    /// Returns the stream, the number in the stream and the packets of each file.
    fn files(&self) -> Vec<(usize, usize, std::ops::Range<u64>)> {
        let mut files = Vec::new();
        for (cpu, stream) in self.streams.iter().enumerate() {
            let mut next = 0;
            for (number, packets) in stream.iter().enumerate() {
                files.push((cpu, number, next..next + packets));
                next += packets;
            }
        }
        files
    }

    fn write(&self, dir: &Path) {
        for (cpu, number, packets) in self.files() {
            let path = self.path(dir, cpu, number);
            let name = path.file_name().unwrap().to_str().unwrap();
            write_file(path.parent().unwrap(), name, cpu as u64, packets, self.indexed);
        }
    }
}

/// Damages a file of `packets` packets. Returns `true` if something must be reported,
/// because the result does not look like a whole file.
fn apply(damage: Damage, path: &Path, packets: u64) -> bool {
    let bytes = fs::read(path).unwrap();
    let packet = bytes.len() / packets as usize;
    let overwrite = |number: u64, at: usize, len: usize| {
        let at = (number % packets) as usize * packet + at;
        let mut bytes = bytes.clone();
        bytes[at..at + len].fill(0xff);
        fs::write(path, bytes).unwrap();
        true
    };
    match damage {
        Damage::Cut(part) => {
            let bytes = (bytes.len() * part / 1000).max(1);
            cut(path, bytes);
            !bytes.is_multiple_of(packet)
        }
        // After the magic number and the UUID.
        Damage::Header(number) => overwrite(number, 20, 4),
        // After the rest of the packet header and two times.
        Damage::Sizes(number) => overwrite(number, 32 + 16, 16),
        Damage::Emptied => {
            fs::write(path, []).unwrap();
            false
        }
        Damage::Deleted => {
            fs::remove_file(path).unwrap();
            false
        }
        Damage::Directory => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
            false
        }
        #[cfg(unix)]
        Damage::Unreadable => {
            fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink(path, path).unwrap();
            true
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, ..ProptestConfig::default() })]

    #[test]
    fn one_damaged_file_costs_no_other_file_an_event(
        plan in plan(),
        damage in damage(),
        which in any::<prop::sample::Index>(),
        sought in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        plan.write(dir.path());
        let files = plan.files();
        let (cpu, number, packets) = which.get(&files).clone();
        let path = plan.path(dir.path(), cpu, number);
        let is_told = apply(damage, &path, packets.end - packets.start);

        let options = OpenOptions::new().on_failure(OnFailure::Continue);
        let Opened { traces, failures, notices } = options.open_all_of([dir.path()]).unwrap();
        prop_assert!(notices.is_empty(), "{:?}", notices);
        prop_assert_eq!(open_all(dir.path()).is_err(), !failures.is_empty());
        let mut merge = Merge::new(&traces);
        let seen = rest_of(&mut merge);
        let reported: Vec<_> = failures.iter().chain(merge.errors()).collect();
        prop_assert_eq!(reported.len(), usize::from(is_told), "{:?}", reported);

        // All events of the other files are read, and those of this file before the
        // damage.
        let events = |wanted: bool| {
            let files = files.iter().filter(|f| ((f.0, f.1) == (cpu, number)) == wanted);
            expected(files.flat_map(|f| f.2.clone().map(|packet| (f.0 as u64, packet))))
        };
        let (own, others) = (events(true), events(false));
        let of_others: HashSet<_> = others.iter().collect();
        let (rest, left): (Vec<_>, Vec<_>) = seen.iter().partition(|n| of_others.contains(n));
        prop_assert_eq!(rest, others);
        prop_assert!(own.starts_with(&left), "{:?} of {:?}", left, own);
        prop_assert!(seen.is_sorted_by_key(|n| time_of(*n)));

        // A gap between packets that are read is noted, unless something else is
        // reported.
        if !is_told && left.len() < own.len() {
            let is_last = number + 1 == plan.streams[cpu].len();
            let is_first = number == 0 && left.is_empty();
            let is_lost = |kind: &NoticeKind| matches!(kind, NoticeKind::LostPackets { .. });
            let lost = merge.take_notices().iter().filter(|n| is_lost(&n.kind)).count();
            prop_assert_eq!(lost, usize::from(!is_first && !is_last));
        }

        // Seeks deliver the same events.
        let time = *sought.get(&events(false).into_iter().chain(own).collect::<Vec<_>>());
        let time = time_of(time);
        let mut merge = Merge::new(&traces);
        merge.seek(Timestamp::from_ns(time as i64));
        let from: Vec<_> = seen.into_iter().filter(|n| time_of(*n) >= time).collect();
        prop_assert_eq!(rest_of(&mut merge), from);
    }
}
