//! Open files, and the bytes that system calls read and write.

use std::sync::Arc;

use super::{At, TraceState};
use crate::kernel::Tid;
use crate::kernel::names::NameId;
use crate::kernel::process::Process;
use crate::kernel::syscalls::{FileAction, SYSCALLS, Transfer};
use crate::kernel::table::ProcessIndex;

/// The maximum number of open files of a process.
const MAX_FILES: usize = 1 << 16;

impl TraceState {
    /// Notes the name of the file that the starting system call opens if it succeeds.
    pub(in crate::kernel) fn opening(&mut self, at: At, name: &[u8]) {
        let name = self.intern(name);
        let ix = self.current(at);
        self.processes.get_mut(ix).opening = name;
    }

    /// Notes the name of the file whose descriptor the starting system call duplicates.
    pub(in crate::kernel) fn duplicating(&mut self, at: At, fd: i32) {
        let ix = self.current(at);
        let owner = self.owner(ix);
        let files = &self.processes.get(owner).files;
        if let Ok(at) = files.binary_search_by_key(&fd, |file| file.0) {
            let name = files[at].1;
            self.processes.get_mut(ix).opening = name;
        }
    }

    /// Applies the result of a system call: a new descriptor, or the number of bytes moved.
    #[inline]
    pub(in crate::kernel) fn syscall_result(&mut self, at: At, name: NameId, result: i64) {
        let ix = self.current(at);
        if self.processes.get(ix).tid == Some(0) {
            return;
        }
        let mut opening = self.processes.get(ix).opening;
        if opening != NameId::EMPTY {
            opening = std::mem::take(&mut self.processes.get_mut(ix).opening);
        }
        let Some(syscall) = name.known_syscall().map(|at| &SYSCALLS[at]) else { return };
        if let Some(transfer) = syscall.transfer
            && result > 0
        {
            self.effect.rare_mut().transferred = Some((ix, transfer, result as u64));
        }
        if matches!(syscall.files, FileAction::Open | FileAction::Duplicate)
            && opening != NameId::EMPTY
            && let Ok(fd @ 0..) = i32::try_from(result)
        {
            self.open(ix, fd, opening);
        }
    }

    /// Notes that the running process reads or writes a number of bytes.
    pub(in crate::kernel) fn transfer(&mut self, at: At, transfer: Transfer, bytes: u64) {
        if bytes > 0 {
            self.effect.rare_mut().transferred = Some((self.current(at), transfer, bytes));
        }
    }

    /// Adds an open file to the running process.
    pub(in crate::kernel) fn opened(&mut self, at: At, fd: i32, name: &[u8]) {
        let name = self.intern(name);
        self.open(self.current(at), fd, name);
    }

    /// Removes a descriptor that the running process closes.
    pub(in crate::kernel) fn close(&mut self, at: At, fd: i32) {
        let owner = self.owner(self.current(at));
        let files = &self.processes.get(owner).files;
        if let Ok(at) = files.binary_search_by_key(&fd, |file| file.0) {
            Arc::make_mut(&mut self.processes.get_mut(owner).files).remove(at);
        }
    }

    /// Adds an open file from a dump, to a process or to the process with a file table.
    pub(in crate::kernel) fn dumped_file(
        &mut self,
        at: At,
        (tid, table): (Option<Tid>, Option<u64>),
        fd: i32,
        name: &[u8],
    ) {
        let name = self.intern(name);
        // The dump may tell the files of a process before the process.
        let tid = tid.filter(|tid| *tid > 0);
        if let Some(ix) = tid.and_then(|tid| self.find_or_add(at.place, tid, at.time)) {
            self.open(ix, fd, name);
        } else if let Some(table) = table {
            let mine = self.file_tables.get(&table).copied();
            if let Some(ix) = mine.filter(|ix| self.processes.checked(*ix).is_some()) {
                self.open(ix, fd, name);
            }
        }
    }

    /// Adds a descriptor to the files of a process, or replaces its name.
    fn open(&mut self, ix: ProcessIndex, fd: i32, name: NameId) {
        let owner = self.owner(ix);
        let files = Arc::make_mut(&mut self.processes.get_mut(owner).files);
        match files.binary_search_by_key(&fd, |file| file.0) {
            Ok(at) => files[at].1 = name,
            Err(at) if files.len() < MAX_FILES => files.insert(at, (fd, name)),
            Err(_) => {}
        }
    }

    /// Returns the name of an open file of a process; empty if it is unknown.
    pub(crate) fn file_name(&self, process: &Process, descriptor: i32) -> NameId {
        let first = process.pid().and_then(|pid| self.find(pid)).map(|(_, first)| first);
        let named = first.into_iter().chain([process]).find_map(|process| {
            let files = process.files();
            let at = files.binary_search_by_key(&descriptor, |file| file.0).ok()?;
            Some(files[at].1)
        });
        named.unwrap_or(NameId::EMPTY)
    }

    /// Returns the process that owns the files of a thread: the first one of its thread
    /// group, or the thread itself if the first one is unknown.
    fn owner(&self, ix: ProcessIndex) -> ProcessIndex {
        let process = self.processes.get(ix);
        let first = process.pid.filter(|pid| Some(*pid) != process.tid);
        first.and_then(|pid| self.processes.find(pid)).unwrap_or(ix)
    }
}
