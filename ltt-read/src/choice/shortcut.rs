//! What decides most events of a type, without asking for more.

use super::Verdict;
use crate::event::Event;
use crate::range_test::RangeTests;

/// Integers in ranges, tested before all else that decides whether events of a type
/// are wanted, and more often than not instead of it.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// use ltt_read::choice::{Shortcut, Verdict};
/// use ltt_read::schema::Scope;
///
/// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
/// let tid = trace.field(switch, Scope::Payload, "next_tid").expect("a field of it");
/// let to_idle = tid.in_range(0, 0).into_iter().collect();
/// // Unless the test holds an event is not wanted; if it does, it is.
/// let shortcut = Shortcut::new(to_idle, false, Verdict::Always);
///
/// let mut idle = 0;
/// let mut cursor = trace.cursor(0);
/// while let Some(event) = cursor.next()? {
///     let open = || unreachable!("it is decided");
///     idle += u32::from(event.type_id() == switch && shortcut.passes(&event, open));
/// }
/// # assert!(idle > 0);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortcut {
    tests: RangeTests,
    /// Whether events are wanted for which not all hold, and for which all do, unless
    /// that is open.
    wanted: [bool; 2],
    /// Whether something else decides if all hold.
    is_open: bool,
}

impl Shortcut {
    /// Given whether an event is wanted for which not all of the tests hold, and what is
    /// known if all do.
    pub fn new(tests: RangeTests, failed: bool, held: Verdict) -> Self {
        let wanted = [failed, held == Verdict::Always];
        Shortcut { tests, wanted, is_open: held == Verdict::Depends }
    }

    /// Whether an event of the type is wanted, where `rest` decides what the tests leave
    /// open.
    #[inline(always)]
    pub fn passes(&self, event: &Event<'_>, rest: impl FnOnce() -> bool) -> bool {
        let hold = event.all_in_range(&self.tests);
        // Whether they hold is hard to predict: no branch on that if it is all.
        if self.is_open & hold { rest() } else { self.wanted[usize::from(hold)] }
    }
}
