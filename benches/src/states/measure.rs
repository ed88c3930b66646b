//! The costs of building and querying, in time and memory, as a table.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lttv_state::history::{Builder, History, Settings};

use super::cold::cold;
use super::error::MeasureError;
use super::timer::Timer;
use super::{Digest, Limits, Query, QueryBatch, START, Workload, faults};

/// Returns the peak resident memory of this process, in MB.
fn peak_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_ascii_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1000.0)
}

/// Returns the limit and whether it is met.
fn wanted<T: PartialOrd + fmt::Debug>(found: T, most: Option<T>) -> String {
    match most {
        None => String::new(),
        Some(most) if found <= most => format!("; at most {most:?}: yes"),
        Some(most) => format!("; at most {most:?}: NO"),
    }
}

/// Returns the load average, which affects elapsed times.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_ascii_whitespace().next().unwrap_or("unknown").to_owned()
}

/// Builds a workload in `dir`, runs all queries, and writes their costs and limits.
///
/// Memory is that of the whole process: measure one workload per process.
///
/// # Errors
///
/// If a step fails or a digest is wrong. The table is written in any case.
pub fn measure(workload: &Workload, dir: &Path, out: &mut impl Write) -> Result<(), MeasureError> {
    let path = dir.join(format!("{}.history", workload.name));
    let mut wrong = None;
    build(workload, &path, out, &mut wrong)?;
    open(&path, &workload.limits, out)?;
    flips(&path, out, &mut wrong)?;
    faults::crash(workload, &History::open(&path)?, &path, out, &mut wrong)?;
    faults::grown(workload, &History::open(&path)?, &path, out, &mut wrong)?;
    faults::edges(&path, out, &mut wrong)?;
    ask(workload, &path, out, &mut wrong)?;
    cold(workload, &path, out)?;
    wrong.map_or(Ok(()), |what| Err(MeasureError::Wrong { what }))
}

fn verdict(
    out: &mut impl Write,
    what: &'static str,
    found: u64,
    expected: u64,
    wrong: &mut Option<&'static str>,
) -> io::Result<()> {
    if found != expected {
        wrong.get_or_insert(what);
        return writeln!(out, "  {what:<5} {found:016x}, but must be {expected:016x}");
    }
    writeln!(out, "  {what:<5} {found:016x}")
}

fn build(
    workload: &Workload,
    path: &Path,
    out: &mut impl Write,
    wrong: &mut Option<&'static str>,
) -> Result<(), MeasureError> {
    let expected = &workload.expected;
    let timer = Timer::start();
    let mut builder = Builder::create(path, START, Settings::default())?;
    let (changes, last) = workload.system.build(&mut builder)?;
    let history = builder.close(last.saturating_add(1))?;
    let (cpu, wall) = timer.stop();
    let memory = peak_memory();
    let (blocks, intervals) = (history.blocks(), history.intervals_count());
    let len = std::fs::metadata(path)?.len();
    writeln!(out, "{}: {} attributes", workload.name, history.tree().len())?;
    writeln!(out, "  changes   {changes}, up to {} ns", last.as_ns())?;
    let limits = &workload.limits;
    writeln!(out, "  load      {} (average of a minute)", load())?;
    write!(out, "  build     {cpu:.2?} CPU, {wall:.2?} wall, with making the changes")?;
    writeln!(out, "{}", wanted(cpu, limits.build))?;
    let rate = changes as f64 / cpu.as_secs_f64() / 1e6;
    writeln!(out, "            {rate:.1} M changes/s of CPU time")?;
    if let Some(memory) = memory {
        writeln!(out, "  memory    {memory:.1} MB{}", wanted(memory, limits.memory))?;
    }
    let each = len as f64 / intervals as f64;
    write!(out, "  file      {len} B in {blocks} blocks, {each:.2} B per interval")?;
    writeln!(out, "{}", wanted(len, limits.file))?;
    writeln!(out, "  intervals {intervals}")?;
    writeln!(out, "  digests")?;
    let found = (changes, intervals, last.as_ns());
    if found != (expected.changes, expected.intervals, expected.last) {
        wrong.get_or_insert("number of changes or intervals, or the last time");
    }

    // Build again, to observe every interval when it ends.
    let seen = Arc::new(Mutex::new(Digest::default()));
    let mut builder = Builder::in_memory(START);
    let observer = seen.clone();
    builder.observe(move |interval| {
        if let Ok(mut seen) = observer.lock() {
            seen.add(interval);
        }
    });
    let (_, last) = workload.system.build(&mut builder)?;
    builder.close(last.saturating_add(1))?;
    let seen = seen.lock().map(|seen| *seen).unwrap_or_default();
    verdict(out, "seqH", seen.sequence, expected.sequence, wrong)?;

    // Compare with the contents of the file, in any order.
    let mut stored = Digest::default();
    for quark in history.tree().quarks() {
        for interval in history.intervals(quark, history.start()..history.end())? {
            stored.add(&interval?);
        }
    }
    verdict(out, "sumH", stored.sum, seen.sum, wrong)?;
    Ok(())
}

fn open(path: &Path, limits: &Limits, out: &mut impl Write) -> Result<(), MeasureError> {
    let timer = Timer::start();
    let history = History::open(path)?;
    let middle = history.start().saturating_add(history.end().since(history.start()) / 2);
    if let Some(quark) = history.tree().quarks().next() {
        history.at(quark, middle)?;
    }
    let (cpu, wall) = timer.stop();
    write!(out, "  open      {cpu:.2?} CPU, {wall:.2?} wall, with the first answer")?;
    writeln!(out, "{}", wanted(cpu, limits.open))?;
    Ok(())
}

/// The number of bits that are flipped, one at a time.
const FLIPS: usize = 1000;

/// Flips random bits: reading everything must report each of them.
fn flips(
    path: &Path,
    out: &mut impl Write,
    wrong: &mut Option<&'static str>,
) -> Result<(), MeasureError> {
    let whole = std::fs::read(path)?;
    let mut seed = 0x5eed_0005_u64;
    // Large files take long to check.
    let flips = if whole.len() > 1 << 23 { FLIPS / 20 } else { FLIPS };
    let (mut refused, mut found) = (0, 0);
    for _ in 0..flips {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (seed >> 11) as usize % whole.len();
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (seed >> 60 & 7);
        match History::from_bytes(damaged) {
            Err(_) => refused += 1,
            Ok(history) => found += usize::from(history.verify().is_err()),
        }
    }
    let silent = flips - refused - found;
    writeln!(
        out,
        "  bit flips {flips}: {refused} refused at once, {found} when read, {silent} unseen"
    )?;
    if silent > 0 {
        wrong.get_or_insert("a file with a flipped bit");
    }
    Ok(())
}

/// The number of passes over all queries of a kind, with the kinds in turns. Other work on
/// the same core can slow a pass down by half for seconds.
const PASSES: usize = 9;

fn ask(
    workload: &Workload,
    path: &Path,
    out: &mut impl Write,
    wrong: &mut Option<&'static str>,
) -> Result<(), MeasureError> {
    writeln!(out, "  each query: in a newly opened history; then warm, the least and")?;
    writeln!(
        out,
        "  the median of {PASSES} passes over all, in turns, CPU time; and the 50th and the 95th"
    )?;
    writeln!(out, "  percentile, elapsed time")?;
    let open = |query| Measured::open(query, workload, path);
    let mut all: Vec<Measured> = Query::ALL.into_iter().map(open).collect::<Result<_, _>>()?;
    for _ in 0..PASSES {
        all.iter_mut().try_for_each(Measured::pass)?;
    }
    let known = workload.expected.answers.into_iter().zip(workload.limits.answers);
    for (measured, (expected, most)) in all.iter_mut().zip(known) {
        measured.write(out, most)?;
        let digest = measured.batch.digest(&measured.history)?;
        verdict(out, measured.query.name(), digest.sum, expected, wrong)?;
    }
    Ok(())
}

/// The queries of a kind, and their times so far.
struct Measured {
    query: Query,
    history: History,
    batch: QueryBatch,
    /// The mean time per query in the first pass.
    first: Duration,
    found: u64,
    /// The mean time per query in each later pass.
    passes: Vec<Duration>,
}

impl Measured {
    fn open(query: Query, workload: &Workload, path: &Path) -> Result<Measured, MeasureError> {
        let history = History::open(path)?;
        let batch = QueryBatch::of(query, &workload.system, &history);
        let timer = Timer::start();
        let mut found = 0;
        for arguments in &batch.queries {
            batch.run(&history, arguments, |_| found += 1)?;
        }
        let first = timer.stop().0 / batch.queries.len() as u32;
        Ok(Measured { query, history, batch, first, found, passes: Vec::with_capacity(PASSES) })
    }

    fn pass(&mut self) -> Result<(), MeasureError> {
        let Measured { history, batch, .. } = self;
        let timer = Timer::start();
        for arguments in &batch.queries {
            batch.run(history, arguments, |interval| {
                std::hint::black_box(interval);
            })?;
        }
        self.passes.push(timer.stop().0 / batch.queries.len() as u32);
        Ok(())
    }

    fn write(&mut self, out: &mut impl Write, most: Option<Duration>) -> Result<(), MeasureError> {
        let Measured { query, history, batch, first, found, passes } = self;
        passes.sort();
        let (least, median) = (passes[0], passes[PASSES / 2]);
        let mut walls = Vec::with_capacity(batch.queries.len());
        for arguments in &batch.queries {
            let start = Instant::now();
            batch.run(history, arguments, |interval| {
                std::hint::black_box(interval);
            })?;
            walls.push(start.elapsed());
        }
        walls.sort();
        let (half, tail) = (walls[walls.len() / 2], walls[walls.len() * 95 / 100]);
        writeln!(
            out,
            "  {:<3} {first:>9.2?} then {least:>9.2?} {median:>9.2?}, {half:>9.2?} {tail:>9.2?}; {found} intervals{}",
            query.name(),
            wanted(least, most)
        )?;
        Ok(())
    }
}
