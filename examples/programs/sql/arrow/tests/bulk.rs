//! Reads in bulk, compared with reads event by event.

mod common;

use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_select::concat::concat_batches;
use common::generated::{Numbers, Shape, traceset};
use ltt_read::Timestamp;
use lttv_arrow::{Damage, EventTable, Scan, Selection, Tables, is_in_order};
use lttv_common::time::Window;
use lttv_context::Traceset;

/// Returns all rows of a read.
fn rows(scan: &Scan<'_>, selection: &Selection) -> (RecordBatch, Damage) {
    let mut batches = Vec::new();
    let damage = scan.read(&mut |_: usize, batch: RecordBatch| {
        batches.push(batch);
        ControlFlow::Continue(())
    });
    let schema = selection.schema().expect("columns");
    let rows = concat_batches(&schema, &batches).expect("one schema");
    (rows, damage.expect("batches"))
}

/// Returns rows as texts, in alphabetical order.
fn sorted(rows: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::default();
    let columns = rows.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
    let columns: Vec<_> = columns.collect::<Result<_, _>>().expect("texts");
    let text = |row| columns.iter().map(|column| format!("{};", column.value(row))).collect();
    let mut texts: Vec<String> = (0..rows.num_rows()).map(text).collect();
    texts.sort_unstable();
    texts
}

/// Compares both ways of reading. Only traces with events of the table are read in bulk, so that what is wrong with
/// others is not met.
fn compare(place: &str, scan: &Scan<'_>, selection: &Selection, reads_all: bool) {
    let (expected, damage) = rows(scan, selection);
    let bulk = scan.clone().in_order(true);
    assert!(bulk.is_bulk().expect("columns"), "{place}");
    let (found, of_bulk) = rows(&bulk, selection);
    assert_eq!(found, expected, "{place}");
    let (found, of_any) = rows(&bulk.any_order(true), selection);
    assert_eq!(sorted(&found), sorted(&expected), "{place}, in any order");
    for of in [of_bulk, of_any] {
        let counts = |of: &Damage| (of.errors.len(), of.notices.len());
        let ((errors, notices), (all_errors, all_notices)) = (counts(&of), counts(&damage));
        let is_part = !reads_all && errors <= all_errors && notices <= all_notices;
        assert!(is_part || counts(&of) == counts(&damage), "{place}: {of:?}, not {damage:?}");
        assert_eq!(of.goes_back, damage.goes_back, "{place}");
    }
}

/// Returns the selections of generated traces, with many and few columns.
fn selections(traceset: &Traceset) -> Vec<Selection> {
    let tables = Tables::new(traceset);
    let of = |name: &str, columns: &[&str]| {
        let table = if name == "events" { tables.all() } else { tables.of(name).expect("a table") };
        Selection::named(table, columns.iter().copied()).expect("columns")
    };
    vec![
        of("even", &["ts", "trace", "stream", "cpu", "number", "small", "text"]),
        of("odd", &["small", "ts"]),
        of("even", &["text"]),
        of("events", &["name", "ts", "stream"]),
        of("events", &["cpu", "trace"]),
        of("events", &[]),
    ]
}

#[test]
fn rows_of_generated_traces() {
    let mut damaged = 0;
    for seed in 0..40 {
        let shape = Shape { goes_back: false, is_damaged: seed % 3 == 0, events: 400 };
        let (traceset, mut numbers) = (traceset(seed, shape), Numbers(seed));
        for selection in selections(&traceset) {
            let scan = Scan::new(&traceset, vec![selection.clone()]).batch_rows(7 + seed as usize);
            let names = selection.schema().expect("columns");
            let place = format!("{shape:?} {seed}, {:?}", names.fields());
            compare(&place, &scan, &selection, true);
            damaged += rows(&scan, &selection).1.errors.len();
            for part in scan.parts(5) {
                compare(&format!("{place}, a part"), &part, &selection, true);
            }
            let mut time = || Some(Timestamp::from_ns(1000 + numbers.below(2500) as i64));
            let (a, b) = (time(), time());
            let window = Window { begin: a.min(b), end: a.max(b) };
            compare(
                &format!("{place}, {window:?}"),
                &scan.clone().window(window),
                &selection,
                true,
            );
            let open = Window { begin: None, end: window.end };
            compare(&format!("{place}, {open:?}"), &scan.window(open), &selection, true);
        }
    }
    assert!(damaged > 20, "{damaged}");
}

/// The tables of each trace are read three times each, some of every trace unless `LTTV_BULK_ALL` is set.
#[test]
fn rows_of_all_traces() {
    let reads_all = std::env::var_os("LTTV_BULK_ALL").is_some();
    let (mut tables_read, mut columns_read) = (0, 0);
    for path in common::all_traces() {
        let Some(traceset) = common::open(&path) else { continue };
        if !is_in_order(traceset.traces()) {
            continue;
        }
        let tables = Tables::new(&traceset);
        let names = tables.names();
        let step = if reads_all { 1 } else { names.len().div_ceil(4).max(1) };
        let some = names.iter().step_by(step).map(|name| tables.of(name).expect("a table"));
        for table in some.chain([tables.all()]) {
            let selection = bulk_columns(&traceset, table);
            if selection.columns.is_empty() {
                continue;
            }
            let scan = Scan::new(&traceset, vec![selection.clone()]);
            let place = format!("{}: {}", path.display(), selection.table.name());
            compare(&place, &scan, &selection, traceset.traces().len() == 1);
            tables_read += 1;
            columns_read += selection.columns.len();
        }
    }
    println!("{columns_read} columns of {tables_read} tables compared");
    assert!(tables_read > 10 && columns_read > 50, "{columns_read} of {tables_read}");
}

/// Selects the columns that can be read in bulk.
fn bulk_columns(traceset: &Traceset, table: EventTable) -> Selection {
    let mut selection = Selection::all(table);
    selection.columns.retain(|column| {
        let alone = Selection { table: selection.table.clone(), columns: vec![*column] };
        Scan::new(traceset, vec![alone]).in_order(true).is_bulk().expect("a column")
    });
    selection
}

#[test]
fn some_columns_are_read_event_by_event() {
    let traceset = Traceset::open(common::bundled("kernel")).expect("a trace");
    let tables = Tables::new(&traceset);
    for (table, column, is_bulk) in [
        (tables.of("sched_switch").expect("a table"), "next_comm", true),
        (tables.of("irq_softirq_entry").expect("a table"), "field_name_label", false),
        (tables.all(), "name", true),
        (tables.all(), "fields", false),
        (tables.all().with_kernel_state(), "state_tid", false),
    ] {
        let selection = Selection::named(table, [column]).expect("a column");
        let scan = Scan::new(&traceset, vec![selection]);
        assert!(!scan.is_bulk().expect("a column"), "{column}: only on request");
        assert_eq!(scan.in_order(true).is_bulk().expect("a column"), is_bulk, "{column}");
    }
}
