//! Reading of all data of a trace in every way, which damaged input must survive.

use std::collections::HashSet;
use std::sync::Arc;

use ltt_read::schema::{Format, Scope};
use ltt_read::{
    ClockTransform, Cursor, Error, Event, Merge, StrValue, Timestamp, Trace, TracefileIndex, Value,
    Visitor,
};

/// A checksum of the data read, so that reading cannot be optimised away and ways of
/// reading can be compared.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) events: u64,
    pub(crate) fields: u64,
    pub(crate) sum: u64,
    pub(crate) errors: Vec<String>,
}

impl Seen {
    fn add(&mut self, value: u64) {
        self.fields += 1;
        self.sum = self.sum.rotate_left(5) ^ value;
    }
}

impl Visitor for Seen {
    fn uint(&mut self, _: &ltt_read::FieldInfo, value: u64) {
        self.add(value);
    }
    fn sint(&mut self, _: &ltt_read::FieldInfo, value: i64) {
        self.add(value as u64);
    }
    fn boolean(&mut self, _: &ltt_read::FieldInfo, value: bool) {
        self.add(value.into());
    }
    fn bits(&mut self, _: &ltt_read::FieldInfo, value: u64) {
        self.add(value);
    }
    fn float(&mut self, _: &ltt_read::FieldInfo, value: f64) {
        self.add(value.to_bits());
    }
    fn string(&mut self, _: &ltt_read::FieldInfo, value: StrValue<'_>) {
        value.bytes.iter().for_each(|b| self.add(u64::from(*b)));
        self.add(value.to_str_lossy().len() as u64);
    }
    fn blob(&mut self, _: &ltt_read::FieldInfo, value: &[u8]) {
        value.iter().for_each(|b| self.add(u64::from(*b)));
    }
}

/// Reads all of one event through a visitor.
pub(crate) fn visit_event(event: Event<'_>, seen: &mut Seen) {
    seen.events += 1;
    for scope in Scope::ALL {
        event.visit(scope, seen);
    }
}

/// Reads all of one event through values.
pub(crate) fn values_of_event(event: Event<'_>, seen: &mut Seen) {
    seen.events += 1;
    for scope in Scope::ALL {
        if let Some(root) = event.scope(scope) {
            value(&Value::Struct(root), seen);
        }
    }
}

/// Reads each member of each root through a handle, which must have the same value. In
/// formats before CTF, two members may have one name; the handle refers to the first of
/// them.
fn check_handles(event: Event<'_>) {
    let sum = |v: &Value<'_>| {
        let mut seen = Seen::default();
        value(v, &mut seen);
        seen
    };
    for scope in Scope::ALL {
        let Some(root) = event.scope(scope) else { continue };
        let mut names = HashSet::new();
        for (info, member) in root.members() {
            let name = info.name().filter(|name| !name.contains(['.', '['])).unwrap_or("");
            if !names.insert(name) {
                continue;
            }
            let Some(handle) = event.trace().field(event.type_id(), scope, name) else { continue };
            let read = event.get(&handle).expect("a member that is there");
            assert_eq!(sum(&read), sum(&member), "{name} read through its handle differs");
        }
    }
}

/// Seeks the positions of some events of a tracefile.
fn check_positions(trace: &Arc<Trace>, tracefile: usize) {
    let mut cursor = trace.cursor(TracefileIndex(tracefile));
    let mut cuts = Vec::new();
    let mut count = 0u64;
    loop {
        match cursor.advance() {
            Ok(true) => {
                let event = cursor.event();
                count += 1;
                if count.is_power_of_two() {
                    check_handles(event);
                    cuts.push((event.position(), event.offset(), event.cycles()));
                }
            }
            Ok(false) => break,
            Err(_) if cursor.skip_packet() => {}
            Err(_) => break,
        }
    }
    for (cut, offset, cycles) in cuts {
        cursor.seek(cut).expect("a packet that was sound before");
        let event = cursor.next().expect("an event that was sound before").expect("an event");
        assert_eq!((event.offset(), event.cycles()), (offset, cycles));
    }
}

fn value(v: &Value<'_>, seen: &mut Seen) {
    match v {
        Value::Uint(v) | Value::Bits(v) => seen.add(*v),
        Value::Sint(v) => seen.add(*v as u64),
        Value::Bool(v) => seen.add(u64::from(*v)),
        Value::Float(v) => seen.add(v.to_bits()),
        Value::Str(v) => {
            v.bytes.iter().for_each(|b| seen.add(u64::from(*b)));
            seen.add(v.to_str_lossy().len() as u64);
        }
        Value::Blob(v) => v.iter().for_each(|b| seen.add(u64::from(*b))),
        Value::Struct(s) => s.members().for_each(|(_, v)| value(&v, seen)),
        Value::Array(a) => a.iter().for_each(|v| value(&v, seen)),
        _ => {}
    }
}

/// Reads one tracefile. After an error, reading continues if that is possible.
pub(crate) fn read_tracefile(cursor: &mut Cursor, seen: &mut Seen, each: fn(Event<'_>, &mut Seen)) {
    loop {
        match cursor.next() {
            Ok(Some(event)) => each(event, seen),
            Ok(None) => return,
            Err(error) => {
                check_place(&error);
                seen.errors.push(error.to_string());
                if !cursor.skip_packet() {
                    return;
                }
            }
        }
    }
}

fn check_place(error: &Error) {
    let Error::Decode { place, .. } = error else { panic!("not a decoding error: {error}") };
    assert!(!place.file.as_os_str().is_empty());
}

/// Reads the whole trace: file by file, in both ways, then merged, then after seeks.
pub(crate) fn read_all(trace: &Arc<Trace>) -> Seen {
    let (mut seen, mut values) = (Seen::default(), Seen::default());
    for n in 0..trace.tracefiles().len() {
        read_tracefile(&mut trace.cursor(TracefileIndex(n)), &mut seen, visit_event);
        read_tracefile(&mut trace.cursor(TracefileIndex(n)), &mut values, values_of_event);
        check_positions(trace, n);
    }
    assert_eq!(seen, values, "visiting and reading values differ");

    let mut merge = Merge::new(std::slice::from_ref(trace));
    let (mut merged, mut middle) = (0, None);
    while let Some(event) = merge.next() {
        merged += 1;
        if merged == seen.events / 2 {
            middle = event.timestamp();
        }
    }
    assert_eq!(merged, seen.events, "merging lost or made events");
    // Merging reports damage at one place once, also if the data of several CPUs is said to be there.
    let distinct: HashSet<&String> = seen.errors.iter().collect();
    assert_eq!(merge.errors().len(), distinct.len(), "{:?}", seen.errors);
    for time in [Timestamp::MIN, middle.unwrap_or_default(), Timestamp::MAX] {
        merge.seek(time);
        if let Some(first) = merge.next() {
            assert!(first.timestamp().is_none_or(|t| t >= time));
        }
    }
    for transform in [ClockTransform::from_offset(1 << 40), slow_clock()] {
        check_transform(trace, transform);
    }
    seen
}

/// Returns a transform of less slope, which maps some neighbouring times to one.
fn slow_clock() -> ClockTransform {
    let origin = Timestamp::from_ns(1_000_000_000);
    ClockTransform::from_ratio(origin, Timestamp::from_ns(-5), 3, 4).expect("a slope in range")
}

/// Reads a trace with transformed times, merged and after seeks.
fn check_transform(trace: &Arc<Trace>, transform: ClockTransform) {
    let trace = trace.with_clock_transforms(|_| transform).expect("it was opened");
    // Times between both ends of a block are interpolated in one format before CTF.
    let is_exact = trace.schema().format != Format::Legacy;
    let mut merge = Merge::new(std::slice::from_ref(&trace));
    let mut some = Vec::new();
    let mut count = 0_u64;
    while let Some(event) = merge.next() {
        count += 1;
        let Some(time) = event.timestamp() else { continue };
        let image = event.recorded_timestamp().and_then(|of| transform.checked_apply(of));
        assert!(image == Some(time) || !is_exact, "{image:?} {time:?}");
        if count.is_power_of_two() {
            some.push(time);
        }
    }
    for time in some.into_iter().take(4) {
        merge.seek(time);
        let first = merge.next().expect("an event that was there before");
        assert!(first.timestamp().is_none_or(|of| of >= time));
    }
}
