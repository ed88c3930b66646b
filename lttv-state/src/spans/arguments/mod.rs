//! Arguments and results of system calls as people read them.

mod words;

use std::fmt::Write;
use std::ops::Range;

use ltt_read::schema::{DisplayBase, FieldKind, Scope};
use ltt_read::{Event, FieldInfo, Value};
use smallvec::SmallVec;

use words::{
    ADVICE, Bits, CLOCKS, CLONE, EPOLL, FAMILIES, FCNTL, FUTEX, MAPPING, OPEN, POLL, PROTECTION,
    SOCKET, WHENCE, signal_name,
};
pub use words::{error_name, error_number};

/// The descriptor that stands for the working directory.
const AT_FDCWD: i32 = -100;

/// The meaning of an argument.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    Number,
    Octal,
    /// A descriptor of a file.
    Descriptor,
    /// A descriptor of a directory.
    Directory,
    Signal,
    Bits(&'static Bits),
    OneOf(&'static [&'static str]),
}

/// Returns the meaning of an argument of a system call.
fn meaning(call: &str, argument: &str) -> Meaning {
    match (argument, call) {
        ("fd" | "fildes" | "sockfd" | "in_fd" | "fd_in" | "fdin" | "epfd", _) => {
            Meaning::Descriptor
        }
        ("dfd" | "olddfd" | "newdfd" | "dirfd" | "dfd_in", _) => Meaning::Directory,
        ("flags", "open" | "openat" | "creat") => Meaning::Bits(&OPEN),
        ("flags", "mmap") => Meaning::Bits(&MAPPING),
        ("flags" | "clone_flags", "clone" | "clone3") => Meaning::Bits(&CLONE),
        ("prot", _) => Meaning::Bits(&PROTECTION),
        ("mode", "open" | "openat" | "creat" | "mkdir" | "mkdirat" | "mknod" | "mknodat")
        | ("mode" | "mask", "chmod" | "fchmod" | "fchmodat" | "umask") => Meaning::Octal,
        ("sig", _) => Meaning::Signal,
        ("family", _) => Meaning::OneOf(FAMILIES),
        ("type", "socket" | "socketpair") => Meaning::Bits(&SOCKET),
        ("op", "futex") => Meaning::Bits(&FUTEX),
        ("op", "epoll_ctl") => Meaning::OneOf(EPOLL),
        ("whence" | "origin", _) => Meaning::OneOf(WHENCE),
        ("cmd", "fcntl") => Meaning::OneOf(FCNTL),
        ("which_clock" | "clockid", _) => Meaning::OneOf(CLOCKS),
        ("behavior" | "advice", "madvise") => Meaning::OneOf(ADVICE),
        ("events" | "revents", "poll" | "ppoll") => Meaning::Bits(&POLL),
        _ => Meaning::Number,
    }
}

/// Writes the arguments in an event, as `name: value` with commas between them: of its payload, without the number and
/// the result of the call. `file` is the name of the file of a descriptor.
///
/// Numbers are named where a person expects it: flags, signals, the working directory.
pub fn write_arguments(event: &Event<'_>, call: &str, file: &str, out: &mut String) {
    write_new_arguments(event, call, file, 0..0, out);
}

/// Writes the arguments in the event that ends a system call like [`write_arguments`], without those that are the same
/// as in the event that began it: these are `known`, a range of `out`.
pub fn write_new_arguments(
    event: &Event<'_>,
    call: &str,
    file: &str,
    known: Range<usize>,
    out: &mut String,
) {
    let Some(payload) = event.scope(Scope::Payload) else { return };
    let event_name = event.event_type().name();
    let is_raw = event_name.ends_with("sys_enter") || event_name.ends_with("sys_exit");
    let start = out.len();
    let members: SmallVec<[(&FieldInfo, Value<'_>); 12]> = payload.members().collect();
    let has_texts = members.iter().any(|(field, _)| field.name().and_then(text_of).is_some());
    for (field, value) in &members {
        let name = field.name().unwrap_or("");
        // Recorders' own: the number, the result, and lengths of what follows.
        let is_number = name == "id" && (is_raw || event_name.contains("syscalls:sys_"));
        let is_other = is_number || matches!(name, "ret" | "nr" | "__syscall_nr");
        if is_other || name.starts_with("_") && name.ends_with("_length") {
            continue;
        }
        // The text of a pointer is written in its place.
        let is_text = |(field, _): &&(&FieldInfo, Value<'_>)| {
            field.name().and_then(text_of).is_some_and(|argument| argument == name)
        };
        let value = match members.iter().filter(|_| has_texts).find(is_text) {
            Some((_, text)) => text,
            None if text_of(name).is_some() => continue,
            None => value,
        };
        let before = out.len();
        out.push_str(if before > start { ", " } else { "" });
        let argument = out.len();
        out.push_str(name.strip_prefix('_').unwrap_or(name));
        out.push_str(": ");
        write_value(field, value, meaning(call, name), file, out);
        if !known.is_empty() && has_part(out.get(known.clone()).unwrap_or(""), &out[argument..]) {
            out.truncate(before);
        }
    }
}

/// Returns the name of the argument whose text is in a field; `None` of other fields.
fn text_of(field: &str) -> Option<&str> {
    field.strip_prefix("__")?.strip_suffix("_val")
}

/// Returns `true` if a list with commas has a part.
fn has_part(list: &str, part: &str) -> bool {
    list.match_indices(part).any(|(at, _)| {
        let (before, after) = (&list[..at], &list[at + part.len()..]);
        (before.is_empty() || before.ends_with(", "))
            && (after.is_empty() || after.starts_with(", "))
    })
}

fn write_value(
    field: &FieldInfo,
    value: &Value<'_>,
    meaning: Meaning,
    file: &str,
    out: &mut String,
) {
    let number = value.as_u64().or_else(|| value.as_i64().map(|value| value as u64));
    let Some(number) = number else {
        let _ = write!(out, "{value}");
        return;
    };
    match meaning {
        Meaning::Directory if number as i32 == AT_FDCWD => out.push_str("AT_FDCWD"),
        Meaning::Descriptor | Meaning::Directory if number as u32 == u32::MAX => out.push_str("-1"),
        Meaning::Descriptor if !file.is_empty() => {
            let _ = write!(out, "{value}<");
            out.extend(file.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }));
            out.push('>');
        }
        Meaning::Octal => {
            let _ = write!(out, "{number:#o}");
        }
        Meaning::Signal => match signal_name(number) {
            Some(name) => out.push_str(name),
            None => plain(field, value, number, out),
        },
        Meaning::Bits(bits) => bits.write(number, out),
        Meaning::OneOf(names) => match names.get(number as usize) {
            Some(name) => out.push_str(name),
            None => plain(field, value, number, out),
        },
        Meaning::Number | Meaning::Directory | Meaning::Descriptor => {
            plain(field, value, number, out);
        }
    }
}

/// Writes a number: by its labels, or in the base of its field class.
fn plain(field: &FieldInfo, value: &Value<'_>, number: u64, out: &mut String) {
    let wide = value.as_i64().map_or(i128::from(number), i128::from);
    if let Some(label) = field.labels(wide).next() {
        out.push_str(label);
        return;
    }
    let base = match &field.class().kind {
        FieldKind::Integer(_, of) => of.base,
        _ => DisplayBase::Decimal,
    };
    let _ = match base {
        DisplayBase::Hexadecimal => write!(out, "{number:#x}"),
        DisplayBase::Octal => write!(out, "{number:#o}"),
        DisplayBase::Binary => write!(out, "{number:#b}"),
        _ => write!(out, "{value}"),
    };
}

/// Writes the result of a system call: `-1 ENOENT` of an error, addresses in hexadecimal.
pub fn write_result(call: &str, result: i64, out: &mut String) {
    let error = u16::try_from(result.unsigned_abs()).ok().filter(|_| (-4095..0).contains(&result));
    let _ = match error.map(|number| (number, error_name(number))) {
        Some((_, Some(name))) => write!(out, "-1 {name}"),
        Some((number, None)) => write!(out, "-1 error {number}"),
        None if matches!(call, "mmap" | "mremap" | "brk" | "shmat" | "mmap2") => {
            write!(out, "{result:#x}")
        }
        None => write!(out, "{result}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_named() {
        let text = |bits: &Bits, number| {
            let mut text = String::new();
            bits.write(number, &mut text);
            text
        };
        assert_eq!(text(&OPEN, 0), "O_RDONLY");
        assert_eq!(text(&OPEN, 0o2000102), "O_RDWR|O_CREAT|O_CLOEXEC");
        assert_eq!(text(&OPEN, 0o4010000), "O_RDONLY|O_SYNC");
        assert_eq!(text(&OPEN, 3), "0x3");
        assert_eq!(text(&FUTEX, 0x81), "FUTEX_WAKE|FUTEX_PRIVATE_FLAG");
        assert_eq!(text(&POLL, 0), "0");
        assert_eq!(text(&POLL, 0x41), "POLLIN|0x40");
    }

    #[test]
    fn parts_of_lists_are_whole() {
        assert!(has_part("fd: 3, arg: 14", "fd: 3") && has_part("fd: 3, arg: 14", "arg: 14"));
        assert!(!has_part("fd: 33, arg: 14", "fd: 3") && !has_part("ufd: 3", "fd: 3"));
        assert!(!has_part("", "fd: 3"));
    }

    #[test]
    fn errors_have_names() {
        assert_eq!(error_name(2), Some("ENOENT"));
        assert_eq!(error_name(133), Some("EHWPOISON"));
        assert_eq!(error_name(0), None);
        assert_eq!(error_name(58), None);
        assert_eq!(error_number("eagain"), Some(11));
        assert_eq!(error_number("EWHAT"), None);
        let mut text = String::new();
        write_result("openat", -2, &mut text);
        write_result("mmap", 0x7f00, &mut text);
        assert_eq!(text, "-1 ENOENT0x7f00");
    }
}
