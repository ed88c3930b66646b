//! Storing checkpoints in files.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use ltt_read::Timestamp;
use serde::Serialize;

use super::{
    CheckpointFileError, CheckpointFileFault, FORMAT, Header, MAGIC, StoredCheckpoint,
    StoredExtension,
};
use crate::context::{ContextState, TracesetContext};
use crate::fingerprint::Fingerprint;
use crate::state::{AnyCodec, Checkpoint};
use crate::traceset::{Traceset, TracesetPosition};

impl ContextState<'_, '_> {
    /// Writes the current checkpoints to a file, from which any later context of the same traces
    /// can [load](Self::load_checkpoints) them. The state of extensions without a
    /// [`Codec`](crate::Codec) is left out.
    ///
    /// An existing file of this name is replaced once the new one is complete and on disk. If
    /// anything fails, the existing file stays unchanged. The file contains complete states for the
    /// first checkpoint, and mostly differences for the others.
    ///
    /// ```
    /// use lttv_context::{Bounds, CheckpointFileFault, CheckpointPolicy, Traceset, TracesetContext};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// // Without an analysis there is nothing to store.
    /// context.state().set_policy(CheckpointPolicy::every(1000));
    /// assert_eq!(context.state().replay(&Bounds::all())?.errors, 0);
    /// let stored = context.state().store_checkpoints("lttv.checkpoints");
    /// let error = stored.expect_err("no extension");
    /// assert!(matches!(error.fault, CheckpointFileFault::NothingToStore));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointFileError`] if writing fails, or if no extension can be stored.
    pub fn store_checkpoints(&self, path: impl AsRef<Path>) -> Result<(), CheckpointFileError> {
        let path = path.as_ref();
        let codecs = self.context.extensions().codecs();
        let codecs: Vec<_> = codecs.filter_map(|(at, _, codec)| Some((at, codec?))).collect();
        if codecs.is_empty() {
            return Err(CheckpointFileFault::NothingToStore.of(path));
        }
        let partial = partial_path(path);
        let stored = self.context.store_in(&codecs, path, &partial);
        stored.map_err(|error| {
            // The file may not exist.
            _ = fs::remove_file(&partial);
            CheckpointFileFault::Io(error).of(path)
        })
    }
}

impl TracesetContext<'_> {
    fn store_in(
        &self,
        codecs: &[(usize, AnyCodec)],
        path: &Path,
        partial: &Path,
    ) -> io::Result<()> {
        let mut frames = FrameWriter::begin(File::create(partial)?)?;
        frames.write(&Header {
            source: Fingerprint::of(self.traceset()).into_bytes(),
            extensions: codecs.iter().map(|(_, codec)| StoredExtension::of(codec)).collect(),
            checkpoints: self.checkpoints().len() as u64,
        })?;
        let mut states = vec![Vec::new(); codecs.len()];
        let mut before: Option<&Checkpoint> = None;
        for checkpoint in self.checkpoints().iter() {
            for ((at, codec), out) in codecs.iter().zip(&mut states) {
                out.clear();
                let Some(state) = checkpoint.states().get(*at) else { continue };
                let before = before.and_then(|before| before.states().get(*at));
                (codec.write)(state, before, out);
            }
            frames.write(&stored_checkpoint(
                checkpoint.position(),
                &tracefile_bytes(checkpoint, self.traceset()),
                &states,
            ))?;
            before = Some(checkpoint);
        }
        frames.finish()?;
        fs::rename(partial, path)?;
        // The new name has to be on disk, too. Some systems cannot sync directories.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Ok(parent) = File::open(parent.unwrap_or(Path::new("."))) {
            _ = parent.sync_all();
        }
        Ok(())
    }
}

/// Returns the name of the file until it is complete. It contains the process id, since several
/// programs may write the file at once.
fn partial_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{}.partial", std::process::id()));
    name.into()
}

fn tracefile_bytes(checkpoint: &Checkpoint, traceset: &Traceset) -> Vec<u8> {
    let positions = match checkpoint.position().order().tracefiles() {
        Some(positions) => positions.to_vec(),
        None => {
            let mut reader = traceset.reader();
            reader.seek_position(checkpoint.position().order());
            reader.merge().positions()
        }
    };
    positions.iter().flat_map(|position| position.to_bytes()).collect()
}

fn stored_checkpoint<'b>(
    position: &TracesetPosition,
    tracefiles: &'b [u8],
    states: &'b [Vec<u8>],
) -> StoredCheckpoint<'b> {
    let order = position.order();
    StoredCheckpoint {
        next: order.key().map(|key| (key.time().as_ns(), key.tracefile().0 as u32)),
        latest: order.latest().map(Timestamp::as_ns),
        tracefiles,
        states: states.iter().map(Vec::as_slice).collect(),
    }
}

impl StoredExtension {
    pub(super) fn of(codec: &AnyCodec) -> Self {
        let AnyCodec { name, version, options, .. } = *codec;
        StoredExtension { name: name.to_owned(), version, options }
    }
}

/// A writer of a file, frame by frame.
struct FrameWriter {
    file: BufWriter<File>,
    sum: Hasher,
}

impl FrameWriter {
    fn begin(file: File) -> io::Result<Self> {
        let mut frames = FrameWriter { file: BufWriter::new(file), sum: Hasher::new() };
        frames.put(&MAGIC)?;
        frames.put(&FORMAT.to_le_bytes())?;
        Ok(frames)
    }

    fn write(&mut self, content: &impl Serialize) -> io::Result<()> {
        let content = postcard::to_stdvec(content).map_err(io::Error::other)?;
        let length = u32::try_from(content.len()).map_err(io::Error::other)?;
        self.put(&length.to_le_bytes())?;
        self.put(&content)?;
        let sum = self.sum.clone().finalize();
        self.file.write_all(&sum.to_le_bytes())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.file.write_all(bytes)
    }

    fn finish(self) -> io::Result<()> {
        self.file.into_inner()?.sync_all()
    }
}
