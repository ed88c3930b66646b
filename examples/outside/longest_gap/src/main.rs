//! Finds the longest time between two events of a type: `longest_gap TRACE sched_switch`.

use std::error::Error;

use ltt_read::{Merge, open_all};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(name)) = (arguments.next(), arguments.next()) else {
        return Err("usage: longest_gap TRACE EVENT".into());
    };
    let traces = open_all(path)?;
    let (mut last, mut longest) = (None, None);
    let mut events = Merge::new(&traces);
    while let Some(event) = events.next_where(|event| event.event_type().name() == name) {
        let Some(time) = event.timestamp() else { continue };
        if let Some(last) = last.replace(time) {
            longest = longest.max(Some((time.since(last), last)));
        }
    }
    match longest {
        Some((ns, begin)) => println!("{ns} ns without {name}, from {begin}"),
        None => println!("fewer than two events of the name {name}"),
    }
    Ok(events.finish()?)
}
