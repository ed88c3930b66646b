//! Queries of a file that is not in the page cache.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use lttv_state::history::History;

use super::error::MeasureError;
use super::{Query, QueryBatch, Workload};

/// Returns the number of page faults of this process that waited for a disk.
fn pages_waited_for() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name may contain blanks; the tenth number after it is the count.
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(9)?.parse().ok()
}

/// Asks the system to drop the cached pages of a file, which it may ignore.
#[cfg(target_os = "linux")]
fn drop_cache(file: &File) -> std::io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// Does nothing on other systems.
#[cfg(not(target_os = "linux"))]
fn drop_cache(_: &File) -> std::io::Result<()> {
    Ok(())
}

/// Opens the file and measures the first query of each kind with an empty page cache.
pub(super) fn cold(
    workload: &Workload,
    path: &Path,
    out: &mut impl Write,
) -> Result<(), MeasureError> {
    writeln!(out, "  cold: wall time to open and answer one question of each kind, after the")?;
    writeln!(out, "  the system was told to drop the cached file; waits for pages from the disk")?;
    let mut waits = 0;
    for query in Query::ALL {
        let file = File::open(path)?;
        file.sync_all()?;
        drop_cache(&file)?;
        let before = pages_waited_for();
        let timer = Instant::now();
        let history = History::open(path)?;
        let batch = QueryBatch::of(query, &workload.system, &history);
        if let Some(query) = batch.queries.first() {
            batch.run(&history, query, |interval| {
                std::hint::black_box(interval);
            })?;
        }
        let wall = timer.elapsed();
        let waited = pages_waited_for().zip(before).map_or(0, |(now, before)| now - before);
        waits += waited;
        writeln!(out, "  {:<3} {wall:>9.2?}, {waited} waits", query.name())?;
    }
    if waits == 0 {
        writeln!(out, "  The system kept the file in its cache, so these are warm.")?;
    }
    Ok(())
}
