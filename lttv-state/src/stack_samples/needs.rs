//! The events that flame graphs need.

use crate::kernel::needs::{EventKind, Need};

/// The need of flame graphs for events with stacks, or for calls of functions.
pub const NEEDS: &[Need] = &[Need::any(
    &[
        EventKind::WithContext(&["callchain", "callstack_kernel", "callstack_user"]),
        EventKind::Named(&["kernel_stack", "user_stack", "funcgraph_entry", "func_entry"]),
    ],
    "callchain (or callstack_kernel, callstack_user, kernel_stack, user_stack, funcgraph_entry, func_entry)",
    "there are no stacks",
)
.required()];
