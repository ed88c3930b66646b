//! System calls, and the files that they use.

use super::Machine;
use crate::kernel::{NameId, Tid, TraceState};
use crate::kernel::{Transfer, transfer_of};
use crate::spans::action::{Entry, Futex};
use crate::spans::family::Family;
use crate::spans::file_calls::{FutexUse, PRIVATE, file_family, futex_use};
use crate::spans::inputs::{Input, RecordedEvent};
use crate::spans::outcome::{Addition, At, Ending, Log, Outcome, WakerKey};
use crate::spans::place::Begin;
use crate::spans::span::Completeness;
use crate::spans::threads::{Detail, OpenCall, ThreadId};

/// The greatest error number that the kernel returns.
const MAX_ERROR: i64 = 4095;

impl Machine {
    /// Returns the thread that an event of a CPU is of: the one that runs, or if that is unknown the
    /// one that the event's context names. An idle thread is none.
    #[inline]
    pub(super) fn caller(
        &mut self,
        state: &TraceState,
        field: Option<&Input>,
        event: &RecordedEvent<'_>,
        at: &At,
    ) -> Option<ThreadId> {
        let current = self.cpus[at.place].current;
        if current != ThreadId::NONE {
            return Some(current);
        }
        let tid = Tid::try_from(event.integer(field?)? as i64).ok().filter(|tid| *tid > 0)?;
        match state.find(tid) {
            Some((_, process)) => self.thread_of(process),
            None => Some(self.threads.of_tid(tid)),
        }
    }

    /// Applies the entry of a system call.
    pub(super) fn call_entry(
        &mut self,
        state: &TraceState,
        entry: &Entry,
        event: &RecordedEvent<'_>,
        at: &At,
        log: &mut Log,
    ) {
        let Some(id) = self.caller(state, entry.thread.as_ref(), event, at) else {
            log.count(|of| &mut of.entries_without_thread);
            return;
        };
        let is_raw = entry.name == NameId::EMPTY;
        let thread = self.threads.at(id);
        thread.exit_was_raw = None;
        let mut begin = at.begin();
        if thread.call.is_open() && thread.call.is_raw != is_raw {
            // A recorder of `raw_syscalls` and `syscalls` has two events of the same entry.
            if is_raw {
                return;
            }
            begin.time = self.drop_call(id, at, log).begin.time;
        } else if thread.call.is_open() {
            let call = self.drop_call(id, at, log);
            log.count(|of| &mut of.entries_over_entry);
            self.part(state, id, &call, (Completeness::NoEnd, None), at, log);
        }
        let mut name = entry.name;
        if name == NameId::EMPTY {
            name = state.running_at(at.place).map_or(name, |process| process.submode());
        }
        let mut detail = Detail::Nothing;
        if let Some(field) = &entry.descriptor {
            let file = |field: &Input| file_of(state, at, event.integer(field));
            detail = match &entry.target {
                Some(target) => Detail::Copy(file(field), file(target)),
                None => Detail::File(file(field)),
            };
        } else if let Some(futex) = entry.futex_of(state.name(name)) {
            detail = self.futex_call(state, id, futex, event, at, log);
        } else if let Some(file) = state.running_at(at.place).and_then(|of| of.opening(name)) {
            // It has a name also if it cannot be opened.
            detail = Detail::File(file);
        }
        let call = OpenCall { begin, name, place: at.place as u32, is_raw, detail };
        self.threads.at(id).call = call;
    }

    /// Returns what a system call does with a futex, and adds a waiter.
    fn futex_call(
        &mut self,
        state: &TraceState,
        id: ThreadId,
        futex: &Futex,
        event: &RecordedEvent<'_>,
        at: &At,
        log: &mut Log,
    ) -> Detail {
        let operation = futex.operation.as_ref().and_then(|field| event.integer(field));
        let operation = operation.unwrap_or(0);
        let usage = futex.only.or_else(|| futex_use(operation));
        let Some(usage) = usage else { return Detail::Nothing };
        let address = match &futex.address {
            Some(field) => match event.integer(field) {
                Some(address) => Some(address),
                None => return Detail::Nothing,
            },
            None => None,
        };
        let facts = id.index().and_then(|at| self.threads.facts.get(at));
        let process = facts.and_then(|facts| state.find(facts.tid));
        let pid = process.and_then(|(_, process)| process.pid());
        let is_shared = address.is_some() && operation & PRIVATE == 0;
        let Some(number) = self.futexes.futex(pid, address, is_shared) else {
            log.count(|of| &mut of.dropped);
            return Detail::Nothing;
        };
        match usage {
            FutexUse::Wait => {
                self.futexes.change(number, 1, at.time, log);
                Detail::Wait(number)
            }
            FutexUse::Wake => Detail::Wake(number),
        }
    }

    /// Ends the system call of a thread that exits: `exit` and `exit_group` do not return, nor does a call in
    /// which the thread is killed.
    pub(super) fn end_call(&mut self, state: &TraceState, id: ThreadId, at: &At, log: &mut Log) {
        if self.threads.at(id).call.is_open() {
            let call = self.drop_call(id, at, log);
            self.part(state, id, &call, (Completeness::NoEnd, None), at, log);
        }
    }

    /// Adds the spans of a system call of which not all was seen, with its result.
    #[cold]
    fn part(
        &mut self,
        state: &TraceState,
        id: ThreadId,
        call: &OpenCall,
        (completeness, result): (Completeness, Option<i64>),
        at: &At,
        log: &mut Log,
    ) {
        if log.shows_parts() {
            for ending in self.endings(state, id, call) {
                log.part(|| Ending { result, ..ending }, completeness, at);
            }
        }
    }

    /// Returns the ends of an open system call in all its families, of which nothing but the entry is known.
    pub(super) fn endings(
        &mut self,
        state: &TraceState,
        id: ThreadId,
        call: &OpenCall,
    ) -> Vec<Ending> {
        let (file, target) = match call.detail {
            Detail::File(file) => (file, None),
            Detail::Copy(file, target) => (file, Some(target)),
            _ => (NameId::EMPTY, None),
        };
        let of =
            |family, subject, file| Ending { file, ..Ending::new(family, id, subject, call.begin) };
        let mut all = vec![of(Family::Syscall, call.name.index() as u32, file)];
        match call.detail {
            Detail::Wait(futex) => all.push(of(Family::Futex, futex, file)),
            Detail::Wake(_) => {}
            Detail::File(_) | Detail::Copy(..) | Detail::Nothing => {
                let family = self.families.of(state, call.name);
                all.extend(family.map(|family| of(family, file.index() as u32, file)));
                let written = target.filter(|_| transfer_of(call.name) == Some(Transfer::Copy));
                all.extend(written.map(|to| of(Family::FileWrite, to.index() as u32, to)));
            }
        }
        all
    }

    /// Drops the open system call of a thread.
    fn drop_call(&mut self, id: ThreadId, at: &At, log: &mut Log) -> OpenCall {
        let call = std::mem::replace(&mut self.threads.at(id).call, OpenCall::NONE);
        if let Detail::Wait(futex) = call.detail {
            self.futexes.change(futex, -1, at.time, log);
        }
        call
    }

    /// Applies the exit of a system call.
    #[expect(clippy::too_many_arguments, reason = "the parts of one action")]
    pub(super) fn call_exit(
        &mut self,
        state: &TraceState,
        name: NameId,
        result: Option<&Input>,
        thread: Option<&Input>,
        event: &RecordedEvent<'_>,
        at: &At,
        log: &mut Log,
    ) {
        let result = result.and_then(|field| event.integer(field)).map(|result| result as i64);
        let id = self.caller(state, thread, event, at);
        let is_raw = name == NameId::EMPTY;
        if let Some(id) = id {
            let thread = self.threads.at(id);
            let was_raw = thread.exit_was_raw.take();
            if !thread.call.is_open() && was_raw == Some(!is_raw) {
                return;
            }
        }
        let Some(id) = id.filter(|id| self.threads.at(*id).call.is_open()) else {
            let ending = || exit_alone(id.unwrap_or(ThreadId::NONE), name, result);
            log.count(|of| &mut of.exits_without_entry);
            log.part(ending, Completeness::NoBegin, at);
            return;
        };
        let call = self.drop_call(id, at, log);
        self.threads.at(id).exit_was_raw = Some(is_raw);
        // The number of a call does not tell all of its names.
        if !is_raw && !call.is_raw && name != call.name {
            log.count(|of| &mut of.exits_of_another_call);
            self.part(state, id, &call, (Completeness::NoEnd, None), at, log);
            let ending = || exit_alone(id, name, result);
            log.part(ending, Completeness::NoBegin, at);
            moved(id, name, result, at, log);
            return;
        }
        if self.lost_since(call.place, call.begin.time)
            || self.lost_since(at.place as u32, call.begin.time)
        {
            log.count(|of| &mut of.lost);
            self.part(state, id, &call, (Completeness::Lost, result), at, log);
            return;
        }
        if !log.is_on {
            return;
        }
        let error = result.filter(|result| (-MAX_ERROR..0).contains(result));
        let error = error.map(|result| result.unsigned_abs() as u16);
        let file = match call.detail {
            Detail::File(file) | Detail::Copy(file, _) => file,
            _ if self.families.of(state, call.name) == Some(Family::FileOpen) => {
                file_of(state, at, result.map(|result| result as u64))
            }
            _ => NameId::EMPTY,
        };
        let ending = |family, subject, by, bytes| {
            let more = Addition::Call { error, bytes };
            Ending { by, more, file, result, ..Ending::new(family, id, subject, call.begin) }
        };
        log.ended(ending(Family::Syscall, call.name.index() as u32, ThreadId::NONE, 0), at);
        match call.detail {
            Detail::Wait(futex) => {
                let thread = self.threads.at(id);
                let was_woken = thread.last_woken > call.begin.time;
                let waker = if was_woken { thread.waker } else { ThreadId::NONE };
                log.ended(ending(Family::Futex, futex, waker, 0), at);
                if was_woken {
                    let (family, subject) = (Family::Futex, futex);
                    log.woken(WakerKey { family, subject, waker, thread: id }, call.begin.time, at);
                }
            }
            Detail::Wake(futex) => {
                let woken = result.unwrap_or(0).max(0) as u64;
                log.put(Outcome::Wakes { futex, woken });
            }
            Detail::File(_) | Detail::Copy(..) | Detail::Nothing => {
                let Some(family) = self.families.of(state, call.name) else { return };
                let transfer = transfer_of(call.name);
                let bytes = result.and_then(|result| u64::try_from(result).ok()).unwrap_or(0);
                let bytes = transfer.map_or(0, |_| bytes);
                log.ended(ending(family, file.index() as u32, ThreadId::NONE, bytes), at);
                if transfer == Some(Transfer::Copy) {
                    let target = match call.detail {
                        Detail::Copy(_, target) => target,
                        _ => NameId::EMPTY,
                    };
                    let written = (Family::FileWrite, target.index() as u32);
                    let ending = ending(written.0, written.1, ThreadId::NONE, bytes);
                    log.ended(Ending { file: target, ..ending }, at);
                }
            }
        }
    }
}

/// Returns the end of a call whose entry was not seen.
#[cold]
fn exit_alone(thread: ThreadId, name: NameId, result: Option<i64>) -> Ending {
    let subject = name.index() as u32;
    Ending { result, ..Ending::new(Family::Syscall, thread, subject, Begin::NEVER) }
}

/// Adds the bytes that a system call moved whose entry was not seen, according to its exit.
#[cold]
fn moved(thread: ThreadId, name: NameId, result: Option<i64>, at: &At, log: &mut Log) {
    let bytes = result.and_then(|result| u64::try_from(result).ok()).unwrap_or(0);
    let Some(transfer) = transfer_of(name).filter(|_| bytes > 0) else { return };
    for (family, bytes) in
        [(Family::FileRead, transfer.read(bytes)), (Family::FileWrite, transfer.written(bytes))]
    {
        if bytes > 0 {
            let subject = NameId::EMPTY.index() as u32;
            let ending = Ending::new(family, thread, subject, Begin::NEVER);
            log.moved(Ending { result, ..ending }, bytes, at);
        }
    }
}

/// Returns the name of the file that a descriptor of the running process stands for; empty if it is
/// unknown.
fn file_of(state: &TraceState, at: &At, descriptor: Option<u64>) -> NameId {
    let descriptor = descriptor.and_then(|of| i32::try_from(of as i64).ok());
    let running = state.running_at(at.place);
    match running.zip(descriptor.filter(|of| *of >= 0)) {
        Some((running, descriptor)) => state.file_name(running, descriptor),
        None => NameId::EMPTY,
    }
}

/// The families of the system calls that use files, by name.
#[derive(Debug, Clone, Default)]
pub(super) struct FileFamilies(Vec<Option<Option<Family>>>);

impl FileFamilies {
    /// Returns the family of a system call; `None` if it uses no files.
    #[inline]
    fn of(&mut self, state: &TraceState, name: NameId) -> Option<Family> {
        match self.0.get(name.index()) {
            Some(Some(family)) => *family,
            _ => self.find(state, name),
        }
    }

    #[cold]
    fn find(&mut self, state: &TraceState, name: NameId) -> Option<Family> {
        let family = file_family(state.name(name));
        if self.0.len() <= name.index() {
            self.0.resize(name.index() + 1, None);
        }
        self.0[name.index()] = Some(family);
        family
    }
}
