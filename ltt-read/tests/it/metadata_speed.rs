//! Measurement of the parser of metadata. Run with `cargo test --release -p ltt-read
//! --test it metadata_speed -- --ignored --nocapture`.

use std::fmt::Write;
use std::time::{Duration, Instant};

use ltt_read::metadata;

/// Returns TSDL as LTTng writes it, with `events` event types of ten fields each.
fn tsdl(events: usize) -> String {
    let mut text = String::from(
        "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n\
         stream { id = 0; event.header := struct { integer { size = 32; } id; }; };\n",
    );
    for id in 0..events {
        let _ = write!(
            text,
            "event {{\n\tname = \"provider:event_{id}\";\n\tid = {id};\n\tstream_id = 0;\n\
             \tfields := struct {{\n"
        );
        for field in 0..8 {
            let _ = writeln!(
                text,
                "\t\tinteger {{ size = 32; align = 8; signed = {}; encoding = none; base = 10; }} \
                 _field_{field};",
                field % 2
            );
        }
        text += "\t\tstring _text;\n\t\tinteger { size = 8; align = 8; signed = 1; \
                 encoding = UTF8; base = 10; } _comm[16];\n\t};\n};\n";
    }
    text
}

fn best_of(runs: usize, text: &str) -> Duration {
    let time = |_| {
        let start = Instant::now();
        let parsed = metadata::parse(text.as_bytes());
        let elapsed = start.elapsed();
        assert!(parsed.is_ok());
        elapsed
    };
    (0..runs).map(time).min().unwrap_or_default()
}

#[test]
#[ignore = "a measurement, meant for release mode"]
fn tsdl_is_parsed_in_linear_time() {
    let rate = |events| {
        let text = tsdl(events);
        let rate = text.len() as f64 / best_of(10, &text).as_secs_f64() / 1e6;
        println!("{events} event types, {:.1} MB: {rate:.0} MB/s", text.len() as f64 / 1e6);
        rate
    };
    let (small, large) = (rate(1_000), rate(10_000));
    assert!(large > small / 3.0, "time grows faster than the text");
}
