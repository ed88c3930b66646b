//! Interrupts.

use std::collections::BTreeMap;

use super::*;

/// A handler of an interrupt: its kind, number and CPU, its start and its end.
pub(super) type Handler = ((&'static str, i64, u32), (i64, i64));

/// Returns the handlers that started and ended.
pub(super) fn handlers() -> Vec<Handler> {
    let mut open: BTreeMap<(&str, u32), Vec<(i64, i64)>> = BTreeMap::new();
    let mut handlers = Vec::new();
    for line in lines() {
        for (kind, entry, exit, field) in [
            ("irq", "irq_handler_entry", "irq_handler_exit", "irq"),
            ("softirq", "irq_softirq_entry", "irq_softirq_exit", "vec"),
        ] {
            let open = open.entry((kind, line.cpu)).or_default();
            if line.name == entry {
                open.push((line.number(field), line.time));
            } else if line.name == exit
                && let Some((number, begin)) = open.pop()
            {
                handlers.push(((kind, number, line.cpu), (begin, line.time)));
            }
        }
    }
    handlers
}

/// Compares the interrupts of a window with those of the model that are wanted.
fn check_interrupts(
    args: &[&str],
    window: (i64, i64),
    is_wanted: impl Fn(&Handler) -> bool,
) -> usize {
    let found = json::<IrqArgs>(irq::run, &[args, &["--timerange", &range(window)]].concat());
    // The count, the time, and the shortest and longest handler that is wholly in the window.
    type Sums = (i64, i64, Option<(i64, i64)>);
    let mut expected: BTreeMap<(String, i64, i64), Sums> = BTreeMap::new();
    for (key, (begin, end)) in handlers().iter().filter(|of| is_wanted(of)) {
        let time = part((*begin, *end), window);
        let ended = (window.0..=window.1).contains(end);
        if !ended && time == 0 {
            continue;
        }
        let (kind, number, cpu) = *key;
        let sums = expected.entry((kind.to_owned(), number, cpu.into())).or_default();
        (sums.0, sums.1) = (sums.0 + i64::from(ended), sums.1 + time);
        if ended && *begin >= window.0 {
            let (min, max) = sums.2.unwrap_or((i64::MAX, 0));
            sums.2 = Some((min.min(end - begin), max.max(end - begin)));
        }
    }
    let found = rows(&found, "interrupts").iter().map(|row| {
        let key = (row["kind"].as_str().unwrap().to_owned(), ns(row, "number"), ns(row, "cpu"));
        // Without a handler that is wholly in the window, there are no durations.
        let longest = row["min_ns"].as_i64().zip(row["max_ns"].as_i64());
        assert_eq!(row["average_us"].is_null(), longest.is_none(), "{row}");
        (key, (ns(row, "count"), ns(row, "time_ns"), longest))
    });
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{args:?} {window:?}");
    expected.len()
}

#[test]
fn irq_counts_what_is_open_at_the_borders() {
    let mut compared = 0;
    for window in windows(25).into_iter().chain([all()]) {
        compared += check_interrupts(&[], window, |_| true);
    }
    // From within one handler to within another one.
    let handlers = handlers();
    let longest = |from: usize, to: usize| {
        let all = handlers[from..to].iter().map(|of| of.1);
        all.max_by_key(|(begin, end)| end - begin).unwrap()
    };
    let (first, second) =
        (longest(0, handlers.len() / 2), longest(handlers.len() / 2, handlers.len()));
    let inside = |(begin, end): (i64, i64)| begin + (end - begin) / 2;
    compared += check_interrupts(&[], (inside(first), inside(second)), |_| true);
    compared += check_interrupts(&[], (first.0 + 1, first.1 - 1), |_| true);
    assert!(compared > 100, "{compared}");
}

#[test]
fn irq_honours_filters_of_entries_and_cpus() {
    let timer = |of: &Handler| of.0.0 == "softirq" && of.0.1 == 1;
    let handlers = handlers();
    let (_, (begin, end)) =
        handlers.iter().filter(|of| timer(of)).max_by_key(|of| of.1.1 - of.1.0).unwrap();
    let within = (begin + (end - begin) / 2, all().1);
    for window in windows(8).into_iter().chain([all(), within]) {
        check_interrupts(&["-e", "vec == 1"], window, timer);
        check_interrupts(&["--cpu", "2,5"], window, |of| matches!(of.0.2, 2 | 5));
        check_interrupts(&["-e", "vec == 1", "--cpu", "5"], window, |of| timer(of) && of.0.2 == 5);
        check_interrupts(&["-e", "event.name == irq_handler_entry"], window, |of| of.0.0 == "irq");
    }
}

#[test]
fn irq_sorts_by_any_column() {
    let times = |args: &[&str]| -> Vec<i64> {
        rows(&json::<IrqArgs>(irq::run, args), "interrupts")
            .iter()
            .map(|of| ns(of, "time_ns"))
            .collect()
    };
    let mut sorted = times(&[]);
    assert!(!sorted.is_sorted_by(|a, b| a >= b));
    sorted.sort_unstable_by_key(|time| -time);
    assert_eq!(times(&["--sort", "time_ns"]), sorted);
    let error = output::<IrqArgs>(irq::run, &["--sort", "time", KERNEL]).unwrap_err();
    assert!(error.is::<Usage>() && error.to_string().starts_with("--sort: there is no column"));
}

#[test]
fn interrupts_of_consecutive_windows_add_up() {
    let sums = |into: &mut BTreeMap<String, (i64, i64)>, range: &str| {
        for row in rows(&json::<IrqArgs>(irq::run, &["--timerange", range]), "interrupts") {
            let sum = into
                .entry(format!("{} {} {}", row["kind"], row["number"], row["cpu"]))
                .or_default();
            (sum.0, sum.1) = (sum.0 + ns(row, "count"), sum.1 + ns(row, "time_ns"));
        }
    };
    let (mut whole, mut parts) = (BTreeMap::new(), BTreeMap::new());
    sums(&mut whole, "..");
    cuts().windows(2).for_each(|cut| sums(&mut parts, &range((cut[0], cut[1]))));
    assert!(whole.len() > 10);
    assert_eq!(parts, whole);
}
