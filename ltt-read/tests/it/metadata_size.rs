//! Metadata with very many parts of one kind. The time to open it is proportional to its
//! size.

use std::fmt::Write;
use std::time::{Duration, Instant};

use ltt_read::Trace;

const TRACE: &str = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le;
    packet.header := struct { integer { size = 32; } stream_id; }; };\n";
const PREAMBLE: &str = "\u{1e}{\"type\": \"preamble\", \"version\": 2}";
const HEADER: &str = r#"{"type": "structure", "member-classes": [{"name": "id", "field-class":
    {"type": "fixed-length-unsigned-integer", "length": 32, "byte-order": "little-endian",
    "roles": ["event-record-class-id"]}}]}"#;
const TRACE_CLASS: &str = "\u{1e}{\"type\": \"trace-class\", \"packet-header-field-class\":
    {\"type\": \"structure\", \"member-classes\": [{\"name\": \"s\", \"field-class\":
    {\"type\": \"fixed-length-unsigned-integer\", \"length\": 32, \"byte-order\": \"little-endian\",
    \"roles\": [\"data-stream-class-id\"]}}]}}";
const U8: &str =
    r#"{"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}"#;

/// A generator of a text with a number of parts of one kind.
type Text = fn(usize) -> String;

/// Concatenates the texts that `each` writes for each number.
fn join(count: usize, mut each: impl FnMut(&mut String, usize) -> std::fmt::Result) -> String {
    let mut text = String::new();
    (0..count).for_each(|number| each(&mut text, number).expect("room"));
    text
}

const KINDS: [(&str, Text); 19] = [
    ("streams, TSDL", |n| {
        let each = |t: &mut String, i| {
            writeln!(
                t,
                "stream {{ id = {i}; }}; event {{ name = e{i}; stream_id = {i};
                fields := struct {{ string s; }}; }};"
            )
        };
        format!("{TRACE}{}", join(n, each))
    }),
    ("streams, CTF 2", |n| {
        let each = |t: &mut String, i| {
            writeln!(
                t,
                "\u{1e}{{\"type\": \"data-stream-class\", \"id\": {i}}}\u{1e}{{\"type\":
                \"event-record-class\", \"data-stream-class-id\": {i}, \"name\": \"e{i}\"}}"
            )
        };
        format!("{PREAMBLE}{TRACE_CLASS}{}", join(n, each))
    }),
    ("events, TSDL", |n| {
        let each = |t: &mut String, i| {
            writeln!(t, "event {{ name = e{i}; id = {i}; fields := struct {{ string s; }}; }};")
        };
        let stream = "stream { event.header := struct { integer { size = 32; } id; }; };";
        format!("{TRACE}{stream}{}", join(n, each))
    }),
    ("events, CTF 2", |n| {
        let each = |t: &mut String, i| {
            writeln!(t, "\u{1e}{{\"type\": \"event-record-class\", \"id\": {i}}}")
        };
        let stream = format!(
            "\u{1e}{{\"type\": \"data-stream-class\", \"event-record-header-field-class\": {HEADER}}}"
        );
        format!("{PREAMBLE}{stream}{}", join(n, each))
    }),
    ("streams with events without ids, CTF 2: an error each", |n| {
        let each = |t: &mut String, i| {
            let event =
                format!("\u{1e}{{\"type\": \"event-record-class\", \"data-stream-class-id\": {i}");
            writeln!(
                t,
                "\u{1e}{{\"type\": \"data-stream-class\", \"id\": {i}}}{event}}}{event}, \"id\": 1}}"
            )
        };
        format!("{PREAMBLE}{TRACE_CLASS}{}", join(n, each))
    }),
    ("streams of one id, TSDL: an error each", |n| {
        format!("{TRACE}{}", join(n, |t, _| writeln!(t, "stream {{ id = 0; }};")))
    }),
    ("labels, TSDL", |n| {
        let labels = join(n, |t, i| write!(t, "L{i} = {i},"));
        let options = join(n, |t, i| writeln!(t, "string L{i};"));
        format!("{TRACE} stream {{ }}; event {{ name = e; fields := struct {{
            enum : integer {{ size = 32; }} {{ {labels} END }} x; variant <x> {{ {options} }} v; }}; }};")
    }),
    ("labels, CTF 2", |n| {
        let labels = join(n, |t, i| write!(t, "\"L{i}\": [[{i}, {i}]],"));
        event_of(&format!(
            "{}, \"mappings\": {{ {labels} \"END\": [[1, 1]] }}}}",
            U8.strip_suffix('}').expect("an object").replace("\"length\": 8", "\"length\": 32")
        ))
    }),
    ("members, TSDL", |n| {
        let members =
            join(n, |t, i| writeln!(t, "integer {{ size = 8; }} m{i}; string s{i}[m{i}];"));
        format!("{TRACE} stream {{ }}; event {{ name = e; fields := struct {{ {members} }}; }};")
    }),
    ("members, CTF 2", |n| {
        let each = |t: &mut String, i| write!(t, "{{\"name\": \"m{i}\", \"field-class\": {U8}}},");
        event_of(&format!(
            "{{\"type\": \"structure\", \"member-classes\": [ {}
            {{\"name\": \"end\", \"field-class\": {U8}}}]}}",
            join(n, each)
        ))
    }),
    ("aliases, TSDL", |n| {
        let each = |t: &mut String, i| match i {
            0 => writeln!(t, "typealias integer {{ size = 8; }} := t0;"),
            _ => writeln!(t, "typealias t{} := t{i}; struct n{i} {{ t{i} x; }};", i - 1),
        };
        format!(
            "{TRACE} stream {{ }}; {} event {{ name = e; fields := struct {{ t0 x; }}; }};",
            join(n, each)
        )
    }),
    ("aliases, CTF 2", |n| {
        let each = |t: &mut String, i| {
            writeln!(
                t,
                "\u{1e}{{\"type\": \"field-class-alias\", \"name\": \"t{i}\", \"field-class\": {}}}",
                if i == 0 { U8.to_owned() } else { format!("\"t{}\"", i - 1) }
            )
        };
        format!("{PREAMBLE}{}\u{1e}{{\"type\": \"data-stream-class\"}}", join(n, each))
    }),
    ("clocks, TSDL", |n| {
        let clocks = join(n, |t, i| {
            writeln!(
                t,
                "clock {{ name = c{i}; }};
                stream {{ id = {i}; event.header := struct {{
                integer {{ size = 8; map = clock.c{i}.value; }} t; }}; }};"
            )
        });
        format!("{TRACE}{clocks}")
    }),
    ("clocks, CTF 2", |n| {
        let clocks = join(n, |t, i| {
            writeln!(t, "\u{1e}{{\"type\": \"clock-class\", \"id\": \"c{i}\", \"frequency\": 1}}
                \u{1e}{{\"type\": \"data-stream-class\", \"id\": {i}, \"default-clock-class-id\": \"c{i}\"}}")
        });
        format!("{PREAMBLE}{TRACE_CLASS}{clocks}")
    }),
    ("unmapped timestamps, TSDL: a warning each", |n| {
        let streams = join(n, |t, i| {
            writeln!(
                t,
                "stream {{ id = {i}; event.header := struct {{
                integer {{ size = 8; }} timestamp; }}; }};"
            )
        });
        format!("{TRACE} clock {{ name = a; }}; clock {{ name = b; }}; {streams}")
    }),
    ("environment, TSDL", |n| {
        let entries = join(n, |t, i| writeln!(t, "e{i} = {i};"));
        format!("{TRACE} env {{ {entries} }}; stream {{ }};")
    }),
    ("environment, CTF 2", |n| {
        let entries = join(n, |t, i| writeln!(t, "\"e{i}\": {i},"));
        format!("{PREAMBLE}\u{1e}{{\"type\": \"trace-class\", \"environment\": {{ {entries} \"z\": 0 }}}}
            \u{1e}{{\"type\": \"data-stream-class\"}}")
    }),
    ("unknown attributes, TSDL: a warning each", |n| {
        let attributes = join(n, |t, i| writeln!(t, "a{i} = {i};"));
        format!("{TRACE} stream {{ {attributes} }};")
    }),
    ("unknown roles, CTF 2: a warning each", |n| {
        let roles = join(n, |t, i| write!(t, "\"r{i}\","));
        let class = U8.strip_suffix('}').expect("an object");
        event_of(&format!("{class}, \"roles\": [{roles} \"end\"]}}"))
    }),
];

/// Returns CTF 2 metadata with an event type of one field.
fn event_of(class: &str) -> String {
    format!(
        "{PREAMBLE}\u{1e}{{\"type\": \"data-stream-class\"}}\u{1e}{{\"type\": \"event-record-class\",
        \"payload-field-class\": {{\"type\": \"structure\", \"member-classes\":
        [{{\"name\": \"f\", \"field-class\": {class}}}]}}}}"
    )
}

/// Measures the time to accept or reject a text.
fn time(text: &str) -> Duration {
    let start = Instant::now();
    match Trace::from_memory(text.as_bytes(), []) {
        Ok(trace) => drop(trace),
        Err(error) => assert!(error.to_string().lines().count() <= 50, "{error}"),
    }
    start.elapsed()
}

/// A text of ten times the size may take forty times the time: quadratic work would take
/// a hundred, and machines may be busy.
#[test]
fn opening_time_is_proportional_to_the_size_of_the_metadata() {
    let mut slow = Vec::new();
    for (what, text) in KINDS {
        let (small, large) = (text(5_000), text(50_000));
        let least = Duration::from_millis(5);
        let mut times = (Duration::MAX, Duration::MAX);
        // Repetition excludes delays of a busy machine.
        for _ in 0..3 {
            times = (times.0.min(time(&small)), times.1.min(time(&large)));
            if times.1 < 40 * times.0.max(least) {
                break;
            }
        }
        println!("{what}: {:?}, tenfold {:?}", times.0, times.1);
        if times.1 >= 40 * times.0.max(least) {
            slow.push(what);
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}
