//! A history of states without a trace: the cars in parking spaces.

use std::error::Error;

use lttv_state::history::{Builder, History, Settings};
use lttv_state::value::StateValue;

const MINUTE: i64 = 60;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("parking-{}.history", std::process::id()));
    record(&file)?;

    let history = History::open(&file)?;
    for space in history.state_matching("north/*", 45 * MINUTE)? {
        let path = history.tree().path(space.quark);
        println!("{path}: {:?} since minute {}", space.value, space.start / MINUTE);
    }
    std::fs::remove_file(file)?;
    Ok(())
}

/// Records the arrivals and departures of cars.
fn record(file: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let mut builder = Builder::create(file, 0, Settings::default())?;
    let spaces = [builder.add("north/1")?, builder.add("north/2")?, builder.add("north/3")?];
    for (minute, space, car) in [
        (5, spaces[0], StateValue::Str("RU-57 1815")),
        (12, spaces[2], StateValue::Str("LT-TV 2003")),
        (40, spaces[0], StateValue::Null),
        (44, spaces[1], StateValue::Str("CT-F2 2023")),
        (71, spaces[2], StateValue::Null),
    ] {
        builder.set(space, minute * MINUTE, car)?;
    }
    builder.close(90 * MINUTE)?;
    Ok(())
}
