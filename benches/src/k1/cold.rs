//! Answers from a file of which nothing is in memory.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use lttv_state::history::History;

use super::measure::MeasureError;
use super::{Query, Questions, Workload};

/// How often this process had to wait for a page to come from a disk.
fn pages_waited_for() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name may have blanks; behind it, the number is the tenth.
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(9)?.parse().ok()
}

/// Asks the system to drop what it has of a file. It may do otherwise.
#[cfg(target_os = "linux")]
fn forget(file: &File) -> std::io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
fn forget(_: &File) -> std::io::Result<()> {
    Ok(())
}

/// Opens the file and asks the first question of each kind, when the system has
/// forgotten the file.
pub(super) fn cold(
    workload: &Workload,
    path: &Path,
    out: &mut impl Write,
) -> Result<(), MeasureError> {
    writeln!(out, "  cold: wall time to open and answer one question of each kind, after the")?;
    writeln!(out, "  system was told to forget the file; waits for pages from the disk")?;
    let mut waits = 0;
    for query in Query::ALL {
        let file = File::open(path)?;
        file.sync_all()?;
        forget(&file)?;
        let before = pages_waited_for();
        let timer = Instant::now();
        let history = History::open(path)?;
        let questions = Questions::of(query, &workload.k1, history.start(), history.end());
        if let Some(asked) = questions.asked.first() {
            questions.ask(&history, asked, |interval| {
                std::hint::black_box(interval);
            })?;
        }
        let wall = timer.elapsed();
        let waited = pages_waited_for().zip(before).map_or(0, |(now, before)| now - before);
        waits += waited;
        writeln!(out, "  {:<3} {wall:>9.2?}, {waited} waits", query.name())?;
    }
    if waits == 0 {
        writeln!(out, "  It did not forget the file, so these are warm.")?;
    }
    Ok(())
}
