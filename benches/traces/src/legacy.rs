//! A generated trace of LTTng 0.x, format 2.6: channels of a kernel of 2010.

use std::path::Path;

use ltt_read::legacy::{LegacyMarker, LegacyWriter};
use ltt_read::writer::{FieldValue, WriteError};

use crate::{Options, Random};

/// Writes a legacy trace with about 13 bytes per event, most of them in the channel `kernel`
/// of each CPU, whose frequent markers have short headers.
///
/// # Errors
///
/// If a file cannot be written.
pub fn legacy_like(
    dir: &Path,
    cpus: u32,
    events: u64,
    options: &Options,
) -> Result<(), WriteError> {
    let block = usize::try_from(options.packet_bytes).unwrap_or(usize::MAX);
    // The frequency of a real recording; gaps are in its ticks.
    let mut writer =
        LegacyWriter::new().with_sub_buffer_size(block).with_clock(1_985_412_000, 1 << 40);
    let markers = Markers::declare(&mut writer)?;
    let mut random = Random::new(options.seed);
    let (mut now, mut cpu, mut run) = (1u64 << 40, 0, 0u64);
    for _ in 0..events {
        if run == 0 {
            cpu = random.below(cpus.max(1).into()) as u32;
            run = 1 + random.below(16);
        }
        run -= 1;
        now += 1 + random.below(4 * options.mean_gap);
        let (marker, values) = markers.event(&mut random);
        writer.event(cpu, marker, now, &values)?;
    }
    writer.write_to(dir)
}

struct Markers {
    /// The markers with ids too large for a short header.
    rare: Vec<LegacyMarker>,
    schedule: LegacyMarker,
    syscall_entry: LegacyMarker,
    syscall_exit: LegacyMarker,
    irq_entry: LegacyMarker,
    irq_exit: LegacyMarker,
    softirq_entry: LegacyMarker,
    softirq_exit: LegacyMarker,
    read: LegacyMarker,
    open: LegacyMarker,
    page_alloc: LegacyMarker,
}

impl Markers {
    fn declare(writer: &mut LegacyWriter) -> Result<Self, WriteError> {
        let mut marker =
            |channel: &str, name: &str, format: &str| writer.marker(channel, name, format);
        let mut markers = Markers {
            rare: Vec::new(),
            schedule: marker(
                "kernel",
                "sched_schedule",
                "prev_pid %d next_pid %d prev_state #2d%ld",
            )?,
            syscall_entry: marker("kernel", "syscall_entry", "ip #p%ld syscall_id #2u%u")?,
            syscall_exit: marker("kernel", "syscall_exit", "ret %ld")?,
            irq_entry: marker(
                "kernel",
                "irq_entry",
                "ip %lu handler %p irq_id #2u%u kernel_mode #1u%u",
            )?,
            irq_exit: marker("kernel", "irq_exit", "handled #1u%u")?,
            softirq_entry: marker("kernel", "softirq_entry", "softirq_id #1u%lu")?,
            softirq_exit: marker("kernel", "softirq_exit", "softirq_id #1u%lu")?,
            read: marker("fs", "read", "count %zu fd %u")?,
            open: marker("fs", "open", "fd %d filename %s")?,
            page_alloc: marker("mm", "page_alloc", "pfn %lu order %u")?,
        };
        for i in 0..40 {
            let name = format!("tracepoint_{i}");
            markers.rare.push(marker("kernel", &name, "address #p%lu value %u")?);
        }
        Ok(markers)
    }

    fn event(&self, random: &mut Random) -> (LegacyMarker, Vec<FieldValue>) {
        let mut small = |n| FieldValue::from(random.below(n));
        match small(100) {
            FieldValue::Uint(0..=24) => {
                (self.syscall_entry, vec![0xb7f2_c422u64.into(), small(330)])
            }
            FieldValue::Uint(25..=49) => (self.syscall_exit, vec![small(4096)]),
            FieldValue::Uint(50..=57) => (self.schedule, vec![small(5000), small(5000), small(2)]),
            FieldValue::Uint(58..=61) => {
                (self.irq_entry, vec![0xc010_0000u64.into(), small(1 << 20), small(16), small(2)])
            }
            FieldValue::Uint(62..=65) => (self.irq_exit, vec![small(2)]),
            FieldValue::Uint(66..=69) => (self.softirq_entry, vec![small(10)]),
            FieldValue::Uint(70..=73) => (self.softirq_exit, vec![small(10)]),
            FieldValue::Uint(74..=79) => (self.read, vec![small(1 << 16), small(100)]),
            FieldValue::Uint(80..=81) => {
                (self.open, vec![small(100), "/lib/i686/cmov/libc.so.6".into()])
            }
            FieldValue::Uint(82..=87) => (self.page_alloc, vec![small(1 << 18), small(4)]),
            _ => {
                let rare = match small(self.rare.len() as u64) {
                    FieldValue::Uint(number) => self.rare[number as usize],
                    _ => self.rare[0],
                };
                (rare, vec![small(1 << 30), small(1 << 20)])
            }
        }
    }
}
