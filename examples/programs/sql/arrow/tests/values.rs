//! All values of all events of all traces, compared with the JSON of `text_dump`.

mod common;
#[path = "common/rows.rs"]
mod rows;

use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use lttv_arrow::{Damage, Scan, Selection, Tables};
use lttv_context::Traceset;
use rows::{Expected, compare, expected};

fn read(traceset: &Traceset, tables: Vec<Selection>) -> (Vec<Vec<RecordBatch>>, Damage) {
    let mut batches = vec![Vec::new(); tables.len()];
    let scan = Scan::new(traceset, tables).batch_rows(100);
    let damage = scan.read(&mut |table: usize, batch: RecordBatch| {
        batches[table].push(batch);
        ControlFlow::Continue(())
    });
    (batches, damage.expect("batches are built"))
}

#[test]
fn every_value_is_the_one_of_text_dump() {
    let (mut traces, mut events, mut skipped) = (0, 0, 0);
    for path in common::all_traces() {
        let Some(traceset) = common::open(&path) else {
            skipped += 1;
            continue;
        };
        let Expected { all, by_name, errors } = expected(&traceset);
        let tables = Tables::new(&traceset);
        let of = |name: &String| Selection::all(tables.of(name).expect("a table"));
        let mut selections: Vec<Selection> = tables.names().iter().map(of).collect();
        selections.push(Selection::all(tables.all()));
        let (mut batches, damage) = read(&traceset, selections);
        assert_eq!(damage.errors.len(), errors, "{}", path.display());
        let of_all = batches.pop().expect("the table of all events");
        compare(&path.display().to_string(), &all, &of_all);
        for (name, batches) in tables.names().iter().zip(&batches) {
            let wanted = by_name.get(name).map_or(&[][..], Vec::as_slice);
            compare(&format!("{}: {name}", path.display()), wanted, batches);
        }
        traces += 1;
        events += all.len();
    }
    println!("{traces} traces with {events} events compared; {skipped} cannot be opened");
    assert!(events > 6000);
}
