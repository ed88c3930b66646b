//! Arguments and results of system calls as people read them.

mod registers;
mod words;

use std::fmt::Write;
use std::ops::Range;

use ltt_read::schema::{DisplayBase, FieldKind, Scope};
use ltt_read::{Event, FieldInfo, Value};
use smallvec::SmallVec;

use crate::kernel::SyscallNames;
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

/// Returns the name of the system call whose number is in an event, `raw_syscalls:sys_enter` or `sys_exit`; `None` of
/// other events, and if the machine or the number is not known.
pub fn call_of_number(event: &Event<'_>) -> Option<&'static str> {
    if !is_numbered(event) {
        return None;
    }
    let calls = event.trace().schema().env_str("machine").and_then(SyscallNames::of)?;
    let number = event.field("id").and_then(|number| number.as_u64())?;
    calls.get(usize::try_from(number).ok()?)
}

/// Returns `true` for events of any system call, which have its number.
fn is_numbered(event: &Event<'_>) -> bool {
    let name = event.event_type().name();
    name.ends_with("sys_enter") || name.ends_with("sys_exit")
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
    let call = match call {
        "" => call_of_number(event).unwrap_or(call),
        call => call,
    };
    let start = out.len();
    // The texts of pointers, by the names of these.
    let mut texts: SmallVec<[(&str, Value<'_>); 4]> = SmallVec::new();
    if names(event).any(|name| text_of(name).is_some()) {
        for (field, value) in payload.members() {
            texts.extend(field.name().and_then(text_of).map(|argument| (argument, value)));
        }
    }
    for (field, value) in payload.members() {
        let name = field.name().unwrap_or("");
        if is_of_recorder(event, name) {
            continue;
        }
        if let (Value::Array(words), "args") = (&value, name)
            && let Some(names) = registers::arguments(call)
        {
            write_registers(field, words.iter().zip(names), call, file, out);
            continue;
        }
        // The text of a pointer is written in its place.
        let value = match texts.iter().find(|(argument, _)| *argument == name) {
            Some((_, text)) => text,
            None if text_of(name).is_some() => continue,
            None => &value,
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

/// Writes the arguments of a system call that are recorded as registers, of which a 32-bit argument is the lower half.
fn write_registers<'v>(
    field: &FieldInfo,
    registers: impl Iterator<Item = (Value<'v>, (&'static str, bool))>,
    call: &str,
    file: &str,
    out: &mut String,
) {
    for (number, (value, (name, is_signed))) in registers.enumerate() {
        let meaning = meaning(call, name);
        let value = match value.as_u64() {
            Some(word) if is_signed => Value::Sint((word as i32).into()),
            Some(word) if !matches!(meaning, Meaning::Number) => Value::Uint((word as u32).into()),
            _ => value,
        };
        out.push_str(if number > 0 { ", " } else { "" });
        out.push_str(name);
        out.push_str(": ");
        write_value(field, &value, meaning, file, out);
    }
}

/// Returns the names of the fields that the type of an event declares.
pub(super) fn names<'e>(event: &Event<'e>) -> impl Iterator<Item = &'e str> {
    let payload = event.trace().schema().root(event.type_id(), Scope::Payload);
    payload.into_iter().flat_map(|payload| payload.members()).map(|member| &*member.name)
}

/// Returns `true` for fields that are no arguments: the number and the result of the call, and lengths of what follows.
fn is_of_recorder(event: &Event<'_>, name: &str) -> bool {
    let names_number = || is_numbered(event) || event.event_type().name().contains("syscalls:sys_");
    match name {
        "ret" | "nr" | "__syscall_nr" => true,
        "id" => names_number(),
        name => name.starts_with('_') && name.ends_with("_length"),
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
        _ => match value {
            Value::Uint(number) => {
                decimal(*number, out);
                Ok(())
            }
            Value::Sint(number) => {
                out.push_str(if *number < 0 { "-" } else { "" });
                decimal(number.unsigned_abs(), out);
                Ok(())
            }
            value => write!(out, "{value}"),
        },
    };
}

/// Writes a number in decimal digits, without the cost of the formats that `write` knows.
fn decimal(mut number: u64, out: &mut String) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[first..]).unwrap_or_default());
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
    fn decimal_digits_are_those_of_formats() {
        for number in [0, 9, 10, 4_294_967_296, u64::MAX - 1, u64::MAX] {
            let mut text = String::new();
            decimal(number, &mut text);
            assert_eq!(text, number.to_string());
        }
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
