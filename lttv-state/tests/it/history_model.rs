//! Every query, compared with a naive model.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::naive_history::{Action, Model, Owned, Span, Step, ns, plain, spans};
use lttv_state::history::{Builder, History, HistoryError, Settings, Timestamp};
use lttv_state::tree::Quark;
use proptest::prelude::*;

fn value() -> impl Strategy<Value = Owned> {
    prop_oneof![
        3 => Just(Owned::Null),
        6 => (0i32..4).prop_map(Owned::I32),
        1 => any::<i32>().prop_map(Owned::I32),
        2 => prop::sample::select(vec![0, 1, -1, i64::MIN, i64::MAX]).prop_map(Owned::I64),
        2 => any::<u64>().prop_map(Owned::U64),
        2 => prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, 1.5])
            .prop_map(|v: f64| Owned::F64(v.to_bits())),
        2 => "[a-c]{0,2}|é\u{0}".prop_map(Owned::Str),
        1 => prop::collection::vec(any::<u8>(), 0..3).prop_map(Owned::Blob),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let path = prop::sample::select(vec!["a", "a/x", "a/y/z", "b", "b/1", "c", "c/1"]);
    let path = path.prop_map(String::from);
    prop_oneof![
        8 => (path.clone(), value()).prop_map(|(path, value)| Action::Set(path, value)),
        1 => path.clone().prop_map(Action::Remove),
        2 => (path.clone(), value()).prop_map(|(path, value)| Action::Push(path, value)),
        2 => path.prop_map(Action::Pop),
    ]
}

#[derive(Debug, Clone)]
struct Case {
    start: i64,
    steps: Vec<Step>,
    /// The time from the last step to the last time of the history.
    rest: i64,
    block_intervals: u32,
}

fn case() -> impl Strategy<Value = Case> {
    let gap = prop_oneof![3 => Just(0i64), 6 => 1i64..5, 1 => 1i64..1_000_000];
    let steps = prop::collection::vec((gap, action()), 0..120);
    let start = prop_oneof![Just(0i64), Just(-1001), Just(i64::MIN), Just(1 << 60)];
    (start, steps, 0i64..10, 1u32..40).prop_map(|(start, steps, rest, block_intervals)| {
        let mut t = start;
        let steps = steps.into_iter().map(|(gap, action)| {
            t += gap;
            Step { t, action }
        });
        Case { start, steps: steps.collect(), rest, block_intervals }
    })
}

impl Case {
    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        settings.block_intervals = Some(self.block_intervals);
        settings
    }

    fn end(&self) -> i64 {
        self.steps.last().map_or(self.start, |step| step.t) + self.rest + 1
    }

    fn model(&self) -> Model {
        let mut model = Model::new(self.start);
        for step in &self.steps {
            model.apply(step);
        }
        model.close(self.end())
    }

    fn build(&self, mut builder: Builder) -> Result<History, HistoryError> {
        for step in &self.steps {
            match step.apply(&mut builder) {
                Ok(())
                | Err(HistoryError::NotAStack { .. } | HistoryError::StackTooDeep { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        builder.close(ns(self.end()))
    }
}

/// Returns the times to test: the ends of intervals and their neighbours.
fn times(model: &Model) -> Vec<i64> {
    let spans = model.past.values().flatten();
    let near = spans.flat_map(|(start, end, _)| [*start, *end, start + (end - start) / 2]);
    let near = near.chain([model.start, model.end]);
    let beside = near.flat_map(|t| [t.saturating_sub(1), t, t.saturating_add(1)]);
    let times: BTreeSet<i64> = beside.filter(|t| (model.start..model.end).contains(t)).collect();
    times.into_iter().collect()
}

fn quarks(history: &History) -> BTreeMap<String, Quark> {
    history.tree().quarks().map(|quark| (history.tree().path(quark), quark)).collect()
}

fn check(history: &History, model: &Model) -> Result<(), TestCaseError> {
    let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
    prop_assert_eq!((history.start(), history.end()), (ns(model.start), ns(model.end)));
    let quarks = quarks(history);
    let paths: Vec<&String> = quarks.keys().collect();
    prop_assert_eq!(paths, model.past.keys().collect::<Vec<_>>());
    for (path, quark) in &quarks {
        prop_assert_eq!(&spans(history, *quark).map_err(fail)?, &model.past[path], "{}", path);
    }

    let times = times(model);
    for t in &times {
        let state = history.state_at(ns(*t)).map_err(fail)?;
        prop_assert_eq!(state.len(), quarks.len());
        let half = state.len().div_ceil(2);
        let mut first = Vec::new();
        let flow = history.for_each_at(ns(*t), |interval| {
            first.push(interval);
            if first.len() < half { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        prop_assert_eq!(flow.map_err(fail)?.is_break(), half > 0);
        prop_assert_eq!(&first, &state[..half]);
        for (path, quark) in &quarks {
            let expected = model.at(path, *t);
            prop_assert_eq!(state[quark.index()].quark, *quark);
            prop_assert_eq!(&plain(state[quark.index()]), expected, "{} at {}", path, t);
            prop_assert_eq!(&plain(history.at(*quark, ns(*t)).map_err(fail)?), expected);
        }
    }
    check_forward(history, model, &quarks, &times)?;
    check_ranges(history, model, &quarks, &times)
}

/// Checks readers of single attributes at increasing times, and after a step back.
fn check_forward(
    history: &History,
    model: &Model,
    quarks: &BTreeMap<String, Quark>,
    times: &[i64],
) -> Result<(), TestCaseError> {
    let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
    for (path, quark) in quarks {
        let all = &model.past[path];
        for step in [1, 3, times.len()] {
            let mut reader = history.forward_reader(*quark).map_err(fail)?;
            prop_assert_eq!(reader.before().map_err(fail)?, None);
            let back = times.get(times.len() / 2).into_iter();
            for t in times.iter().step_by(step).chain(back) {
                let expected = model.at(path, *t);
                prop_assert_eq!(&plain(reader.at(ns(*t)).map_err(fail)?), expected);
                let place = all.iter().position(|span| span == expected).unwrap();
                let before = place.checked_sub(1).map(|at| all[at].clone());
                prop_assert_eq!(reader.before().map_err(fail)?.map(plain), before);
            }
        }
        let mut reader = history.forward_reader(*quark).map_err(fail)?;
        prop_assert!(reader.at(ns(model.end)).is_err());
    }
    Ok(())
}

fn check_ranges(
    history: &History,
    model: &Model,
    quarks: &BTreeMap<String, Quark>,
    times: &[i64],
) -> Result<(), TestCaseError> {
    let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
    let some: Vec<i64> = times.iter().copied().step_by(times.len() / 7 + 1).collect();
    for (i, first) in some.iter().enumerate() {
        for last in &some[i..] {
            for (path, quark) in quarks {
                let all = &model.past[path];
                let inside: Vec<Span> =
                    all.iter().filter(|s| s.0 <= *last && s.1 > *first).cloned().collect();
                let found = history.intervals(*quark, ns(*first)..ns(*last + 1)).map_err(fail)?;
                let found: Result<Vec<Span>, HistoryError> = found.map(|i| i.map(plain)).collect();
                prop_assert_eq!(&found.map_err(fail)?, &inside);
                let back =
                    history.intervals(*quark, ns(*first)..ns(*last + 1)).map_err(fail)?.rev();
                let back: Result<Vec<Span>, HistoryError> = back.map(|i| i.map(plain)).collect();
                let mut back = back.map_err(fail)?;
                back.reverse();
                prop_assert_eq!(&back, &inside);
                check_values(history, *quark, *first, *last, &inside)?;

                for resolution in [1, 2, 7, 1000, u64::MAX] {
                    let expected: Vec<Span> = inside
                        .iter()
                        .filter(|span| {
                            // Tests whether one of the times lies in the span.
                            let from = span.0.max(*first).wrapping_sub(*first) as u64;
                            let to = (span.1 - 1).min(*last).wrapping_sub(*first) as u64;
                            let next = from.div_ceil(resolution).checked_mul(resolution);
                            next.is_some_and(|next| next <= to)
                        })
                        .cloned()
                        .collect();
                    let mut found = Vec::new();
                    let flow = history.for_each_in(
                        &[*quark],
                        ns(*first)..ns(*last + 1),
                        resolution,
                        |interval| {
                            found.push(plain(interval));
                            ControlFlow::Continue(())
                        },
                    );
                    prop_assert!(flow.map_err(fail)?.is_continue());
                    prop_assert_eq!(&found, &expected, "each {} from {}", resolution, first);
                }
            }
        }
    }
    check_many(history, model, quarks, &some)
}

fn check_values(
    history: &History,
    quark: Quark,
    first: i64,
    last: i64,
    inside: &[Span],
) -> Result<(), TestCaseError> {
    let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
    for wanted in inside.iter().map(|span| &span.2).chain([&Owned::I64(77)]) {
        let is = |value| Owned::of(value) == *wanted;
        let found =
            history.first_with(quark, ns(first)..ns(last + 1), is).map_err(fail)?.map(plain);
        prop_assert_eq!(found.as_ref(), inside.iter().find(|span| span.2 == *wanted));
        let found = history.last_with(quark, ns(first)..ns(last + 1), is).map_err(fail)?.map(plain);
        prop_assert_eq!(found.as_ref(), inside.iter().rfind(|span| span.2 == *wanted));
    }
    let found = history.durations(quark, ns(first)..ns(last + 1)).map_err(fail)?;
    let found: Vec<_> = found.iter().map(|d| (Owned::of(d.value), d.time, d.count)).collect();
    let mut expected: Vec<(Owned, u64, u64)> = Vec::new();
    for (start, end, value) in inside {
        let time = (*end.min(&(last + 1))).wrapping_sub(*start.max(&first)) as u64;
        match expected.iter_mut().find(|(known, ..)| known == value) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + time, *count + 1),
            None => expected.push((value.clone(), time, 1)),
        }
    }
    prop_assert_eq!(found, expected);
    Ok(())
}

fn timestamps(times: &[i64]) -> Vec<Timestamp> {
    times.iter().copied().map(ns).collect()
}

/// Checks queries for many attributes at many times.
fn check_many(
    history: &History,
    model: &Model,
    quarks: &BTreeMap<String, Quark>,
    times: &[i64],
) -> Result<(), TestCaseError> {
    let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
    let mut expected = Vec::new();
    for (path, quark) in quarks {
        for span in &model.past[path] {
            if times.iter().any(|t| span.0 <= *t && *t < span.1) {
                expected.push((*quark, span.clone()));
            }
        }
    }
    let asked: Vec<Quark> = quarks.values().copied().collect();
    let mut shuffled = times.to_vec();
    shuffled.reverse();
    let (times, shuffled) = (timestamps(times), timestamps(&shuffled));
    for times in [&times, &shuffled] {
        let mut found = Vec::new();
        let flow = history.for_each_at_times(&asked, times, |interval| {
            found.push((interval.quark, plain(interval)));
            ControlFlow::Continue(())
        });
        prop_assert!(flow.map_err(fail)?.is_continue());
        prop_assert_eq!(&found, &expected);
    }
    let mut left = expected.len().div_ceil(2);
    let flow = history.for_each_at_times(&asked, &times, |_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    prop_assert_eq!(flow.map_err(fail)?.is_break(), !expected.is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_query_answers_as_the_model(case in case()) {
        let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
        let model = case.model();
        let builder = Builder::in_memory_with(ns(case.start), case.settings());
        check(&case.build(builder).map_err(fail)?, &model)?;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history");
        let builder = Builder::create(&path, ns(case.start), case.settings()).map_err(fail)?;
        check(&case.build(builder).map_err(fail)?, &model)?;
    }

    /// A change may be late by up to the window. Changes at the same time are applied in
    /// the order of calls.
    #[test]
    fn disorder_within_the_window_does_not_matter(
        case in case(),
        late in prop::collection::vec(0i64..50, 120),
    ) {
        let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
        // Each change arrives when its time and its delay are over. The sort is stable.
        let mut order: Vec<(i64, &Step)> = case
            .steps
            .iter()
            .zip(&late)
            .map(|(step, late)| (step.t.saturating_add(*late), step))
            .collect();
        order.sort_by_key(|(at, _)| *at);
        let mut in_time: Vec<&Step> = order.iter().map(|(_, step)| *step).collect();
        in_time.sort_by_key(|step| step.t);
        let mut model = Model::new(case.start);
        in_time.iter().for_each(|step| { model.apply(step); });
        // Attributes exist from the first call on that names them.
        let mut settings = case.settings();
        settings.reorder_window = 50;
        let mut builder = Builder::in_memory_with(ns(case.start), settings);
        for (_, step) in &order {
            match step.apply(&mut builder) {
                Ok(()) | Err(HistoryError::NotAStack { .. } | HistoryError::StackTooDeep { .. }) => {}
                Err(error) => return Err(fail(error)),
            }
        }
        // Closing fails if a waiting change is impossible.
        match builder.close(ns(case.end())) {
            Ok(history) => check(&history, &model.close(case.end()))?,
            Err(HistoryError::NotAStack { .. } | HistoryError::StackTooDeep { .. }) => {}
            Err(error) => return Err(fail(error)),
        }
    }

    /// At each visible time, readers see the states of the final history up to that time.
    #[test]
    fn a_live_history_is_a_prefix(case in case()) {
        let fail = |e: HistoryError| TestCaseError::fail(e.to_string());
        let dir = tempfile::tempdir().unwrap();
        let file = Builder::create(dir.path().join("h"), ns(case.start), case.settings()).map_err(fail)?;
        for mut builder in [Builder::in_memory_with(ns(case.start), case.settings()), file] {
            let live = builder.live().map_err(fail)?;
            let mut model = Model::new(case.start);
            let mut models: Vec<(i64, Model)> = vec![(case.start, model.clone())];
            let mut last_end = None;
            for step in &case.steps {
                match step.apply(&mut builder) {
                    Ok(()) | Err(HistoryError::NotAStack { .. } | HistoryError::StackTooDeep { .. }) => {}
                    Err(error) => return Err(fail(error)),
                }
                model.apply(step);
                models.retain(|(t, _)| *t != step.t);
                models.push((step.t, model.clone()));
                let seen = live.latest();
                if last_end.replace(seen.end()) == Some(seen.end()) {
                    continue;
                }
                prop_assert!(!seen.is_complete());
                let (_, then) = models.iter().rfind(|(t, _)| ns(*t) < seen.end()).unwrap();
                let then = then.close(seen.end().as_ns());
                for (path, quark) in quarks(&seen) {
                    // An attribute may be newer than the last visible time.
                    let expected = then.past.get(&path).cloned()
                        .unwrap_or_else(|| vec![(case.start, seen.end().as_ns(), Owned::Null)]);
                    prop_assert_eq!(spans(&seen, quark).map_err(fail)?, expected);
                }
            }
            builder.close(ns(case.end())).map_err(fail)?;
            check(&live.latest(), &model.close(case.end()))?;
        }
    }
}

#[test]
fn late_changes_are_refused_with_their_times() {
    let regress = |error: HistoryError| match error {
        HistoryError::TimeRegress { time, earliest } => (time.as_ns(), earliest.as_ns()),
        error => panic!("{error}"),
    };
    let mut builder = Builder::in_memory(ns(0));
    let quark = builder.add("a").unwrap();
    builder.set(quark, ns(100), 1).unwrap();
    let error = builder.set(quark, ns(50), 2).unwrap_err();
    let text = "change at 50 ns is too late: the earliest possible time is 100 ns";
    assert_eq!(error.to_string(), text);
    assert_eq!(regress(error), (50, 100));
    assert_eq!(regress(builder.set(quark, ns(-1), 2).unwrap_err()), (-1, 100));
    builder.flush().unwrap();
    assert_eq!(regress(builder.set(quark, ns(100), 2).unwrap_err()), (100, 101));
    let history = builder.close(ns(101)).unwrap();
    assert_eq!(history.at(quark, ns(100)).unwrap().value, 1.into());

    let mut settings = Settings::default();
    settings.reorder_window = 10;
    let mut builder = Builder::in_memory_with(ns(0), settings);
    let quark = builder.add("a").unwrap();
    builder.set(quark, ns(100), 1).unwrap();
    builder.set(quark, ns(111), 2).unwrap();
    builder.set(quark, ns(101), 3).unwrap();
    assert_eq!(regress(builder.set(quark, ns(99), 4).unwrap_err()), (99, 100));
    match builder.close(ns(111)) {
        Err(HistoryError::EndsTooEarly { end, last }) => {
            assert_eq!((end, last), (ns(111), ns(111)));
        }
        closed => panic!("{closed:?}"),
    }
}

#[test]
fn at_most_the_limit_of_changes_wait() {
    let mut settings = Settings::default();
    (settings.reorder_window, settings.reorder_limit) = (u64::MAX, 10);
    let mut builder = Builder::in_memory_with(ns(0), settings);
    let quark = builder.add("a").unwrap();
    for t in 1..=100 {
        builder.set(quark, ns(t), t).unwrap();
    }
    assert_eq!(builder.now(), ns(90));
    assert!(matches!(builder.set(quark, ns(80), 0), Err(HistoryError::TimeRegress { .. })));
}

#[test]
fn unknown_attributes_and_times_are_errors() {
    let mut builder = Builder::in_memory(ns(10));
    let quark = builder.add("a").unwrap();
    let unknown = Quark::from_index(7);
    assert!(matches!(builder.set(unknown, ns(20), 1), Err(HistoryError::UnknownQuark { .. })));
    assert!(matches!(builder.set(Quark::ROOT, ns(20), 1), Err(HistoryError::UnknownQuark { .. })));
    assert!(matches!(builder.ongoing(unknown), Err(HistoryError::UnknownQuark { .. })));
    builder.set(quark, ns(20), "text").unwrap();
    assert!(matches!(builder.push(quark, ns(20), 1), Err(HistoryError::NotAStack { .. })));
    let history = builder.close(ns(31)).unwrap();
    let out_of_range = |error: HistoryError| match error {
        HistoryError::OutOfRange { time, start, end } => [time, start, end].map(Timestamp::as_ns),
        error => panic!("{error}"),
    };
    for t in [9, 31, i64::MIN, i64::MAX] {
        assert_eq!(out_of_range(history.at(quark, ns(t)).unwrap_err()), [t, 10, 31]);
        assert_eq!(out_of_range(history.state_at(ns(t)).unwrap_err()), [t, 10, 31]);
    }
    assert!(matches!(history.at(unknown, ns(20)), Err(HistoryError::UnknownQuark { .. })));
    for (start, end, outside) in [(20, 32, 32), (9, 20, 9), (9, 32, 9), (20, i64::MAX, i64::MAX)] {
        let error = history.intervals(quark, ns(start)..ns(end)).unwrap_err();
        assert_eq!(out_of_range(error), [outside, 10, 31]);
    }
    assert_eq!(history.intervals(quark, ns(10)..ns(31)).unwrap().count(), 2);
    for (start, end) in [(25, 20), (25, 25), (90, 80), (i64::MAX, i64::MIN)] {
        assert_eq!(history.intervals(quark, ns(start)..ns(end)).unwrap().count(), 0);
    }
}

#[test]
fn the_whole_range_of_times_works() {
    let mut builder = Builder::in_memory(Timestamp::MIN);
    let quark = builder.add("a").unwrap();
    builder.set(quark, Timestamp::MIN, 1).unwrap();
    builder.set(quark, ns(0), 2).unwrap();
    builder.set(quark, Timestamp::MAX, 3).unwrap();
    let history = builder.close(Timestamp::MAX).unwrap();
    let all = spans(&history, quark).unwrap();
    let expected = [(i64::MIN, 0, 1), (0, i64::MAX, 2), (i64::MAX, i64::MAX, 3)];
    assert_eq!(all, expected.map(|(start, end, v)| (start, end, Owned::I32(v))));
    for (t, value) in [(i64::MIN, 1), (-1, 1), (0, 2), (i64::MAX - 1, 2), (i64::MAX, 3)] {
        assert_eq!(history.at(quark, ns(t)).unwrap().value, value.into());
    }
    let mut seen = 0;
    let flow = history.for_each_in(&[quark], Timestamp::MIN..Timestamp::MAX, u64::MAX, |_| {
        seen += 1;
        ControlFlow::Continue(())
    });
    assert!(flow.unwrap().is_continue());
    assert_eq!(seen, 2);
}

#[test]
fn histories_of_more_than_one_group_of_blocks() {
    let mut settings = Settings::default();
    settings.block_intervals = Some(1);
    let mut builder = Builder::in_memory_with(ns(0), settings);
    let often = builder.add("often").unwrap();
    let rare = builder.add("rare").unwrap();
    for t in 1..1000 {
        builder.set(often, ns(t), t).unwrap();
        if t % 300 == 0 {
            builder.set(rare, ns(t), t).unwrap();
        }
    }
    let history = builder.close(ns(1001)).unwrap();
    assert!(history.blocks() > 900);
    for t in 0..=1000 {
        let rare = history.at(rare, ns(t)).unwrap();
        let start = t / 300 * 300;
        assert_eq!(rare.start, ns(start));
        assert_eq!(rare.end, ns(if t < 900 { start + 300 } else { 1001 }));
    }
    assert_eq!(spans(&history, often).unwrap().len(), 1000);
    assert_eq!(history.intervals(rare, ns(0)..ns(1001)).unwrap().rev().count(), 4);
}

/// Blocks contain summaries of long column chunks of few values. They agree with the
/// intervals for any range.
#[test]
fn durations_from_summaries_are_those_of_intervals() {
    let mut settings = Settings::default();
    settings.block_intervals = Some(3000);
    let mut builder = Builder::in_memory_with(ns(-500), settings);
    let quarks: Vec<Quark> = (0..3).map(|i| builder.add(&format!("a/{i}")).unwrap()).collect();
    let mut random = 3u64;
    let mut t = -400;
    for _ in 0..20_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (quark, number) = (quarks[(random >> 60) as usize % 3], (random >> 40) as i32 % 5);
        t += (random >> 33) as i64 % 30;
        match number {
            0 => builder.set(quark, ns(t), None::<i32>),
            1 => builder.set(quark, ns(t), "a text"),
            number => builder.set(quark, ns(t), number),
        }
        .unwrap();
    }
    let (start, end) = (-500, t + 100);
    let history = builder.close(ns(end + 1)).unwrap();
    assert!(history.blocks() > 4);
    for i in 0..60 {
        let (a, b) = (start + (end - start) * i / 60, end - (end - start) * (i * 7 % 60) / 90);
        let range = ns(a.min(b))..ns(a.max(b) + 1);
        for quark in &quarks {
            let mut expected: Vec<(String, u64, u64)> = Vec::new();
            for interval in history.intervals(*quark, range.clone()).unwrap() {
                let interval = interval.unwrap();
                let (start, end) = (interval.start.max(range.start), interval.end.min(range.end));
                let (value, time) = (interval.value.to_string(), end.since(start));
                match expected.iter_mut().find(|of| of.0 == value) {
                    Some(of) => (of.1, of.2) = (of.1 + time, of.2 + 1),
                    None => expected.push((value, time, 1)),
                }
            }
            let found = history.durations(*quark, range.clone()).unwrap();
            let found: Vec<_> =
                found.iter().map(|of| (of.value.to_string(), of.time, of.count)).collect();
            assert_eq!(found, expected, "{range:?}");
        }
    }
}

#[test]
fn long_and_many_texts_round_trip() {
    let mut builder = Builder::in_memory(ns(0));
    let quark = builder.add("a").unwrap();
    let text = |i: i64| if i % 1000 == 0 { format!("{i:>200}") } else { i.to_string() };
    for i in 0..70_000 {
        builder.set(quark, ns(i), text(i).as_str()).unwrap();
    }
    let history = builder.close(ns(70_000)).unwrap();
    // The second query for a text returns its cached copy.
    for i in (0..70_000).step_by(500).chain((0..70_000).step_by(500)) {
        assert_eq!(history.at(quark, ns(i)).unwrap().value, text(i).as_str().into());
    }
}

/// The state of all attributes agrees with the queries for each, in long and short column
/// chunks, evenly spaced and in bursts, of all kinds of values, in any unit of time.
#[test]
fn state_of_all_agrees_with_each_attribute() {
    for unit in [1, 1_000, 1_000_000, 1_000_000_000] {
        check_state_of_all(unit);
    }
}

fn check_state_of_all(unit: i64) {
    let mut settings = Settings::default();
    settings.block_intervals = Some(4_000);
    let mut builder = Builder::in_memory_with(ns(0), settings);
    let quarks: Vec<Quark> = (0..150).map(|i| builder.add(&format!("{i}")).unwrap()).collect();
    let mut random = 3u64;
    let mut next = |n: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % n
    };
    let mut t = 0;
    for i in 0..40_000u64 {
        // Some attributes rest for long, and then change often.
        t += if i % 5_000 < 4_500 { 1 + next(2_000) } else { 1_000_000 } as i64 * unit;
        // Not all times are multiples of the unit.
        t += next(unit.min(1 << 30) as u64) as i64;
        let most = 1 + next(150);
        let at = next(most);
        let (quark, number) = (quarks[at as usize], next(1 << (at % 25)));
        match at % 9 {
            _ if next(3) == 0 => builder.set(quark, ns(t), None::<i32>),
            0 | 1 => builder.set(quark, ns(t), number as i32 - 3),
            2 => builder.set(quark, ns(t), number as i64 * 0x1_0000_0001),
            3 => builder.set(quark, ns(t), number as f64),
            4 => builder.set(quark, ns(t), number << 40),
            5 => builder.set(quark, ns(t), &number.to_le_bytes()[..2]),
            _ => builder.set(quark, ns(t), format!("text {}", number % 50).as_str()),
        }
        .unwrap();
    }
    let history = builder.close(ns(t + 11)).unwrap();
    assert!(history.blocks() > 5);
    for i in 0..=500 {
        let some = ns(t / 500 * i);
        // The first and last times of an interval are tested, too.
        let at = history.at(quarks[i as usize % 150], some).unwrap();
        for t in [some, at.start, at.end.saturating_sub(1)] {
            let state = history.state_at(t).unwrap();
            assert_eq!(state.len(), quarks.len());
            for (quark, found) in quarks.iter().zip(&state) {
                assert_eq!(*found, history.at(*quark, t).unwrap());
            }
        }
    }
}
