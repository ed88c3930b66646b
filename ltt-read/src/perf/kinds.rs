//! The kinds of records that are no samples.

/// The kind of samples.
pub(super) const SAMPLE: u32 = 9;
pub(super) const LOST: u32 = 2;
pub(super) const MMAP2: u32 = 10;
/// The first kind of records that perf itself writes, rather than the kernel.
pub(super) const FIRST_OF_PERF: u32 = 64;
pub(super) const ATTRIBUTE: u32 = 64;
pub(super) const TRACING_DATA: u32 = 66;
pub(super) const FINISHED_ROUND: u32 = 68;
pub(super) const AUXTRACE: u32 = 71;
pub(super) const FEATURE: u32 = 80;
pub(super) const COMPRESSED: u32 = 81;
pub(super) const COMPRESSED2: u32 = 83;

/// The bit in the header of an `MMAP2` record that has a build id in place of an inode.
pub(super) const HAS_BUILD_ID: u16 = 1 << 14;

/// The greatest kind of records of the kernel that is known.
pub(super) const LAST_KNOWN: u32 = 22;

/// A kind of records that are no samples, as far as their fields depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) number: u32,
    /// The bit of the header that changes the fields.
    pub(super) form: u16,
    pub(super) has_time: bool,
}

impl Kind {
    /// Returns the kind of records with a header.
    pub(super) fn new(number: u32, misc: u16, has_time: bool) -> Kind {
        let form = if number == MMAP2 { misc & HAS_BUILD_ID } else { 0 };
        Kind { number, form, has_time }
    }
}

/// Returns all known kinds of records that are no samples.
pub(super) fn all_kinds() -> Vec<Kind> {
    let plain = (1..=LAST_KNOWN).filter(|number| *number != SAMPLE).map(|number| (number, 0));
    let forms = plain.chain([(MMAP2, HAS_BUILD_ID)]);
    let of = |(number, misc)| [true, false].map(|has_time| Kind::new(number, misc, has_time));
    forms.flat_map(of).collect()
}

/// A field of a record.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// An integer of some bytes.
    Decimal(u8),
    Hexadecimal(u8),
    /// Bytes that are skipped.
    Skip(u8),
    /// Some bytes without further meaning.
    Bytes(u8),
    /// The rest as a text.
    Text,
}

/// The fields of a kind of record.
pub(super) type Fields = &'static [(&'static str, Form)];

use Form::{Bytes, Decimal, Hexadecimal, Skip, Text};

/// Returns the name and the fields of a kind of record. The names of event types have `perf:` before it.
pub(super) fn described(kind: u32, misc: u16) -> (&'static str, Fields) {
    const PID: (&str, Form) = ("pid", Decimal(4));
    const TID: (&str, Form) = ("tid", Decimal(4));
    const TASK: Fields =
        &[PID, ("ppid", Decimal(4)), TID, ("ptid", Decimal(4)), ("time", Decimal(8))];
    const THROTTLED: Fields =
        &[("time", Decimal(8)), ("id", Decimal(8)), ("stream_id", Decimal(8))];
    const ADDR: (&str, Form) = ("addr", Hexadecimal(8));
    const LEN: (&str, Form) = ("len", Hexadecimal(8));
    const OFFSET: (&str, Form) = ("pgoff", Hexadecimal(8));
    const PROT: (&str, Form) = ("prot", Decimal(4));
    const FLAGS: (&str, Form) = ("flags", Decimal(4));
    const FILE: (&str, Form) = ("filename", Text);
    match kind {
        1 => ("mmap", &[PID, TID, ADDR, LEN, OFFSET, FILE]),
        LOST => ("lost", &[("id", Decimal(8)), ("lost", Decimal(8))]),
        3 => ("comm", &[PID, TID, ("comm", Text)]),
        4 => ("exit", TASK),
        5 => ("throttle", THROTTLED),
        6 => ("unthrottle", THROTTLED),
        7 => ("fork", TASK),
        8 => ("read", &[PID, TID]),
        MMAP2 if misc & HAS_BUILD_ID != 0 => (
            "mmap2",
            &[
                PID,
                TID,
                ADDR,
                LEN,
                OFFSET,
                ("build_id_size", Decimal(1)),
                ("", Skip(3)),
                ("build_id", Bytes(20)),
                PROT,
                FLAGS,
                FILE,
            ],
        ),
        MMAP2 => (
            "mmap2",
            &[
                PID,
                TID,
                ADDR,
                LEN,
                OFFSET,
                ("maj", Decimal(4)),
                ("min", Decimal(4)),
                ("ino", Decimal(8)),
                ("ino_generation", Decimal(8)),
                PROT,
                FLAGS,
                FILE,
            ],
        ),
        11 => (
            "aux",
            &[("aux_offset", Decimal(8)), ("aux_size", Decimal(8)), ("flags", Hexadecimal(8))],
        ),
        12 => ("itrace_start", &[PID, TID]),
        13 => ("lost_samples", &[("lost", Decimal(8))]),
        14 => ("switch", &[]),
        15 => ("switch_cpu_wide", &[("next_prev_pid", Decimal(4)), ("next_prev_tid", Decimal(4))]),
        16 => ("namespaces", &[PID, TID, ("count", Decimal(8))]),
        17 => (
            "ksymbol",
            &[
                ADDR,
                ("len", Decimal(4)),
                ("type", Decimal(2)),
                ("flags", Decimal(2)),
                ("name", Text),
            ],
        ),
        18 => ("bpf_event", &[("type", Decimal(2)), ("flags", Decimal(2)), ("id", Decimal(4))]),
        19 => ("cgroup", &[("id", Decimal(8)), ("path", Text)]),
        20 => ("text_poke", &[ADDR]),
        21 => ("aux_output_hw_id", &[("hw_id", Decimal(8))]),
        22 => ("callchain_deferred", &[]),
        _ => ("unknown", &[]),
    }
}
