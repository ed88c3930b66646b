//! Open files, and the bytes that system calls read and write.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use super::{At, TraceState};
use crate::kernel::Tid;
use crate::kernel::names::NameId;
use crate::kernel::process::{OpenFile, Process};
use crate::kernel::syscalls::{FileAction, SYSCALLS, Transfer};
use crate::kernel::table::ProcessIndex;

/// The maximum number of open files of a process.
const MAX_FILES: usize = 1 << 16;

impl TraceState {
    /// Notes the name of the file that the starting system call opens if it succeeds.
    pub(in crate::kernel) fn opening(&mut self, at: At, name: &[u8], closes_on_exec: bool) {
        let name = self.intern(name);
        let ix = self.current(at);
        let process = self.processes.get_mut(ix);
        (process.opening, process.opening_closes_on_exec) = (name, closes_on_exec);
    }

    /// Notes the name of the file whose descriptor the starting system call duplicates.
    pub(in crate::kernel) fn duplicating(&mut self, at: At, fd: i32, closes_on_exec: bool) {
        let ix = self.current(at);
        let owner = self.owner(ix);
        if let Some(name) = named(&self.processes.get(owner).files, fd) {
            let process = self.processes.get_mut(ix);
            (process.opening, process.opening_closes_on_exec) = (name, closes_on_exec);
        }
    }

    /// Applies the result of a system call: a new descriptor, or the number of bytes moved. The names are
    /// those of the call, if its entry was seen, and of the exit, if it has one. `pair` reads two new descriptors.
    #[inline]
    pub(in crate::kernel) fn syscall_result(
        &mut self,
        at: At,
        (name, own): (Option<NameId>, Option<NameId>),
        result: i64,
        pair: impl FnOnce() -> Option<[i32; 2]>,
    ) {
        let ix = self.current(at);
        if self.processes.get(ix).tid == Some(0) {
            return;
        }
        let mut opening = self.processes.get(ix).opening;
        if opening != NameId::EMPTY {
            opening = std::mem::take(&mut self.processes.get_mut(ix).opening);
        }
        let known = |name: Option<NameId>| Some(&SYSCALLS[name?.known_syscall()?]);
        let syscall = known(name);
        if let Some(transfer) = syscall.and_then(|syscall| syscall.transfer)
            && result > 0
        {
            self.effect.rare_mut().transferred = Some((ix, transfer, result as u64));
        }
        let action =
            syscall.or_else(|| known(own)).map_or(FileAction::None, |syscall| syscall.files);
        // Also without its entry, the name of the call tells what it creates.
        if let FileAction::Create(object) | FileAction::CreatePair(object) = action
            && opening == NameId::EMPTY
            && result >= 0
        {
            opening = self.intern(object.as_bytes());
            self.processes.get_mut(ix).opening_closes_on_exec = false;
        }
        if opening == NameId::EMPTY || result < 0 {
            return;
        }
        let new = match action {
            FileAction::None | FileAction::Close | FileAction::CloseRange => return,
            FileAction::Open
            | FileAction::Create(_)
            | FileAction::Duplicate
            | FileAction::Control => [i32::try_from(result).ok(), None],
            FileAction::CreatePair(_) => pair().unwrap_or([-1; 2]).map(Some),
        };
        let closes_on_exec = self.processes.get(ix).opening_closes_on_exec;
        for descriptor in new.into_iter().flatten().filter(|descriptor| *descriptor >= 0) {
            self.open(ix, OpenFile { descriptor, name: opening, closes_on_exec });
        }
    }

    /// Notes that the running process reads or writes a number of bytes.
    pub(in crate::kernel) fn transfer(&mut self, at: At, transfer: Transfer, bytes: u64) {
        if bytes > 0 {
            self.effect.rare_mut().transferred = Some((self.current(at), transfer, bytes));
        }
    }

    /// Adds an open file to the running process.
    pub(in crate::kernel) fn opened(&mut self, at: At, descriptor: i32, name: &[u8]) {
        let name = self.intern(name);
        self.open(self.current(at), OpenFile { descriptor, name, closes_on_exec: false });
    }

    /// Removes descriptors that the running process closes.
    pub(in crate::kernel) fn close(&mut self, at: At, range: RangeInclusive<i32>) {
        let owner = self.owner(self.current(at));
        let places = places(&self.processes.get(owner).files, range);
        if !places.is_empty() {
            Arc::make_mut(&mut self.processes.get_mut(owner).files).drain(places);
        }
    }

    /// Sets whether the execution of a program closes descriptors of the running process.
    pub(in crate::kernel) fn set_close_on_exec(
        &mut self,
        at: At,
        range: RangeInclusive<i32>,
        closes_on_exec: bool,
    ) {
        let owner = self.owner(self.current(at));
        let places = places(&self.processes.get(owner).files, range);
        if !places.is_empty() {
            let files = Arc::make_mut(&mut self.processes.get_mut(owner).files);
            files[places].iter_mut().for_each(|file| file.closes_on_exec = closes_on_exec);
        }
    }

    /// Gives a thread the files of its group, whose first thread it replaces.
    pub(super) fn take_files_of_group(&mut self, ix: ProcessIndex) {
        let files = self.processes.get(self.owner(ix)).files.clone();
        self.processes.get_mut(ix).files = files;
    }

    /// Removes the files that are closed when a process executes a program.
    pub(super) fn close_on_exec(&mut self, ix: ProcessIndex) {
        let owner = self.owner(ix);
        if self.processes.get(owner).files.iter().any(|file| file.closes_on_exec) {
            let files = Arc::make_mut(&mut self.processes.get_mut(owner).files);
            files.retain(|file| !file.closes_on_exec);
        }
    }

    /// Adds an open file from a dump, to a process or to the process with a file table.
    pub(in crate::kernel) fn dumped_file(
        &mut self,
        at: At,
        (tid, table): (Option<Tid>, Option<u64>),
        (descriptor, closes_on_exec): (i32, bool),
        name: &[u8],
    ) {
        let file = OpenFile { descriptor, name: self.intern(name), closes_on_exec };
        // The dump may tell the files of a process before the process.
        let tid = tid.filter(|tid| *tid > 0);
        if let Some(ix) = tid.and_then(|tid| self.find_or_add(at.place, tid, at.time)) {
            self.open(ix, file);
        } else if let Some(table) = table {
            let mine = self.file_tables.get(&table).copied();
            if let Some(ix) = mine.filter(|ix| self.processes.checked(*ix).is_some()) {
                self.open(ix, file);
            }
        }
    }

    /// Adds an open file to those of a process, or replaces that of its descriptor.
    fn open(&mut self, ix: ProcessIndex, file: OpenFile) {
        let owner = self.owner(ix);
        let files = Arc::make_mut(&mut self.processes.get_mut(owner).files);
        match files.binary_search_by_key(&file.descriptor, |file| file.descriptor) {
            Ok(at) => files[at] = file,
            Err(at) if files.len() < MAX_FILES => files.insert(at, file),
            Err(_) => {}
        }
    }

    /// Returns the name of an open file of a process; empty if it is unknown.
    pub(crate) fn file_name(&self, process: &Process, descriptor: i32) -> NameId {
        let first = process.pid().and_then(|pid| self.find(pid)).map(|(_, first)| first);
        let mut known = first.into_iter().chain([process]);
        known.find_map(|process| named(process.files(), descriptor)).unwrap_or(NameId::EMPTY)
    }

    /// Returns the process that owns the files of a thread: the first one of its thread
    /// group, or the thread itself if the first one is unknown.
    fn owner(&self, ix: ProcessIndex) -> ProcessIndex {
        let process = self.processes.get(ix);
        let first = process.pid.filter(|pid| Some(*pid) != process.tid);
        first.and_then(|pid| self.processes.find(pid)).unwrap_or(ix)
    }
}

/// Returns the name of an open file, if it is known.
fn named(files: &[OpenFile], descriptor: i32) -> Option<NameId> {
    let at = files.binary_search_by_key(&descriptor, |file| file.descriptor).ok()?;
    Some(files[at].name)
}

/// Returns the places of the files in a range of descriptors.
fn places(files: &[OpenFile], range: RangeInclusive<i32>) -> Range<usize> {
    let begin = files.partition_point(|file| file.descriptor < *range.start());
    let end = files.partition_point(|file| file.descriptor <= *range.end());
    begin..end.max(begin)
}
