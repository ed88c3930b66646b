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
    /// The process read the bytes from one file and wrote them to another, without having them in its memory.
    Copy,
}

impl Transfer {
    /// Returns the number of bytes that were read, of those that were moved.
    pub fn read(self, bytes: u64) -> u64 {
        if self == Transfer::Write { 0 } else { bytes }
    }

    /// Returns the number of bytes that were written, of those that were moved.
    pub fn written(self, bytes: u64) -> u64 {
        if self == Transfer::Read { 0 } else { bytes }
    }
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

/// Returns how the system call with a name moves the bytes of its result; `None` if it moves none.
#[cfg(feature = "analyses")]
#[inline]
pub(crate) fn transfer_of(name: NameId) -> Option<Transfer> {
    SYSCALLS[name.known_syscall()?].transfer
}

/// Describes a system call that reads.
const fn read(name: &'static str) -> Syscall {
    Syscall { name, files: FileAction::None, transfer: Some(Transfer::Read) }
}

/// Describes a system call that writes.
const fn write(name: &'static str) -> Syscall {
    Syscall { name, files: FileAction::None, transfer: Some(Transfer::Write) }
}

/// Describes a system call that copies from one file to another.
const fn copy(name: &'static str) -> Syscall {
    Syscall { name, files: FileAction::None, transfer: Some(Transfer::Copy) }
}

/// Describes a system call that opens, closes or duplicates files.
const fn files(name: &'static str, files: FileAction) -> Syscall {
    Syscall { name, files, transfer: None }
}

/// The tracked system calls. The results of those that read, write or copy are numbers of bytes, so
/// that `recvmmsg` and `sendmmsg`, which return numbers of messages, are not among them.
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
    write("vmsplice"),
    copy("sendfile"),
    copy("sendfile64"),
    copy("splice"),
    copy("tee"),
    copy("copy_file_range"),
    files("open", FileAction::Open),
    files("openat", FileAction::Open),
    files("openat2", FileAction::Open),
    files("creat", FileAction::Open),
    files("close", FileAction::Close),
    files("dup", FileAction::Duplicate),
    files("dup2", FileAction::Duplicate),
    files("dup3", FileAction::Duplicate),
];
