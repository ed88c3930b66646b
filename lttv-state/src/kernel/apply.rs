//! Decodes events according to their rules and applies them to the state.

use ltt_read::Event;

use super::effect::RequestStep;
use super::machine::{At, Dumped, NewProcess, Switch, TraceState};
use super::modes::{ProcessStatus, ProcessType};
use super::resources::{MAX_SOURCES, RequestKind, RequestOperation, SourceKind};
use super::rule::Rule;
use super::syscalls::{FileAction, Transfer};
use super::transition::{Tracer, Transition};

/// The exception number of page faults on x86.
const PAGE_FAULT: u32 = 14;
/// The size of a sector in bytes.
const SECTOR: u64 = 512;

/// Applies an event of a rule's event type to the state.
#[inline]
pub(super) fn apply(state: &mut TraceState, rule: &Rule, event: &Event<'_>, at: At) {
    use Transition::*;
    match rule.transition {
        SyscallEntry => syscall_entry(state, rule, event, at),
        SyscallExit => {
            if let Some(name) = state.syscall_exit(at)
                && let Some(result) = rule.integer(event, 0)
            {
                state.syscall_result(at, name, result as i64);
            }
        }
        Switch => switch(state, rule, event, at),
        Wakeup => {
            if let Some(tid) = rule.tid(event, 0) {
                state.wake(at, tid, rule.number(event, 1));
            }
        }
        IrqEntry => enter(state, rule, event, at, SourceKind::Irq),
        VectorEntry => enter(state, rule, event, at, SourceKind::Vector),
        SoftirqEntry => enter(state, rule, event, at, SourceKind::Softirq),
        TrapEntry => enter(state, rule, event, at, SourceKind::Trap),
        IrqExit => state.leave(at, SourceKind::Irq),
        VectorExit => state.leave(at, SourceKind::Vector),
        SoftirqExit => state.leave(at, SourceKind::Softirq),
        TrapExit => state.leave(at, SourceKind::Trap),
        UserPageFault => state.trap(at, PAGE_FAULT, true),
        KernelPageFault => state.trap(at, PAGE_FAULT, false),
        SoftirqRaise => {
            if let Some(number) = rule.number(event, 0) {
                state.softirq_raise(at, number);
            }
        }
        FunctionEntry => {
            if let Some(function) = rule.integer(event, 0) {
                state.function_entry(at, function);
            }
        }
        FunctionExit => {
            if let Some(function) = rule.integer(event, 0) {
                state.function_exit(at, function);
            }
        }
        BlockInsert => request(state, rule, event, RequestStep::Inserted),
        BlockMerge => request(state, rule, event, RequestStep::Merged),
        BlockIssue => request(state, rule, event, RequestStep::Issued),
        BlockComplete => request(state, rule, event, RequestStep::Completed),
        _ => apply_rare(state, rule, event, at),
    }
}

/// Applies the start of a system call, and its effect on open files.
fn syscall_entry(state: &mut TraceState, rule: &Rule, event: &Event<'_>, at: At) {
    let name = match rule.integer(event, 0) {
        // The event's name contains that of the system call, unless the tracer has no name
        // for it.
        Some(number) if rule.captured.as_deref().is_none_or(|name| name == "unknown") => {
            state.syscall_name(number)
        }
        _ => rule.name,
    };
    state.syscall_entry(at, name);
    match name.known_syscall().map(|at| super::syscalls::SYSCALLS[at].files) {
        Some(FileAction::Open) => {
            if let Some(file) = rule.text(event, 1) {
                state.opening(at, file);
            }
        }
        Some(FileAction::Close) => {
            if let Some(fd) = rule.tid(event, 2) {
                state.close(at, fd);
            }
        }
        Some(FileAction::Duplicate) => {
            if let Some(fd) = rule.tid(event, 2) {
                state.duplicating(at, fd);
            }
        }
        Some(FileAction::None) | None => {}
    }
}

/// Applies a context switch.
fn switch(state: &mut TraceState, rule: &Rule, event: &Event<'_>, at: At) {
    let (Some(previous), Some(next), Some(out)) =
        (rule.tid(event, 0), rule.tid(event, 1), rule.integer(event, 2))
    else {
        return;
    };
    state.switch(
        at,
        Switch {
            previous,
            next,
            out: rule.encoding.decode(out),
            previous_name: rule.raw_text(event, 3),
        },
        || rule.raw_text(event, 4),
    );
}

/// Applies the start of an interrupt, softirq or exception, which gets a name if it has
/// none.
fn enter(state: &mut TraceState, rule: &Rule, event: &Event<'_>, at: At, kind: SourceKind) {
    let Some(number) = rule.number(event, 0) else { return };
    let number = number.min(MAX_SOURCES);
    if state.is_nameless(kind, number) {
        let label = rule.labels.get(number as usize).and_then(|label| label.as_deref());
        let name = rule.captured.as_deref().or(label).map(str::as_bytes);
        let own = || matches!(kind, SourceKind::Irq).then(|| rule.text(event, 1)).flatten();
        if let Some(name) = name.or_else(own) {
            state.name_source(kind, number, name);
        }
    }
    state.enter(at, kind, number);
}

/// Applies a request to a block device.
fn request(state: &mut TraceState, rule: &Rule, event: &Event<'_>, step: RequestStep) {
    let kind = if let Some(direction) = rule.integer(event, 4) {
        if direction == 0 { RequestKind::Read } else { RequestKind::Write }
    } else {
        RequestOperation::of(rule.value(event, 3).as_ref()).into()
    };
    let sectors = rule.integer(event, 6).map(|sectors| sectors.saturating_mul(SECTOR));
    // A write that flushes the device's cache is completed twice: first its data, then,
    // with no sectors remaining, the whole request.
    if sectors == Some(0) && step == RequestStep::Completed && kind != RequestKind::Other {
        return;
    }
    let bytes = rule.integer(event, 5).filter(|bytes| *bytes > 0).or(sectors).unwrap_or(0);
    state.request(rule.device(event), kind, bytes, step);
}

/// Applies events of rare transitions, apart from the hot code.
#[cold]
fn apply_rare(state: &mut TraceState, rule: &Rule, event: &Event<'_>, at: At) {
    use Transition::*;
    match rule.transition {
        Migrate => {
            if let (Some(tid), Some(cpu)) = (rule.tid(event, 0), rule.number(event, 1)) {
                state.migrate(at, tid, cpu);
            }
        }
        Fork => {
            let Some(child) = rule.tid(event, 0) else { return };
            let (parent, pid) = (rule.tid(event, 1), rule.tid(event, 2));
            if let Some(ix) = state.fork(at, NewProcess { parent, child, pid })
                && let Some(name) = rule.text(event, 3)
            {
                state.rename(ix, name);
            }
        }
        KernelThread => {
            if let Some(tid) = rule.tid(event, 0) {
                state.kernel_thread(at, tid);
            }
        }
        Exit => {
            if let Some(tid) = rule.tid(event, 0) {
                state.exit(at, tid);
            }
        }
        Free => {
            if let Some(tid) = rule.tid(event, 0) {
                state.free(tid);
            }
        }
        Exec => {
            let Some(file) = rule.text(event, 0) else { return };
            let ids = rule.tid(event, 2).zip(rule.tid(event, 1));
            let name = if rule.tracer == Tracer::Legacy { file } else { file_name(file) };
            state.exec(at, name, ids);
        }
        Brand => {
            if let Some(name) = rule.text(event, 0) {
                state.brand(at, name);
            }
        }
        Open => {
            if let (Some(fd @ 0..), Some(file)) = (rule.tid(event, 0), rule.text(event, 1)) {
                state.opened(at, fd, file);
            }
        }
        Close => {
            if let Some(fd) = rule.tid(event, 0) {
                state.close(at, fd);
            }
        }
        FileRead => transfer(state, rule, event, at, Transfer::Read),
        FileWrite => transfer(state, rule, event, at, Transfer::Write),
        Frequency => {
            if let Some(frequency) = rule.integer(event, 0) {
                state.frequency(at, rule.number(event, 1), frequency.saturating_mul(1000));
            }
        }
        ProcessState => dumped(state, rule, event, at),
        FileDescriptor => {
            if let (Some(fd @ 0..), Some(file)) = (rule.tid(event, 2), rule.text(event, 3)) {
                state.dumped_file(rule.tid(event, 0), rule.integer(event, 1), fd, file);
            }
        }
        SyscallName => {
            if let (Some(number), Some(name)) = (rule.integer(event, 0), rule.text(event, 1)) {
                state.name_syscall(number, name);
            }
        }
        IrqName => name(state, rule, event, SourceKind::Irq),
        SoftirqName => name(state, rule, event, SourceKind::Softirq),
        ProbeName => {
            if let (Some(address), Some(symbol)) = (rule.integer(event, 0), rule.text(event, 1)) {
                state.name_probe(address, symbol);
            }
        }
        DeviceName => {
            if let (Some(device), Some(name)) = (rule.device(event), rule.text(event, 1)) {
                state.name_device(device, name);
            }
        }
        DumpEnd => state.dump_end(at),
        _ => {}
    }
}

/// Applies an event that contains the number of bytes that a process reads or writes.
fn transfer(state: &mut TraceState, rule: &Rule, event: &Event<'_>, at: At, transfer: Transfer) {
    if let Some(bytes) = rule.integer(event, 0) {
        state.transfer(at, transfer, bytes);
    }
}

/// Applies a dumped name of an interrupt or softirq.
fn name(state: &mut TraceState, rule: &Rule, event: &Event<'_>, kind: SourceKind) {
    if let (Some(number), Some(name)) = (rule.number(event, 0), rule.text(event, 1)) {
        state.name_source(kind, number, name);
    }
}

/// Applies a dumped process.
fn dumped(state: &mut TraceState, rule: &Rule, event: &Event<'_>, at: At) {
    let Some(tid) = rule.tid(event, 0) else { return };
    let kind = match rule.label(event, 4) {
        Some(label) if label.to_ascii_lowercase().contains("kernel") => Some(ProcessType::Kernel),
        Some(_) => Some(ProcessType::User),
        None => match rule.integer(event, 4) {
            Some(0) => Some(ProcessType::User),
            Some(1) => Some(ProcessType::Kernel),
            _ => None,
        },
    };
    let status = match rule.integer(event, 5) {
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
        pid: rule.tid(event, 1),
        parent: rule.tid(event, 2),
        name: rule.text(event, 3).unwrap_or_default(),
        kind,
        status,
        cpu: rule.number(event, 6),
        files: rule.integer(event, 7).filter(|table| *table != 0),
    };
    state.dumped(at, dumped);
}

/// Returns the name that the kernel gives a process that executes a file: the last
/// component of the path, up to 15 bytes.
fn file_name(file: &[u8]) -> &[u8] {
    let name = file.rsplit(|byte| *byte == b'/').next().unwrap_or(file);
    &name[..name.len().min(15)]
}
