//! Prints the events of traces.
fn main() {}
