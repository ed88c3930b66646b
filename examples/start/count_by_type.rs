//! Counts the events of a trace by their type.
//!
//! ```text
//! cargo run --release -p lttv-start --example count_by_type -- [TRACE [PATTERN]]
//! ```

use std::collections::BTreeMap;
use std::error::Error;

use lttv_context::{Bounds, Traceset, TracesetContext};

/// The trace that comes with the programs.
const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel");

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or(BUNDLED.to_owned());
    let pattern = arguments.next().unwrap_or("*".to_owned());

    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut context = TracesetContext::new(Traceset::open(path)?);
    context.on_event(&pattern, |call| {
        let name = call.event.event_type().name();
        match counts.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(counts.insert(name.to_owned(), 1)),
        }
    });
    let read = context.read(&Bounds::all())?;
    context.finish()?; // an error if the trace is damaged

    for (name, count) in &counts {
        println!("{count:>10}  {name}");
    }
    println!("{:>10}  events in all", read.events);
    Ok(())
}
