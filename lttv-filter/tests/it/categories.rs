//! Categories of events, and names with their channel, compared with counts of the events
//! themselves.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::{EnvValue, FieldClass, Format, StreamClass, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Event, Merge, Trace, open_all};
use lttv_filter::{Expression, Filters};

fn bundled(name: &str) -> Vec<Arc<Trace>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces").join(name);
    open_all(path).expect("a bundled trace")
}

/// Counts the events by a text.
fn counts(traces: &[Arc<Trace>], of: impl Fn(&Event<'_>) -> String) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut merge = Merge::new(traces);
    while let Some(event) = merge.next() {
        *counts.entry(of(&event)).or_default() += 1;
    }
    merge.finish().expect("a sound trace");
    counts
}

fn passed(traces: &[Arc<Trace>], text: &str) -> usize {
    let expression = Expression::parse(text).expect(text);
    let filters = Filters::new(&expression, traces).expect(text);
    let (mut events, mut count) = (filters.read(), 0);
    while events.next().is_some() {
        count += 1;
    }
    let mut merge = Merge::new(traces);
    let mut matching = 0;
    while let Some(event) = merge.next() {
        matching += usize::from(filters.matches(&event));
    }
    assert_eq!(count, matching, "{text}");
    count
}

/// Checks that each category selects its events, and that these are all events.
fn check_categories(traces: &[Arc<Trace>], of: impl Fn(&Event<'_>) -> String) {
    let counts = counts(traces, of);
    for (category, expected) in &counts {
        let text = format!("event.category == {category:?}");
        assert_eq!(passed(traces, &text), *expected, "{text}");
    }
    let all: usize = counts.values().sum();
    assert_eq!(passed(traces, "exists(event.category)"), all);
}

#[test]
fn category_of_kernel_events_is_the_subsystem() {
    let traces = bundled("kernel");
    // The names of this trace start with the subsystem, except for system calls.
    check_categories(&traces, |event| {
        let name = event.event_type().name();
        let name = name.strip_prefix("compat_").unwrap_or(name);
        match name.starts_with("lttng_statedump_") {
            true => "lttng_statedump".to_owned(),
            false => name.split('_').next().unwrap_or_default().to_owned(),
        }
    });
    assert!(passed(&traces, "event.category == sched") > 1000);
    assert!(passed(&traces, "event.category == syscall") > 1000);
}

#[test]
fn category_of_user_space_events_is_the_provider() {
    for name in ["ust", "ust-ctf2"] {
        check_categories(&bundled(name), |event| {
            event.event_type().name().split(':').next().unwrap_or_default().to_owned()
        });
    }
}

#[test]
fn category_of_old_events_is_the_channel() {
    check_categories(&bundled("legacy"), |event| event.tracefile().channel().to_owned());
}

#[test]
fn names_with_their_channel() {
    for name in ["kernel", "legacy", "ust"] {
        let traces = bundled(name);
        let longer = |event: &Event<'_>| {
            format!("{}.{}", event.tracefile().channel(), event.event_type().name())
        };
        let all: usize = counts(&traces, longer).values().sum();
        let by_channel = counts(&traces, |event| event.tracefile().channel().to_owned());
        for (longer, expected) in counts(&traces, longer) {
            assert_eq!(passed(&traces, &format!("event.name == {longer:?}")), expected);
            assert_eq!(passed(&traces, &format!("event.name != {longer:?}")), all - expected);
            assert_eq!(passed(&traces, &format!("event.name in ({longer:?}, x)")), expected);
            assert_eq!(passed(&traces, &format!("event.name not in ({longer:?})")), all - expected);
        }
        for (channel, expected) in by_channel {
            let pattern = format!("{channel}.*");
            assert_eq!(passed(&traces, &format!("event.name =~ {pattern:?}")), expected);
            assert_eq!(passed(&traces, &format!("event.name !~ {pattern:?}")), all - expected);
            // A pattern without a point is for the name alone.
            let pattern = format!("{channel}*");
            let names = counts(&traces, |event| event.event_type().name().to_owned());
            let expected = names.iter().filter(|(name, _)| name.starts_with(&*channel));
            let expected: usize = expected.map(|(_, count)| *count).sum();
            assert_eq!(passed(&traces, &format!("event.name =~ {pattern:?}")), expected);
        }
    }
}

/// The marker and channel of LTTng 0.x, as `lttv dump` prints them.
#[test]
fn a_marker_with_its_channel() {
    let traces = bundled("legacy");
    let plain = passed(&traces, "channel.name == kernel && event.name == sched_schedule");
    assert!(plain > 0);
    assert_eq!(passed(&traces, "event.name == kernel.sched_schedule"), plain);
    assert_eq!(passed(&traces, "event.name == fs.sched_schedule"), 0);
}

/// Writes a trace whose events of one type are in two channels.
fn two_channels(dir: &Path, domain: &str) -> Vec<Arc<Trace>> {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    schema.env.retain(|(name, _)| !matches!(&**name, "domain" | "tracer_name"));
    schema.env.push(("domain".into(), EnvValue::Str(domain.into())));
    let other = StreamClass { id: 1, ..schema.stream_classes[0].clone() };
    schema.stream_classes.push(other);
    let mut ids = [Vec::new(), Vec::new()];
    for (class, ids) in (0..).zip(&mut ids) {
        for name in ["sched_switch", "my_probe"] {
            let none = FieldClass::structure([]);
            ids.push(schema.add_event_type(StreamClassId(class), name, none));
        }
    }
    let trace = TraceWriter::create(dir, schema).expect("a directory to write to");
    for (class, name, count) in [(0, "a_0", 3), (0, "b_1", 5), (1, "c_2", 7)] {
        let stream = trace.stream(StreamClassId(class), name).expect("a stream class");
        let cpu = u64::from(name.as_bytes()[2] - b'0');
        let mut stream = stream.with_stream_id(cpu);
        stream = stream.with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        for time in 0..count {
            for event in ids[class as usize].iter().copied() {
                let none = FieldValue::fields::<&str, FieldValue>([]);
                stream.event(event, 1000 + time, none).expect("an event");
            }
        }
        stream.finish().expect("a sound stream");
    }
    vec![Trace::open(dir).expect("a sound trace")]
}

#[test]
fn events_of_one_type_in_several_channels() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let traces = two_channels(&dir.path().join("kernel"), "kernel");
    for (text, expected) in [
        ("event.name == a.sched_switch", 3),
        ("event.name == b.sched_switch", 5),
        ("event.name == c.sched_switch", 7),
        ("event.name == d.sched_switch", 0),
        ("event.name != a.sched_switch", 27),
        ("event.name in (a.sched_switch, b.my_probe)", 8),
        ("event.name == a.sched_switch || event.name == b.sched_switch", 8),
        ("event.name == a.sched_switch && tracefile.name == b_1", 0),
        ("event.name =~ \"[ab].*\"", 16),
        ("event.name =~ \"*.sched_*\"", 15),
        ("event.category == sched", 15),
        // A probe that is not one of the kernel's own.
        ("event.category == a", 3),
        ("event.category == c", 7),
        ("event.category in (a, b)", 8),
    ] {
        assert_eq!(passed(&traces, text), expected, "{text}");
    }
    let traces = two_channels(&dir.path().join("other"), "ust");
    assert_eq!(passed(&traces, "event.category == a"), 6);
    assert_eq!(passed(&traces, "event.category == sched"), 0);
}

/// Traces of LTT have facilities and no channels.
#[test]
fn category_of_the_oldest_events_is_the_facility() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces/legacy");
    let traces = ["smp-2003", "synth-f0.7-le-4-0-1", "synth-f0.8-be-8-8-1"];
    for path in traces.map(|name| shared.join(name)) {
        if !path.is_dir() {
            eprintln!("SKIPPED: there is no {}", path.display());
            continue;
        }
        let traces = open_all(&path).expect("a trace");
        let facility = |event: &Event<'_>| {
            let identity = &event.event_type().identity;
            identity.namespace.as_deref().expect("a facility").to_owned()
        };
        check_categories(&traces, facility);
        let names =
            counts(&traces, |event| format!("{}.{}", facility(event), event.event_type().name()));
        assert!(names.len() > 3, "{}", path.display());
        for (name, expected) in names {
            assert_eq!(passed(&traces, &format!("event.name == {name:?}")), expected, "{name}");
        }
    }
}
