//! The events that samples of stacks need.

use crate::kernel::needs::{EventKind, Need};

/// The need for events with stacks.
pub const NEEDS: &[Need] = &[Need::any(
    &[
        EventKind::WithContext(&["callchain", "callstack_kernel", "callstack_user"]),
        EventKind::Named(&["kernel_stack"]),
    ],
    "samples with call chains (perf record -g), or events with the contexts callstack-kernel or callstack-user",
    "there are no stacks",
)
.required()];
