//! The system calls that use files, and those that use futexes.

use super::family::Family;

/// The system calls that open files or sockets.
const OPEN: [&str; 12] = [
    "open",
    "openat",
    "openat2",
    "creat",
    "socket",
    "socketpair",
    "accept",
    "accept4",
    "pipe",
    "pipe2",
    "memfd_create",
    "open_by_handle_at",
];
/// The system calls that read from a descriptor. Those that copy to another one also count as writes.
const READ: [&str; 18] = [
    "read",
    "readv",
    "pread",
    "pread64",
    "preadv",
    "preadv2",
    "recv",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "getdents",
    "getdents64",
    "readahead",
    "sendfile",
    "sendfile64",
    "splice",
    "tee",
    "copy_file_range",
];
/// The system calls that write to a descriptor.
const WRITE: [&str; 11] = [
    "write", "writev", "pwrite", "pwrite64", "pwritev", "pwritev2", "send", "sendto", "sendmsg",
    "sendmmsg", "vmsplice",
];
/// The system calls that flush files.
const SYNC: [&str; 8] = [
    "sync",
    "syncfs",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "sync_file_range2",
    "msync",
    "arm_sync_file_range",
];

/// Returns the family of a system call that uses files; `None` for others.
pub(crate) fn file_family(name: &str) -> Option<Family> {
    let families: [(&[&str], Family); 4] = [
        (&OPEN, Family::FileOpen),
        (&READ, Family::FileRead),
        (&WRITE, Family::FileWrite),
        (&SYNC, Family::FileSync),
    ];
    families.into_iter().find(|(names, _)| names.contains(&name)).map(|(_, family)| family)
}

/// The effect of an operation of the system call `futex`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FutexUse {
    Wait,
    Wake,
}

/// The bit of operations on futexes of one process only.
pub(crate) const PRIVATE: u64 = 128;

/// Returns what an operation of the system call `futex` does; `None` if neither wait nor wake.
pub(crate) fn futex_use(operation: u64) -> Option<FutexUse> {
    match operation & 0x7f {
        0 | 6 | 9 | 11 | 13 => Some(FutexUse::Wait),
        1 | 3 | 4 | 5 | 7 | 10 | 12 => Some(FutexUse::Wake),
        _ => None,
    }
}
