//! The kernel history of a whole traceset, in one call.

use std::ops::ControlFlow;
use std::path::Path;

use lttv_context::{Bounds, EndReason, Fingerprint, Traceset, TracesetContext, fingerprint};

use super::grown::{self, Found, Marker};
use super::snapshot::Snapshot;
use super::writer::KernelHistory;
use crate::history::{Builder, Error, History, Identity, Settings};
use crate::kernel::{self, KernelState};

/// Events between two reports of progress.
const STEP: u64 = 1 << 16;

/// Grows when the same states come to other attributes than before.
const VERSION: u32 = 2;

/// Where a history is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'p> {
    /// In memory.
    Memory,
    /// In a file. If there is an unfinished one of the same traces, it is gone on
    /// with; the traces are read from the begin nevertheless. If there is a finished one
    /// of these traces as they were earlier, all of it that is settled is kept. Then only
    /// what came later is read, if the feature `checkpoint-files` is on, and was when that
    /// file was made; all is read otherwise. Anything else that is there is replaced
    /// when the new one is whole: [`Recorded::rebuilt`] tells why.
    File(&'p Path),
    /// In a file, all of it anew. A file of that name is replaced when the new one is
    /// whole.
    Anew(&'p Path),
}

/// A history, and what could not be read of the traces.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recorded {
    /// The history of all traces.
    pub history: History,
    /// How many events were read.
    pub events: u64,
    /// The time, in ns, before which all was in the file already; `None` if it was made
    /// anew.
    pub kept: Option<i64>,
    /// Why what was in the file was not gone on with but replaced, such as
    /// [`Error::Stale`] if it is of other traces or of these with another content; `None`
    /// if there was nothing, or it was gone on with.
    pub rebuilt: Option<Error>,
    /// What could not be read, of what was not kept.
    pub errors: Vec<ltt_read::Error>,
    /// How many errors more were met, but not kept: see
    /// [`Merge::errors_omitted`](ltt_read::Merge::errors_omitted).
    pub errors_omitted: u64,
}

impl Recorded {
    /// Returns the identity of a history that [`record`] makes now. This reads all of
    /// the traces: [`open`] compares without that.
    pub fn identity(traceset: &Traceset) -> Identity {
        identity_of(fingerprint(traceset))
    }
}

fn identity_of(source: Vec<u8>) -> Identity {
    Identity {
        producer: "kernel state".into(),
        version: VERSION << 16 | kernel::VERSION,
        options: 0,
        source,
    }
}

/// Opens the history that [`record`] has stored of these traces.
///
/// [`Fingerprint`] says how it is found out whether these are the traces, and what that
/// costs: traces that were only copied or touched are the same.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use lttv_context::Traceset;
/// use lttv_state::kernel_history::{Target, open, record};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("history");
/// let traceset = Traceset::open(path)?;
/// record(&traceset, Target::File(&file), |_| ControlFlow::Continue(()))?;
/// // Later:
/// let history = open(&file, &traceset)?;
/// # assert!(history.end() > history.start());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`History::open`]; [`Error::Stale`] if the file is of other traces, of these with
/// another content or as they were before they grew, or was made by another version of
/// this crate.
pub fn open(path: impl AsRef<Path>, traceset: &Traceset) -> Result<History, Error> {
    let history = History::open(path)?;
    let source = Fingerprint::known(&history.identity().source).renewed(traceset);
    let expected = identity_of(source);
    match *history.identity() == expected {
        true => Ok(history),
        false => {
            let found = history.identity().clone().into();
            Err(Error::Stale { expected: expected.into(), found })
        }
    }
}

/// Reads all traces from begin to end and stores their kernel states.
///
/// `progress` is told how many bytes have been read, and of how many. If it breaks
/// off, a file stays unfinished.
///
/// # Errors
///
/// If storing fails; [`Error::Unfinished`] if `progress` broke off; [`Error::Busy`] if the
/// file is being built already.
pub fn record(
    traceset: &Traceset,
    target: Target<'_>,
    mut progress: impl FnMut((u64, u64)) -> ControlFlow<()>,
) -> Result<Recorded, Error> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let settings = Settings { identity: Recorded::identity(traceset), ..Settings::default() };
    let start = KernelHistory::start_of(context.contexts());
    let (builder, rebuilt) = match target {
        Target::Memory => (Builder::in_memory_with(start, settings), None),
        Target::Anew(path) => (Builder::create(path, start, settings)?, None),
        Target::File(path) => {
            let initial: Vec<_> = context.extensions()[kernel].traces().map(Snapshot::of).collect();
            match grown::go_on(path, traceset, &settings, start, &initial)? {
                Found::Builder(builder) => (*builder, None),
                Found::Nothing => (Builder::create(path, start, settings)?, None),
                Found::Other(error) => (Builder::create(path, start, settings)?, Some(error)),
            }
        }
    };
    let kept = Some(builder.earliest()).filter(|earliest| *earliest > start);
    let writer = context.attach(KernelHistory::new(kernel, builder));
    let mut marker = match target {
        Target::Memory => Marker::default(),
        Target::File(_) | Target::Anew(_) => Marker::new(&mut context, writer),
    };
    let mut events = 0;
    loop {
        let bounds = Bounds::all().events(STEP);
        let bounds = marker.next().map_or(bounds.clone(), |time| bounds.until_start_of(time));
        // A position is of no use as a bound here, so that none can be stale.
        let Ok(read) = context.replay(&bounds) else { break };
        events += read.events;
        if context.extensions()[writer].error().is_some() {
            break;
        }
        match read.reason {
            EndReason::EndTime => marker.make(&mut context, writer)?,
            EndReason::EndOfTraceset => {
                marker.make(&mut context, writer)?;
                break;
            }
            _ if progress(context.progress()).is_break() => return Err(Error::Unfinished),
            _ => {}
        }
    }
    let (errors, errors_omitted) = (context.drain_errors(), context.errors_omitted());
    let history = KernelHistory::finish(&mut context, writer)?;
    Ok(Recorded { history, events, kept, rebuilt, errors, errors_omitted })
}
