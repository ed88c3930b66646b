//! One trace that is followed.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;

use super::delivered::Delivered;
use super::packet_run::{PacketPlace, PacketRun, StreamKey};
use super::tail::Tail;
use crate::base::time::Timestamp;
use crate::files::entries::entries;
use crate::files::file_id::FileId;
use crate::format::FileKind;
use crate::growth::GrowingTrace;
use crate::growth::stream::Packets;
use crate::report::Error;
use crate::trace::TracefileIndex;

/// A trace of which new metadata, files and packets are read as they are written.
#[derive(Debug)]
pub(super) struct FollowedTrace {
    pub(super) growing: GrowingTrace,
    tails: HashMap<FileId, Tail>,
    streams: HashMap<StreamKey, FollowedStream>,
}

/// A stream of a followed trace.
#[derive(Debug)]
struct FollowedStream {
    tracefile: TracefileIndex,
    /// The last packet that was delivered, and its end in its file.
    last: Option<(PacketPlace, (Arc<Path>, u64))>,
    delivered: Delivered,
    /// The runs that wait because packets between them and the last one are missing. Another
    /// file may have them: files are not read at one instant.
    held: Vec<PacketRun>,
}

impl FollowedTrace {
    pub(super) fn new(growing: GrowingTrace) -> FollowedTrace {
        FollowedTrace { growing, tails: HashMap::new(), streams: HashMap::new() }
    }

    /// Starts to follow the data stream files of a directory that are not followed yet.
    pub(super) fn add_files(&mut self, dir: &Path, failures: &mut Vec<Error>) {
        let entries = match entries(dir) {
            Ok(entries) => entries,
            Err(error) => return failures.push(error),
        };
        for entry in entries {
            let name = entry.path.file_name().unwrap_or_default().as_encoded_bytes();
            if name == b"metadata" || name.starts_with(b".") {
                continue;
            }
            match &entry.kind {
                Ok(kind) if !kind.is_file() => continue,
                Ok(_) => {}
                Err(_) => {
                    failures.push(entry.into_error());
                    continue;
                }
            }
            if let Err(error) = self.add_file(&entry.path) {
                failures.push(Error::Io { path: entry.path, error });
            }
        }
    }

    /// Starts to follow a file, unless it is followed already.
    fn add_file(&mut self, path: &Path) -> io::Result<()> {
        let identify = |metadata: fs::Metadata| FileId::new(path, &metadata);
        let known = fs::metadata(path).and_then(identify)?;
        if let Some(tail) = self.tails.get_mut(&known) {
            if *tail.path != *path {
                tail.path = path.into();
            }
            return Ok(());
        }
        let file = File::open(path)?;
        // The path may lead to another file by now.
        let id = file.metadata().and_then(identify)?;
        self.tails.entry(id).or_insert_with(|| Tail::new(file, path.into()));
        Ok(())
    }

    /// Reads the packets that have become whole. Returns `true` if there are some. Files that
    /// cannot be read are tried again at the next call.
    pub(super) fn read(&mut self, failures: &mut Vec<Error>) -> bool {
        let decoder = self.growing.decoder().clone();
        let mut runs: HashMap<StreamKey, Vec<PacketRun>> = HashMap::new();
        for tail in self.tails.values_mut() {
            match tail.read(&decoder) {
                Ok(found) => {
                    for run in found {
                        runs.entry(run.key.clone()).or_default().push(run);
                    }
                }
                Err(error) => failures.push(error),
            }
        }
        let is_read = self.is_read();
        let mut has_grown = false;
        for (key, stream) in &mut self.streams {
            let found = runs.remove(key).unwrap_or_default();
            has_grown |= stream.deliver(&mut self.growing, found, is_read);
        }
        let mut new: Vec<_> = runs.into_iter().collect();
        new.sort_by(|(_, a), (_, b)| a[0].place().cmp(&b[0].place()));
        for (key, found) in new {
            let name = found[0].file.file_name().unwrap_or_default().to_string_lossy();
            let tracefile = self.growing.add_tracefile(&name);
            let mut stream = FollowedStream::new(tracefile);
            has_grown |= stream.deliver(&mut self.growing, found, is_read);
            self.streams.insert(key, stream);
        }
        self.close_files();
        has_grown
    }

    /// Closes files that were removed, unless they may still be written to: those with the last
    /// packet of a stream, or with a part of one.
    fn close_files(&mut self) {
        let streams = &self.streams;
        let has_last = |tail: &Tail| {
            let mut ends = streams.values().filter_map(|stream| stream.last.as_ref());
            ends.any(|(_, (path, end))| *path == tail.path && *end == tail.end())
        };
        self.tails.retain(|_, tail| !tail.is_gone() || has_last(tail));
    }

    /// Returns `true` if all files have been read to their ends.
    pub(super) fn is_read(&self) -> bool {
        self.tails.values().all(Tail::is_read)
    }

    /// Notes that all streams have no events before a time.
    pub(super) fn silent_until(&mut self, time: Timestamp) {
        for stream in self.streams.values().filter(|stream| stream.held.is_empty()) {
            self.growing.silent_until(stream.tracefile, time);
        }
    }

    /// Ends all tracefiles. What is left of files is damage, or one packet without a size.
    pub(super) fn complete(&mut self) {
        let mut tails: Vec<Tail> = self.tails.drain().map(|(_, tail)| tail).collect();
        tails.sort_by(|a, b| a.path.cmp(&b.path));
        for stream in self.streams.values_mut() {
            stream.deliver_held(&mut self.growing);
        }
        for mut tail in tails {
            let (begin, bytes) = tail.take_rest();
            if bytes.is_empty() {
                continue;
            }
            let first = crate::trace::FirstPacket::read(self.growing.decoder(), &bytes);
            let name = tail.path.file_name().unwrap_or_default().to_string_lossy();
            let key = first.map(|first| StreamKey::new(first.instance, &tail.path));
            let known = key.and_then(|key| self.streams.get(&key));
            let tracefile = match known {
                Some(stream) => stream.tracefile,
                None => self.growing.add_tracefile(&name),
            };
            let kind = FileKind::Ctf;
            let packets = Packets { file: tail.path.clone(), bytes, begin, kind };
            self.growing.append_packets(tracefile, packets);
        }
        self.growing.complete_all();
    }
}

impl FollowedStream {
    fn new(tracefile: TracefileIndex) -> FollowedStream {
        let (delivered, held) = (Delivered::default(), Vec::new());
        FollowedStream { tracefile, last: None, delivered, held }
    }

    /// Adds the runs of packets that were found to the trace, in the order of the stream.
    /// Returns `true` if some were added. `is_read` says that all files have been read to their
    /// ends.
    fn deliver(
        &mut self,
        growing: &mut GrowingTrace,
        found: Vec<PacketRun>,
        is_read: bool,
    ) -> bool {
        let waited = self.held.len();
        let mut runs = std::mem::take(&mut self.held);
        runs.extend(found);
        let mut runs: Vec<_> = runs.into_iter().enumerate().collect();
        let first = runs.iter().min_by_key(|(_, run)| run.times());
        let from = self.last.as_ref().map(|(last, _)| *last);
        let from = from.or(first.and_then(|(_, run)| run.first().copied()));
        if let Some(from) = from {
            runs.sort_by_key(|(_, run)| run.order(&from));
        }
        // What was missing before a run in two complete reads of all files does not exist.
        let final_runs = match is_read {
            true => runs.iter().rposition(|(at, _)| *at < waited).map_or(0, |last| last + 1),
            false => 0,
        };
        let mut has_grown = false;
        for (at, (_, mut run)) in runs.into_iter().enumerate() {
            if let Some((last, end)) = &self.last
                && !run.follows(end)
            {
                let late = run.drop_known(last, |packet| self.delivered.lacks(packet));
                for run in late {
                    // The reader reports that their times go back.
                    self.delivered.add_late(&run);
                    growing.append_packets(self.tracefile, run.into_packets());
                    has_grown = true;
                }
                let waits = run.leaves_gap(last) || !self.held.is_empty();
                if !run.is_empty() && at >= final_runs && waits {
                    self.held.push(run);
                    continue;
                }
            }
            has_grown |= self.add(growing, run);
        }
        has_grown
    }

    /// Adds the runs that wait, although packets before them are missing.
    fn deliver_held(&mut self, growing: &mut GrowingTrace) {
        for run in std::mem::take(&mut self.held) {
            self.add(growing, run);
        }
    }

    fn add(&mut self, growing: &mut GrowingTrace, run: PacketRun) -> bool {
        let Some(last) = run.last().copied() else { return false };
        self.delivered.add(self.last.as_ref().map(|(last, _)| last), &run);
        self.last = Some((last, run.end()));
        growing.append_packets(self.tracefile, run.into_packets());
        true
    }
}
