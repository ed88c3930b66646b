//! Loading checkpoints from files.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crc32fast::Hasher;
use ltt_read::order::{DeliveryKey, OrderPosition};
use ltt_read::{Position, Timestamp, TracefileNumber};

use super::CheckpointFileFault as Fault;
use super::{CheckpointFileError, FORMAT, Header, MAGIC, StoredCheckpoint, StoredExtension};
use crate::context::{ContextState, TracesetContext};
use crate::fingerprint::Fingerprint;
use crate::state::{AnyCodec, Checkpoint, Checkpoints, Saved};
use crate::traceset::TracesetPosition;

/// The maximum number of bytes that are reserved for a frame before its content is read.
const FIRST_RESERVED: u64 = 1 << 16;

impl ContextState<'_, '_> {
    /// Reads checkpoints from a file that was created for the same traces, with at least the
    /// extensions that are attached here. They replace the current checkpoints. If they exceed the
    /// [memory limit](crate::CheckpointPolicy::memory), some are left out, evenly spread. Returns the number
    /// of checkpoints taken.
    ///
    /// The file may be hostile: memory use is proportional to its size and to the memory limit. A
    /// file is used only if all of it is intact.
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointFileError`] if the file cannot be read, is damaged, or does not fit the
    /// traces and extensions. Nothing changes then. In all of these cases the checkpoints can be
    /// created again from the traces.
    pub fn load_checkpoints(
        &mut self,
        path: impl AsRef<Path>,
    ) -> Result<usize, CheckpointFileError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|error| Fault::Io(error).of(path))?;
        let mut frames =
            FrameReader { path, file: BufReader::new(file), offset: 0, sum: Hasher::new() };
        frames.begin()?;
        let header: Header = frames.next("header", |bytes| {
            let (header, rest) = postcard::take_from_bytes(bytes).ok()?;
            rest.is_empty().then_some(header)
        })?;
        if !Fingerprint::from_bytes(&header.source).matches(self.context.traceset()) {
            return Err(Fault::Stale.of(path));
        }
        let matched =
            self.context.match_extensions(&header.extensions).map_err(|fault| fault.of(path))?;
        let mut kept = Checkpoints::default();
        let mut before: Option<Checkpoint> = None;
        // Every `every`-th checkpoint is kept.
        let mut every = 1;
        for number in 1..=header.checkpoints {
            let checkpoint = frames.next("checkpoint", |bytes| {
                self.context.decode_checkpoint(bytes, &header, &matched, before.as_ref())
            })?;
            if number.is_multiple_of(every) {
                kept.insert(checkpoint.clone());
                for _ in 0..kept.fit(self.context.checkpoint_memory()) {
                    every = every.saturating_mul(2);
                }
            }
            before = Some(checkpoint);
        }
        frames.end()?;
        let count = kept.len();
        self.context.replace_checkpoints(kept);
        Ok(count)
    }
}

impl TracesetContext<'_> {
    /// Matches the attached extensions with the stored ones.
    ///
    /// # Errors
    ///
    /// Returns the first extension that is not stored.
    pub(super) fn match_extensions(
        &self,
        stored: &[StoredExtension],
    ) -> Result<Vec<MatchedExtension>, Fault> {
        let mut matched: Vec<MatchedExtension> = Vec::new();
        for (place, type_name, codec) in self.extensions().codecs() {
            let codec = codec.ok_or(Fault::NoCodec(type_name))?;
            let this = StoredExtension::of(&codec);
            // Equal extensions are matched in order.
            let taken = matched.iter().filter(|other| other.codec.name == codec.name).count();
            let same = stored.iter().enumerate().filter(|(_, stored)| **stored == this);
            let stored = same.map(|(at, _)| at).nth(taken).ok_or(Fault::Missing(codec.name))?;
            matched.push(MatchedExtension { place, stored, codec });
        }
        if matched.is_empty() { Err(Fault::NothingToStore) } else { Ok(matched) }
    }

    /// Decodes the states of all extensions from their stored bytes and the previous checkpoint.
    pub(super) fn decode_states(
        &self,
        stored: &[&[u8]],
        matched: &[MatchedExtension],
        before: Option<&Checkpoint>,
    ) -> Option<Vec<Saved>> {
        let mut states = self.extensions().no_states();
        for MatchedExtension { place, stored: at, codec } in matched {
            let before = before.and_then(|before| before.states().get(*place));
            let state = self.extensions().read_state(*place, codec, stored.get(*at)?, before);
            *states.get_mut(*place)? = state?;
        }
        Some(states)
    }

    fn decode_checkpoint(
        &self,
        bytes: &[u8],
        header: &Header,
        matched: &[MatchedExtension],
        before: Option<&Checkpoint>,
    ) -> Option<Checkpoint> {
        let (stored, rest) = postcard::take_from_bytes::<StoredCheckpoint<'_>>(bytes).ok()?;
        let (tracefiles, more) = stored.tracefiles.as_chunks();
        if !rest.is_empty() || !more.is_empty() || stored.states.len() != header.extensions.len() {
            return None;
        }
        let key = |(time, tracefile): (i64, u32)| {
            DeliveryKey::new(Timestamp::from_ns(time), TracefileNumber(tracefile as usize))
        };
        let (key, latest) = (stored.next.map(key), stored.latest.map(Timestamp::from_ns));
        let places: Vec<_> = tracefiles.iter().map(Position::from_bytes).collect();
        let fits = places.len() == self.contexts().tracefiles().len()
            && key.is_none_or(|key| key.tracefile().0 < places.len());
        let order = OrderPosition::new(key, latest, places);
        let position = TracesetPosition::new(self.traceset().revision(), order);
        let follows = before.is_none_or(|before| *before.position() < position);
        if !follows || !fits {
            return None;
        }
        let states = self.decode_states(&stored.states, matched, before)?;
        Some(Checkpoint::new(position, states))
    }
}

/// An attached extension with its place in a file.
pub(super) struct MatchedExtension {
    /// The index among all extensions and data of the context.
    place: usize,
    /// The index among the extensions in the file.
    stored: usize,
    codec: AnyCodec,
}

/// A reader of a file, frame by frame.
struct FrameReader<'p> {
    path: &'p Path,
    file: BufReader<File>,
    offset: u64,
    sum: Hasher,
}

impl FrameReader<'_> {
    fn begin(&mut self) -> Result<(), CheckpointFileError> {
        let magic = self.take::<8>();
        if magic.as_ref().ok() != Some(&MAGIC) {
            return match magic {
                Err(error) if matches!(error.fault, Fault::Io(_)) => Err(error),
                _ => Err(Fault::NotCheckpoints.of(self.path)),
            };
        }
        let found = u32::from_le_bytes(self.take()?);
        self.sum.update(&MAGIC);
        self.sum.update(&found.to_le_bytes());
        match found {
            FORMAT => Ok(()),
            found => Err(Fault::Format { found, known: FORMAT }.of(self.path)),
        }
    }

    /// Reads the next frame, and decodes its content with `read`.
    fn next<T>(
        &mut self,
        what: &str,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, CheckpointFileError> {
        let begin = self.offset;
        let length = self.take()?;
        self.sum.update(&length);
        let length = u64::from(u32::from_le_bytes(length));
        let mut content = Vec::with_capacity(length.min(FIRST_RESERVED) as usize);
        let read_bytes = (&mut self.file).take(length).read_to_end(&mut content);
        let found = read_bytes.map_err(|error| self.failed(error))? as u64;
        self.offset += found;
        if found < length {
            return Err(self.truncated());
        }
        self.sum.update(&content);
        let sum = u32::from_le_bytes(self.take()?);
        if sum != self.sum.clone().finalize() {
            return Err(self.damaged(format!("wrong checksum of a {what}"), begin));
        }
        read(&content).ok_or_else(|| self.damaged(format!("malformed content of a {what}"), begin))
    }

    /// Checks that the file ends here.
    fn end(&mut self) -> Result<(), CheckpointFileError> {
        let mut one = [0];
        match self.file.read(&mut one) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.damaged("bytes after the last frame".to_owned(), self.offset)),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], CheckpointFileError> {
        let mut bytes = [0; N];
        match self.file.read_exact(&mut bytes) {
            Ok(()) => {
                self.offset += N as u64;
                Ok(bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(self.truncated()),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: io::Error) -> CheckpointFileError {
        Fault::Io(error).of(self.path)
    }

    fn truncated(&self) -> CheckpointFileError {
        Fault::Truncated(self.offset).of(self.path)
    }

    fn damaged(&self, what: String, offset: u64) -> CheckpointFileError {
        Fault::Damaged { what, offset }.of(self.path)
    }
}
