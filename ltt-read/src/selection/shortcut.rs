//! Shortcuts, which decide most events of a type by integer tests.

use super::Verdict;
use crate::event::Event;
use crate::event::RangeTests;

/// A test of integer fields that is made before the full test of an event, and often
/// instead of it.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// use ltt_read::selection::{Shortcut, Verdict};
/// use ltt_read::schema::Scope;
///
/// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
/// let tid = trace.field(switch, Scope::Payload, "next_tid").expect("a field of it");
/// let mut to_idle = ltt_read::tuning::RangeTests::default();
/// assert!(to_idle.add(&tid, 0, 0));
/// // An event is wanted if and only if the test holds.
/// let shortcut = Shortcut::new(to_idle, false, Verdict::Always);
///
/// let mut idle = 0;
/// let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
/// while let Some(event) = cursor.next()? {
///     let full_test = || unreachable!("the shortcut decides every event");
///     idle += u32::from(event.type_id() == switch && shortcut.passes(&event, full_test));
/// }
/// # assert!(idle > 0);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortcut {
    tests: RangeTests,
    /// `true` if events are wanted for which some test fails, and for which all tests
    /// hold. The second is unused if `is_undecided`.
    wanted: [bool; 2],
    /// `true` if the full test decides the events for which all tests hold.
    is_undecided: bool,
}

impl Shortcut {
    /// Creates a shortcut. `failed` is `true` if events are wanted for which some test
    /// fails; `held` is the verdict about events for which all tests hold.
    pub fn new(tests: RangeTests, failed: bool, held: Verdict) -> Self {
        let wanted = [failed, held == Verdict::Always];
        Shortcut { tests, wanted, is_undecided: held == Verdict::Depends }
    }

    /// Returns `true` if an event of the type is wanted. Calls `rest`, the full test, if
    /// the shortcut leaves the event undecided.
    #[inline(always)]
    pub fn passes(&self, event: &Event<'_>, rest: impl FnOnce() -> bool) -> bool {
        let hold = event.all_in_range(&self.tests);
        // The result of the tests is hard to predict, so there is no branch on it alone.
        if self.is_undecided & hold { rest() } else { self.wanted[usize::from(hold)] }
    }
}
