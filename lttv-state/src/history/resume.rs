//! Going on with a history: with one that was not finished, or whose source has grown.

use std::path::Path;

use super::builder::Builder;
use super::error::Error;
use super::file;
use super::mark::Mark;
use super::reader::History;
use super::recover::Recovered;
use super::settings::Settings;
use super::sink::{self, FileSink, Sink};
use super::source::{Access, Source};

impl Builder {
    /// Goes on with a history that was not closed: with all attributes, and the
    /// states as they were when its last block was written. All changes before
    /// [`earliest`](Self::earliest) are there; those from it on are to be made
    /// again. What is behind that block in the file is removed.
    ///
    /// # Errors
    ///
    /// If there is no such file, it is damaged before its last block, or it was
    /// built from something else than `settings` say; [`Error::Busy`] if another builder
    /// goes on with it.
    pub fn resume(path: impl AsRef<Path>, settings: Settings) -> Result<Builder, Error> {
        Builder::resume_in(FileSink::resume(path.as_ref())?, settings)
    }

    /// The same with a file that is locked.
    fn resume_in(mut sink: FileSink, settings: Settings) -> Result<Builder, Error> {
        // Nobody truncates it while it is locked.
        let source = Source::of(&sink.file, Access::Map);
        let source = source.map_err(|source| sink::io(&sink.partial, source))?;
        let recovered = Recovered::of(source)?;
        let found = recovered.history.identity();
        if *found != settings.identity {
            let (expected, found) = (settings.identity.into(), found.clone().into());
            return Err(Error::Stale { expected, found });
        }
        sink.cut(recovered.len)?;
        for (block, frame) in recovered.blocks.iter().zip(recovered.history.frames()) {
            sink.add_piece(block.offset, frame?);
        }
        let history = &recovered.history;
        let mut builder = Builder::new(history.start(), settings, Sink::File(sink));
        builder.tree = history.tree().clone();
        builder.quarks = builder.tree.len();
        builder.ongoing.grow(builder.quarks);
        (builder.now, builder.horizon) = (history.end(), history.end());
        builder.now_is_settled = !recovered.blocks.is_empty();
        builder.limit = builder.settings.block_intervals(builder.quarks);
        history.texts(|text| builder.pool.intern(text))?;
        builder.texts = builder.pool.len();
        builder.text_bytes = builder.pool.byte_len();
        for quark in builder.tree.quarks() {
            let (start, code) = history.last_code(quark)?;
            builder.ongoing.restore(quark, start, code);
        }
        for block in 0..recovered.blocks.len() {
            history.first_ends(block, |entry| builder.lasting.ends(block as u32, entry))?;
        }
        builder.rows = recovered.rows;
        builder.blocks = recovered.blocks;
        Ok(builder)
    }

    /// Goes on with a finished file, whose source has grown since: with all that was
    /// stored up to a time `settled`, in ns, before which nothing of the source is new.
    ///
    /// Blocks that end before that are copied; the changes from
    /// [`earliest`](Self::earliest) on are to be made, also those that the file had, as
    /// with [`resume`](Self::resume). If the file has a [mark](Self::mark) of a time that
    /// is settled, [`marked`](Self::marked) gives it: so the source need not be read from
    /// its begin. The file itself stays as it is until this one is closed.
    ///
    /// Whether the new source of `settings` is that of the file, grown, is for the caller
    /// to know; that producer, version and options are the same is checked.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, History, Settings};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("h");
    /// let mut builder = Builder::create(&path, 0, Settings::default())?;
    /// let door = builder.add("door")?;
    /// builder.set(door, 10, "open")?;
    /// builder.mark(11, b"one line read")?;
    /// builder.set(door, 20, "closed")?;
    /// builder.close(25)?;
    ///
    /// // There are more lines now, and the second one may be another.
    /// let mut builder = Builder::extend(&path, Settings::default(), 11)?;
    /// assert_eq!(builder.marked().expect("a mark").note, b"one line read");
    /// assert_eq!(builder.earliest(), 11);
    /// builder.set(door, 30, "closed")?;
    /// let history = builder.close(40)?;
    /// assert_eq!(history.at(door, 29)?.value, "open".into());
    /// assert_eq!(history.at(door, 40)?.value, "closed".into());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, what is to be copied is damaged, it is of another
    /// producer, or the new one cannot be written; [`Error::Busy`] if another builder
    /// writes it.
    pub fn extend(
        path: impl AsRef<Path>,
        settings: Settings,
        settled: i64,
    ) -> Result<Builder, Error> {
        let path = path.as_ref();
        let history = History::open(path)?;
        let (found, expected) = (history.identity(), &settings.identity);
        let same = found.producer == expected.producer
            && (found.version, found.options) == (expected.version, expected.options);
        if !same {
            let (expected, found) = (expected.clone().into(), found.clone().into());
            return Err(Error::Stale { expected, found });
        }
        let header = file::write_header(history.start(), &settings.identity);
        let mut sink = FileSink::create(path, &header)?;
        for frame in history.frames_before(settled) {
            sink.write(frame?)?;
        }
        let mut builder = Builder::resume_in(sink, settings)?;
        let is_of_use = |mark: &&Mark| mark.time <= settled && mark.horizon <= builder.now();
        if let Some(mark) = history.mark().filter(is_of_use).cloned() {
            builder.keep_mark(mark);
        }
        Ok(builder)
    }
}
