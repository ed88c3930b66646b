//! Behaviour after crashes, with unusual or invalid input, and with other files.

use std::io::Write;
use std::path::Path;

use lttv_state::history::{Builder, History, HistoryError, HistoryIdentity, Settings, Timestamp};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;

use super::error::MeasureError;
use super::timer::Timer;
use super::{Digest, START, Sink, Workload};

/// Writes a row of the table, and records the first wrong one.
fn row(
    out: &mut impl Write,
    what: &'static str,
    right: bool,
    result: &str,
    wrong: &mut Option<&'static str>,
) -> Result<(), MeasureError> {
    if !right {
        wrong.get_or_insert(what);
    }
    let verdict = if right { "yes" } else { "NO" };
    writeln!(out, "  {what}: {result}: {verdict}")?;
    Ok(())
}

/// A sink that makes changes from a time on, up to a number of them.
struct Part<'b> {
    builder: &'b mut Builder,
    from: Timestamp,
    left: u64,
}

/// The reason why a [`Part`] makes no more changes.
enum Stop {
    Enough,
    Error(HistoryError),
}

impl Sink for Part<'_> {
    type Error = Stop;
    fn change(&mut self, quark: u32, time: Timestamp, value: StateValue<'_>) -> Result<(), Stop> {
        self.left = self.left.checked_sub(1).ok_or(Stop::Enough)?;
        if time < self.from {
            return Ok(());
        }
        self.builder.set(Quark::from_index(quark), time, value).map_err(Stop::Error)
    }
}

/// Builds the first changes of a history, without finishing it.
fn started(
    workload: &Workload,
    path: &Path,
    settings: Settings,
    left: u64,
) -> Result<Builder, MeasureError> {
    let mut builder = Builder::create(path, START, settings)?;
    workload.system.add_attributes(&mut builder)?;
    let mut part = Part { builder: &mut builder, from: START, left };
    match workload.system.run(&mut part) {
        Err(Stop::Error(error)) => Err(error.into()),
        _ => Ok(builder),
    }
}

/// Makes the remaining changes of a history and finishes it.
fn continued(workload: &Workload, mut builder: Builder) -> Result<History, MeasureError> {
    let from = builder.earliest();
    let mut part = Part { builder: &mut builder, from, left: u64::MAX };
    match workload.system.run(&mut part) {
        Ok((_, last)) => Ok(builder.close(last.saturating_add(1))?),
        Err(Stop::Error(error)) => Err(error.into()),
        Err(Stop::Enough) => Err(HistoryError::Unfinished.into()),
    }
}

/// Interrupts a build, reads the unfinished file, and continues.
pub(super) fn crash(
    workload: &Workload,
    whole: &History,
    path: &Path,
    out: &mut impl Write,
    wrong: &mut Option<&'static str>,
) -> Result<(), MeasureError> {
    let path = path.with_extension("crashed");
    drop(started(workload, &path, Settings::default(), workload.expected.changes / 2)?);

    let recovered = History::recover(&path)?;
    let mut same = true;
    let span = recovered.end().since(recovered.start());
    for ns in [0, span / 2, span - 1] {
        let t = recovered.start().saturating_add(ns);
        let (found, expected) = (recovered.state_at(t)?, whole.state_at(t)?);
        same &= found.len() == expected.len();
        // The last intervals were still open.
        let ends = |end: Timestamp| end.min(recovered.end());
        same &= found.iter().zip(&expected).all(|(found, expected)| {
            (found.start, found.value) == (expected.start, expected.value)
                && found.end == ends(expected.end)
        });
    }
    let result = format!(
        "interrupted in the middle; {} blocks, {} intervals are read, as in the whole history",
        recovered.blocks(),
        recovered.intervals_count()
    );
    row(out, "crash", same, &result, wrong)?;
    drop(recovered);

    let resumed = continued(workload, Builder::resume(&path, Settings::default())?)?;
    let same = digest(&resumed)? == digest(whole)?;
    row(out, "resumed", same, "continued, it equals the whole history", wrong)?;
    std::fs::remove_file(&path)?;
    Ok(())
}

/// Finishes a history early, and extends it with further changes.
pub(super) fn grown(
    workload: &Workload,
    whole: &History,
    path: &Path,
    out: &mut impl Write,
    wrong: &mut Option<&'static str>,
) -> Result<(), MeasureError> {
    let path = path.with_extension("grown");
    let identity =
        |source: &[u8]| HistoryIdentity { source: source.to_vec(), ..HistoryIdentity::default() };
    let mut settings = Settings::default();
    settings.identity = identity(b"earlier");
    let changes = workload.expected.changes / 10 * 9;
    let builder = started(workload, &path, settings.clone(), changes)?;
    // Further changes at this time are possible.
    let settled = builder.now();
    drop(builder.close(settled.saturating_add(1))?);

    settings.identity = identity(b"later");
    let refused =
        matches!(History::open_for(&path, &settings.identity), Err(HistoryError::Stale { .. }));
    let timer = Timer::start();
    let builder = Builder::extend(&path, settings, settled)?;
    let (copying, _) = timer.stop();
    let same = refused && digest(&continued(workload, builder)?)? == digest(whole)?;
    let result = format!(
        "one of nine tenths is stale, and extended it equals the whole history; \
         {copying:.2?} to start"
    );
    row(out, "grown", same, &result, wrong)?;
    std::fs::remove_file(&path)?;
    Ok(())
}

fn digest(history: &History) -> Result<Digest, HistoryError> {
    let mut digest = Digest::default();
    for quark in history.tree().quarks() {
        for interval in history.intervals(quark, history.start()..history.end())? {
            digest.add(&interval?);
        }
    }
    Ok(digest)
}

/// Tests unusual names and values, and invalid changes.
pub(super) fn edges(
    path: &Path,
    out: &mut impl Write,
    wrong: &mut Option<&'static str>,
) -> Result<(), MeasureError> {
    let path = path.with_extension("edges");
    let long = "x".repeat(40_000);
    let names = ["*", "**", "19/ahci", "two\nlines", "čas"];
    let values = [
        StateValue::Str(&long),
        StateValue::F64(-0.0),
        StateValue::I64(i64::MIN),
        StateValue::U64(u64::MAX),
        StateValue::Blob(&[0, 255]),
    ];
    let ns = Timestamp::from_ns;
    let mut builder = Builder::create(&path, ns(-100), Settings::default())?;
    for (name, value) in names.into_iter().zip(values) {
        let quark = builder.add_child(Quark::ROOT, name)?;
        builder.set(quark, ns(100), value)?;
    }
    let early = builder.set(Quark::from_index(0), ns(50), 1);
    row(
        out,
        "time regression",
        matches!(early, Err(HistoryError::TimeRegress { time, earliest })
            if (time, earliest) == (ns(50), ns(100))),
        "an error with the times",
        wrong,
    )?;
    builder.close(ns(200))?;
    let history = History::open(&path)?;
    let mut same = true;
    for (i, (name, value)) in names.into_iter().zip(values).enumerate() {
        let quark = Quark::from_index(i as u32);
        same &=
            history.tree().name(quark) == Some(name) && history.at(quark, ns(150))?.value == value;
    }
    let result =
        "attributes *, 19/ahci, of two lines; a text of 40 000 bytes, -0.0, ends of ranges";
    row(out, "odd names and values", same, result, wrong)?;

    let other = HistoryIdentity { version: 1, ..HistoryIdentity::default() };
    let stale = matches!(History::open_for(&path, &other), Err(HistoryError::Stale { .. }));
    let fresh = History::open_for(&path, &HistoryIdentity::default()).is_ok();
    let result = "a history of another source is refused, the same source is accepted";
    row(out, "stale", stale && fresh, result, wrong)?;
    std::fs::remove_file(&path)?;

    let mut builder = Builder::in_memory(ns(0));
    let quark = builder.add("a")?;
    builder.set(quark, ns(100), 1)?;
    let closed = builder.close(ns(50));
    let refused = matches!(closed, Err(HistoryError::EndsTooEarly { end, last })
        if (end, last) == (ns(50), ns(100)));
    row(out, "end before a change", refused, "an error with the times", wrong)?;
    Ok(())
}
