//! The ways to compute a state.

use std::error::Error;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::report::Report;
use lttv_context::{
    Bounds, CheckpointFileError, CheckpointFileFault, CheckpointPolicy, Traceset, TracesetContext,
};
use lttv_state::kernel::KernelState;
use lttv_state::kernel_history::{HistoryTarget, Snapshot, record};

/// A way to compute the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Method {
    /// Read all events from the start
    #[default]
    Replay,
    /// Read the whole trace once, then continue from the last checkpoint before the time
    Checkpoint,
    /// Read the whole trace once, store every state, then look it up
    History,
}

/// The state of each trace, and the errors of reading.
pub(super) struct States {
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) errors: Vec<ltt_read::Error>,
    pub(super) errors_omitted: u64,
}

/// Computes the states at a time.
pub(super) fn states(
    traceset: &Traceset,
    time: Timestamp,
    method: Method,
    file: Option<&Path>,
    report: &Report,
) -> Result<States, Box<dyn Error>> {
    match method {
        Method::Replay => Ok(replay(traceset, time)),
        Method::Checkpoint => checkpoint(traceset, time, file, report),
        Method::History => history(traceset, time),
    }
}

/// Computes the states from all events before the time.
fn replay(traceset: &Traceset, time: Timestamp) -> States {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    context.state().seek_time(time);
    let snapshots = context.extensions()[kernel].traces().map(Snapshot::from_state).collect();
    States {
        snapshots,
        errors: context.take_errors(),
        errors_omitted: context.merge().errors_omitted(),
    }
}

/// Computes the states from the events after a checkpoint.
fn checkpoint(
    traceset: &Traceset,
    time: Timestamp,
    file: Option<&Path>,
    report: &Report,
) -> Result<States, Box<dyn Error>> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    if !file.map_or(Ok(false), |file| load(&mut context, file, report))? {
        context.state().set_policy(CheckpointPolicy::default());
        _ = context.state().replay(&Bounds::all())?;
        if let Some(file) = file {
            context.state().store_checkpoints(file)?;
        }
    }
    context.state().seek_time(time);
    let snapshots = context.extensions()[kernel].traces().map(Snapshot::from_state).collect();
    let errors = context.take_errors();
    Ok(States { snapshots, errors, errors_omitted: context.merge().errors_omitted() })
}

/// Loads checkpoints from a file. Returns `false` if the file must be written. A file of
/// another kind is an error, since it must not be overwritten.
fn load(
    context: &mut TracesetContext<'_>,
    file: &Path,
    report: &Report,
) -> Result<bool, CheckpointFileError> {
    match context.state().load_checkpoints(file) {
        Ok(_) => Ok(true),
        Err(error) => match &error.fault {
            CheckpointFileFault::Io(io) if io.kind() == io::ErrorKind::NotFound => Ok(false),
            CheckpointFileFault::Io(_) | CheckpointFileFault::NotCheckpoints => Err(error),
            _ => {
                report
                    .warning(format_args!("{}; it is written again", ltt_read::ErrorChain(&error)));
                Ok(false)
            }
        },
    }
}

/// Looks the states up in a history of all states.
fn history(traceset: &Traceset, time: Timestamp) -> Result<States, Box<dyn Error>> {
    let recorded = record(traceset, HistoryTarget::Memory, |_| ControlFlow::Continue(()))?;
    // The state before the events of that time.
    let before = time.saturating_sub(1);
    let traces = 0..traceset.traces().len();
    let snapshots =
        traces.map(|trace| Snapshot::from_history(&recorded.history, TraceIndex(trace), before));
    Ok(States {
        snapshots: snapshots.collect::<Result<_, _>>()?,
        errors: recorded.errors,
        errors_omitted: recorded.errors_omitted,
    })
}
