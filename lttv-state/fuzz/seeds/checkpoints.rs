//! Writes a file of checkpoints of the bundled trace, to start a corpus with.

use std::path::PathBuf;

use lttv_context::{Bounds, CheckpointPolicy, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/kernel");
/// The distance between two checkpoints, in events. The trace has a few thousand.
const EVERY: u64 = 300;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = PathBuf::from(std::env::args_os().nth(1).ok_or("give the name of the file")?);
    let mut context = TracesetContext::new(Traceset::open(TRACE)?);
    context.attach(KernelState::new());
    context.state().set_policy(CheckpointPolicy::every(EVERY));
    _ = context.state().replay(&Bounds::all())?;
    context.state().store_checkpoints(&path)?;
    println!("{} checkpoints", context.checkpoints().positions().len());
    Ok(())
}
