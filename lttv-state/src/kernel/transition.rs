//! The table of kernel events: names, transitions and fields.
//!
//! Tracers use different names for the same kernel events. Each row maps one event name to
//! a [`Transition`], and the event's fields to the slots of that transition. The table is
//! searched once for each event type of a trace.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The change that an event makes to a machine's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Transition {
    /// A system call starts.
    SyscallEntry,
    /// A system call returns.
    SyscallExit,
    /// An exception handler starts.
    TrapEntry,
    /// An exception handler returns.
    TrapExit,
    /// A page fault in user code, from a tracer that does not record its end.
    UserPageFault,
    /// A page fault in the kernel, from a tracer that does not record its end.
    KernelPageFault,
    /// An interrupt handler starts.
    IrqEntry,
    /// An interrupt handler returns.
    IrqExit,
    /// The handler of a processor's own interrupt (a vector) starts.
    VectorEntry,
    /// The handler of a processor's own interrupt (a vector) returns.
    VectorExit,
    /// A softirq is raised.
    SoftirqRaise,
    /// A softirq handler starts.
    SoftirqEntry,
    /// A softirq handler returns.
    SoftirqExit,
    /// A CPU switches to another process.
    Switch,
    /// A process is woken up.
    Wakeup,
    /// A process is moved to another CPU.
    Migrate,
    /// A process gets another name.
    Rename,
    /// A process is forked.
    Fork,
    /// A process is reported to be a kernel thread.
    KernelThread,
    /// A process starts to exit.
    Exit,
    /// The kernel frees the remaining data of a process that has exited.
    Free,
    /// A process executes another program.
    Exec,
    /// A process gives itself a thread brand (LTTng 0.x).
    Brand,
    /// A process has opened a file.
    Open,
    /// A process has closed a file.
    Close,
    /// A function of a program is entered.
    FunctionEntry,
    /// A function of a program returns.
    FunctionExit,
    /// A process reads from a file, from a tracer that records the number of bytes that it
    /// asks for with the event (LTTng 0.x).
    FileRead,
    /// A process writes to a file, from a tracer that records the number of bytes that it
    /// asks for with the event (LTTng 0.x).
    FileWrite,
    /// A request is added to the queue of a block device.
    BlockInsert,
    /// Data to be moved, or a whole request, becomes a part of a request in the queue of a
    /// block device.
    BlockMerge,
    /// A request is issued to a block device.
    BlockIssue,
    /// A block device completes a request.
    BlockComplete,
    /// A CPU's frequency changes.
    Frequency,
    /// A program writes a text to the trace.
    Marker,
    /// State dump: a process.
    ProcessState,
    /// State dump: an open file.
    FileDescriptor,
    /// State dump: the name of a system call.
    SyscallName,
    /// State dump: the name of an interrupt.
    IrqName,
    /// State dump: the name of a softirq.
    SoftirqName,
    /// State dump: the symbol of a kernel probe.
    ProbeName,
    /// State dump: the name of a block device.
    DeviceName,
    /// The end of the state dump.
    DumpEnd,
    /// An event without another transition tells by its contexts which process runs on its CPU, in
    /// a trace without switches.
    Context,
}

/// The tracer that a row applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tracer {
    /// LTTng 2.x: rows contain the event's name.
    Lttng2,
    /// perf: rows contain the name `SYSTEM:EVENT`.
    Perf,
    /// LTTng 0.x: rows contain the channel or facility and the event's name, as
    /// `CHANNEL.NAME`.
    Legacy,
}

/// A row of the table: the transition of the events of a name.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) tracer: Tracer,
    /// The event's name, in the form that `tracer` requires. A `*` in it matches the name
    /// of a system call or vector.
    pub(super) name: &'static str,
    pub(super) transition: Transition,
    /// For each of the [slots](Transition::slots) the possible names of the field,
    /// separated by `|`, or `-` if there is no such field.
    pub(super) fields: &'static [&'static str],
}

/// The maximum number of slots of a transition.
const MAX_OWN_SLOTS: usize = 8;
/// The slots of the contexts that tell which process recorded an event: its id, that of its thread
/// group, and its name. They follow those of the transition.
pub(super) const CONTEXT_SLOTS: [usize; 3] = [MAX_OWN_SLOTS, MAX_OWN_SLOTS + 1, MAX_OWN_SLOTS + 2];
/// The maximum number of slots of a rule.
pub(super) const MAX_SLOTS: usize = MAX_OWN_SLOTS + CONTEXT_SLOTS.len();

impl Transition {
    /// Returns `true` for transitions that make up only a small part of a trace.
    #[inline]
    pub(crate) const fn is_rare(self) -> bool {
        use Transition::*;
        matches!(self, Migrate | Fork | KernelThread | Exit | Exec | Brand | ProcessState | DumpEnd)
    }

    /// Returns `true` for transitions after which the event's CPU most often continues with
    /// the same process and frame.
    pub(crate) const fn mostly_keeps_frame(self) -> bool {
        use Transition::*;
        matches!(
            self,
            Wakeup
                | SoftirqRaise
                | FileRead
                | FileWrite
                | BlockInsert
                | BlockMerge
                | BlockIssue
                | BlockComplete
        )
    }

    /// Returns the slots of the transition: for each the meaning of its field, and whether
    /// the field is required.
    pub(super) const fn slots(self) -> &'static [(&'static str, bool)] {
        use Transition::*;
        match self {
            SyscallEntry => &[
                ("number", false),
                ("file", false),
                ("descriptor", false),
                ("command or last descriptor", false),
                ("flags", false),
                ("argument of the command", false),
            ],
            SyscallExit => &[("result", false), ("two descriptors", false)],
            TrapEntry | SoftirqRaise | SoftirqEntry => &[("number", true)],
            IrqEntry | VectorEntry => &[("number", true), ("name", false)],
            TrapExit | UserPageFault | KernelPageFault | IrqExit | VectorExit | SoftirqExit
            | DumpEnd | Context => &[],
            Switch => &[
                ("previous", true),
                ("next", true),
                ("state", true),
                ("name of the previous", false),
                ("name of the next", false),
            ],
            Wakeup | Migrate => &[("process", true), ("cpu", false), ("name", false)],
            Rename => &[("process", true), ("name", true), ("thread group", false)],
            Fork => &[
                ("child", true),
                ("parent", false),
                ("thread group", false),
                ("name", false),
                ("thread group of the parent", false),
            ],
            KernelThread | Free => &[("process", true)],
            Exit => &[("process", true), ("name", false)],
            Exec => &[("file", true), ("process", false), ("old number", false)],
            Brand => &[("name", true)],
            Open => &[("descriptor", true), ("file", true)],
            Close => &[("descriptor", true)],
            FunctionEntry | FunctionExit => &[("function", true)],
            FileRead | FileWrite => &[("bytes", true)],
            BlockInsert | BlockMerge | BlockIssue | BlockComplete => &[
                ("device", false),
                ("major", false),
                ("minor", false),
                ("kind", false),
                ("direction", false),
                ("bytes", false),
                ("sectors", false),
            ],
            Frequency => &[("frequency in kHz", true), ("cpu", false)],
            Marker => &[("text", true)],
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
            FileDescriptor => &[
                ("process", false),
                ("file table", false),
                ("descriptor", true),
                ("file", true),
                ("flags", false),
            ],
            SyscallName | IrqName | SoftirqName | ProbeName | DeviceName => {
                &[("number", true), ("name", true)]
            }
        }
    }
}

/// The part of a field in a slot that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotKind {
    Integer,
    Text,
    /// A text that may contain more than its terminator.
    RawText,
    /// The operation of a request to a block device.
    Operation,
    /// The type of a process.
    ProcessType,
    /// An array of two descriptors.
    Descriptors,
}

impl Transition {
    /// Returns what the transition reads of the field in a slot.
    pub(super) const fn slot_kind(self, slot: usize) -> SlotKind {
        use Transition::*;
        match (self, slot) {
            (_, slot) if slot == CONTEXT_SLOTS[2] => SlotKind::RawText,
            (Switch, 3 | 4) | (Wakeup | Migrate, 2) | (Rename | Exit, 1) => SlotKind::RawText,
            (SyscallEntry | IrqEntry | VectorEntry | Open, 1)
            | (SyscallName | IrqName | SoftirqName | ProbeName | DeviceName, 1)
            | (Fork | ProcessState | FileDescriptor, 3)
            | (Exec | Brand, 0) => SlotKind::Text,
            (BlockInsert | BlockMerge | BlockIssue | BlockComplete, 3) => SlotKind::Operation,
            (ProcessState, 4) => SlotKind::ProcessType,
            (SyscallExit, 1) => SlotKind::Descriptors,
            _ => SlotKind::Integer,
        }
    }
}

const fn row(
    tracer: Tracer,
    name: &'static str,
    transition: Transition,
    fields: &'static [&'static str],
) -> Row {
    Row { tracer, name, transition, fields }
}

/// Creates a row for LTTng 2.x.
const fn lttng(name: &'static str, of: Transition, fields: &'static [&'static str]) -> Row {
    row(Tracer::Lttng2, name, of, fields)
}

/// Creates a row for perf.
const fn perf(name: &'static str, of: Transition, fields: &'static [&'static str]) -> Row {
    row(Tracer::Perf, name, of, fields)
}

/// Creates a row for LTTng 0.x.
const fn legacy(name: &'static str, of: Transition, fields: &'static [&'static str]) -> Row {
    row(Tracer::Legacy, name, of, fields)
}

const CALL: &[&str] =
    &["id", "filename|pathname", "fd|fildes|oldfd", "cmd|max_fd", "flags|type", "arg"];
/// Arguments are pointers; kernels after 6.12 have the texts beside them.
const RAW_CALL: &[&str] =
    &["id", "__filename_val|__pathname_val", "fd|fildes|oldfd", "cmd|max_fd", "flags|type", "arg"];
const EXIT: &[&str] = &["ret", "fildes|socket"];
const SWITCH: &[&str] =
    &["prev_tid|prev_pid", "next_tid|next_pid", "prev_state", "prev_comm", "next_comm"];
const WAKEUP: &[&str] = &["tid|pid", "target_cpu", "comm"];
const REQUEST: &[&str] = &["dev", "-", "-", "rwbs", "-", "bytes", "nr_sector"];
const LEGACY_REQUEST: &[&str] = &["-", "major", "minor", "-", "direction"];
/// Requests of file systems and commands of programs in LTTng 0.x, which name no device.
const LEGACY_DATA: &[&str] = &["-", "-", "-", "-", "rw", "-", "hard_nr_sectors"];
const LEGACY_COMMAND: &[&str] = &["-", "-", "-", "-", "-", "data_len"];
const LEGACY_BIO: &[&str] = &["-", "-", "-", "-", "-", "size"];
const DUMPED: &[&str] =
    &["tid", "pid", "ppid", "name", "type", "status", "cpu", "file_table_address"];

use Transition::*;

/// The table of event names. If several rows match an event, the first one applies.
pub(super) static ROWS: &[Row] = &[
    // Scheduling
    lttng("sched_switch", Switch, SWITCH),
    perf("sched:sched_switch", Switch, SWITCH),
    legacy("kernel.sched_schedule", Switch, &["prev_pid", "next_pid", "prev_state"]),
    legacy("process.schedchange", Switch, &["out", "in", "out_state"]),
    legacy("core.schedchange", Switch, &["out", "in", "out_state"]),
    lttng("sched_waking", Wakeup, WAKEUP),
    lttng("sched_wakeup", Wakeup, WAKEUP),
    lttng("sched_wakeup_new", Wakeup, WAKEUP),
    lttng("sched_ttwu", Wakeup, &["tid", "-", "comm"]),
    perf("sched:sched_waking", Wakeup, WAKEUP),
    perf("sched:sched_wakeup", Wakeup, WAKEUP),
    perf("sched:sched_wakeup_new", Wakeup, WAKEUP),
    legacy("kernel.sched_try_wakeup", Wakeup, &["pid", "-"]),
    lttng("sched_migrate_task", Migrate, &["tid", "dest_cpu", "comm"]),
    perf("sched:sched_migrate_task", Migrate, &["pid", "dest_cpu", "comm"]),
    lttng("task_rename", Rename, &["tid|pid", "newcomm"]),
    perf("task:task_rename", Rename, &["tid|pid", "newcomm"]),
    perf("perf:comm", Rename, &["tid", "comm", "pid"]),
    // Fork, exec and exit
    lttng(
        "sched_process_fork",
        Fork,
        &["child_tid", "parent_tid", "child_pid", "child_comm", "parent_pid"],
    ),
    perf("sched:sched_process_fork", Fork, &["child_pid", "parent_pid", "-", "child_comm"]),
    perf("perf:fork", Fork, &["tid", "ptid", "pid", "-", "ppid"]),
    legacy("kernel.process_fork", Fork, &["child_pid", "-", "child_tgid"]),
    legacy("process.fork", Fork, &["child_pid", "-", "child_tgid"]),
    legacy("core.process_fork", Fork, &["child_pid"]),
    legacy("kernel.kthread_create", KernelThread, &["pid"]),
    legacy("process.kernel_thread", KernelThread, &["pid"]),
    lttng("sched_process_exit", Exit, &["tid", "comm"]),
    perf("sched:sched_process_exit", Exit, &["pid", "comm"]),
    perf("perf:exit", Exit, &["tid"]),
    legacy("kernel.process_exit", Exit, &["pid"]),
    legacy("process.exit", Exit, &["pid"]),
    legacy("core.process_exit", Exit, &["pid"]),
    lttng("sched_process_free", Free, &["tid"]),
    perf("sched:sched_process_free", Free, &["pid"]),
    legacy("kernel.process_free", Free, &["pid"]),
    legacy("process.free", Free, &["pid"]),
    lttng("sched_process_exec", Exec, &["filename", "tid", "old_tid"]),
    perf("sched:sched_process_exec", Exec, &["filename", "pid", "old_pid"]),
    legacy("fs.exec", Exec, &["filename"]),
    legacy("userspace.thread_brand", Brand, &["name"]),
    legacy("user_generic.thread_brand", Brand, &["name"]),
    // System calls
    lttng("sys_enter", SyscallEntry, CALL),
    lttng("sys_exit", SyscallExit, EXIT),
    lttng("exit_syscall", SyscallExit, EXIT),
    lttng("syscall_entry_*", SyscallEntry, CALL),
    lttng("syscall_exit_*", SyscallExit, EXIT),
    lttng("compat_syscall_entry_*", SyscallEntry, CALL),
    lttng("compat_syscall_exit_*", SyscallExit, EXIT),
    lttng("compat_sys_*", SyscallEntry, CALL),
    lttng("sys_*", SyscallEntry, CALL),
    perf("raw_syscalls:sys_enter", SyscallEntry, RAW_CALL),
    perf("raw_syscalls:sys_exit", SyscallExit, &["ret"]),
    perf("syscalls:sys_enter_*", SyscallEntry, RAW_CALL),
    perf("syscalls:sys_exit_*", SyscallExit, &["ret"]),
    legacy("kernel.syscall_entry", SyscallEntry, &["syscall_id"]),
    legacy("kernel.syscall_exit", SyscallExit, &["ret"]),
    legacy("kernel_arch.syscall_entry", SyscallEntry, &["syscall_id"]),
    legacy("kernel_arch.syscall_exit", SyscallExit, &[]),
    legacy("core.syscall_entry", SyscallEntry, &["syscall_id"]),
    legacy("core.syscall_exit", SyscallExit, &[]),
    legacy("fs.open", Open, &["fd", "filename"]),
    legacy("fs.close", Close, &["fd"]),
    legacy("fs.read", FileRead, &["count"]),
    legacy("fs.pread64", FileRead, &["count"]),
    legacy("fs.write", FileWrite, &["count"]),
    legacy("fs.pwrite64", FileWrite, &["count"]),
    legacy("userspace.function_entry", FunctionEntry, &["this_fn"]),
    legacy("userspace.function_exit", FunctionExit, &["this_fn"]),
    legacy("user_generic.function_entry", FunctionEntry, &["this_fn"]),
    legacy("user_generic.function_exit", FunctionExit, &["this_fn"]),
    // Interrupts and exceptions
    lttng("irq_handler_entry", IrqEntry, &["irq", "name"]),
    lttng("irq_handler_exit", IrqExit, &[]),
    perf("irq:irq_handler_entry", IrqEntry, &["irq", "name"]),
    perf("irq:irq_handler_exit", IrqExit, &[]),
    legacy("kernel.irq_entry", IrqEntry, &["irq_id"]),
    legacy("kernel.irq_exit", IrqExit, &[]),
    legacy("core.irq_entry", IrqEntry, &["irq_id"]),
    legacy("core.irq_exit", IrqExit, &[]),
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
    legacy("kernel.softirq_raise", SoftirqRaise, &["softirq_id"]),
    legacy("kernel.softirq_entry", SoftirqEntry, &["softirq_id"]),
    legacy("kernel.softirq_exit", SoftirqExit, &[]),
    legacy("kernel.soft_irq_raise", SoftirqRaise, &["softirq_id"]),
    legacy("kernel.soft_irq_entry", SoftirqEntry, &["softirq_id"]),
    legacy("kernel.soft_irq_exit", SoftirqExit, &[]),
    lttng("x86_exceptions_page_fault_user", UserPageFault, &[]),
    lttng("x86_exceptions_page_fault_kernel", KernelPageFault, &[]),
    lttng("exceptions_page_fault_user", UserPageFault, &[]),
    lttng("exceptions_page_fault_kernel", KernelPageFault, &[]),
    perf("exceptions:page_fault_user", UserPageFault, &[]),
    perf("exceptions:page_fault_kernel", KernelPageFault, &[]),
    legacy("kernel.trap_entry", TrapEntry, &["trap_id"]),
    legacy("kernel.trap_exit", TrapExit, &[]),
    legacy("kernel.page_fault_entry", TrapEntry, &["trap_id"]),
    legacy("kernel.page_fault_exit", TrapExit, &[]),
    legacy("kernel.page_fault_nosem_entry", TrapEntry, &["trap_id"]),
    legacy("kernel.page_fault_nosem_exit", TrapExit, &[]),
    legacy("core.trap_entry", TrapEntry, &["trap_id"]),
    legacy("core.trap_exit", TrapExit, &[]),
    // Devices
    lttng("block_rq_insert", BlockInsert, REQUEST),
    lttng("block_rq_merge", BlockMerge, REQUEST),
    lttng("block_bio_backmerge", BlockMerge, REQUEST),
    lttng("block_bio_frontmerge", BlockMerge, REQUEST),
    perf("block:block_rq_insert", BlockInsert, REQUEST),
    perf("block:block_rq_merge", BlockMerge, REQUEST),
    perf("block:block_bio_backmerge", BlockMerge, REQUEST),
    perf("block:block_bio_frontmerge", BlockMerge, REQUEST),
    legacy("block.rq_insert_fs", BlockInsert, LEGACY_DATA),
    legacy("block.rq_insert_pc", BlockInsert, LEGACY_COMMAND),
    legacy("block.bio_backmerge", BlockMerge, LEGACY_BIO),
    legacy("block.bio_frontmerge", BlockMerge, LEGACY_BIO),
    legacy("block.rq_issue_fs", BlockIssue, LEGACY_DATA),
    legacy("block.rq_issue_pc", BlockIssue, LEGACY_COMMAND),
    legacy("block.rq_complete_fs", BlockComplete, LEGACY_DATA),
    legacy("block.rq_complete_pc", BlockComplete, LEGACY_COMMAND),
    lttng("block_rq_issue", BlockIssue, REQUEST),
    lttng("block_rq_complete", BlockComplete, REQUEST),
    perf("block:block_rq_issue", BlockIssue, REQUEST),
    perf("block:block_rq_complete", BlockComplete, REQUEST),
    legacy("block._blk_request_issue", BlockIssue, LEGACY_REQUEST),
    legacy("block._blk_request_complete", BlockComplete, LEGACY_REQUEST),
    lttng("power_cpu_frequency", Frequency, &["state", "cpu_id"]),
    perf("power:cpu_frequency", Frequency, &["state", "cpu_id"]),
    // Texts of programs
    perf("ftrace:print", Marker, &["buf"]),
    // State dumps
    lttng("lttng_statedump_process_state", ProcessState, DUMPED),
    lttng(
        "lttng_statedump_file_descriptor",
        FileDescriptor,
        &["pid|tid", "file_table_address", "fd", "filename", "flags"],
    ),
    lttng("lttng_statedump_interrupt", IrqName, &["irq", "action"]),
    lttng("lttng_statedump_block_device", DeviceName, &["dev", "diskname"]),
    lttng("lttng_statedump_end", DumpEnd, &[]),
    legacy(
        "task_state.process_state",
        ProcessState,
        &["pid", "tgid", "parent_pid", "name", "type"],
    ),
    legacy("list.process_state", ProcessState, &["pid", "tgid", "parent_pid", "name", "type"]),
    legacy(
        "statedump.enumerate_process_state",
        ProcessState,
        &["pid", "tgid", "parent_pid", "name", "type"],
    ),
    legacy("syscall_state.sys_call_table", SyscallName, &["id", "symbol"]),
    legacy("statedump.sys_call_table", SyscallName, &["id", "symbol"]),
    legacy("softirq_state.softirq_vec", SoftirqName, &["id", "symbol"]),
    legacy("irq_state.interrupt", IrqName, &["irq_id|num", "action"]),
    legacy("list.interrupt", IrqName, &["irq_id|num", "action"]),
    legacy("kprobe_state.kprobe_table", ProbeName, &["ip", "symbol"]),
    legacy("global_state.statedump_end", DumpEnd, &[]),
    legacy("list.statedump_end", DumpEnd, &[]),
    legacy("statedump.statedump_end", DumpEnd, &[]),
];

/// The rows of LTTng 2.x and perf by name. A trace can have thousands of event types.
struct RowIndex {
    /// The rows whose name contains no `*`.
    by_name: HashMap<&'static str, usize>,
    patterns: Vec<usize>,
}

static INDEX: LazyLock<RowIndex> = LazyLock::new(|| {
    let mut index = RowIndex { by_name: HashMap::new(), patterns: Vec::new() };
    for (at, row) in ROWS.iter().enumerate().filter(|(_, row)| row.tracer != Tracer::Legacy) {
        if row.name.contains('*') {
            index.patterns.push(at);
        } else {
            index.by_name.entry(row.name).or_insert(at);
        }
    }
    index
});

/// Returns the row of LTTng 2.x or perf that applies to events of a name, and the part of the name that
/// it captures.
pub(super) fn row_named(name: &str) -> Option<(&'static Row, &str)> {
    let by_name = INDEX.by_name.get(name).copied();
    let before = |at: &usize| by_name.is_none_or(|named| *at < named);
    let patterns = INDEX.patterns.iter().copied().take_while(before);
    let captured = |at: usize| Some((&ROWS[at], ROWS[at].captures(name)?));
    patterns.chain(by_name).find_map(captured)
}

/// Iterates over the names that ftrace and perf use for the events that LTTng 2 gives a name: first the same name, then
/// those with the same transition.
pub(super) fn kernel_names(name: &str) -> impl Iterator<Item = &'static str> {
    let transition = row_named(name).map(|(row, _)| row.transition);
    let rows = ROWS
        .iter()
        .filter(move |row| row.tracer == Tracer::Perf && Some(row.transition) == transition);
    let is_same = move |row: &&Row| row.name.split_once(':').is_some_and(|(_, of)| of == name);
    let others = rows.clone().filter(move |row| !is_same(row));
    rows.filter(is_same).chain(others).map(|row| row.name)
}

impl Row {
    /// Returns the part of an event's name that `*` matches, or an empty string if the row
    /// has no `*`; `None` if the row does not match the name.
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
            assert!(slots.len() <= MAX_OWN_SLOTS, "{row:?}");
            for (slot, fields) in slots.iter().zip(row.fields) {
                assert!(!slot.1 || *fields != "-", "{row:?} lacks {}", slot.0);
            }
            let needed = slots.iter().filter(|slot| slot.1).count();
            assert!(row.fields.len() >= needed, "{row:?}");
        }
    }

    #[test]
    fn the_first_row_that_applies_is_found() {
        let of_today = || ROWS.iter().filter(|row| row.tracer != Tracer::Legacy);
        let names = of_today().flat_map(|row| {
            ["", "x", "unknown", "*"].map(|captured| row.name.replace('*', captured))
        });
        let others = ["", "*", "x", "sys_enter_", "syscall_entry_", "irq_vectors:_entry"];
        for name in names.chain(others.map(str::to_owned)) {
            let expected = of_today().find_map(|row| Some((row.name, row.captures(&name)?)));
            let found = row_named(&name).map(|(row, captured)| (row.name, captured));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn every_row_can_be_reached() {
        for (at, row) in ROWS.iter().enumerate() {
            let name = row.name.replace('*', "x");
            let first =
                ROWS.iter().position(|r| r.tracer == row.tracer && r.captures(&name).is_some());
            assert_eq!(first, Some(at), "{row:?}");
        }
    }
}
