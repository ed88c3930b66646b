//! Windows, slices and filters of scans, compared with a plain read.

mod common;

use std::collections::HashMap;
use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type};
use common::generated::{Numbers, Shape, traceset};
use ltt_read::{Merge, Timestamp};
use lttv_arrow::{Damage, Scan, Selection, Tables, is_in_order};
use lttv_common::time::Window;
use lttv_context::Traceset;
use lttv_filter::{Environment, Expression};
use lttv_state::filter::KernelFilters;

/// An event: its time, its number, and whether its number is even.
type Row = (i64, u32);

/// Reads all events with a plain merge, and counts the errors.
fn plain(traceset: &Traceset) -> (Vec<Row>, usize) {
    let mut events = Merge::new(traceset.traces());
    let mut rows = Vec::new();
    while let Some(event) = events.next() {
        let number = event.field("number").and_then(|number| number.as_u64()).expect("a number");
        rows.push((event.timestamp().expect("a time").as_ns(), number as u32));
    }
    (rows, events.errors().len())
}

/// Returns the rows of both tables, in the order of the table of all events.
fn rows(scan: &Scan<'_>) -> (Vec<Row>, Vec<Row>, Damage) {
    let (mut all, mut even) = (Vec::new(), Vec::new());
    let damage = scan.read(&mut |table: usize, batch: RecordBatch| {
        let times = batch.column(0).as_primitive::<Int64Type>();
        let number = |row: usize| match table {
            0 => batch.column(1).as_primitive::<UInt32Type>().value(row),
            _ => {
                let fields = batch.column(1).as_string_view().value(row);
                let fields: serde_json::Value = serde_json::from_str(fields).expect("JSON");
                fields["number"].as_u64().expect("a number") as u32
            }
        };
        let rows = (0..batch.num_rows()).map(|row| (times.value(row), number(row)));
        if table == 0 {
            even.extend(rows)
        } else {
            all.extend(rows)
        }
        ControlFlow::Continue(())
    });
    (all, even, damage.expect("batches"))
}

fn selections(traceset: &Traceset) -> Vec<Selection> {
    let tables = Tables::new(traceset);
    let even = tables.of("even").expect("a table");
    vec![
        Selection::named(even, ["ts", "number"]).expect("columns"),
        Selection::named(tables.all(), ["ts", "fields"]).expect("columns"),
    ]
}

fn each_trace(mut test: impl FnMut(&Traceset, Shape, &mut Numbers)) {
    for seed in 0..60 {
        let shape = Shape { goes_back: seed % 2 == 0, is_damaged: seed % 3 == 0, events: 200 };
        test(&traceset(seed, shape), shape, &mut Numbers(seed ^ 0x5eed));
    }
}

#[test]
fn each_event_is_in_exactly_one_slice() {
    let (mut damaged, mut several) = (0, 0);
    each_trace(|traceset, shape, _| {
        let (expected, errors) = plain(traceset);
        damaged += usize::from(errors > 0);
        let scan = Scan::new(traceset, selections(traceset)).batch_rows(7);
        for count in [1, 2, 7, 64] {
            let slices = scan.slices(count);
            assert!(slices.len() <= count);
            several += usize::from(slices.len() > 1);
            let (mut all, mut even, mut damage) = (Vec::new(), Vec::new(), Damage::default());
            for slice in &slices {
                let (more, more_even, found) = rows(slice);
                all.extend(more);
                even.extend(more_even);
                damage.add(found);
            }
            let mut wanted = expected.clone();
            if shape.goes_back && slices.len() > 1 {
                // Slices are divided by the times of events, not by the order of delivery.
                all.sort_unstable_by_key(|row| row.1);
                even.sort_unstable_by_key(|row| row.1);
                wanted.sort_unstable_by_key(|row| row.1);
            }
            assert_eq!(all, wanted, "{count} slices of {shape:?}");
            wanted.retain(|(_, number)| number % 2 == 0);
            assert_eq!(even, wanted, "{count} slices of {shape:?}");
            assert_eq!(damage.errors.len(), errors, "{count} slices of {shape:?}");
        }
    });
    assert!(damaged > 5 && several > 50, "{damaged} damaged, {several} in several slices");
}

#[test]
fn each_event_is_in_exactly_one_part() {
    let mut of_one_trace = 0;
    each_trace(|traceset, shape, _| {
        let (mut expected, errors) = plain(traceset);
        expected.sort_unstable_by_key(|row| row.1);
        let scan = Scan::new(traceset, selections(traceset)).batch_rows(7);
        for count in [1, 2, 5, 16] {
            let parts = scan.parts(count);
            let (mut all, mut damage) = (Vec::new(), Damage::default());
            for part in &parts {
                let (more, _, found) = rows(part);
                // Where no clock goes back, each part is in order.
                assert!(shape.goes_back || more.is_sorted_by_key(|row| row.0));
                of_one_trace += usize::from(part.only_trace().is_some());
                all.extend(more);
                damage.add(found);
            }
            all.sort_unstable_by_key(|row| row.1);
            assert_eq!(all, expected, "{count} parts of {shape:?}");
            assert_eq!(damage.errors.len(), errors, "{count} parts of {shape:?}");
        }
    });
    assert!(of_one_trace > 200, "{of_one_trace}");
}

#[test]
fn windows_contain_the_events_of_their_times() {
    each_trace(|traceset, shape, numbers| {
        let (expected, _) = plain(traceset);
        for _ in 0..8 {
            let mut time = || expected[numbers.below(expected.len() as u64) as usize].0;
            let (a, b) = (time(), time());
            let (begin, end) = (a.min(b), a.max(b));
            let at = |ns| Some(Timestamp::from_ns(ns));
            let window = Window { begin: at(begin), end: at(end) };
            let scan = Scan::new(traceset, selections(traceset)).window(window);
            let mut wanted = expected.clone();
            wanted.retain(|(time, _)| (begin..=end).contains(time));
            assert_eq!(rows(&scan).0, wanted, "{begin}..={end} of {shape:?}");
            let sliced: usize = scan.slices(5).iter().map(|slice| rows(slice).0.len()).sum();
            assert_eq!(sliced, wanted.len(), "{begin}..={end} of {shape:?}, in slices");
        }
    });
}

#[test]
fn filters_choose_rows() {
    each_trace(|traceset, _, numbers| {
        let (expected, _) = plain(traceset);
        let (low, cpu) = (numbers.below(100), numbers.below(2));
        let text = format!("number >= {low} && cpu != {cpu}");
        let expression = Expression::parse(&text).expect("a filter");
        let filters =
            KernelFilters::new(&expression, traceset.traces(), &Environment::new()).expect("fits");
        let all = Scan::new(traceset, selections(traceset));
        let (chosen, even, _) = rows(&all.clone().filters(Some(&filters)));
        let mut events = filters.filters().read();
        let mut count = 0;
        while events.next().is_some() {
            count += 1;
        }
        assert_eq!(chosen.len(), count, "{text}");
        assert!(chosen.iter().all(|row| row.1 >= low as u32 && expected.contains(row)));
        assert!(even.iter().all(|row| row.1 % 2 == 0 && chosen.contains(row)));
    });
}

#[test]
fn a_clock_that_goes_back_is_noticed() {
    each_trace(|traceset, shape, _| {
        let (expected, errors) = plain(traceset);
        let is_sorted = expected.is_sorted_by_key(|row| row.0);
        if is_in_order(traceset.traces()) {
            assert!(is_sorted, "{shape:?}");
        } else {
            assert!(shape.goes_back || errors > 0, "{shape:?}");
        }
    });
}

#[test]
fn memory_is_bounded_by_smaller_batches() {
    let traceset = traceset(1, Shape { goes_back: false, is_damaged: false, events: 4000 });
    let scan = Scan::new(&traceset, selections(&traceset)).batch_rows(usize::MAX).memory(2000);
    let mut largest = 0;
    let mut total = 0;
    let damage = scan.read(&mut |table: usize, batch: RecordBatch| {
        largest = largest.max(batch.num_rows());
        total += if table == 1 { batch.num_rows() } else { 0 };
        ControlFlow::Continue(())
    });
    assert!(damage.expect("batches").is_empty());
    assert_eq!(total, 4000);
    assert!(largest < 200, "{largest} rows at once");
}

#[test]
fn the_state_is_that_of_the_thread_that_runs() {
    let traceset = Traceset::open(common::bundled("kernel")).expect("a trace");
    let table = Tables::new(&traceset).of("sched_switch").expect("a table").with_kernel_state();
    let columns = ["next_tid", "state_tid", "next_comm", "state_name"];
    let selection = Selection::named(table, columns).expect("columns");
    let scan = Scan::new(&traceset, vec![selection]);
    assert_eq!(scan.slices(4).len(), 1, "the state needs all events before");
    let (mut rows, mut same_names) = (0, 0);
    let damage = scan.read(&mut |_: usize, batch: RecordBatch| {
        assert_eq!(batch.column(0), batch.column(1));
        let name = |column: usize| batch.column(column).as_string_view().iter();
        same_names += name(2).zip(name(3)).filter(|(next, of_state)| next == of_state).count();
        rows += batch.num_rows();
        ControlFlow::Continue(())
    });
    assert!(damage.expect("batches").is_empty());
    // A thread may change its name, of which the state knows sooner or later.
    assert!(rows == 497 && same_names > 450, "{same_names} of {rows}");
}

#[test]
fn the_priority_is_that_of_the_last_switch() {
    let traceset = Traceset::open(common::bundled("kernel")).expect("a trace");
    let mut events = Merge::new(traceset.traces());
    let (mut of_cpu, mut expected) = (HashMap::new(), Vec::new());
    while let Some(event) = events.next() {
        let cpu = event.tracefile().cpu().expect("a CPU");
        if event.event_type().name() == "sched_switch" {
            let priority = event.field("next_prio").and_then(|of| of.as_i64()).expect("a number");
            of_cpu.insert(cpu, priority as i32);
        }
        expected.push((event.timestamp().expect("a time").as_ns(), of_cpu.get(&cpu).copied()));
    }
    let table = Tables::new(&traceset).all().with_kernel_state();
    let selection = Selection::named(table, ["ts", "state_prio"]).expect("columns");
    for begin in [0, 100, expected.len() / 2] {
        let begin = Some(Timestamp::from_ns(expected[begin].0));
        let window = Window { begin, end: None };
        let scan = Scan::new(&traceset, vec![selection.clone()]).window(window);
        let mut found = Vec::new();
        let damage = scan.read(&mut |_: usize, batch: RecordBatch| {
            let times = batch.column(0).as_primitive::<Int64Type>().values().iter().copied();
            found.extend(times.zip(batch.column(1).as_primitive::<Int32Type>().iter()));
            ControlFlow::Continue(())
        });
        assert!(damage.expect("batches").is_empty());
        let first = begin.map_or(0, Timestamp::as_ns);
        let wanted: Vec<_> = expected.iter().filter(|(time, _)| *time >= first).copied().collect();
        assert_eq!(found, wanted);
        let priorities = found.iter().filter(|(_, priority)| priority.is_some()).count();
        assert!(priorities > 2000, "{priorities}");
    }
}
