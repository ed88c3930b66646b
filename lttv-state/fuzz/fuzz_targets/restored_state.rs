//! Restores a stored state of a kernel in which some bytes are changed, as in the mark of a
//! damaged history. The state is refused, or reading from there ends without a panic.
#![no_main]

use std::cell::RefCell;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ltt_read::Timestamp;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/kernel");

static TRACESET: LazyLock<Traceset> =
    LazyLock::new(|| Traceset::open(TRACE).expect("the bundled trace"));

/// The state after 3000 events, and the time of the next one.
static STATE: LazyLock<(Vec<u8>, Timestamp)> = LazyLock::new(|| {
    let mut context = TracesetContext::new(&*TRACESET);
    context.attach(KernelState::new());
    _ = context.state().replay(&Bounds::all().events(3000)).expect("no position");
    let time = context.position().time().expect("more events");
    (context.state().to_bytes().expect("it can be stored"), time)
});

thread_local! {
    /// One context for all runs, since creating a context takes longer than a run.
    static CONTEXT: RefCell<TracesetContext<'static>> = {
        let mut context = TracesetContext::new(&*TRACESET);
        context.attach(KernelState::new());
        RefCell::new(context)
    };
}

fuzz_target!(|data: &[u8]| {
    let (state, time) = &*STATE;
    // The first byte is the share of the state that is kept, in units of 1/255. Each group of
    // three bytes after it is a change: two bytes are the offset, and one is the new value.
    let Some((length, changes)) = data.split_first() else { return };
    let length = state.len() * usize::from(*length).min(255) / 255;
    let mut state = state[..length.max(1)].to_vec();
    for change in changes.as_chunks::<3>().0 {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]]));
        let at = at % state.len();
        state[at] = change[2];
    }
    CONTEXT.with_borrow_mut(|context| {
        if context.state().restore_bytes(&state, *time) {
            _ = context.state().replay(&Bounds::all().events(100)).expect("no position");
        }
    });
});
