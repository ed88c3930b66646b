//! What tests share.
#![allow(dead_code)] // each test uses its part

pub(crate) mod oracle;

use std::io::Write;
use std::path::{Path, PathBuf};

use lttv_context::Traceset;

/// The small kernel trace in the repository.
pub(crate) fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/kernel")
}

/// A recorded trace in the shared folder, if that is there.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces").join(name);
    if path.is_dir() {
        return Some(path);
    }
    tell(&format!("skipped: {} is not there", path.display()));
    None
}

/// Tells something even if the test passes: what `println!` writes is shown of
/// failed tests only.
pub(crate) fn tell(line: &str) {
    _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Real kernel traces: the bundled one, and those of the shared folder that are
/// there.
pub(crate) fn kernel_traces() -> Vec<(String, Traceset)> {
    let names = [
        "ctf/k1-multi",
        "ctf/k1-8cpu",
        "ctf/k2-8cpu",
        "ctf/k2-multi",
        "ctf/k1-ctx",
        "ctf/k1-snap/snapshot-1-20261121-032430-0",
        "ctf/k2-rot",
        "ctf/tc-bug446190",
        "ctf/tc-synctraces/scp_src",
        "ctf/tc-uneven-streams",
        "ctf/cts-stream-pass-lttng-modules-2.0-pre5",
        "ctf/gen-perf-sched",
        "ctf/tc-perf-taskset2",
    ];
    let shared = names.iter().filter_map(|name| Some((name.to_string(), shared(name)?)));
    let all = [("bundled".to_owned(), bundled())].into_iter().chain(shared);
    all.map(|(name, path)| (name, Traceset::open(path).expect("a trace"))).collect()
}
