//! The names of the arguments of system calls whose recording contains only registers, as `raw_syscalls:sys_enter`.

/// System calls by name, with the names of their arguments in the order of the registers. `-` follows those that may be
/// negative. Only those whose order is the same on all machines.
const ARGUMENTS: &[(&str, &str)] = &[
    ("accept4", "fd upeer_sockaddr upeer_addrlen flags"),
    ("access", "filename mode"),
    ("bind", "fd umyaddr addrlen"),
    ("brk", "brk"),
    ("clock_nanosleep", "which_clock flags rqtp rmtp"),
    ("close", "fd"),
    ("connect", "fd uservaddr addrlen"),
    ("dup", "fildes"),
    ("epoll_ctl", "epfd op fd event"),
    ("epoll_pwait", "epfd events maxevents timeout-"),
    ("epoll_wait", "epfd events maxevents timeout-"),
    ("execve", "filename argv envp"),
    ("exit", "error_code-"),
    ("exit_group", "error_code-"),
    ("faccessat", "dfd filename mode"),
    ("fcntl", "fd cmd arg"),
    ("fdatasync", "fd"),
    ("fsync", "fd"),
    ("ftruncate", "fd length"),
    ("futex", "uaddr op val utime uaddr2 val3"),
    ("getdents64", "fd dirent count"),
    ("getrandom", "ubuf len flags"),
    ("ioctl", "fd cmd arg"),
    ("kill", "pid- sig"),
    ("madvise", "start len_in behavior"),
    ("mkdirat", "dfd pathname mode"),
    ("mprotect", "start len prot"),
    ("munmap", "addr len"),
    ("nanosleep", "rqtp rmtp"),
    ("newfstatat", "dfd filename statbuf flag"),
    ("open", "filename flags mode"),
    ("openat", "dfd filename flags mode"),
    ("poll", "ufds nfds timeout-"),
    ("pread64", "fd buf count"),
    ("pwrite64", "fd buf count"),
    ("read", "fd buf count"),
    ("readv", "fd vec vlen"),
    ("recvfrom", "fd ubuf size flags"),
    ("recvmsg", "fd msg flags"),
    ("sendmsg", "fd msg flags"),
    ("sendto", "fd buff len flags"),
    ("socket", "family type protocol"),
    ("tgkill", "tgid pid sig"),
    ("unlinkat", "dfd pathname flag"),
    ("wait4", "upid- stat_addr options ru"),
    ("write", "fd buf count"),
    ("writev", "fd vec vlen"),
];

/// Iterates over the names of the arguments of a system call, with `true` for those that may be negative. Returns `None`
/// if they are not known.
pub(super) fn arguments(call: &str) -> Option<impl Iterator<Item = (&'static str, bool)>> {
    let at = ARGUMENTS.binary_search_by_key(&call, |(name, _)| name).ok()?;
    let names = ARGUMENTS[at].1.split(' ');
    Some(names.map(|name| match name.strip_suffix('-') {
        Some(name) => (name, true),
        None => (name, false),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_is_found() {
        for (call, names) in ARGUMENTS {
            let found = arguments(call).unwrap_or_else(|| panic!("{call} is not in order"));
            assert_eq!(found.count(), names.split(' ').count());
        }
        assert_eq!(arguments("wait4").unwrap().next(), Some(("upid", true)));
        assert!(arguments("mmap").is_none());
    }
}
