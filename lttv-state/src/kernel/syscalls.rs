//! System calls whose arguments or results matter to the state or to statistics.

use super::names::NameId;

/// The effect of a system call on open files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAction {
    /// No effect that is tracked.
    None,
    /// The result is a descriptor of the file named by an argument.
    Open,
    /// The descriptor in an argument is closed.
    Close,
    /// The result is another descriptor of the file of an argument.
    Duplicate,
}

/// The direction in which a system call moved data; its result is the number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transfer {
    /// The process read the bytes.
    Read,
    /// The process wrote the bytes.
    Write,
}

/// A system call with tracked arguments or results.
#[derive(Debug)]
pub(super) struct Syscall {
    pub(super) name: &'static str,
    pub(super) files: FileAction,
    pub(super) transfer: Option<Transfer>,
}

/// Returns the effect of the system call with a name on open files.
#[inline]
pub(super) fn file_action(name: NameId) -> FileAction {
    name.known_syscall().map_or(FileAction::None, |at| SYSCALLS[at].files)
}

/// Describes a system call that reads.
const fn read(name: &'static str) -> Syscall {
    Syscall { name, files: FileAction::None, transfer: Some(Transfer::Read) }
}

/// Describes a system call that writes.
const fn write(name: &'static str) -> Syscall {
    Syscall { name, files: FileAction::None, transfer: Some(Transfer::Write) }
}

/// Describes a system call that opens, closes or duplicates files.
const fn files(name: &'static str, files: FileAction) -> Syscall {
    Syscall { name, files, transfer: None }
}

/// The tracked system calls. Calls that copy from one file to another (`splice`,
/// `sendfile`) are left out, because their data does not reach the process.
pub(super) static SYSCALLS: &[Syscall] = &[
    read("read"),
    read("readv"),
    read("pread"),
    read("pread64"),
    read("preadv"),
    read("preadv2"),
    read("recv"),
    read("recvfrom"),
    read("recvmsg"),
    write("write"),
    write("writev"),
    write("pwrite"),
    write("pwrite64"),
    write("pwritev"),
    write("pwritev2"),
    write("send"),
    write("sendto"),
    write("sendmsg"),
    files("open", FileAction::Open),
    files("openat", FileAction::Open),
    files("openat2", FileAction::Open),
    files("creat", FileAction::Open),
    files("close", FileAction::Close),
    files("dup", FileAction::Duplicate),
    files("dup2", FileAction::Duplicate),
    files("dup3", FileAction::Duplicate),
];
