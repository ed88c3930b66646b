//! The fields and payloads of kernel events.

use ltt_read::schema::ByteOrder::Little;
use ltt_read::schema::FieldClass;
use ltt_read::writer::presets::text_array;

use crate::Random;

/// The fields of an event type.
pub(crate) type Fields = Vec<(&'static str, FieldClass)>;

pub(crate) fn int() -> FieldClass {
    FieldClass::sint(32, Little)
}

pub(crate) fn long() -> FieldClass {
    FieldClass::sint(64, Little)
}

pub(crate) fn word() -> FieldClass {
    FieldClass::uint(32, Little)
}

pub(crate) fn address() -> FieldClass {
    FieldClass::uint(64, Little)
}

pub(crate) fn name() -> FieldClass {
    text_array(16)
}

/// Returns the fields of `sched_switch`.
pub(crate) fn switch_fields() -> Fields {
    vec![
        ("prev_comm", name()),
        ("prev_tid", int()),
        ("prev_prio", int()),
        ("prev_state", long()),
        ("next_comm", name()),
        ("next_tid", int()),
        ("next_prio", int()),
    ]
}

pub(crate) fn switch(body: &mut Vec<u8>, previous: u32, state: u64, next: u32) {
    comm(body, previous);
    words(body, [previous, 20]);
    longs(body, [state]);
    comm(body, next);
    words(body, [next, 20]);
}

/// Returns the fields of `sched_wakeup` and similar events.
pub(crate) fn woken_fields() -> Fields {
    vec![("comm", name()), ("tid", int()), ("prio", int()), ("target_cpu", int())]
}

pub(crate) fn woken(body: &mut Vec<u8>, tid: u32, cpu: u32) {
    comm(body, tid);
    words(body, [tid, 20, cpu]);
}

/// Returns the fields of `timer_hrtimer_start`.
pub(crate) fn timer_fields() -> Fields {
    vec![
        ("hrtimer", address()),
        ("function", address()),
        ("expires", long()),
        ("softexpires", long()),
        ("mode", word()),
    ]
}

pub(crate) fn timer(body: &mut Vec<u8>, random: &mut Random, expires: u64) {
    longs(body, [pointer(random), pointer(random), expires, expires]);
    words(body, [0]);
}

/// Returns the fields of `irq_softirq_raise`, `_entry` and `_exit`.
pub(crate) fn softirq_fields() -> Fields {
    vec![("vec", word())]
}

/// The first thread id.
pub(crate) const FIRST_TID: u32 = 1000;

/// Returns a random address in the kernel.
pub(crate) fn pointer(random: &mut Random) -> u64 {
    0xffff_8880_0000_0000 | random.below(1 << 32)
}

pub(crate) fn words<const N: usize>(body: &mut Vec<u8>, values: [u32; N]) {
    values.iter().for_each(|v| body.extend_from_slice(&v.to_le_bytes()));
}

pub(crate) fn longs<const N: usize>(body: &mut Vec<u8>, values: [u64; N]) {
    values.iter().for_each(|v| body.extend_from_slice(&v.to_le_bytes()));
}

/// Appends the name of a thread, padded to 16 bytes.
pub(crate) fn comm(body: &mut Vec<u8>, tid: u32) {
    let mut name = *b"swapper/0\0\0\0\0\0\0\0";
    if tid != 0 {
        name = *b"worker-000\0\0\0\0\0\0";
        let mut number = tid - FIRST_TID;
        for digit in name[7..10].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
    body.extend_from_slice(&name);
}
