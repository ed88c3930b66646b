//! Counts the events of a trace by their type.
//!
//! ```text
//! cargo run --release --example count_by_type -- [TRACE] [PATTERN]
//! ```

use std::collections::BTreeMap;

use lttv_context::{Bounds, Traceset, TracesetContext};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/kernel");
    let traceset = Traceset::open(args.next().as_deref().unwrap_or(bundled))?;
    let pattern = args.next().unwrap_or("*".to_owned());

    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut context = TracesetContext::new(&traceset);
    context.on_event(&pattern, |call| {
        let name = call.event.event_type().name();
        match counts.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(counts.insert(name.to_owned(), 1)),
        }
    });
    let read = context.middle(&Bounds::all())?;
    context.errors().iter().for_each(|error| eprintln!("{error}"));
    drop(context);

    for (name, count) in &counts {
        println!("{count:>10}  {name}");
    }
    println!("{:>10}  events in all", read.events);
    Ok(())
}
