//! Calling two lists as one.

use std::ops::ControlFlow;

use crate::flow::{Flow, or_break};
use crate::list::HookList;

/// Calls all hooks of two lists in order of priority; at equal priority, hooks of the
/// main list first. Returns `Break` if any hook did.
///
/// The lists are merged at each call. [`HooksById`](crate::HooksById) merges lists once
/// for many calls.
///
/// ```
/// use lttv_hooks::{Hooks, Priority, call_merged};
///
/// let (mut main, mut special) = (Hooks::new(), Hooks::new());
/// special.add(Priority::DEFAULT, |text: &mut String| text.push_str("special "));
/// main.add(Priority::DEFAULT, |text: &mut String| text.push_str("main "));
/// main.add(Priority::LAST, |text: &mut String| text.push_str("last "));
/// let mut text = String::new();
/// _ = call_merged(&mut main, &mut special, &mut text);
/// assert_eq!(text, "main special last ");
/// ```
pub fn call_merged<F, C: ?Sized>(
    main: &mut HookList<F>,
    by_id: &mut HookList<F>,
    call: &mut C,
) -> Flow
where
    F: FnMut(&mut C) -> Flow + ?Sized,
{
    let mut flow = ControlFlow::Continue(());
    let (mut m, mut b) = (0, 0);
    loop {
        let hook = match (main.at(m), by_id.at(b)) {
            (None, None) => return flow,
            (Some((first, _)), Some((second, hook))) if second < first => {
                b += 1;
                hook
            }
            (Some((_, hook)), _) => {
                m += 1;
                hook
            }
            (None, Some((_, hook))) => {
                b += 1;
                hook
            }
        };
        flow = or_break(flow, hook(call));
    }
}
