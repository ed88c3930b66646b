//! Decodes events according to their rules and applies them to the state.

use super::effect::RequestStep;
use super::fields::Fields;
use super::machine::{At, Dumped, NewProcess, Switch, TraceState};
use super::modes::ProcessStatus;
use super::resources::{MAX_SOURCES, RequestKind, SourceKind};
use super::rule::Rule;
use super::syscalls::{
    CLOSE_RANGE_CLOEXEC, F_DUPFD, F_DUPFD_CLOEXEC, F_SETFD, FD_CLOEXEC, FileAction, O_CLOEXEC,
    Transfer, file_action,
};
use super::transition::{CONTEXT_SLOTS, Tracer, Transition};

/// The exception number of page faults on x86.
const PAGE_FAULT: u32 = 14;
/// The size of a sector in bytes.
const SECTOR: u64 = 512;

/// Applies an event of a rule's event type to the state.
#[inline]
pub(super) fn apply(state: &mut TraceState, rule: &Rule, fields: &impl Fields, at: At) {
    use Transition::*;
    match rule.transition {
        SyscallEntry => syscall_entry(state, rule, fields, at),
        SyscallExit => {
            let names = (state.syscall_exit(at, rule.syscall()), rule.syscall());
            if let Some(result) = fields.integer(0) {
                state.syscall_result(at, names, result as i64, || fields.descriptors(1));
            }
        }
        Switch => switch(state, rule, fields, at),
        Wakeup => {
            if let Some(tid) = fields.tid(0) {
                state.wake(at, tid, fields.number(1), fields.raw_text(2));
            }
        }
        IrqEntry => enter(state, rule, fields, at, SourceKind::Irq),
        VectorEntry => enter(state, rule, fields, at, SourceKind::Vector),
        SoftirqEntry => enter(state, rule, fields, at, SourceKind::Softirq),
        TrapEntry => enter(state, rule, fields, at, SourceKind::Trap),
        IrqExit => state.leave(at, SourceKind::Irq),
        VectorExit => state.leave(at, SourceKind::Vector),
        SoftirqExit => state.leave(at, SourceKind::Softirq),
        TrapExit => state.leave(at, SourceKind::Trap),
        UserPageFault => state.trap(at, PAGE_FAULT, true),
        KernelPageFault => state.trap(at, PAGE_FAULT, false),
        SoftirqRaise => {
            if let Some(number) = fields.number(0) {
                state.softirq_raise(at, number);
            }
        }
        FunctionEntry => {
            if let Some(function) = fields.integer(0) {
                state.function_entry(at, function);
            }
        }
        FunctionExit => {
            if let Some(function) = fields.integer(0) {
                state.function_exit(at, function);
            }
        }
        BlockInsert => request(state, fields, RequestStep::Inserted),
        BlockMerge => request(state, fields, RequestStep::Merged),
        BlockIssue => request(state, fields, RequestStep::Issued),
        BlockComplete => request(state, fields, RequestStep::Completed),
        _ => apply_rare(state, rule, fields, at),
    }
}

/// Applies the contexts of an event that tell which process runs on its CPU.
#[cold]
pub(super) fn runs_by_context(state: &mut TraceState, fields: &impl Fields, at: At) {
    let [tid, pid, name] = CONTEXT_SLOTS;
    if let Some(tid) = fields.tid(tid) {
        state.runs_by_context(at, tid, fields.tid(pid), fields.raw_text(name));
    }
}

/// Applies the start of a system call, and its effect on open files.
fn syscall_entry(state: &mut TraceState, rule: &Rule, fields: &impl Fields, at: At) {
    let number = || fields.integer(0).map(|number| state.syscall_name(number));
    let name = rule.syscall().or_else(number).unwrap_or(rule.name);
    state.syscall_entry(at, name);
    match file_action(name) {
        FileAction::None => {}
        action => descriptors_at_entry(state, fields, at, action),
    }
}

/// Applies the effect of a starting system call on open files.
fn descriptors_at_entry(state: &mut TraceState, fields: &impl Fields, at: At, action: FileAction) {
    let has_flag = |slot, flag| fields.integer(slot).is_some_and(|flags| flags & flag != 0);
    match action {
        FileAction::None => {}
        FileAction::Open => {
            if let Some(file) = fields.text(1) {
                state.opening(at, file, has_flag(4, O_CLOEXEC));
            }
        }
        FileAction::Create(object) | FileAction::CreatePair(object) => {
            state.opening(at, object.as_bytes(), has_flag(4, O_CLOEXEC));
        }
        FileAction::Close => {
            if let Some(fd) = fields.tid(2) {
                state.close(at, fd..=fd);
            }
        }
        FileAction::CloseRange => {
            let Some(first) = fields.tid(2) else { return };
            // The last descriptor is often the greatest unsigned number.
            let last =
                fields.number(3).map_or(first, |last| i32::try_from(last).unwrap_or(i32::MAX));
            match has_flag(4, CLOSE_RANGE_CLOEXEC) {
                true => state.set_close_on_exec(at, first..=last, true),
                false => state.close(at, first..=last),
            }
        }
        FileAction::Duplicate => {
            if let Some(fd) = fields.tid(2) {
                state.duplicating(at, fd, has_flag(4, O_CLOEXEC));
            }
        }
        FileAction::Control => {
            let (Some(fd), Some(command)) = (fields.tid(2), fields.integer(3)) else { return };
            match command {
                F_DUPFD | F_DUPFD_CLOEXEC => {
                    state.duplicating(at, fd, command == F_DUPFD_CLOEXEC);
                }
                F_SETFD => state.set_close_on_exec(at, fd..=fd, has_flag(5, FD_CLOEXEC)),
                _ => {}
            }
        }
    }
}

/// Applies a context switch.
fn switch(state: &mut TraceState, rule: &Rule, fields: &impl Fields, at: At) {
    let (Some(previous), Some(next), Some(out)) = (fields.tid(0), fields.tid(1), fields.integer(2))
    else {
        return;
    };
    let switch = Switch {
        previous,
        next,
        out: rule.encoding.decode(out),
        previous_name: fields.raw_text(3),
        next_name: fields.raw_text(4),
    };
    state.switch(at, switch);
}

/// Applies the start of an interrupt, softirq or exception, which gets a name if it has
/// none.
fn enter(state: &mut TraceState, rule: &Rule, fields: &impl Fields, at: At, kind: SourceKind) {
    let Some(number) = fields.number(0) else { return };
    let number = number.min(MAX_SOURCES);
    let own = matches!(kind, SourceKind::Irq).then(|| fields.text(1)).flatten();
    if state.is_nameless(kind, number) {
        let label = rule.labels.get(number as usize).and_then(|label| label.as_deref());
        let name = rule.captured.as_deref().or(label).map(str::as_bytes);
        if let Some(name) = name.or(own) {
            state.name_source(kind, number, name);
        }
    }
    state.enter(at, kind, number, own);
}

/// Applies a request to a block device.
fn request(state: &mut TraceState, fields: &impl Fields, step: RequestStep) {
    let kind = if let Some(direction) = fields.integer(4) {
        if direction == 0 { RequestKind::Read } else { RequestKind::Write }
    } else {
        fields.operation(3).into()
    };
    let sectors = fields.integer(6).map(|sectors| sectors.saturating_mul(SECTOR));
    // A write that flushes the device's cache is completed twice: first its data, then,
    // with no sectors remaining, the whole request.
    if sectors == Some(0) && step == RequestStep::Completed && kind != RequestKind::Other {
        return;
    }
    let bytes = fields.integer(5).filter(|bytes| *bytes > 0).or(sectors).unwrap_or(0);
    state.request(fields.device(), kind, bytes, step);
}

/// Applies events of rare transitions, apart from the hot code.
#[cold]
fn apply_rare(state: &mut TraceState, rule: &Rule, fields: &impl Fields, at: At) {
    use Transition::*;
    match rule.transition {
        Migrate => {
            if let (Some(tid), Some(cpu)) = (fields.tid(0), fields.number(1)) {
                state.migrate(at, tid, cpu, fields.raw_text(2));
            }
        }
        Rename => {
            if let (Some(tid), Some(name)) = (fields.tid(0), fields.raw_text(1)) {
                state.renamed(at, tid, name, fields.tid(2));
            }
        }
        Fork => {
            let Some(child) = fields.tid(0) else { return };
            let (parent, pid, parent_pid) = (fields.tid(1), fields.tid(2), fields.tid(4));
            if let Some(ix) = state.fork(at, NewProcess { parent, parent_pid, child, pid })
                && let Some(name) = fields.text(3)
            {
                state.rename(ix, name);
            }
        }
        KernelThread => {
            if let Some(tid) = fields.tid(0) {
                state.kernel_thread(at, tid);
            }
        }
        Exit => {
            if let Some(tid) = fields.tid(0) {
                state.exit(at, tid, fields.raw_text(1));
            }
        }
        Free => {
            if let Some(tid) = fields.tid(0) {
                state.free(tid);
            }
        }
        Exec => {
            let Some(file) = fields.text(0) else { return };
            let ids = fields.tid(2).zip(fields.tid(1));
            let name = if rule.tracer == Tracer::Legacy { file } else { file_name(file) };
            state.exec(at, (name, file), ids);
        }
        Brand => {
            if let Some(name) = fields.text(0) {
                state.brand(at, name);
            }
        }
        Open => {
            if let (Some(fd @ 0..), Some(file)) = (fields.tid(0), fields.text(1)) {
                state.opened(at, fd, file);
            }
        }
        Close => {
            if let Some(fd) = fields.tid(0) {
                state.close(at, fd..=fd);
            }
        }
        FileRead => transfer(state, fields, at, Transfer::Read),
        FileWrite => transfer(state, fields, at, Transfer::Write),
        Frequency => {
            if let Some(frequency) = fields.integer(0) {
                state.frequency(at, fields.number(1), frequency.saturating_mul(1000));
            }
        }
        ProcessState => dumped(state, fields, at),
        FileDescriptor => {
            if let (Some(fd @ 0..), Some(file)) = (fields.tid(2), fields.text(3)) {
                let closes = fields.integer(4).is_some_and(|flags| flags & O_CLOEXEC != 0);
                state.dumped_file(at, (fields.tid(0), fields.integer(1)), (fd, closes), file);
            }
        }
        SyscallName => {
            if let (Some(number), Some(name)) = (fields.integer(0), fields.text(1)) {
                state.name_syscall(number, name);
            }
        }
        IrqName => name(state, fields, SourceKind::Irq),
        SoftirqName => name(state, fields, SourceKind::Softirq),
        ProbeName => {
            if let (Some(address), Some(symbol)) = (fields.integer(0), fields.text(1)) {
                state.name_probe(address, symbol);
            }
        }
        DeviceName => {
            if let (Some(device), Some(name)) = (fields.device(), fields.text(1)) {
                state.name_device(device, name);
            }
        }
        DumpEnd => state.dump_end(at),
        _ => {}
    }
}

/// Applies an event that contains the number of bytes that a process reads or writes.
fn transfer(state: &mut TraceState, fields: &impl Fields, at: At, transfer: Transfer) {
    if let Some(bytes) = fields.integer(0) {
        state.transfer(at, transfer, bytes);
    }
}

/// Applies a dumped name of an interrupt or softirq.
fn name(state: &mut TraceState, fields: &impl Fields, kind: SourceKind) {
    if let (Some(number), Some(name)) = (fields.number(0), fields.text(1)) {
        state.name_source(kind, number, name);
    }
}

/// Applies a dumped process.
fn dumped(state: &mut TraceState, fields: &impl Fields, at: At) {
    let Some(tid) = fields.tid(0) else { return };
    let status = match fields.integer(5) {
        // The dump does not distinguish processes that wait for a CPU from those just
        // forked.
        Some(1 | 2) => Some(ProcessStatus::WaitCpu),
        // LTTng writes 2 for processes that run or exit; the state dump of a trimmed trace is exact.
        Some(3) => Some(ProcessStatus::Exit),
        Some(4) => Some(ProcessStatus::Zombie),
        Some(5) => Some(ProcessStatus::Wait),
        Some(6) => Some(ProcessStatus::Run),
        Some(7) => Some(ProcessStatus::Dead),
        _ => None,
    };
    let dumped = Dumped {
        tid,
        pid: fields.tid(1),
        parent: fields.tid(2),
        name: fields.text(3).unwrap_or_default(),
        kind: fields.process_type(4),
        status,
        cpu: fields.number(6),
        files: fields.integer(7).filter(|table| *table != 0),
    };
    state.dumped(at, dumped);
}

/// Returns the name that the kernel gives a process that executes a file: the last
/// component of the path, up to 15 bytes.
fn file_name(file: &[u8]) -> &[u8] {
    let name = file.rsplit(|byte| *byte == b'/').next().unwrap_or(file);
    &name[..name.len().min(15)]
}
