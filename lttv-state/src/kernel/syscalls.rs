//! System calls whose arguments or results matter to the state or to statistics.

use super::names::NameId;

/// The effect of a system call on open files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAction {
    /// No effect that is tracked.
    None,
    /// The result is a descriptor of the file named by an argument.
    Open,
    /// The result is a descriptor of a new object without a path, which has this name.
    Create(&'static str),
    /// The exit has an array of two descriptors of a new object, which has this name.
    CreatePair(&'static str),
    /// The descriptor in an argument is closed.
    Close,
    /// The descriptors between two arguments are closed.
    CloseRange,
    /// The result is another descriptor of the file of an argument.
    Duplicate,
    /// An argument says what is done with the descriptor in another one.
    Control,
}

/// The flag of a new descriptor that the execution of a program closes it. `SOCK_CLOEXEC`, `EFD_CLOEXEC` and the like
/// have the same value.
pub(super) const O_CLOEXEC: u64 = 0o2_000_000;
/// The flag of `close_range` that the descriptors are not closed before a program is executed.
pub(super) const CLOSE_RANGE_CLOEXEC: u64 = 4;
/// The commands of `fcntl` for another descriptor of the same file.
pub(super) const F_DUPFD: u64 = 0;
pub(super) const F_DUPFD_CLOEXEC: u64 = 1030;
/// The command of `fcntl` for the flags of a descriptor, and the only one of these flags.
pub(super) const F_SETFD: u64 = 2;
pub(super) const FD_CLOEXEC: u64 = 1;

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
    files("close_range", FileAction::CloseRange),
    files("fcntl", FileAction::Control),
    files("fcntl64", FileAction::Control),
    files("socket", FileAction::Create("socket")),
    files("accept", FileAction::Create("socket")),
    files("accept4", FileAction::Create("socket")),
    files("socketpair", FileAction::CreatePair("socket")),
    files("pipe", FileAction::CreatePair("pipe")),
    files("pipe2", FileAction::CreatePair("pipe")),
    files("epoll_create", FileAction::Create("anon_inode:[eventpoll]")),
    files("epoll_create1", FileAction::Create("anon_inode:[eventpoll]")),
    files("eventfd", FileAction::Create("anon_inode:[eventfd]")),
    files("eventfd2", FileAction::Create("anon_inode:[eventfd]")),
    files("signalfd4", FileAction::Create("anon_inode:[signalfd]")),
    files("timerfd_create", FileAction::Create("anon_inode:[timerfd]")),
    files("inotify_init", FileAction::Create("anon_inode:inotify")),
    files("inotify_init1", FileAction::Create("anon_inode:inotify")),
    files("dup", FileAction::Duplicate),
    files("dup2", FileAction::Duplicate),
    files("dup3", FileAction::Duplicate),
];
