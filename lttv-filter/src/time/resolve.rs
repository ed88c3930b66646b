//! The instant of the traces that a time means.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use jiff::civil::{DateTime, Time};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::civil::{CivilTime, NS_PER_S};
use super::error::TimeErrorKind;
use super::notation::{Notation, text_of};

/// The greatest number of instants and spans that an error lists.
const LISTED: usize = 4;

/// The times that traces cover, each from the first to the last, inclusive, in ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Covered<'s>(pub(crate) &'s [(i64, i64)]);

impl Covered<'_> {
    /// Returns `true` if an instant is nearer to a trace than `unit` ns; within it, if this is 0.
    fn has(self, ns: i64, unit: i64) -> bool {
        let reach = unit.saturating_sub(1).max(0);
        self.0.iter().any(|&(start, end)| {
            start.saturating_sub(reach) <= ns && ns <= end.saturating_add(reach)
        })
    }

    /// Returns the one of some instants that is within the traces, or else the one that is nearer than
    /// its unit.
    fn only(self, candidates: &[(i64, i64)]) -> Result<Option<i64>, Vec<i64>> {
        for is_near in [false, true] {
            let has = |(ns, unit): &&(i64, i64)| self.has(*ns, if is_near { *unit } else { 0 });
            let found: BTreeSet<i64> = candidates.iter().filter(has).map(|of| of.0).collect();
            match found.len() {
                0 => {}
                1 => return Ok(found.first().copied()),
                _ => return Err(found.into_iter().collect()),
            }
        }
        Ok(None)
    }

    fn texts(self, text: impl Fn(i64) -> String) -> Vec<(String, String)> {
        self.0.iter().take(LISTED).map(|&(start, end)| (text(start), text(end))).collect()
    }
}

/// Returns the greatest unit of a time as text, of at most `most` ns, that divides it.
fn unit(ns: i64, most: i64) -> i64 {
    let mut unit = if most == 60 * NS_PER_S && ns % most == 0 { most } else { NS_PER_S };
    while ns % unit != 0 {
        unit /= 10;
    }
    unit
}

/// Returns the instants of a date and time in a zone: two where clocks are set back, none where they
/// are set forward.
fn instants(at: DateTime, zone: &TimeZone) -> Vec<i128> {
    let offsets = match zone.to_ambiguous_timestamp(at).offset() {
        AmbiguousOffset::Unambiguous { offset } => vec![offset],
        AmbiguousOffset::Fold { before, after } => vec![before, after],
        AmbiguousOffset::Gap { .. } => Vec::new(),
    };
    let instant = |offset: Offset| offset.to_timestamp(at).ok().map(|at| at.as_nanosecond());
    offsets.into_iter().filter_map(instant).collect()
}

/// Converts to the 64 bits of a timestamp. Clocks beyond the year 2262 wrap around.
fn wrapped(ns: i128) -> Result<i64, TimeErrorKind> {
    let late = |_| u64::try_from(ns).map(u64::cast_signed);
    i64::try_from(ns).or_else(late).map_err(|_| TimeErrorKind::Range)
}

/// Returns the instant of a date and time. `name` is the name of the zone that was given with it.
pub(crate) fn resolve_civil(
    time: CivilTime,
    name: Option<&str>,
    zone: &TimeZone,
    covered: Covered<'_>,
) -> Result<i128, TimeErrorKind> {
    if let Some(offset) = time.offset {
        let instant = offset.to_timestamp(time.at).map_err(|_| TimeErrorKind::Range)?;
        return Ok(instant.as_nanosecond());
    }
    let mut found = instants(time.at, zone);
    if found.is_empty() {
        return Err(match zone.to_timestamp(time.at) {
            Ok(_) => TimeErrorKind::Skipped,
            Err(_) => TimeErrorKind::Range,
        });
    }
    if let Some(name) = name {
        found.retain(|ns| {
            jiff::Timestamp::from_nanosecond(*ns)
                .is_ok_and(|instant| zone.to_offset_info(instant).abbreviation() == name)
        });
    }
    let within = found.iter().filter(|ns| i64::try_from(**ns).is_ok_and(|ns| covered.has(ns, 0)));
    let within: Vec<i128> = within.copied().collect();
    match (&*found, &*within) {
        ([], _) => Err(TimeErrorKind::ZoneName),
        ([only], _) | (_, [only]) => Ok(*only),
        _ => Err(ambiguous(found.into_iter().filter_map(|ns| i64::try_from(ns).ok()), zone)),
    }
}

/// Returns the instant of a time of day, given in ns since midnight.
pub(crate) fn resolve_time_of_day(
    ns: i64,
    zone: &TimeZone,
    covered: Covered<'_>,
) -> Result<i64, TimeErrorKind> {
    if covered.0.is_empty() {
        return Err(TimeErrorKind::NoTimes);
    }
    let clock = Time::midnight()
        .checked_add(SignedDuration::from_nanos(ns))
        .map_err(|_| TimeErrorKind::Range)?;
    let unit = unit(ns, 60 * NS_PER_S);
    let (mut candidates, mut is_skipped) = (BTreeSet::new(), false);
    for &(start, end) in covered.0 {
        let day = |ns: i64| {
            let instant = jiff::Timestamp::from_nanosecond(ns.into()).ok()?;
            Some(zone.to_datetime(instant).date())
        };
        let (Some(first), Some(last)) = (day(start), day(end)) else { continue };
        let Ok(mut day) = first.yesterday() else { continue };
        // Each day within is an instant: more need not be looked for.
        for _ in 0..LISTED + 2 {
            let at = day.to_datetime(clock);
            let found = instants(at, zone);
            // A time that is skipped is on a day of the traces, or it is just outside of them.
            is_skipped |= found.is_empty()
                && zone.to_timestamp(at).is_ok_and(|instant| {
                    i64::try_from(instant.as_nanosecond()).is_ok_and(|ns| covered.has(ns, unit))
                });
            candidates.extend(found.into_iter().filter_map(|ns| i64::try_from(ns).ok()));
            let Ok(next) = day.tomorrow() else { break };
            if day > last {
                break;
            }
            day = next;
        }
    }
    let of_unit: Vec<(i64, i64)> = candidates.iter().map(|ns| (*ns, unit)).collect();
    match covered.only(&of_unit) {
        Ok(Some(only)) => Ok(only),
        Err(several) => Err(ambiguous(several.into_iter(), zone)),
        Ok(None) if is_skipped => Err(TimeErrorKind::Skipped),
        Ok(None) => {
            let mut near: Vec<i64> = candidates.into_iter().collect();
            let distance = |ns: &i64| {
                let of = covered.0.iter().map(|&(start, end)| match *ns < start {
                    true => ns.abs_diff(start),
                    false => ns.abs_diff(end),
                });
                of.min()
            };
            near.sort_by_key(distance);
            near.truncate(2);
            near.sort_unstable();
            Err(TimeErrorKind::Outside {
                candidates: near.into_iter().map(|ns| text_of(ns, zone)).collect(),
                spans: covered.texts(|ns| text_of(ns, zone)),
            })
        }
    }
}

/// Returns the instant of a number: of seconds, given in ns, or of `integer` seconds or nanoseconds.
/// Without times of traces, an integer is a number of seconds.
pub(crate) fn resolve_number(
    seconds: i128,
    integer: Option<i128>,
    covered: Covered<'_>,
) -> Result<i64, TimeErrorKind> {
    let as_seconds = wrapped(seconds);
    let as_ns = integer.map(wrapped);
    if covered.0.is_empty() {
        return as_seconds.or_else(|error| as_ns.unwrap_or(Err(error)));
    }
    let most = if integer.is_some() { NS_PER_S } else { 0 };
    let mut candidates = Vec::new();
    candidates.extend(as_seconds.clone().ok().map(|ns| (ns, unit(ns, NS_PER_S).max(most))));
    candidates.extend(as_ns.clone().and_then(Result::ok).map(|ns| (ns, 1)));
    match covered.only(&candidates) {
        Ok(Some(only)) => Ok(only),
        Err(_) => Err(TimeErrorKind::Ambiguous {
            candidates: candidates.iter().map(|of| of.0).map(decimal).collect(),
        }),
        Ok(None) if candidates.is_empty() => Err(TimeErrorKind::Range),
        Ok(None) => {
            Err(TimeErrorKind::Outside { candidates: Vec::new(), spans: covered.texts(decimal) })
        }
    }
}

/// Formats an instant in seconds. The point excludes that it is taken for nanoseconds.
fn decimal(ns: i64) -> String {
    Notation::Seconds.text(ns.into(), &TimeZone::UTC)
}

fn ambiguous(several: impl Iterator<Item = i64>, zone: &TimeZone) -> TimeErrorKind {
    TimeErrorKind::Ambiguous {
        candidates: several.take(LISTED).map(|ns| text_of(ns, zone)).collect(),
    }
}
