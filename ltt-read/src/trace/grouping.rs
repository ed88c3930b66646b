//! Grouping of files into tracefiles, and their names.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hashbrown::{HashMap, HashSet};

use super::data_file::{Before, DataFile, FilePart, split_name};
use super::duplicates::follows;
use super::instances;
use super::packet_index::Indexes;
use super::tracefile::Tracefile;
use crate::base::source::{FileBytes, SharedBytes};
use crate::base::time::Timestamp;
use crate::format::{Decoder, FileKind};
use crate::layout::program::Scratch;
use crate::packet::Instance;

/// The number of packets at the start of a file that are searched for a readable one,
/// which determines the file's stream.
const DAMAGED_PACKETS: u64 = 64;

/// Groups the files of a trace into tracefiles, sorted by channel and CPU.
pub(crate) fn tracefiles(
    decoder: &Decoder,
    files: impl IntoIterator<Item = (PathBuf, FileBytes)>,
) -> Vec<Tracefile> {
    let files: Vec<_> = files.into_iter().collect();
    // They are large, and may be thousands: growing would move them.
    let mut tracefiles = Vec::with_capacity(files.len());
    let mut known = Known::new();
    let least = instances::least(decoder, &files);
    for (path, source) in files {
        add_file(&mut tracefiles, &mut known, decoder, &path, source, least);
    }
    join_by_sequence(&mut tracefiles, decoder);
    for t in &mut tracefiles {
        t.files.sort_by(|a, b| a.key().cmp(&b.key()));
    }
    name_tracefiles(&mut tracefiles);
    in_order(tracefiles)
}

/// Sorts tracefiles by channel and CPU. Each is moved once.
fn in_order(tracefiles: Vec<Tracefile>) -> Vec<Tracefile> {
    let key = |at: &usize| -> (&str, Option<u32>, &Path) {
        let t = &tracefiles[*at];
        (&t.channel, t.cpu, &t.files[0].path)
    };
    let mut order: Vec<usize> = (0..tracefiles.len()).collect();
    order.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut places: Vec<Option<Tracefile>> = tracefiles.into_iter().map(Some).collect();
    let mut sorted = Vec::with_capacity(order.len());
    sorted.extend(order.into_iter().filter_map(|at| places[at].take()));
    sorted
}

/// The properties of a stream, from the first readable packet of a file.
pub(crate) struct FirstPacket {
    pub(crate) instance: Instance,
    begin: Timestamp,
}

impl FirstPacket {
    pub(crate) fn read(decoder: &Decoder, bytes: &[u8]) -> Option<FirstPacket> {
        let (mut scratch, mut offset) = (Scratch::default(), 0);
        for number in 0..DAMAGED_PACKETS {
            match decoder.packet(FileKind::Ctf, bytes, offset, number, 0, &mut scratch) {
                Ok(packet) => {
                    let begin = packet.start.unwrap_or(Timestamp::MIN);
                    return Some(FirstPacket { instance: packet.instance(), begin });
                }
                Err(error) => offset += error.size?,
            }
        }
        None
    }
}

/// The tracefiles of streams whose packets declare an id.
type Known = HashMap<Instance, usize>;

/// Adds a file to the tracefiles that its packets belong to, or to new ones.
fn add_file(
    tracefiles: &mut Vec<Tracefile>,
    known: &mut Known,
    decoder: &Decoder,
    path: &Path,
    source: FileBytes,
    least: u64,
) {
    let source = SharedBytes::new(Arc::new(source));
    let file = DataFile {
        path: path.into(),
        missing: 0,
        packed: None,
        may_have_index: true,
        first_begin: None,
        source,
        kind: FileKind::Ctf,
        begin: FilePart::default(),
        before: Before::NOTHING,
    };
    let Some(runs) = instances::runs(decoder, file.bytes(), least) else {
        let first = FirstPacket::read(decoder, file.bytes());
        let first_begin = first.as_ref().map(|first| first.begin);
        let instance = first.map(|first| first.instance);
        return add_part(tracefiles, known, instance, DataFile { first_begin, ..file });
    };
    // Packets without a stream id belong to a stream of this file.
    let mut here = Known::new();
    for run in runs {
        let known = if run.instance.id.is_some() { &mut *known } else { &mut here };
        let part = DataFile {
            source: file.source.part(run.bytes),
            // An index of the file would be one of all its streams.
            may_have_index: false,
            begin: run.begin,
            first_begin: Some(run.first_begin),
            ..file.clone()
        };
        add_part(tracefiles, known, Some(run.instance), part);
    }
}

/// Adds a file, or a part of one, to the tracefile of its stream, or to a new one.
fn add_part(
    tracefiles: &mut Vec<Tracefile>,
    known: &mut Known,
    instance: Option<Instance>,
    file: DataFile,
) {
    let next = tracefiles.len();
    let is_shared = |instance: &Instance| instance.id.is_some() || !file.may_have_index;
    let at = instance.filter(is_shared).map_or(next, |it| *known.entry(it.key()).or_insert(next));
    match tracefiles.get_mut(at) {
        Some(t) => t.files.push(file),
        None => tracefiles.push(Tracefile {
            name: String::new(),
            channel: String::new(),
            cpu: instance.and_then(|instance| instance.cpu),
            process: None,
            instance,
            files: vec![file],
            growth: None,
            duplicates: OnceLock::new(),
            index: Indexes::default(),
        }),
    }
}

/// Joins files whose packets have no stream id, if their names and the sequence numbers
/// of their packets show that they are one stream.
fn join_by_sequence(tracefiles: &mut Vec<Tracefile>, decoder: &Decoder) {
    let mut alone: Vec<Tracefile> =
        tracefiles.extract_if(.., |t| t.instance.is_some_and(|it| it.id.is_none())).collect();
    alone.sort_by(|a, b| a.files[0].key().cmp(&b.files[0].key()));
    // The places of the tracefiles that a file may continue, by what its name must agree with.
    let mut places: HashMap<NameKey, Vec<usize>> = HashMap::new();
    for t in alone {
        let is_next = |at: &usize| {
            let before = &tracefiles[*at];
            let Some(last) = before.files.last() else { return false };
            before.instance == t.instance
                && may_follow(&last.path, &t.files[0].path)
                && follows(decoder, last, &t.files[0])
        };
        let keys = name_keys(&t.files[0].path);
        let mut candidates: Vec<usize> =
            keys.iter().filter_map(|key| places.get(key)).flatten().copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        let at = match candidates.into_iter().find(is_next) {
            Some(before) => {
                tracefiles[before].files.extend(t.files);
                before
            }
            None => {
                tracefiles.push(t);
                tracefiles.len() - 1
            }
        };
        for key in keys {
            let places = places.entry(key).or_default();
            if places.last() != Some(&at) {
                places.push(at);
            }
        }
    }
}

/// A part of a file's path that files of one stream have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
enum NameKey {
    /// The name of the file, which is in several directories.
    Name(String),
    /// The directory, the channel and the CPU of the files `CHANNEL_CPU_NUMBER`.
    Rotated(PathBuf, String, Option<u32>),
}

/// Returns the keys of which a file that [may follow](may_follow) has one as well.
fn name_keys(path: &Path) -> Vec<NameKey> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let of_rotated = rotated(&name).map(|_| {
        let (channel, cpu) = split_name(&name, true);
        NameKey::Rotated(path.parent().unwrap_or(path).into(), channel.into(), cpu)
    });
    [Some(NameKey::Name(name)), of_rotated].into_iter().flatten().collect()
}

/// Returns `true` if two files may belong to one stream according to their names: if they
/// have the same name in two directories, or are two of the files `CHANNEL_CPU_NUMBER`.
fn may_follow(a: &Path, b: &Path) -> bool {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (a_name, b_name) = (name(a), name(b));
    if a.parent() != b.parent() {
        return a_name == b_name;
    }
    let stream = |name: &str| {
        let (channel, cpu) = split_name(name, true);
        rotated(name).map(|_| (channel.to_owned(), cpu))
    };
    stream(&a_name).is_some() && stream(&a_name) == stream(&b_name)
}

/// Returns the two numbers at the end of a name of the form `CHANNEL_CPU_NUMBER`.
fn rotated(name: &str) -> Option<(u32, u32)> {
    let (rest, last) = split_name(name, false);
    Some((split_name(rest, false).1?, last?))
}

/// Sets the name, channel and CPU of tracefiles. The CPU is the one in the packets or,
/// without that, the one in the files' names.
fn name_tracefiles(tracefiles: &mut [Tracefile]) {
    let name =
        |file: &DataFile| file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let has_several = |t: &Tracefile| t.files.iter().any(|file| name(file) != t.name);
    // The channels whose files rotate. Some of their streams may have only one file yet.
    let mut rotating = HashSet::new();
    for t in &mut *tracefiles {
        t.name = name(&t.files[0]);
        let is_second =
            rotated(&t.name).is_some_and(|(cpu, number)| cpu != number && t.cpu == Some(cpu));
        if is_second || has_several(t) {
            rotating.insert(split_name(&t.name, true).0.to_owned());
        }
    }
    for t in tracefiles {
        let (channel, cpu) = split_name(&t.name, true);
        let agrees = t.cpu.is_none() || t.cpu == cpu;
        let rotates = rotating.contains(channel) && agrees || has_several(t);
        let (channel, cpu) = split_name(&t.name, rotates);
        (t.channel, t.cpu) = (channel.to_owned(), t.cpu.or(cpu));
    }
}
