//! Opens any bytes as a history file. The target corrects the checksums first, so that the
//! program reads the content. Every query must end without a panic.
#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use lttv_state::history::{History, Timestamp};
use lttv_state::tree::Quark;

fuzz_target!(|data: &[u8]| {
    let mut file = data.to_vec();
    repair(&mut file);
    let Ok(history) = History::from_bytes(file) else { return };
    let _ = history.verify();
    let (start, end) = (history.start(), history.end());
    let ns = Timestamp::from_ns;
    let middle = ns(start.as_ns().midpoint(end.as_ns()));
    for t in [start, middle, end.saturating_sub(1)] {
        if history.tree().len() < 10_000 {
            let _ = history.state_at(t);
        }
    }
    let quarks: Vec<Quark> = history.tree().quarks().take(20).collect();
    for quark in &quarks {
        let _ = history.tree().path(*quark);
        if let Ok(intervals) = history.intervals(*quark, start..end) {
            intervals.clone().take(10_000).for_each(drop);
            intervals.rev().take(10_000).for_each(drop);
        }
    }
    // Damaged files may declare very many intervals, for which this would take long.
    if history.intervals_count() < 100_000 {
        for quark in &quarks {
            let _ = history.durations(*quark, start..end);
        }
    }
    let times = (0..64u64).map(|i| middle.saturating_add(i * i * i));
    let times: Vec<Timestamp> = times.filter(|time| *time < end).collect();
    let _ = history.for_each_at_times(&quarks, &times, |_| ControlFlow::Continue(()));
    let mut left = 10_000;
    let _ = history.for_each_in(&quarks, start..end, 3, |_| {
        left -= 1;
        if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
});

/// Corrects the checksums of the header, the frames and the trailer.
fn repair(file: &mut [u8]) {
    let number = |file: &[u8], at: usize| {
        file.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
    };
    if file.len() < 48 {
        return;
    }
    let mut at = 20usize.saturating_add(number(file, 12));
    if at > file.len() - 28 {
        return;
    }
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&file[8..16]);
    hasher.update(&file[20..at]);
    let check = hasher.finalize();
    file[16..20].copy_from_slice(&check.to_le_bytes());
    let trailer = file.len() - 28;
    while at + 16 <= trailer {
        let end = (at + 16).saturating_add(number(file, at + 8));
        if end > trailer {
            break;
        }
        let check = crc32fast::hash(&file[at + 4..end]);
        file[at..at + 4].copy_from_slice(&check.to_le_bytes());
        at = end;
    }
    let check = crc32fast::hash(&file[trailer + 8..trailer + 24]);
    file[trailer + 24..].copy_from_slice(&check.to_le_bytes());
}
