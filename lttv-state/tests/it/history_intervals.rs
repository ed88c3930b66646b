//! Histories of intervals that are added in any order, compared with a list of intervals.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use crate::naive_history::{Owned, Span, ns, spans};
use lttv_state::history::{Builder, History, HistoryError, IntervalBuilder, Settings, Timestamp};
use lttv_state::tree::Quark;
use proptest::prelude::*;

const PATHS: [&str; 4] = ["a", "a/x", "b", "b/y/z"];

/// An interval of an attribute in `PATHS`, with its first and last time.
#[derive(Debug, Clone, PartialEq)]
struct Added {
    attribute: usize,
    first: i64,
    last: i64,
    value: Owned,
}

impl Added {
    fn range(&self) -> std::ops::Range<Timestamp> {
        ns(self.first)..ns(self.last.saturating_add(1))
    }

    fn overlaps(&self, other: &Added) -> bool {
        self.attribute == other.attribute && self.first <= other.last && other.first <= self.last
    }
}

fn added() -> impl Strategy<Value = Added> {
    let first = prop_oneof![
        16 => -60..60_i64,
        1 => Just(i64::MIN),
        1 => Just(i64::MAX - 5),
        1 => Just(i64::MAX - 2),
    ];
    let length = prop_oneof![8 => 1..8_i64, 1 => 8..60_i64, 1 => Just(i64::MAX)];
    let value = prop_oneof![
        4 => (0..3).prop_map(Owned::I32),
        2 => "[a-c]{0,2}".prop_map(Owned::Str),
        1 => prop::collection::vec(any::<u8>(), 0..3).prop_map(Owned::Blob),
        1 => any::<u64>().prop_map(Owned::F64),
        1 => Just(Owned::Null),
    ];
    (0..PATHS.len(), first, length, value).prop_map(|(attribute, first, length, value)| Added {
        attribute,
        first,
        last: closed(first.saturating_add(length - 1)),
        value,
    })
}

/// Returns the last time of a range that ends right after `last`: an end of the greatest time
/// is included.
fn closed(last: i64) -> i64 {
    if last == i64::MAX - 1 { i64::MAX } else { last }
}

/// Intervals without overlaps, in any order.
fn disjoint() -> impl Strategy<Value = Vec<Added>> {
    prop::collection::vec(added(), 0..80).prop_map(|all| {
        let mut kept: Vec<Added> = Vec::new();
        for added in all {
            if !kept.iter().any(|other| other.overlaps(&added)) {
                kept.push(added);
            }
        }
        kept
    })
}

/// Returns the intervals of an attribute from `first` to `last`, with gaps as null, and
/// without changes to an equal value.
fn expected(all: &[Added], attribute: usize, first: i64, last: i64) -> Vec<Span> {
    let mut own: Vec<_> = all.iter().filter(|added| added.attribute == attribute).collect();
    own.sort_by_key(|added| added.first);
    let mut found: Vec<Span> = Vec::new();
    let mut push = |start: i64, end: i64, value: &Owned| match found.last_mut() {
        Some((_, known, before)) if before == value => *known = end,
        _ => found.push((start, end, value.clone())),
    };
    // The next time, until the last possible one has passed.
    let mut next = Some(first);
    for added in own {
        if let Some(at) = next.filter(|next| *next < added.first) {
            push(at, added.first, &Owned::Null);
        }
        push(added.first, added.last.saturating_add(1), &added.value);
        next = added.last.checked_add(1);
    }
    if let Some(at) = next.filter(|next| *next <= last) {
        push(at, last.saturating_add(1), &Owned::Null);
    }
    found
}

fn check(history: &History, all: &[Added], first: i64, last: i64) -> Result<(), TestCaseError> {
    let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
    prop_assert_eq!(history.start(), ns(first));
    prop_assert_eq!(history.end(), ns(last.saturating_add(1)));
    for (attribute, path) in PATHS.iter().enumerate() {
        let quark = history.tree().find(Quark::ROOT, path).unwrap().unwrap();
        let found = spans(history, quark).map_err(fail)?;
        prop_assert_eq!(&found, &expected(all, attribute, first, last), "{}", path);
        let near = all.iter().flat_map(|added| [added.first, added.last]);
        let near = near.flat_map(|t| [t.saturating_sub(1), t, t.saturating_add(1)]);
        for t in near.filter(|t| (first..=last).contains(t)) {
            let mut here = all.iter().filter(|added| added.attribute == attribute);
            let here = here.find(|added| added.first <= t && t <= added.last);
            let expected = here.map_or(Owned::Null, |added| added.value.clone());
            let value = history.at(quark, ns(t)).map_err(fail)?.value;
            prop_assert_eq!(Owned::of(value), expected, "{} at {}", path, t);
        }
    }
    Ok(())
}

/// Returns the earliest and the latest time of intervals, or those of a short history.
fn limits(all: &[Added]) -> (i64, i64) {
    let first = all.iter().map(|added| added.first).min();
    let last = all.iter().map(|added| added.last).max();
    (first.unwrap_or(-5), last.unwrap_or(5))
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.block_intervals = Some(10);
    settings
}

/// Adds intervals to a builder with little memory.
fn add_all(
    builder: &mut IntervalBuilder,
    all: &[Added],
    memory: usize,
) -> Result<(), HistoryError> {
    builder.set_memory_limit(memory);
    let quarks = PATHS.map(|path| builder.add(path).unwrap());
    for added in all {
        builder.add_interval(quarks[added.attribute], added.range(), added.value.value())?;
    }
    assert_eq!(builder.len(), all.len() as u64);
    Ok(())
}

fn files(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn intervals_in_any_order_of_time_answer_as_a_list(
        all in disjoint(),
        memory in prop_oneof![0..500_usize, Just(1 << 20)],
    ) {
        let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
        let (first, last) = limits(&all);
        let mut builder = IntervalBuilder::in_memory(settings());
        add_all(&mut builder, &all, memory).map_err(fail)?;
        let span = ns(first)..ns(last.saturating_add(1));
        prop_assert_eq!(builder.span(), (!all.is_empty()).then(|| span.clone()));
        check(&builder.close(span.clone()).map_err(fail)?, &all, first, last)?;

        // In a file, over a longer span.
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history");
        let mut builder = IntervalBuilder::create(&path, settings()).map_err(fail)?;
        add_all(&mut builder, &all, memory).map_err(fail)?;
        prop_assert!(files(directory.path()).is_empty());
        let (first, last) = (first.saturating_sub(3), closed(last.saturating_add(3)));
        let longer = ns(first)..ns(last.saturating_add(1));
        check(&builder.close(longer).map_err(fail)?, &all, first, last)?;
        check(&History::open(&path).map_err(fail)?, &all, first, last)?;
        prop_assert_eq!(files(directory.path()), ["history"]);
    }

    #[test]
    fn intervals_in_order_give_the_same_file_with_either_builder(
        mut all in disjoint(),
        memory in prop_oneof![0..500_usize, Just(1 << 20)],
    ) {
        let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
        all.sort_by_key(|added| (added.first, added.attribute));
        let (first, last) = limits(&all);
        let span = ns(first)..ns(last.saturating_add(1));
        let directory = tempfile::tempdir().unwrap();
        let [sorted, plain] = ["sorted", "plain"].map(|name| directory.path().join(name));
        let mut builder = IntervalBuilder::create(&sorted, settings()).map_err(fail)?;
        add_all(&mut builder, &all, memory).map_err(fail)?;
        builder.close(span.clone()).map_err(fail)?;

        let mut builder = Builder::create(&plain, ns(first), settings()).map_err(fail)?;
        let quarks = PATHS.map(|path| builder.add(path).unwrap());
        for added in &all {
            let quark = quarks[added.attribute];
            builder.add_interval(quark, added.range(), added.value.value()).map_err(fail)?;
        }
        check(&builder.close(span.end).map_err(fail)?, &all, first, last)?;
        check(&History::open(&sorted).map_err(fail)?, &all, first, last)?;
        // All texts are known when the first block is written, so equal files need one block.
        if History::open(&plain).map_err(fail)?.blocks() <= 1 {
            prop_assert_eq!(fs::read(&sorted).unwrap(), fs::read(&plain).unwrap());
        }
    }

    #[test]
    fn disorder_of_starts_within_the_window_does_not_matter(
        all in disjoint(),
        late in prop::collection::vec(0..50_i64, 80),
    ) {
        let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
        let (first, last) = limits(&all);
        let mut order: Vec<_> = all.iter().zip(&late).collect();
        order.sort_by_key(|(added, late)| added.first.saturating_add(**late));
        let mut settings = settings();
        settings.reorder_window = 50;
        let mut builder = Builder::in_memory_with(ns(first), settings);
        let quarks = PATHS.map(|path| builder.add(path).unwrap());
        for (added, _) in order {
            let quark = quarks[added.attribute];
            builder.add_interval(quark, added.range(), added.value.value()).map_err(fail)?;
        }
        let history = builder.close(ns(last.saturating_add(1))).map_err(fail)?;
        check(&history, &all, first, last)?;
    }

    #[test]
    fn an_overlap_is_an_error_that_names_both_intervals_and_leaves_no_file(
        all in prop::collection::vec(added(), 0..12),
        memory in prop_oneof![0..500_usize, Just(1 << 20)],
    ) {
        let overlaps = |first: &Added| {
            let others = all.iter().filter(|other| first.overlaps(other)).count();
            others > 1
        };
        let is_possible = !all.iter().any(overlaps);
        let (first, last) = limits(&all);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history");
        fs::write(&path, "an earlier file").unwrap();
        let mut builder = IntervalBuilder::create(&path, settings()).unwrap();
        add_all(&mut builder, &all, memory).unwrap();
        match builder.close(ns(first)..ns(last.saturating_add(1))) {
            Ok(_) => prop_assert!(is_possible),
            Err(HistoryError::Overlap { path, first, second }) => {
                prop_assert!(!is_possible && first.start <= second.start);
                let of = |range: &std::ops::Range<Timestamp>| {
                    all.iter().any(|a| PATHS[a.attribute] == path && a.range() == *range)
                };
                prop_assert!(of(&first) && of(&second));
                prop_assert!(second.start < first.end || first.end == Timestamp::MAX);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
        prop_assert_eq!(files(directory.path()), ["history"]);
        if !is_possible {
            prop_assert_eq!(fs::read(&path).unwrap(), b"an earlier file");
        }
    }
}

#[test]
fn a_change_during_an_interval_shortens_it() {
    let mut builder = Builder::in_memory(ns(0));
    let quark = builder.add("a").unwrap();
    let other = builder.add("b").unwrap();
    builder.set(other, ns(0), 1).unwrap();
    builder.add_interval(quark, ns(0)..ns(10), "x").unwrap();
    builder.set(quark, ns(5), "y").unwrap();
    builder.set(other, ns(20), 2).unwrap();
    builder.add_interval(other, ns(30)..ns(40), 2).unwrap();
    let history = builder.close(ns(50)).unwrap();
    let text = |text: &str| Owned::Str(text.to_owned());
    assert_eq!(spans(&history, quark).unwrap(), [(0, 5, text("x")), (5, 50, text("y"))]);
    let expected = [(0, 20, Owned::I32(1)), (20, 40, Owned::I32(2)), (40, 50, Owned::Null)];
    assert_eq!(spans(&history, other).unwrap(), expected);
}

#[test]
fn ends_up_to_now_are_visible_after_a_flush() {
    let mut builder = Builder::in_memory(ns(0));
    let (quark, other) = (builder.add("a").unwrap(), builder.add("b").unwrap());
    let live = builder.live().unwrap();
    builder.add_interval(quark, ns(0)..ns(10), 1).unwrap();
    builder.set(other, ns(10), 1).unwrap();
    builder.set(other, ns(11), 2).unwrap();
    builder.flush().unwrap();
    let history = live.latest();
    assert_eq!(history.end(), ns(11));
    assert_eq!(spans(&history, quark).unwrap(), [(0, 10, Owned::I32(1)), (10, 11, Owned::Null)]);
    let history = builder.close(ns(20)).unwrap();
    assert_eq!(spans(&history, quark).unwrap(), [(0, 10, Owned::I32(1)), (10, 20, Owned::Null)]);
}

#[test]
fn impossible_intervals_are_typed_errors() {
    let mut builder = Builder::in_memory(ns(0));
    let quark = builder.add("a").unwrap();
    let unknown = Quark::from_index(7);
    let mut any_order = IntervalBuilder::in_memory(Settings::default());
    any_order.add("a").unwrap();
    for range in [ns(5)..ns(5), ns(6)..ns(5), ns(0)..Timestamp::MIN] {
        let error = builder.add_interval(quark, range.clone(), 1);
        assert!(matches!(error, Err(HistoryError::EmptyInterval { .. })));
        let error = any_order.add_interval(quark, range, 1);
        assert!(matches!(error, Err(HistoryError::EmptyInterval { .. })));
    }
    let error = builder.add_interval(unknown, ns(1)..ns(2), 1);
    assert!(matches!(error, Err(HistoryError::UnknownQuark(_))));
    let error = any_order.add_interval(unknown, ns(1)..ns(2), 1);
    assert!(matches!(error, Err(HistoryError::UnknownQuark(_))));
    let error = builder.add_interval(quark, ns(-1)..ns(2), 1);
    assert!(matches!(error, Err(HistoryError::TimeRegress { .. })));

    builder.add_interval(quark, ns(1)..ns(20), 1).unwrap();
    let error = builder.close(ns(19));
    assert!(matches!(error, Err(HistoryError::EndsTooEarly { last, .. }) if last == ns(19)));
    for (span, is_early) in [(ns(2)..ns(20), true), (ns(1)..ns(19), false), (ns(5)..ns(2), true)] {
        let mut builder = IntervalBuilder::in_memory(Settings::default());
        let quark = builder.add("a").unwrap();
        builder.add_interval(quark, ns(1)..ns(20), 1).unwrap();
        match builder.close(span) {
            Err(HistoryError::TimeRegress { time, .. }) => assert!(is_early && time == ns(1)),
            Err(HistoryError::EndsTooEarly { last, .. }) => assert!(!is_early && last == ns(19)),
            other => panic!("{other:?}"),
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let error = IntervalBuilder::create(directory.path(), Settings::default());
    assert!(matches!(error, Err(HistoryError::NotAFile(_))));
    let missing = directory.path().join("missing/history");
    let error = IntervalBuilder::create(missing, Settings::default());
    assert!(matches!(error, Err(HistoryError::Io { .. })));
}

#[test]
fn cancelling_leaves_no_file_and_the_earlier_history() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history");
    fs::write(&path, "an earlier file").unwrap();
    let build = |path: &Path| {
        let mut builder = IntervalBuilder::create(path, Settings::default()).unwrap();
        builder.set_memory_limit(40_000);
        let quark = builder.add("a").unwrap();
        for n in 0..100_000_i64 {
            // Every time once, in no order.
            let t = n * 7919 % 100_000;
            builder.add_interval(quark, ns(t)..ns(t + 1), t % 2).unwrap();
        }
        builder
    };
    let span = ns(0)..ns(100_000);
    drop(build(&path));
    assert_eq!(files(directory.path()), ["history"]);

    let mut calls = Vec::new();
    let history = build(&directory.path().join("other"));
    let history = history.close_with(span.clone(), |done, all| {
        calls.push((done, all));
        ControlFlow::Continue(())
    });
    let history = history.unwrap();
    assert!(calls.len() > 10 && calls.is_sorted(), "{calls:?}");
    assert!(calls.last().is_some_and(|(done, all)| done == all), "{calls:?}");
    assert_eq!(history.at(Quark::from_index(0), ns(77_777)).unwrap().value, 1_i64.into());

    for stop in [1, calls.len() / 2, calls.len()] {
        let mut call = 0;
        let cancelled = build(&path).close_with(span.clone(), |_, _| {
            call += 1;
            if call == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(cancelled, Err(HistoryError::Cancelled)), "{stop}");
        assert_eq!(files(directory.path()), ["history", "other"]);
        assert_eq!(fs::read(&path).unwrap(), b"an earlier file");
    }
}
