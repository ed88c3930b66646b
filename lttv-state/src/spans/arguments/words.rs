//! The names of numbers in arguments and results of system calls.
//!
//! The values are those of the kernel's headers for x86 and the generic architectures
//! (`asm-generic/errno.h`, `asm-generic/fcntl.h`, `uapi/linux`).

/// The names of error numbers, from 1.
const ERRORS: [&str; 133] = [
    "EPERM",
    "ENOENT",
    "ESRCH",
    "EINTR",
    "EIO",
    "ENXIO",
    "E2BIG",
    "ENOEXEC",
    "EBADF",
    "ECHILD",
    "EAGAIN",
    "ENOMEM",
    "EACCES",
    "EFAULT",
    "ENOTBLK",
    "EBUSY",
    "EEXIST",
    "EXDEV",
    "ENODEV",
    "ENOTDIR",
    "EISDIR",
    "EINVAL",
    "ENFILE",
    "EMFILE",
    "ENOTTY",
    "ETXTBSY",
    "EFBIG",
    "ENOSPC",
    "ESPIPE",
    "EROFS",
    "EMLINK",
    "EPIPE",
    "EDOM",
    "ERANGE",
    "EDEADLK",
    "ENAMETOOLONG",
    "ENOLCK",
    "ENOSYS",
    "ENOTEMPTY",
    "ELOOP",
    "",
    "ENOMSG",
    "EIDRM",
    "ECHRNG",
    "EL2NSYNC",
    "EL3HLT",
    "EL3RST",
    "ELNRNG",
    "EUNATCH",
    "ENOCSI",
    "EL2HLT",
    "EBADE",
    "EBADR",
    "EXFULL",
    "ENOANO",
    "EBADRQC",
    "EBADSLT",
    "",
    "EBFONT",
    "ENOSTR",
    "ENODATA",
    "ETIME",
    "ENOSR",
    "ENONET",
    "ENOPKG",
    "EREMOTE",
    "ENOLINK",
    "EADV",
    "ESRMNT",
    "ECOMM",
    "EPROTO",
    "EMULTIHOP",
    "EDOTDOT",
    "EBADMSG",
    "EOVERFLOW",
    "ENOTUNIQ",
    "EBADFD",
    "EREMCHG",
    "ELIBACC",
    "ELIBBAD",
    "ELIBSCN",
    "ELIBMAX",
    "ELIBEXEC",
    "EILSEQ",
    "ERESTART",
    "ESTRPIPE",
    "EUSERS",
    "ENOTSOCK",
    "EDESTADDRREQ",
    "EMSGSIZE",
    "EPROTOTYPE",
    "ENOPROTOOPT",
    "EPROTONOSUPPORT",
    "ESOCKTNOSUPPORT",
    "EOPNOTSUPP",
    "EPFNOSUPPORT",
    "EAFNOSUPPORT",
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "ENETDOWN",
    "ENETUNREACH",
    "ENETRESET",
    "ECONNABORTED",
    "ECONNRESET",
    "ENOBUFS",
    "EISCONN",
    "ENOTCONN",
    "ESHUTDOWN",
    "ETOOMANYREFS",
    "ETIMEDOUT",
    "ECONNREFUSED",
    "EHOSTDOWN",
    "EHOSTUNREACH",
    "EALREADY",
    "EINPROGRESS",
    "ESTALE",
    "EUCLEAN",
    "ENOTNAM",
    "ENAVAIL",
    "EISNAM",
    "EREMOTEIO",
    "EDQUOT",
    "ENOMEDIUM",
    "EMEDIUMTYPE",
    "ECANCELED",
    "ENOKEY",
    "EKEYEXPIRED",
    "EKEYREVOKED",
    "EKEYREJECTED",
    "EOWNERDEAD",
    "ENOTRECOVERABLE",
    "ERFKILL",
    "EHWPOISON",
];

/// Returns the name of an error number, such as `ENOENT`; `None` if it has none.
pub fn error_name(number: u16) -> Option<&'static str> {
    let name = match number {
        // Numbers of the kernel's own, which traces of its calls contain.
        512 => "ERESTARTSYS",
        513 => "ERESTARTNOINTR",
        514 => "ERESTARTNOHAND",
        515 => "ENOIOCTLCMD",
        516 => "ERESTART_RESTARTBLOCK",
        number => ERRORS.get(usize::from(number).checked_sub(1)?).copied()?,
    };
    Some(name).filter(|name| !name.is_empty())
}

/// Returns the number of an error with a name, in any case; `None` if there is none.
pub fn error_number(name: &str) -> Option<u16> {
    (1..=516).find(|number| error_name(*number).is_some_and(|of| of.eq_ignore_ascii_case(name)))
}

/// The names of signals, from 0.
const SIGNALS: [&str; 32] = [
    "",
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// Returns the name of a signal, such as `SIGKILL`; `None` of those for real time and others.
pub(super) fn signal_name(number: u64) -> Option<&'static str> {
    let name = SIGNALS.get(usize::try_from(number).ok()?)?;
    Some(*name).filter(|name| !name.is_empty())
}

/// The bits of a number with names. The lowest bits may be one of several values instead.
#[derive(Debug)]
pub(super) struct Bits {
    /// The bits that contain one of the values.
    mask: u64,
    values: &'static [&'static str],
    bits: &'static [(u64, &'static str)],
}

impl Bits {
    /// Writes a number as names, separated by `|`; the rest in hexadecimal.
    pub(super) fn write(&self, number: u64, out: &mut String) {
        let start = out.len();
        let value = number & self.mask;
        let mut rest = number & !self.mask;
        match self.values.get(value as usize) {
            Some(name) => out.push_str(name),
            None => rest = number,
        }
        for (bits, name) in self.bits.iter().filter(|(bits, _)| *bits > 0) {
            if rest & bits == *bits {
                rest &= !bits;
                out.push_str(if out.len() > start { "|" } else { "" });
                out.push_str(name);
            }
        }
        if rest > 0 || out.len() == start {
            out.push_str(if out.len() > start { "|" } else { "" });
            match rest {
                0 => out.push('0'),
                rest => out.push_str(&format!("{rest:#x}")),
            }
        }
    }
}

/// The flags of `open`.
pub(super) const OPEN: Bits = Bits {
    mask: 0o3,
    values: &["O_RDONLY", "O_WRONLY", "O_RDWR"],
    bits: &[
        (0o100, "O_CREAT"),
        (0o200, "O_EXCL"),
        (0o400, "O_NOCTTY"),
        (0o1000, "O_TRUNC"),
        (0o2000, "O_APPEND"),
        (0o4000, "O_NONBLOCK"),
        (0o4010000, "O_SYNC"),
        (0o10000, "O_DSYNC"),
        (0o40000, "O_DIRECT"),
        (0o100000, "O_LARGEFILE"),
        (0o20200000, "O_TMPFILE"),
        (0o200000, "O_DIRECTORY"),
        (0o400000, "O_NOFOLLOW"),
        (0o1000000, "O_NOATIME"),
        (0o2000000, "O_CLOEXEC"),
        (0o10000000, "O_PATH"),
    ],
};

/// The protection of `mmap` and `mprotect`.
pub(super) const PROTECTION: Bits = Bits {
    mask: 0x7,
    values: &[
        "PROT_NONE",
        "PROT_READ",
        "PROT_WRITE",
        "PROT_READ|PROT_WRITE",
        "PROT_EXEC",
        "PROT_READ|PROT_EXEC",
        "PROT_WRITE|PROT_EXEC",
        "PROT_READ|PROT_WRITE|PROT_EXEC",
    ],
    bits: &[(0x100_0000, "PROT_GROWSDOWN"), (0x200_0000, "PROT_GROWSUP")],
};

/// The flags of `mmap`.
pub(super) const MAPPING: Bits = Bits {
    mask: 0x3,
    values: &["0", "MAP_SHARED", "MAP_PRIVATE", "MAP_SHARED_VALIDATE"],
    bits: &[
        (0x10, "MAP_FIXED"),
        (0x20, "MAP_ANONYMOUS"),
        (0x100, "MAP_GROWSDOWN"),
        (0x800, "MAP_DENYWRITE"),
        (0x1000, "MAP_EXECUTABLE"),
        (0x2000, "MAP_LOCKED"),
        (0x4000, "MAP_NORESERVE"),
        (0x8000, "MAP_POPULATE"),
        (0x1_0000, "MAP_NONBLOCK"),
        (0x2_0000, "MAP_STACK"),
        (0x4_0000, "MAP_HUGETLB"),
        (0x10_0000, "MAP_FIXED_NOREPLACE"),
    ],
};

/// The type of `socket`.
pub(super) const SOCKET: Bits = Bits {
    mask: 0xf,
    values: &[
        "0",
        "SOCK_STREAM",
        "SOCK_DGRAM",
        "SOCK_RAW",
        "SOCK_RDM",
        "SOCK_SEQPACKET",
        "SOCK_DCCP",
        "7",
        "8",
        "9",
        "SOCK_PACKET",
    ],
    bits: &[(0o4000, "SOCK_NONBLOCK"), (0o2000000, "SOCK_CLOEXEC")],
};

/// The operation of `futex`.
pub(super) const FUTEX: Bits = Bits {
    mask: 0x7f,
    values: &[
        "FUTEX_WAIT",
        "FUTEX_WAKE",
        "FUTEX_FD",
        "FUTEX_REQUEUE",
        "FUTEX_CMP_REQUEUE",
        "FUTEX_WAKE_OP",
        "FUTEX_LOCK_PI",
        "FUTEX_UNLOCK_PI",
        "FUTEX_TRYLOCK_PI",
        "FUTEX_WAIT_BITSET",
        "FUTEX_WAKE_BITSET",
        "FUTEX_WAIT_REQUEUE_PI",
        "FUTEX_CMP_REQUEUE_PI",
        "FUTEX_LOCK_PI2",
    ],
    bits: &[(0x80, "FUTEX_PRIVATE_FLAG"), (0x100, "FUTEX_CLOCK_REALTIME")],
};

/// The flags of `clone`, with the signal in the low byte, which is written by number.
pub(super) const CLONE: Bits = Bits {
    mask: 0,
    values: &[],
    bits: &[
        (0x100, "CLONE_VM"),
        (0x200, "CLONE_FS"),
        (0x400, "CLONE_FILES"),
        (0x800, "CLONE_SIGHAND"),
        (0x2000, "CLONE_PTRACE"),
        (0x4000, "CLONE_VFORK"),
        (0x8000, "CLONE_PARENT"),
        (0x1_0000, "CLONE_THREAD"),
        (0x2_0000, "CLONE_NEWNS"),
        (0x4_0000, "CLONE_SYSVSEM"),
        (0x8_0000, "CLONE_SETTLS"),
        (0x10_0000, "CLONE_PARENT_SETTID"),
        (0x20_0000, "CLONE_CHILD_CLEARTID"),
        (0x100_0000, "CLONE_CHILD_SETTID"),
        (0x11, "SIGCHLD"),
    ],
};

/// The events of `poll`.
pub(super) const POLL: Bits = Bits {
    mask: 0,
    values: &[],
    bits: &[
        (0x1, "POLLIN"),
        (0x2, "POLLPRI"),
        (0x4, "POLLOUT"),
        (0x8, "POLLERR"),
        (0x10, "POLLHUP"),
        (0x20, "POLLNVAL"),
    ],
};

/// The families of sockets, from 0.
pub(super) const FAMILIES: &[&str] = &[
    "AF_UNSPEC",
    "AF_UNIX",
    "AF_INET",
    "AF_AX25",
    "AF_IPX",
    "AF_APPLETALK",
    "AF_NETROM",
    "AF_BRIDGE",
    "AF_ATMPVC",
    "AF_X25",
    "AF_INET6",
    "AF_ROSE",
    "AF_DECNET",
    "AF_NETBEUI",
    "AF_SECURITY",
    "AF_KEY",
    "AF_NETLINK",
    "AF_PACKET",
];

/// The origins of `lseek`, from 0.
pub(super) const WHENCE: &[&str] = &["SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE"];

/// The operations of `epoll_ctl`, from 0.
pub(super) const EPOLL: &[&str] = &["0", "EPOLL_CTL_ADD", "EPOLL_CTL_DEL", "EPOLL_CTL_MOD"];

/// The commands of `fcntl`, from 0.
pub(super) const FCNTL: &[&str] = &[
    "F_DUPFD", "F_GETFD", "F_SETFD", "F_GETFL", "F_SETFL", "F_GETLK", "F_SETLK", "F_SETLKW",
    "F_SETOWN", "F_GETOWN",
];

/// The clocks of `clock_gettime` and others, from 0.
pub(super) const CLOCKS: &[&str] = &[
    "CLOCK_REALTIME",
    "CLOCK_MONOTONIC",
    "CLOCK_PROCESS_CPUTIME_ID",
    "CLOCK_THREAD_CPUTIME_ID",
    "CLOCK_MONOTONIC_RAW",
    "CLOCK_REALTIME_COARSE",
    "CLOCK_MONOTONIC_COARSE",
    "CLOCK_BOOTTIME",
    "CLOCK_REALTIME_ALARM",
    "CLOCK_BOOTTIME_ALARM",
];

/// The advice of `madvise`, from 0.
pub(super) const ADVICE: &[&str] = &[
    "MADV_NORMAL",
    "MADV_RANDOM",
    "MADV_SEQUENTIAL",
    "MADV_WILLNEED",
    "MADV_DONTNEED",
    "5",
    "6",
    "7",
    "MADV_FREE",
    "MADV_REMOVE",
    "MADV_DONTFORK",
    "MADV_DOFORK",
    "MADV_MERGEABLE",
    "MADV_UNMERGEABLE",
    "MADV_HUGEPAGE",
    "MADV_NOHUGEPAGE",
];
