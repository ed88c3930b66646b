//! System calls whose arguments or results matter to state or statistics.

/// What a system call does to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAction {
    /// Nothing of interest.
    None,
    /// Its result is a descriptor of the file named by its argument.
    Open,
    /// Closes its argument.
    Close,
    /// Its result is another descriptor of its argument's file.
    Duplicate,
}

/// What the result of a system call counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transfer {
    /// Bytes read by the process.
    Read,
    /// Bytes written by the process.
    Write,
}

/// A system call that matters.
#[derive(Debug)]
pub(super) struct Syscall {
    pub(super) name: &'static str,
    pub(super) files: FileAction,
    pub(super) transfer: Option<Transfer>,
}

const fn read(name: &'static str) -> Syscall {
    Syscall { name, files: FileAction::None, transfer: Some(Transfer::Read) }
}

const fn write(name: &'static str) -> Syscall {
    Syscall { name, files: FileAction::None, transfer: Some(Transfer::Write) }
}

const fn files(name: &'static str, files: FileAction) -> Syscall {
    Syscall { name, files, transfer: None }
}

/// All of them. Those that copy from one file to another (`splice`, `sendfile`)
/// are left out: nothing of that reaches the process.
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
