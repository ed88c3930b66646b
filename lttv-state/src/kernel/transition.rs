//! What events are called, and what they mean: the one table of both.
//!
//! Tracers have given the same kernel events many names. Each row says which
//! [`Transition`] an event of a name is, and which of its fields are what. The rows
//! are looked at once for each event type of a trace.

/// What an event changes in a machine's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Transition {
    /// A system call begins.
    SyscallEntry,
    /// A system call ends.
    SyscallExit,
    /// An exception handler begins.
    TrapEntry,
    /// An exception handler ends.
    TrapExit,
    /// A page fault of user code, of which the end is not told.
    UserPageFault,
    /// A page fault of the kernel, of which the end is not told.
    KernelPageFault,
    /// An interrupt handler begins.
    IrqEntry,
    /// An interrupt handler ends.
    IrqExit,
    /// The handler of a processor's own interrupt begins.
    VectorEntry,
    /// The handler of a processor's own interrupt ends.
    VectorExit,
    /// A soft interrupt is asked for.
    SoftirqRaise,
    /// A soft interrupt's handler begins.
    SoftirqEntry,
    /// A soft interrupt's handler ends.
    SoftirqExit,
    /// A CPU goes over to another process.
    Switch,
    /// A process is woken up.
    Wakeup,
    /// A process is moved to another CPU.
    Migrate,
    /// A process is born.
    Fork,
    /// A process turns out to be part of the kernel.
    KernelThread,
    /// A process begins to exit.
    Exit,
    /// What was kept of a process is freed.
    Free,
    /// A process executes another program.
    Exec,
    /// A process names itself.
    Brand,
    /// A process has opened a file.
    Open,
    /// A process has closed a file.
    Close,
    /// A function of a program begins.
    FunctionEntry,
    /// A function of a program ends.
    FunctionExit,
    /// A request is given to a block device.
    BlockIssue,
    /// A request has been completed by a block device.
    BlockComplete,
    /// A CPU's frequency changes.
    Frequency,
    /// Dump: a process.
    ProcessState,
    /// Dump: an open file.
    FileDescriptor,
    /// Dump: the name of a system call.
    SyscallName,
    /// Dump: the name of an interrupt.
    IrqName,
    /// Dump: the name of a soft interrupt.
    SoftirqName,
    /// Dump: the name of a probe.
    ProbeName,
    /// Dump: the name of a block device.
    DeviceName,
    /// The dump has ended.
    DumpEnd,
}

/// Which tracers a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum World {
    /// LTTng 2.x, by the event's name.
    Lttng2,
    /// perf, by the name `SYSTEM:EVENT`.
    Perf,
    /// LTTng 0.x, by channel or facility and the event's name.
    Legacy,
}

/// What events of a name mean.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) world: World,
    /// The name; a `*` in it stands for the name of a system call or vector. In
    /// LTTng 0.x it is `CHANNEL.NAME`.
    pub(super) name: &'static str,
    pub(super) transition: Transition,
    /// For each of the [slots](Transition::slots) the names of fields, with `|`
    /// between them, or `-` if there is none.
    pub(super) fields: &'static [&'static str],
}

/// How many fields a transition has at most.
pub(super) const MAX_SLOTS: usize = 8;

impl Transition {
    /// Whether it is none of those that make up most of a trace.
    #[inline]
    pub(crate) const fn is_rare(self) -> bool {
        use Transition::*;
        matches!(self, Migrate | Fork | KernelThread | Exit | Exec | Brand | ProcessState | DumpEnd)
    }

    /// Whether what runs on the event's CPU most often goes on as before.
    pub(crate) const fn goes_on(self) -> bool {
        use Transition::*;
        matches!(self, Wakeup | SoftirqRaise | BlockIssue | BlockComplete)
    }

    /// What its fields mean, and whether it needs them.
    pub(super) const fn slots(self) -> &'static [(&'static str, bool)] {
        use Transition::*;
        match self {
            SyscallEntry => &[("number", false), ("file", false), ("descriptor", false)],
            SyscallExit => &[("result", false)],
            TrapEntry | SoftirqRaise | SoftirqEntry => &[("number", true)],
            IrqEntry | VectorEntry => &[("number", true), ("name", false)],
            TrapExit | UserPageFault | KernelPageFault | IrqExit | VectorExit | SoftirqExit
            | DumpEnd => &[],
            Switch => &[
                ("previous", true),
                ("next", true),
                ("state", true),
                ("name of the previous", false),
                ("name of the next", false),
            ],
            Wakeup | Migrate => &[("process", true), ("cpu", false)],
            Fork => &[("child", true), ("parent", false), ("thread group", false), ("name", false)],
            KernelThread | Exit | Free => &[("process", true)],
            Exec => &[("file", true), ("process", false), ("old number", false)],
            Brand => &[("name", true)],
            Open => &[("descriptor", true), ("file", true)],
            Close => &[("descriptor", true)],
            FunctionEntry | FunctionExit => &[("function", true)],
            BlockIssue | BlockComplete => &[
                ("device", false),
                ("major", false),
                ("minor", false),
                ("kind", false),
                ("direction", false),
                ("bytes", false),
                ("sectors", false),
            ],
            Frequency => &[("frequency in kHz", true), ("cpu", false)],
            ProcessState => &[
                ("process", true),
                ("thread group", false),
                ("parent", false),
                ("name", false),
                ("type", false),
                ("status", false),
                ("cpu", false),
                ("file table", false),
            ],
            FileDescriptor => {
                &[("process", false), ("file table", false), ("descriptor", true), ("file", true)]
            }
            SyscallName | IrqName | SoftirqName | ProbeName | DeviceName => {
                &[("number", true), ("name", true)]
            }
        }
    }
}

const fn row(
    world: World,
    name: &'static str,
    transition: Transition,
    fields: &'static [&'static str],
) -> Row {
    Row { world, name, transition, fields }
}

/// Rows of LTTng 2.x.
const fn lttng(name: &'static str, of: Transition, fields: &'static [&'static str]) -> Row {
    row(World::Lttng2, name, of, fields)
}

/// Rows of perf.
const fn perf(name: &'static str, of: Transition, fields: &'static [&'static str]) -> Row {
    row(World::Perf, name, of, fields)
}

/// Rows of LTTng 0.x.
const fn old(name: &'static str, of: Transition, fields: &'static [&'static str]) -> Row {
    row(World::Legacy, name, of, fields)
}

const CALL: &[&str] = &["id", "filename|pathname", "fd|fildes|oldfd"];
const SWITCH: &[&str] =
    &["prev_tid|prev_pid", "next_tid|next_pid", "prev_state", "prev_comm", "next_comm"];
const REQUEST: &[&str] = &["dev", "-", "-", "rwbs", "-", "bytes", "nr_sector"];
const OLD_REQUEST: &[&str] = &["-", "major", "minor", "-", "direction"];
const DUMPED: &[&str] =
    &["tid", "pid", "ppid", "name", "type", "status", "cpu", "file_table_address"];

use Transition::*;

/// The table. Of rows that fit, the first counts.
pub(super) static ROWS: &[Row] = &[
    // Scheduling
    lttng("sched_switch", Switch, SWITCH),
    perf("sched:sched_switch", Switch, SWITCH),
    old("kernel.sched_schedule", Switch, &["prev_pid", "next_pid", "prev_state"]),
    old("process.schedchange", Switch, &["out", "in", "out_state"]),
    old("core.schedchange", Switch, &["out", "in", "out_state"]),
    lttng("sched_waking", Wakeup, &["tid", "target_cpu"]),
    lttng("sched_wakeup", Wakeup, &["tid", "target_cpu"]),
    lttng("sched_wakeup_new", Wakeup, &["tid", "target_cpu"]),
    perf("sched:sched_waking", Wakeup, &["pid", "target_cpu"]),
    perf("sched:sched_wakeup", Wakeup, &["pid", "target_cpu"]),
    perf("sched:sched_wakeup_new", Wakeup, &["pid", "target_cpu"]),
    old("kernel.sched_try_wakeup", Wakeup, &["pid", "-"]),
    lttng("sched_migrate_task", Migrate, &["tid", "dest_cpu"]),
    perf("sched:sched_migrate_task", Migrate, &["pid", "dest_cpu"]),
    // Life of processes
    lttng("sched_process_fork", Fork, &["child_tid", "parent_tid", "child_pid", "child_comm"]),
    perf("sched:sched_process_fork", Fork, &["child_pid", "parent_pid", "-", "child_comm"]),
    old("kernel.process_fork", Fork, &["child_pid", "-", "child_tgid"]),
    old("process.fork", Fork, &["child_pid", "-", "child_tgid"]),
    old("core.process_fork", Fork, &["child_pid"]),
    old("kernel.kthread_create", KernelThread, &["pid"]),
    old("process.kernel_thread", KernelThread, &["pid"]),
    lttng("sched_process_exit", Exit, &["tid"]),
    perf("sched:sched_process_exit", Exit, &["pid"]),
    old("kernel.process_exit", Exit, &["pid"]),
    old("process.exit", Exit, &["pid"]),
    old("core.process_exit", Exit, &["pid"]),
    lttng("sched_process_free", Free, &["tid"]),
    perf("sched:sched_process_free", Free, &["pid"]),
    old("kernel.process_free", Free, &["pid"]),
    old("process.free", Free, &["pid"]),
    lttng("sched_process_exec", Exec, &["filename", "tid", "old_tid"]),
    perf("sched:sched_process_exec", Exec, &["filename", "pid", "old_pid"]),
    old("fs.exec", Exec, &["filename"]),
    old("userspace.thread_brand", Brand, &["name"]),
    old("user_generic.thread_brand", Brand, &["name"]),
    // System calls
    lttng("sys_enter", SyscallEntry, CALL),
    lttng("sys_exit", SyscallExit, &["ret"]),
    lttng("exit_syscall", SyscallExit, &["ret"]),
    lttng("syscall_entry_*", SyscallEntry, CALL),
    lttng("syscall_exit_*", SyscallExit, &["ret"]),
    lttng("compat_syscall_entry_*", SyscallEntry, CALL),
    lttng("compat_syscall_exit_*", SyscallExit, &["ret"]),
    lttng("compat_sys_*", SyscallEntry, CALL),
    lttng("sys_*", SyscallEntry, CALL),
    perf("raw_syscalls:sys_enter", SyscallEntry, CALL),
    perf("raw_syscalls:sys_exit", SyscallExit, &["ret"]),
    perf("syscalls:sys_enter_*", SyscallEntry, CALL),
    perf("syscalls:sys_exit_*", SyscallExit, &["ret"]),
    old("kernel.syscall_entry", SyscallEntry, &["syscall_id"]),
    old("kernel.syscall_exit", SyscallExit, &["ret"]),
    old("kernel_arch.syscall_entry", SyscallEntry, &["syscall_id"]),
    old("kernel_arch.syscall_exit", SyscallExit, &[]),
    old("core.syscall_entry", SyscallEntry, &["syscall_id"]),
    old("core.syscall_exit", SyscallExit, &[]),
    old("fs.open", Open, &["fd", "filename"]),
    old("fs.close", Close, &["fd"]),
    old("userspace.function_entry", FunctionEntry, &["this_fn"]),
    old("userspace.function_exit", FunctionExit, &["this_fn"]),
    old("user_generic.function_entry", FunctionEntry, &["this_fn"]),
    old("user_generic.function_exit", FunctionExit, &["this_fn"]),
    // Interrupts and exceptions
    lttng("irq_handler_entry", IrqEntry, &["irq", "name"]),
    lttng("irq_handler_exit", IrqExit, &[]),
    perf("irq:irq_handler_entry", IrqEntry, &["irq", "name"]),
    perf("irq:irq_handler_exit", IrqExit, &[]),
    old("kernel.irq_entry", IrqEntry, &["irq_id"]),
    old("kernel.irq_exit", IrqExit, &[]),
    old("core.irq_entry", IrqEntry, &["irq_id"]),
    old("core.irq_exit", IrqExit, &[]),
    lttng("x86_irq_vectors_*_entry", VectorEntry, &["vector", "-"]),
    lttng("x86_irq_vectors_*_exit", VectorExit, &[]),
    lttng("irq_vectors_*_entry", VectorEntry, &["vector", "-"]),
    lttng("irq_vectors_*_exit", VectorExit, &[]),
    perf("irq_vectors:*_entry", VectorEntry, &["vector", "-"]),
    perf("irq_vectors:*_exit", VectorExit, &[]),
    lttng("irq_softirq_raise", SoftirqRaise, &["vec"]),
    lttng("irq_softirq_entry", SoftirqEntry, &["vec"]),
    lttng("irq_softirq_exit", SoftirqExit, &[]),
    lttng("softirq_raise", SoftirqRaise, &["vec"]),
    lttng("softirq_entry", SoftirqEntry, &["vec"]),
    lttng("softirq_exit", SoftirqExit, &[]),
    perf("irq:softirq_raise", SoftirqRaise, &["vec"]),
    perf("irq:softirq_entry", SoftirqEntry, &["vec"]),
    perf("irq:softirq_exit", SoftirqExit, &[]),
    old("kernel.softirq_raise", SoftirqRaise, &["softirq_id"]),
    old("kernel.softirq_entry", SoftirqEntry, &["softirq_id"]),
    old("kernel.softirq_exit", SoftirqExit, &[]),
    old("kernel.soft_irq_raise", SoftirqRaise, &["softirq_id"]),
    old("kernel.soft_irq_entry", SoftirqEntry, &["softirq_id"]),
    old("kernel.soft_irq_exit", SoftirqExit, &[]),
    lttng("x86_exceptions_page_fault_user", UserPageFault, &[]),
    lttng("x86_exceptions_page_fault_kernel", KernelPageFault, &[]),
    lttng("exceptions_page_fault_user", UserPageFault, &[]),
    lttng("exceptions_page_fault_kernel", KernelPageFault, &[]),
    perf("exceptions:page_fault_user", UserPageFault, &[]),
    perf("exceptions:page_fault_kernel", KernelPageFault, &[]),
    old("kernel.trap_entry", TrapEntry, &["trap_id"]),
    old("kernel.trap_exit", TrapExit, &[]),
    old("kernel.page_fault_entry", TrapEntry, &["trap_id"]),
    old("kernel.page_fault_exit", TrapExit, &[]),
    old("kernel.page_fault_nosem_entry", TrapEntry, &["trap_id"]),
    old("kernel.page_fault_nosem_exit", TrapExit, &[]),
    old("core.trap_entry", TrapEntry, &["trap_id"]),
    old("core.trap_exit", TrapExit, &[]),
    // Devices
    lttng("block_rq_issue", BlockIssue, REQUEST),
    lttng("block_rq_complete", BlockComplete, REQUEST),
    perf("block:block_rq_issue", BlockIssue, REQUEST),
    perf("block:block_rq_complete", BlockComplete, REQUEST),
    old("block._blk_request_issue", BlockIssue, OLD_REQUEST),
    old("block._blk_request_complete", BlockComplete, OLD_REQUEST),
    lttng("power_cpu_frequency", Frequency, &["state", "cpu_id"]),
    perf("power:cpu_frequency", Frequency, &["state", "cpu_id"]),
    // Dumps
    lttng("lttng_statedump_process_state", ProcessState, DUMPED),
    lttng(
        "lttng_statedump_file_descriptor",
        FileDescriptor,
        &["pid|tid", "file_table_address", "fd", "filename"],
    ),
    lttng("lttng_statedump_interrupt", IrqName, &["irq", "action"]),
    lttng("lttng_statedump_block_device", DeviceName, &["dev", "diskname"]),
    lttng("lttng_statedump_end", DumpEnd, &[]),
    old("task_state.process_state", ProcessState, &["pid", "tgid", "parent_pid", "name", "type"]),
    old("list.process_state", ProcessState, &["pid", "tgid", "parent_pid", "name", "type"]),
    old(
        "statedump.enumerate_process_state",
        ProcessState,
        &["pid", "tgid", "parent_pid", "name", "type"],
    ),
    old("syscall_state.sys_call_table", SyscallName, &["id", "symbol"]),
    old("statedump.sys_call_table", SyscallName, &["id", "symbol"]),
    old("softirq_state.softirq_vec", SoftirqName, &["id", "symbol"]),
    old("irq_state.interrupt", IrqName, &["irq_id|num", "action"]),
    old("list.interrupt", IrqName, &["irq_id|num", "action"]),
    old("kprobe_state.kprobe_table", ProbeName, &["ip", "symbol"]),
    old("global_state.statedump_end", DumpEnd, &[]),
    old("list.statedump_end", DumpEnd, &[]),
    old("statedump.statedump_end", DumpEnd, &[]),
];

impl Row {
    /// What stands for `*` in an event's name, if the row is for it; empty without
    /// a `*`.
    pub(super) fn captures<'n>(&self, name: &'n str) -> Option<&'n str> {
        let Some((before, after)) = self.name.split_once('*') else {
            return (self.name == name).then_some("");
        };
        let captured = name.strip_prefix(before)?.strip_suffix(after)?;
        (!captured.is_empty()).then_some(captured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_has_more_fields_than_its_transition() {
        for row in ROWS {
            let slots = row.transition.slots();
            assert!(row.fields.len() <= slots.len(), "{row:?}");
            assert!(slots.len() <= MAX_SLOTS, "{row:?}");
            for (slot, fields) in slots.iter().zip(row.fields) {
                assert!(!slot.1 || *fields != "-", "{row:?} lacks {}", slot.0);
            }
            let needed = slots.iter().filter(|slot| slot.1).count();
            assert!(row.fields.len() >= needed, "{row:?}");
        }
    }

    #[test]
    fn every_row_can_be_reached() {
        for (at, row) in ROWS.iter().enumerate() {
            let name = row.name.replace('*', "x");
            let first =
                ROWS.iter().position(|r| r.world == row.world && r.captures(&name).is_some());
            assert_eq!(first, Some(at), "{row:?}");
        }
    }
}
