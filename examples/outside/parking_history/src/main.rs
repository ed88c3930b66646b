//! A history of states without a trace: the cars in parking spaces.

use std::error::Error;

use lttv_state::history::{Builder, History, Settings, Timestamp};
use lttv_state::value::StateValue;

/// Returns a time in minutes, the unit of this history.
fn minute(n: i64) -> Timestamp {
    Timestamp::from_ns(n)
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("parking-{}.history", std::process::id()));
    record(&file)?;

    let history = History::open(&file)?;
    for space in history.state_matching("north/*", minute(45))? {
        let path = history.tree().path(space.quark);
        println!("{path}: {:?} since minute {}", space.value, space.start.as_ns());
    }
    std::fs::remove_file(file)?;
    Ok(())
}

/// Records the arrivals and departures of cars.
fn record(file: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let mut builder = Builder::create(file, minute(0), Settings::default())?;
    let spaces = [builder.add("north/1")?, builder.add("north/2")?, builder.add("north/3")?];
    for (time, space, car) in [
        (5, spaces[0], StateValue::Str("RU-57 1815")),
        (12, spaces[2], StateValue::Str("LT-TV 2003")),
        (40, spaces[0], StateValue::Null),
        (44, spaces[1], StateValue::Str("CT-F2 2023")),
        (71, spaces[2], StateValue::Null),
    ] {
        builder.set(space, minute(time), car)?;
    }
    builder.close(minute(90))?;
    Ok(())
}
