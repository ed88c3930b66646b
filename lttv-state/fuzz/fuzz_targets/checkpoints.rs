//! Loads any bytes as a file of checkpoints. The target corrects the checksums first, so that
//! the program reads the content. Reading from any of the stored states must end without a
//! panic.
//!
//! A corpus must start with a sound file, since other files rarely have a valid header:
//!
//! ```text
//! cargo run --example checkpoints_seed fuzz/corpus/checkpoints/seed
//! ```
//!
//! The files that programs store by default contain no checkpoints of the bundled trace, since
//! it is shorter than the distance between two checkpoints.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lttv_context::{Bounds, CheckpointPolicy, Fingerprint, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::stats::StatisticsAnalysis;

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/kernel");
/// The greatest size of the checkpoints of a file in memory, in bytes.
const MEMORY: usize = 16 << 20;

static TRACESET: LazyLock<Traceset> =
    LazyLock::new(|| Traceset::open(TRACE).expect("the bundled trace"));

/// The fingerprint of the traces. It is computed once, since this takes long.
static SOURCE: LazyLock<Vec<u8>> = LazyLock::new(|| Fingerprint::of(&TRACESET).into_bytes());

fuzz_target!(|data: &[u8]| {
    let mut file = data.to_vec();
    repair(&mut file);
    let path = std::env::temp_dir().join(format!("fuzz-{}.checkpoints", std::process::id()));
    std::fs::write(&path, file).expect("a file");
    let mut context = TracesetContext::new(&*TRACESET);
    let kernel = context.attach(KernelState::new());
    context.state().set_policy(CheckpointPolicy::never().memory(MEMORY));
    if context.state().load_checkpoints(&path).is_err() {
        return;
    }
    assert!(context.checkpoints().bytes() <= MEMORY);
    let positions: Vec<_> = context.checkpoints().positions().take(4).cloned().collect();
    for position in positions {
        context.seek_position(&position).expect("of this traceset");
        context.state().update();
        let statistics = attach(&mut context, kernel, .., StatisticsAnalysis::new());
        _ = context.read(&Bounds::all().events(300)).expect("no position");
        statistics.take(context.extensions_mut());
    }
});

/// Corrects the fingerprint of the traces, if the file has a place for it, and all checksums.
fn repair(file: &mut [u8]) {
    if file.len() < 16 {
        return;
    }
    file[..12].copy_from_slice(b"\x89LCP\r\n\x1a\n\x01\0\0\0");
    // The first frame begins with the length of the fingerprint. Each byte contains 7 bits of it.
    let source = &*SOURCE;
    if source.len() < 1 << 14
        && let Some(place) = file.get_mut(16..18 + source.len())
    {
        place[..2].copy_from_slice(&[source.len() as u8 | 0x80, (source.len() >> 7) as u8]);
        place[2..].copy_from_slice(source);
    }
    let mut sum = crc32fast::Hasher::new();
    sum.update(&file[..12]);
    let mut at = 12;
    while let Some(length) = file.get(at..at + 4) {
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let end = at + 4 + length;
        let Some(content) = file.get(at..end) else { return };
        sum.update(content);
        let right = sum.clone().finalize();
        let Some(place) = file.get_mut(end..end + 4) else { return };
        place.copy_from_slice(&right.to_le_bytes());
        at = end + 4;
    }
}
