//! Continuation of histories: reading of unfinished files, and building on from unfinished
//! and finished ones.

use std::path::Path;

use ltt_read::Timestamp;

use super::builder::{Builder, Settings};
use super::partial_file::{self, Output, PartialFile, partial_path};
use crate::history::block::bits::ByteReader;
use crate::history::block::{Block, BlockHead};
use crate::history::error::HistoryError;
use crate::history::file::index::{BlockEntry, BlockSequence};
use crate::history::file::presence::{PresenceBuilder, PresenceGroup};
use crate::history::file::resume_note::ResumeNote;
use crate::history::file::source::{Access, Source};
use crate::history::file::spanning::SpanningTree;
use crate::history::file::{self, FrameKind};
use crate::history::query::history::{History, Parts, Store};
use crate::tree::Tree;

/// The complete blocks of an unfinished file.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) history: History,
    pub(crate) blocks: Vec<BlockEntry>,
    pub(crate) presence: PresenceBuilder,
    /// The length of the file up to the end of its last complete block, in bytes.
    pub(crate) len: u64,
}

impl Recovered {
    /// Reads the unfinished file of the history at `path`. Each block is checked against
    /// its checksum, since the last one may be incomplete.
    pub(crate) fn read(path: &Path) -> Result<Recovered, HistoryError> {
        // Others may truncate the file, so it must not be mapped.
        Recovered::of(Source::open(&partial_path(path), Access::Read)?)
    }

    /// Reads the bytes of an unfinished file.
    pub(crate) fn of(source: Source) -> Result<Recovered, HistoryError> {
        let bytes = source.bytes();
        let header = file::read_header(bytes)?;
        let mut sequence = BlockSequence::new(&header);
        let mut blocks = Vec::new();
        let mut presence = PresenceBuilder::default();
        while let Some((kind, content)) = file::frame_at(bytes, sequence.offset) {
            if kind != FrameKind::Block as u32 || !file::is_intact(bytes, &content) {
                break;
            }
            let head = BlockHead::read(&mut ByteReader::new(bytes, content.start));
            let bad = file::damaged("order of blocks", sequence.offset);
            let block = sequence.accept(sequence.offset, content, head).ok_or(bad)?;
            presence.push(&present(bytes, &block));
            blocks.push(block);
        }
        let mut history = History::from_parts(Parts {
            first: header.start,
            last: sequence.horizon,
            complete: false,
            identity: header.identity,
            blocks: blocks.clone(),
            presence: groups(&presence),
            spanning: SpanningTree::none(),
            mark: None,
            tree: Tree::new(),
            store: Store::File(source),
        });
        history.read_names()?;
        Ok(Recovered { history, blocks, presence, len: sequence.offset })
    }
}

/// Returns the presence bits of the attributes of a block.
fn present(file: &[u8], block: &BlockEntry) -> Vec<u64> {
    let data = file.get(block.content.clone()).unwrap_or_default();
    let words = (block.head.quarks as usize).div_ceil(64);
    let block = Block { head: &block.head, layout: &block.layout, data };
    (0..words).map(|at| block.present(at)).collect()
}

/// Returns the presence index of a history that has no stored one.
pub(crate) fn groups(presence: &PresenceBuilder) -> Vec<PresenceGroup> {
    presence.groups().map(|(rows, blocks)| PresenceGroup::in_memory(rows, blocks)).collect()
}

impl History {
    /// Reads the part of an unfinished history that was stored: all states up to its last
    /// complete block, where the returned history ends.
    ///
    /// `path` is the name that the finished file would have. If that file exists, it is
    /// opened. An unfinished file is read into memory, since a builder may continue it in
    /// the meantime.
    ///
    /// # Errors
    ///
    /// Returns an error if neither file exists, or if it is damaged before its last block.
    pub fn recover(path: impl AsRef<Path>) -> Result<History, HistoryError> {
        let path = path.as_ref();
        if path.exists() {
            return History::open(path);
        }
        match Recovered::read(path) {
            Ok(recovered) => Ok(recovered.history),
            // The file may have been finished in the meantime.
            Err(_) if path.exists() => History::open(path),
            Err(error) => Err(error),
        }
    }
}

impl Builder {
    /// Continues a history that was not closed, with all attributes, and with the states at
    /// the end of its last block. All changes before [`earliest`](Self::earliest) are
    /// stored; those from it on have to be made again. What follows the last complete block
    /// in the file is removed.
    ///
    /// # Errors
    ///
    /// Returns an error if the unfinished file does not exist, or is damaged before its
    /// last block; [`HistoryError::Stale`] if its identity differs from that in `settings`;
    /// [`HistoryError::Busy`] if another builder is writing it.
    pub fn resume(path: impl AsRef<Path>, settings: Settings) -> Result<Builder, HistoryError> {
        Builder::resume_locked(PartialFile::resume(path.as_ref())?, settings)
    }

    /// Continues a history in a file that is locked.
    fn resume_locked(mut output: PartialFile, settings: Settings) -> Result<Builder, HistoryError> {
        // A locked file is not truncated, so it can be mapped.
        let source = Source::of(&output.file, Access::Map);
        let source = source.map_err(|source| partial_file::io(&output.partial, source))?;
        let recovered = Recovered::of(source)?;
        let found = recovered.history.identity();
        if *found != settings.identity {
            let (expected, found) = (settings.identity.into(), found.clone().into());
            return Err(HistoryError::Stale { expected, found });
        }
        output.truncate(recovered.len)?;
        for (block, frame) in recovered.blocks.iter().zip(recovered.history.frames()) {
            output.add_frame(block.offset, frame?);
        }
        let history = &recovered.history;
        let mut builder = Builder::new(history.first(), settings, Output::File(output));
        builder.tree = history.tree().clone();
        builder.stored_quarks = builder.tree.len();
        builder.current.grow(builder.stored_quarks);
        (builder.now, builder.horizon) = (history.last(), history.last());
        builder.now_is_published = !recovered.blocks.is_empty();
        builder.limit = builder.settings.block_intervals(builder.stored_quarks);
        history.for_each_text(|text| builder.pool.intern(text))?;
        builder.stored_texts = builder.pool.len();
        builder.stored_text_bytes = builder.pool.byte_len();
        for quark in builder.tree.quarks() {
            let (start, raw) = history.last_raw(quark)?;
            builder.current.restore(quark, start, raw);
        }
        for block in 0..recovered.blocks.len() {
            history.first_intervals(block, |entry| builder.spanning.add(block as u32, entry))?;
        }
        builder.presence = recovered.presence;
        builder.blocks = recovered.blocks;
        Ok(builder)
    }

    /// Continues a finished history whose source has grown, from a time `settled`
    /// before which nothing of the source is new.
    ///
    /// Blocks that end before that time are copied. The changes from
    /// [`earliest`](Self::earliest) on have to be made, including those that the file
    /// contains already, as with [`resume`](Self::resume). If the file has a
    /// [note](Self::set_resume_note) of a settled time, [`resume_note`](Self::resume_note) returns it, so that
    /// the source need not be read from its start. The file itself stays unchanged until
    /// this builder is closed.
    ///
    /// The identity in `settings` must have the same producer, version and options as the
    /// file, which is checked. Its source must be that of the file after it has grown,
    /// which the caller has to ensure.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, History, Settings, Timestamp};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("h");
    /// let ns = Timestamp::from_ns;
    /// let mut builder = Builder::create(&path, ns(0), Settings::default())?;
    /// let door = builder.add("door")?;
    /// builder.set(door, ns(10), "open")?;
    /// builder.set_resume_note(ns(11), b"one line read")?;
    /// builder.set(door, ns(20), "closed")?;
    /// builder.close(ns(25))?;
    ///
    /// // There are more lines now, and the second one may be another.
    /// let mut builder = Builder::extend(&path, Settings::default(), ns(11))?;
    /// assert_eq!(builder.resume_note().expect("a note").note, b"one line read");
    /// assert_eq!(builder.earliest(), ns(11));
    /// builder.set(door, ns(30), "closed")?;
    /// let history = builder.close(ns(40))?;
    /// assert_eq!(history.at(door, ns(29))?.value, "open".into());
    /// assert_eq!(history.at(door, ns(30))?.value, "closed".into());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened, if a block to be copied is damaged,
    /// or if the new file cannot be written; [`HistoryError::Stale`] if the file is of another
    /// producer, version or options; [`HistoryError::Busy`] if another builder is writing it.
    pub fn extend(
        path: impl AsRef<Path>,
        settings: Settings,
        settled: Timestamp,
    ) -> Result<Builder, HistoryError> {
        let path = path.as_ref();
        let history = History::open(path)?;
        let (found, expected) = (history.identity(), &settings.identity);
        let same = found.producer == expected.producer
            && (found.version, found.options) == (expected.version, expected.options);
        if !same {
            let (expected, found) = (expected.clone().into(), found.clone().into());
            return Err(HistoryError::Stale { expected, found });
        }
        let header = file::write_header(history.first(), &settings.identity);
        let mut output = PartialFile::create(path, &header)?;
        for frame in history.frames_before(settled.as_ns()) {
            output.write(frame?)?;
        }
        let mut builder = Builder::resume_locked(output, settings)?;
        let is_of_use = |mark: &&ResumeNote| mark.time <= settled && mark.horizon <= builder.now;
        if let Some(mark) = history.resume_note().filter(is_of_use).cloned() {
            builder.set_mark(mark);
        }
        Ok(builder)
    }
}
