//! Names of system calls by number, for recordings that contain only numbers.
//!
//! The numbers are those of the headers for user space of Linux 6.1 (`asm/unistd_64.h`,
//! `asm/unistd_32.h`, `asm-generic/unistd.h`); numbers are never used again.

use std::sync::OnceLock;

use super::syscall_tables::{ARM, PPC64, S390X};

/// The names of the system calls of a machine.
#[derive(Debug)]
pub(crate) struct SyscallNames {
    /// The names by number; empty where there is none.
    names: Vec<&'static str>,
}

impl SyscallNames {
    /// Returns the names for a machine, as `uname -m` prints it; `None` if they are not known.
    pub(crate) fn of(machine: &str) -> Option<&'static SyscallNames> {
        static TABLES: [OnceLock<SyscallNames>; 6] = [const { OnceLock::new() }; 6];
        let (at, table) = match machine {
            "x86_64" => (0, X86_64),
            "i386" | "i486" | "i586" | "i686" => (1, I386),
            "aarch64" | "riscv64" | "riscv32" | "loongarch64" => (2, GENERIC),
            "s390x" => (3, S390X),
            "ppc64" | "ppc64le" => (4, PPC64),
            // Such as `armv7l`; 64-bit machines have another name.
            arm if arm.starts_with("armv") => (5, ARM),
            _ => return None,
        };
        Some(TABLES[at].get_or_init(|| SyscallNames::parse(table)))
    }

    /// Returns the name of the system call of a number.
    pub(crate) fn get(&self, number: usize) -> Option<&'static str> {
        self.names.get(number).copied().filter(|name| !name.is_empty())
    }

    /// Parses a table: the names in the order of their numbers. A number stands before the first name
    /// after a gap.
    fn parse(table: &'static str) -> Self {
        let mut names = Vec::new();
        for word in table.split_whitespace() {
            match word.parse::<usize>() {
                Ok(number) => names.resize(number, ""),
                Err(_) => names.push(word),
            }
        }
        SyscallNames { names }
    }
}

/// The system calls of 64-bit programs on x86-64.
const X86_64: &str = "\
     read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction \
     rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select \
     sched_yield mremap msync mincore madvise shmget shmat shmctl dup dup2 pause nanosleep \
     getitimer alarm setitimer getpid sendfile socket connect accept sendto recvfrom sendmsg \
     recvmsg shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt \
     clone fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd \
     msgrcv msgctl fcntl flock fsync fdatasync truncate ftruncate getdents getcwd chdir \
     fchdir rename mkdir rmdir creat link unlink symlink readlink chmod fchmod chown fchown \
     lchown umask gettimeofday getrlimit getrusage sysinfo times ptrace getuid syslog getgid \
     setuid setgid geteuid getegid setpgid getppid getpgrp setsid setreuid setregid getgroups \
     setgroups setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid \
     capget capset rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack \
     utime mknod uselib personality ustat statfs fstatfs sysfs getpriority setpriority \
     sched_setparam sched_getparam sched_setscheduler sched_getscheduler \
     sched_get_priority_max sched_get_priority_min sched_rr_get_interval mlock munlock \
     mlockall munlockall vhangup modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex \
     setrlimit chroot sync acct settimeofday mount umount2 swapon swapoff reboot sethostname \
     setdomainname iopl ioperm create_module init_module delete_module get_kernel_syms \
     query_module quotactl nfsservctl getpmsg putpmsg afs_syscall tuxcall security gettid \
     readahead setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr \
     flistxattr removexattr lremovexattr fremovexattr tkill time futex sched_setaffinity \
     sched_getaffinity set_thread_area io_setup io_destroy io_getevents io_submit io_cancel \
     get_thread_area lookup_dcookie epoll_create epoll_ctl_old epoll_wait_old \
     remap_file_pages getdents64 set_tid_address restart_syscall semtimedop fadvise64 \
     timer_create timer_settime timer_gettime timer_getoverrun timer_delete clock_settime \
     clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes \
     vserver mbind set_mempolicy get_mempolicy mq_open mq_unlink mq_timedsend mq_timedreceive \
     mq_notify mq_getsetattr kexec_load waitid add_key request_key keyctl ioprio_set \
     ioprio_get inotify_init inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat \
     mknodat fchownat futimesat newfstatat unlinkat renameat linkat symlinkat readlinkat \
     fchmodat faccessat pselect6 ppoll unshare set_robust_list get_robust_list splice tee \
     sync_file_range vmsplice move_pages utimensat epoll_pwait signalfd timerfd_create \
     eventfd fallocate timerfd_settime timerfd_gettime accept4 signalfd4 eventfd2 \
     epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open \
     recvmmsg fanotify_init fanotify_mark prlimit64 name_to_handle_at open_by_handle_at \
     clock_adjtime syncfs sendmmsg setns getcpu process_vm_readv process_vm_writev kcmp \
     finit_module sched_setattr sched_getattr renameat2 seccomp getrandom memfd_create \
     kexec_file_load bpf execveat userfaultfd membarrier mlock2 copy_file_range preadv2 \
     pwritev2 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents rseq 424 \
     pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount \
     fsopen fsconfig fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd \
     faccessat2 process_madvise epoll_pwait2 mount_setattr quotactl_fd \
     landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret \
     process_mrelease futex_waitv set_mempolicy_home_node";

/// The system calls of i386.
const I386: &str = "\
     restart_syscall exit fork read write open close waitpid creat link unlink execve chdir \
     time mknod chmod lchown break oldstat lseek getpid mount umount setuid getuid stime \
     ptrace alarm oldfstat pause utime stty gtty access nice ftime sync kill rename mkdir \
     rmdir dup pipe times prof brk setgid getgid signal geteuid getegid acct umount2 lock \
     ioctl fcntl mpx setpgid ulimit oldolduname umask chroot ustat dup2 getppid getpgrp \
     setsid sigaction sgetmask ssetmask setreuid setregid sigsuspend sigpending sethostname \
     setrlimit getrlimit getrusage gettimeofday settimeofday getgroups setgroups select \
     symlink oldlstat readlink uselib swapon reboot readdir mmap munmap truncate ftruncate \
     fchmod fchown getpriority setpriority profil statfs fstatfs ioperm socketcall syslog \
     setitimer getitimer stat lstat fstat olduname iopl vhangup idle vm86old wait4 swapoff \
     sysinfo ipc fsync sigreturn clone setdomainname uname modify_ldt adjtimex mprotect \
     sigprocmask create_module init_module delete_module get_kernel_syms quotactl getpgid \
     fchdir bdflush sysfs personality afs_syscall setfsuid setfsgid _llseek getdents \
     _newselect flock msync readv writev getsid fdatasync _sysctl mlock munlock mlockall \
     munlockall sched_setparam sched_getparam sched_setscheduler sched_getscheduler \
     sched_yield sched_get_priority_max sched_get_priority_min sched_rr_get_interval \
     nanosleep mremap setresuid getresuid vm86 query_module poll nfsservctl setresgid \
     getresgid prctl rt_sigreturn rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait \
     rt_sigqueueinfo rt_sigsuspend pread64 pwrite64 chown getcwd capget capset sigaltstack \
     sendfile getpmsg putpmsg vfork ugetrlimit mmap2 truncate64 ftruncate64 stat64 lstat64 \
     fstat64 lchown32 getuid32 getgid32 geteuid32 getegid32 setreuid32 setregid32 getgroups32 \
     setgroups32 fchown32 setresuid32 getresuid32 setresgid32 getresgid32 chown32 setuid32 \
     setgid32 setfsuid32 setfsgid32 pivot_root mincore madvise getdents64 fcntl64 224 gettid \
     readahead setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr \
     flistxattr removexattr lremovexattr fremovexattr tkill sendfile64 futex \
     sched_setaffinity sched_getaffinity set_thread_area get_thread_area io_setup io_destroy \
     io_getevents io_submit io_cancel fadvise64 252 exit_group lookup_dcookie epoll_create \
     epoll_ctl epoll_wait remap_file_pages set_tid_address timer_create timer_settime \
     timer_gettime timer_getoverrun timer_delete clock_settime clock_gettime clock_getres \
     clock_nanosleep statfs64 fstatfs64 tgkill utimes fadvise64_64 vserver mbind \
     get_mempolicy set_mempolicy mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify \
     mq_getsetattr kexec_load waitid 286 add_key request_key keyctl ioprio_set ioprio_get \
     inotify_init inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat mknodat \
     fchownat futimesat fstatat64 unlinkat renameat linkat symlinkat readlinkat fchmodat \
     faccessat pselect6 ppoll unshare set_robust_list get_robust_list splice sync_file_range \
     tee vmsplice move_pages getcpu epoll_pwait utimensat signalfd timerfd_create eventfd \
     fallocate timerfd_settime timerfd_gettime signalfd4 eventfd2 epoll_create1 dup3 pipe2 \
     inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open recvmmsg fanotify_init \
     fanotify_mark prlimit64 name_to_handle_at open_by_handle_at clock_adjtime syncfs \
     sendmmsg setns process_vm_readv process_vm_writev kcmp finit_module sched_setattr \
     sched_getattr renameat2 seccomp getrandom memfd_create bpf execveat socket socketpair \
     bind connect listen accept4 getsockopt setsockopt getsockname getpeername sendto sendmsg \
     recvfrom recvmsg shutdown userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2 \
     pkey_mprotect pkey_alloc pkey_free statx arch_prctl io_pgetevents rseq 393 semget semctl \
     shmget shmctl shmat shmdt msgget msgsnd msgrcv msgctl clock_gettime64 clock_settime64 \
     clock_adjtime64 clock_getres_time64 clock_nanosleep_time64 timer_gettime64 \
     timer_settime64 timerfd_gettime64 timerfd_settime64 utimensat_time64 pselect6_time64 \
     ppoll_time64 416 io_pgetevents_time64 recvmmsg_time64 mq_timedsend_time64 \
     mq_timedreceive_time64 semtimedop_time64 rt_sigtimedwait_time64 futex_time64 \
     sched_rr_get_interval_time64 pidfd_send_signal io_uring_setup io_uring_enter \
     io_uring_register open_tree move_mount fsopen fsconfig fsmount fspick pidfd_open clone3 \
     close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 mount_setattr \
     quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self \
     memfd_secret process_mrelease futex_waitv set_mempolicy_home_node";

/// The system calls of the architectures that use the generic numbers, with 64-bit names.
const GENERIC: &str = "\
     io_setup io_destroy io_submit io_cancel io_getevents setxattr lsetxattr fsetxattr \
     getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr \
     fremovexattr getcwd lookup_dcookie eventfd2 epoll_create1 epoll_ctl epoll_pwait dup dup3 \
     fcntl inotify_init1 inotify_add_watch inotify_rm_watch ioctl ioprio_set ioprio_get flock \
     mknodat mkdirat unlinkat symlinkat linkat renameat umount2 mount pivot_root nfsservctl \
     statfs fstatfs truncate ftruncate fallocate faccessat chdir fchdir chroot fchmod \
     fchmodat fchownat fchown openat close vhangup pipe2 quotactl getdents64 lseek read write \
     readv writev pread64 pwrite64 preadv pwritev sendfile pselect6 ppoll signalfd4 vmsplice \
     splice tee readlinkat newfstatat fstat sync fsync fdatasync sync_file_range \
     timerfd_create timerfd_settime timerfd_gettime utimensat acct capget capset personality \
     exit exit_group waitid set_tid_address unshare futex set_robust_list get_robust_list \
     nanosleep getitimer setitimer kexec_load init_module delete_module timer_create \
     timer_gettime timer_getoverrun timer_settime timer_delete clock_settime clock_gettime \
     clock_getres clock_nanosleep syslog ptrace sched_setparam sched_setscheduler \
     sched_getscheduler sched_getparam sched_setaffinity sched_getaffinity sched_yield \
     sched_get_priority_max sched_get_priority_min sched_rr_get_interval restart_syscall kill \
     tkill tgkill sigaltstack rt_sigsuspend rt_sigaction rt_sigprocmask rt_sigpending \
     rt_sigtimedwait rt_sigqueueinfo rt_sigreturn setpriority getpriority reboot setregid \
     setgid setreuid setuid setresuid getresuid setresgid getresgid setfsuid setfsgid times \
     setpgid getpgid getsid setsid getgroups setgroups uname sethostname setdomainname \
     getrlimit setrlimit getrusage umask prctl getcpu gettimeofday settimeofday adjtimex \
     getpid getppid getuid geteuid getgid getegid gettid sysinfo mq_open mq_unlink \
     mq_timedsend mq_timedreceive mq_notify mq_getsetattr msgget msgctl msgrcv msgsnd semget \
     semctl semtimedop semop shmget shmctl shmat shmdt socket socketpair bind listen accept \
     connect getsockname getpeername sendto recvfrom setsockopt getsockopt shutdown sendmsg \
     recvmsg readahead brk munmap mremap add_key request_key keyctl clone execve mmap \
     fadvise64 swapon swapoff mprotect msync mlock munlock mlockall munlockall mincore \
     madvise remap_file_pages mbind get_mempolicy set_mempolicy migrate_pages move_pages \
     rt_tgsigqueueinfo perf_event_open accept4 recvmmsg 260 wait4 prlimit64 fanotify_init \
     fanotify_mark name_to_handle_at open_by_handle_at clock_adjtime syncfs setns sendmmsg \
     process_vm_readv process_vm_writev kcmp finit_module sched_setattr sched_getattr \
     renameat2 seccomp getrandom memfd_create bpf execveat userfaultfd membarrier mlock2 \
     copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents \
     rseq kexec_file_load 403 clock_gettime64 clock_settime64 clock_adjtime64 \
     clock_getres_time64 clock_nanosleep_time64 timer_gettime64 timer_settime64 \
     timerfd_gettime64 timerfd_settime64 utimensat_time64 pselect6_time64 ppoll_time64 416 \
     io_pgetevents_time64 recvmmsg_time64 mq_timedsend_time64 mq_timedreceive_time64 \
     semtimedop_time64 rt_sigtimedwait_time64 futex_time64 sched_rr_get_interval_time64 \
     pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount \
     fsopen fsconfig fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd \
     faccessat2 process_madvise epoll_pwait2 mount_setattr quotactl_fd \
     landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret \
     process_mrelease futex_waitv set_mempolicy_home_node";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_number() {
        let name = |machine, number| SyscallNames::of(machine).and_then(|names| names.get(number));
        // From the tables in the manual pages and in `ausyscall --dump`.
        assert_eq!(name("x86_64", 0), Some("read"));
        assert_eq!(name("x86_64", 61), Some("wait4"));
        assert_eq!(name("x86_64", 257), Some("openat"));
        assert_eq!(name("x86_64", 334), Some("rseq"));
        assert_eq!(name("x86_64", 335), None);
        assert_eq!(name("x86_64", 435), Some("clone3"));
        assert_eq!(name("i686", 4), Some("write"));
        assert_eq!(name("i686", 295), Some("openat"));
        assert_eq!(name("aarch64", 63), Some("read"));
        assert_eq!(name("aarch64", 222), Some("mmap"));
        assert_eq!(name("riscv64", 79), Some("newfstatat"));
        assert_eq!(name("aarch64", 10_000), None);
        assert_eq!(name("s390x", 5), Some("open"));
        assert_eq!(name("s390x", 288), Some("openat"));
        assert_eq!(name("s390x", 435), Some("clone3"));
        assert_eq!(name("ppc64le", 286), Some("openat"));
        assert_eq!(name("ppc64", 291), Some("newfstatat"));
        assert_eq!(name("ppc64", 1), Some("exit"));
        assert_eq!(name("armv7l", 322), Some("openat"));
        assert_eq!(name("armv6l", 248), Some("exit_group"));
        assert_eq!(name("armv7l", 7), None);
        assert_eq!(name("vax", 0), None);
    }
}
