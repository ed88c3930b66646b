//! Interrupts from the user: Ctrl-C and `SIGTERM` end reading, and the results so far are written.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::archives;
use crate::host;
use crate::report::Interrupted;

/// Returns a flag that Ctrl-C and `SIGTERM` set. All callers share it. A second one ends the program at
/// once. Within another program, it is the flag of the [host].
///
/// # Errors
///
/// If the program cannot handle Ctrl-C.
pub fn on_interrupt() -> Result<Arc<AtomicBool>, String> {
    if let Some(host) = host::current() {
        return Ok(Arc::clone(host.stop_flag()));
    }
    static FLAG: OnceLock<Result<Arc<AtomicBool>, String>> = OnceLock::new();
    let handled = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let of_handler = Arc::clone(&flag);
        let set = ctrlc::set_handler(move || {
            if of_handler.swap(true, Ordering::Relaxed) {
                archives::remove();
                std::process::exit(Interrupted::STATUS.into());
            }
        });
        set.map(|()| flag).map_err(|error| format!("cannot handle Ctrl-C: {error}"))
    });
    handled.clone()
}

/// Returns `Break` if a flag is set, for reads in steps.
pub fn unless(flag: &AtomicBool) -> ControlFlow<()> {
    match flag.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}
