//! Comparison of columns with the values that events return one by one.

use std::sync::Arc;

use ltt_read::columns::{Column, ColumnError, ColumnValues, Columns};
use ltt_read::schema::{EventTypeId, FieldClass, FieldKind, Scope};
use ltt_read::{Event, Field, Merge, Trace, TracefileIndex, Value};

use crate::support;

const SCOPES: [Scope; 4] =
    [Scope::Payload, Scope::SpecificContext, Scope::CommonContext, Scope::PacketContext];

/// A value of a row, to be compared.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Absent,
    Unsigned(u64),
    Signed(i64),
    /// The bits of a floating-point number, since some are no numbers.
    Float(u64),
    Bool(bool),
    Bytes(Vec<u8>),
    List(Vec<Cell>),
}

impl Cell {
    fn of_value(value: Option<Value<'_>>) -> Cell {
        match value {
            None => Cell::Absent,
            Some(Value::Uint(value) | Value::Bits(value)) => Cell::Unsigned(value),
            Some(Value::Sint(value)) => Cell::Signed(value),
            Some(Value::Float(value)) => Cell::Float(value.to_bits()),
            Some(Value::Bool(value)) => Cell::Bool(value),
            Some(Value::Str(value)) => Cell::Bytes(value.bytes.to_vec()),
            Some(Value::Blob(value)) => Cell::Bytes(value.to_vec()),
            Some(Value::Array(values)) => {
                Cell::List(values.iter().map(|value| Cell::of_value(Some(value))).collect())
            }
            Some(other) => panic!("{other:?} cannot be in a column"),
        }
    }

    fn of_row(values: &ColumnValues, row: usize) -> Cell {
        let range = |offsets: &[i64]| offsets[row] as usize..offsets[row + 1] as usize;
        match values {
            ColumnValues::Unsigned(values) => Cell::Unsigned(values[row]),
            ColumnValues::Signed(values) => Cell::Signed(values[row]),
            ColumnValues::Float(values) => Cell::Float(values[row].to_bits()),
            ColumnValues::Bool(values) => Cell::Bool(values[row]),
            ColumnValues::Bytes { offsets, bytes } => Cell::Bytes(bytes[range(offsets)].to_vec()),
            ColumnValues::List { offsets, elements } => {
                Cell::List(range(offsets).map(|at| Cell::of_row(elements, at)).collect())
            }
            other => panic!("{other:?} is new"),
        }
    }

    fn of_column(column: &Column, row: usize) -> Cell {
        match column.has(row) {
            true => Cell::of_row(column.values(), row),
            false => Cell::Absent,
        }
    }
}

/// Finds all fields of an event type that can be columns, also members of structures and options of
/// variants.
fn fields_of(trace: &Trace, event_type: EventTypeId) -> Vec<Field> {
    fn add(
        trace: &Trace,
        id: EventTypeId,
        path: &str,
        class: &FieldClass,
        scope: Scope,
        to: &mut Vec<Field>,
    ) {
        let Some(field) = trace.field(id, scope, path) else { return };
        if Columns::new(trace, id, [field.clone()]).is_ok() {
            to.push(field);
        }
        let members = match &class.kind {
            FieldKind::Struct(of) => of.members.iter().map(|m| (&*m.name, &*m.class)).collect(),
            _ => Vec::new(),
        };
        for (name, class) in members {
            add(trace, id, &format!("{path}.{name}"), class, scope, to);
        }
    }
    let event = trace.event_type(event_type);
    let stream = &trace.schema().stream_classes[event.stream.index()];
    let mut fields = Vec::new();
    for scope in SCOPES {
        let root = match scope {
            Scope::Payload => &event.payload,
            Scope::SpecificContext => &event.specific_context,
            Scope::CommonContext => &stream.common_context,
            _ => &stream.packet_context,
        };
        let Some(FieldKind::Struct(root)) = root.as_ref().map(|root| &root.kind) else { continue };
        for member in root.members.iter() {
            add(trace, event_type, &member.name, &member.class, scope, &mut fields);
        }
    }
    fields
}

/// The rows of all events of a type, read one by one: their times and fields.
fn rows_of(event: &Event<'_>, fields: &[Field]) -> (i64, Vec<Cell>) {
    let time = event.timestamp().map_or(Columns::NO_TIME, |time| time.as_ns());
    (time, fields.iter().map(|field| Cell::of_value(event.get(field))).collect())
}

fn rows_in(columns: &Columns) -> Vec<(i64, Vec<Cell>)> {
    let row = |row| columns.columns().iter().map(|column| Cell::of_column(column, row)).collect();
    columns.times().iter().enumerate().map(|(at, time)| (*time, row(at))).collect()
}

/// Compares all ways to fill columns, for all types and tracefiles of a trace. Returns the number of
/// rows compared.
fn compare(trace: &Arc<Trace>) -> usize {
    let mut rows = 0;
    for number in 0..trace.tracefiles().len() {
        let tracefile = TracefileIndex(number);
        let mut by_type: Vec<Vec<(i64, Vec<Cell>)>> =
            vec![Vec::new(); trace.schema().event_types.len()];
        let fields: Vec<_> =
            (0..by_type.len() as u32).map(|id| fields_of(trace, EventTypeId(id))).collect();
        let mut all = Vec::new();
        let mut cursor = trace.cursor(tracefile);
        let end = loop {
            match cursor.next() {
                Ok(Some(event)) => {
                    let id = event.type_id().index();
                    let row = rows_of(&event, &fields[id]);
                    all.push((row.0, event.type_id()));
                    by_type[id].push(row);
                }
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        rows += all.len();
        for most in [1, 7, 1 << 12] {
            let mut columns = Columns::of_all_types();
            let (read, error) = read_all(trace, tracefile, &mut columns, most);
            assert_eq!((read, &error), (all.len() as u64, &end));
            let found = columns.times().iter().copied().zip(columns.types().iter().copied());
            assert!(found.eq(all.iter().copied()), "{tracefile:?}");
        }
        for (id, expected) in
            by_type.iter().enumerate().filter(|(_, expected)| !expected.is_empty())
        {
            let event_type = EventTypeId(id as u32);
            let name = trace.event_type(event_type).name();
            let mut columns = Columns::new(trace, event_type, fields[id].clone()).expect("columns");
            for most in [7, 1000, 1 << 12] {
                let (read, error) = read_all(trace, tracefile, &mut columns, most);
                assert_eq!(&error, &end);
                assert!(error.is_some() || read == all.len() as u64, "{read}");
                assert_eq!(&rows_in(&columns), expected, "{name}");
                columns.clear();
            }
        }
    }
    rows
}

/// Reads a tracefile to its end in steps. Returns the number of events and the error.
fn read_all(
    trace: &Arc<Trace>,
    tracefile: TracefileIndex,
    columns: &mut Columns,
    most: u64,
) -> (u64, Option<String>) {
    let mut cursor = trace.cursor(tracefile);
    let mut read = 0;
    loop {
        let before = columns.len();
        match cursor.read_columns(columns, most) {
            Ok(0) => return (read, None),
            Ok(events) => {
                read += events;
                let last = cursor.event().timestamp().map_or(Columns::NO_TIME, |time| time.as_ns());
                // The cursor stands at the last event, as after a read of one event.
                assert!(columns.event_type().is_some() || columns.times().last() == Some(&last));
            }
            Err(error) => {
                // The number of events before the damage is known only if all have rows.
                read += (columns.len() - before) as u64;
                return (read, Some(error.to_string()));
            }
        }
    }
}

#[test]
fn columns_have_the_values_of_events() {
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces");
    let opened = ltt_read::open_all(traces).expect("the traces of the examples");
    let rows: usize = opened.iter().map(compare).sum();
    assert!(rows > 10_000, "{rows}");
}

#[test]
fn columns_of_shared_traces() {
    let Some(folder) = support::shared::shared("traces/ctf") else { return };
    let (mut traces, mut rows) = (0, 0);
    for trace in ltt_read::find_traces(folder).expect("traces") {
        let Ok(trace) = Trace::open(&trace) else { continue };
        // Large traces have the same layouts as small ones.
        if trace.tracefiles().iter().map(|tracefile| tracefile.size()).sum::<u64>() < 4 << 20 {
            traces += 1;
            rows += compare(&trace);
        }
    }
    println!("{traces} traces with {rows} events");
    assert!(traces > 100 && rows > 100_000, "{traces} {rows}");
}

/// Metadata of two event types, whose headers are a word of 64 bits.
const NUMBERS_AND_TEXTS: &str = r#"/* CTF 1.8 */
    trace { major = 1; minor = 8; byte_order = le;
        packet.header := struct { integer { size = 32; align = 8; } magic; }; };
    clock { name = c; freq = 1000000000; };
    stream {
        event.header := struct {
            integer { size = 8; align = 8; } id;
            integer { size = 56; align = 8; map = clock.c.value; } timestamp; }; };
    event { name = "number"; id = 0; fields := struct { integer { size = 32; align = 8; } n; }; };
    event { name = "text"; id = 1; fields := struct { string s; }; };"#;

#[test]
fn rows_before_damage_are_kept() {
    let event = |id: u8, time: u64, payload: &[u8]| {
        [&(time << 8 | u64::from(id)).to_le_bytes(), payload].concat()
    };
    let mut bytes = 0xc1fc_1fc1_u32.to_le_bytes().to_vec();
    for time in 1..=20_u64 {
        bytes.extend(event(0, 2 * time, &(time as u32).to_le_bytes()));
        bytes.extend(event(1, 2 * time + 1, b"abc\0"));
    }
    let whole = bytes.len();
    for end in [whole, whole - 1, whole - 5, whole - 13, whole - 200, 11, 5] {
        let file = ("stream".to_owned(), bytes[..end].to_vec());
        let trace = Trace::from_memory(NUMBERS_AND_TEXTS.as_bytes(), [file]).expect("a trace");
        assert!(compare(&trace) <= 40);
    }
    bytes[4 + 24 * 3] = 9;
    let file = ("stream".to_owned(), bytes);
    let trace = Trace::from_memory(NUMBERS_AND_TEXTS.as_bytes(), [file]).expect("a trace");
    assert_eq!(compare(&trace), 6);
}

/// The last event that was read has its fields, also where a new cursor has read no event of its type
/// by itself.
#[test]
fn the_last_event_of_a_run_has_its_fields() {
    let mut bytes = 0xc1fc_1fc1_u32.to_le_bytes().to_vec();
    bytes.extend([&0_u64.to_le_bytes()[..], &[0; 4]].concat());
    for time in 1..=9_u64 {
        bytes.extend([&(time << 8 | 1).to_le_bytes(), &b"abc\0"[time as usize % 3..]].concat());
    }
    let file = ("stream".to_owned(), bytes);
    let trace = Trace::from_memory(NUMBERS_AND_TEXTS.as_bytes(), [file]).expect("a trace");
    for _ in 0..2 {
        let (mut cursor, mut columns) = (trace.cursor(TracefileIndex(0)), Columns::of_all_types());
        for text in [b"abc".as_slice(), b"bc"] {
            assert_eq!(cursor.read_columns(&mut columns, 4).ok(), Some(4));
            let field = cursor.event().field("s").and_then(|field| field.as_str());
            assert_eq!(field.map(|field| field.bytes), Some(text));
        }
    }
}

/// Events of several types are sorted in groups, which a run may fill. In between are rows of one type, and
/// types of which there are no columns.
#[test]
fn groups_of_types_may_be_full() {
    let metadata = NUMBERS_AND_TEXTS.to_owned()
        + r#"
        event { name = "two"; id = 2; fields := struct {
            integer { size = 8; align = 8; signed = true; } a; integer { size = 64; align = 8; } b; }; };
        event { name = "none"; id = 3; };"#;
    let mut bytes = 0xc1fc_1fc1_u32.to_le_bytes().to_vec();
    let mut random = 1_u64;
    for time in 1..=9000_u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let id = match (time / 1000, random >> 61) {
            (2 | 6, _) => 0,
            (3, _) => 3,
            // Three quarters are of one type, so that its group is full long before a run ends.
            (_, 0) => 1,
            (_, 1) => 3,
            (7, _) => time % 2,
            _ => 2,
        };
        bytes.extend((time << 8 | id).to_le_bytes());
        match id {
            0 => bytes.extend((random as u32).to_le_bytes()),
            1 => bytes.extend(&b"text\0"[random as usize >> 40 & 3..]),
            2 => bytes.extend(&[random.to_le_bytes(), time.to_le_bytes()].concat()[..9]),
            _ => {}
        }
    }
    let trace = Trace::from_memory(metadata.as_bytes(), [("stream".to_owned(), bytes)]);
    assert_eq!(compare(&trace.expect("a trace")), 9000);
}

/// Events in a row are read faster if they are of one type. The clock goes back among some of them,
/// an id is changed, and a body is cut.
#[test]
fn rows_of_one_type_end_where_events_differ() {
    // Rows whose numbers are all whole bytes need no places.
    for second in ["size = 12; align = 1; signed = true;", "size = 16; align = 8;"] {
        compare_runs_of_one_type(second);
    }
}

/// `second` is the form of the second number.
fn compare_runs_of_one_type(second: &str) {
    let metadata = r#"/* CTF 1.8 */
        trace { major = 1; minor = 8; byte_order = le;
            packet.header := struct { integer { size = 32; align = 8; } magic; }; };
        clock { name = c; freq = 1000000000; offset = 5; };
        stream {
            event.header := struct {
                enum : integer { size = 5; align = 8; } { compact = 0 ... 30, extended = 31 } id;
                variant <id> {
                    struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } compact;
                    struct {
                        integer { size = 32; align = 8; } id;
                        integer { size = 64; align = 8; map = clock.c.value; } timestamp;
                    } extended;
                } v;
            } align(8); };
        event { name = "number"; id = 0; fields := struct {
            integer { size = 32; align = 8; } n; integer { SECOND } s;
            integer { size = 8; align = 8; } b; }; };
        event { name = "text"; id = 1; fields := struct {
            integer { size = 16; align = 8; } before; string s; integer { size = 16; align = 8; signed = true; } after; }; };
        event { name = "name"; id = 40; fields := struct {
            integer { size = 8; align = 8; encoding = UTF8; } name[16]; integer { size = 64; align = 8; } n; }; };"#;
    let metadata = metadata.replace("SECOND", second);
    let compact = |id: u32, time: u64, payload: &[u8]| {
        [&(id | (time as u32) << 5).to_le_bytes(), payload].concat()
    };
    let number = |time: u64| compact(0, time, &[time as u8, 2, 3, 4, time as u8, 0xf8, 7]);
    let text = |time: u64| {
        let text = &b"some text"[..time as usize % 10];
        compact(1, time, &[&[1, 2], text, &[0, time as u8, 0xff]].concat())
    };
    let name = |time: u64| {
        let mut name = [0; 16];
        name[..time as usize % 17].fill(b'x');
        [&[31, 40, 0, 0, 0], &time.to_le_bytes()[..], &name, &time.to_le_bytes()].concat()
    };
    let events = |different: usize| {
        let mut bytes = 0xc1fc_1fc1_u32.to_le_bytes().to_vec();
        for at in 0..60 {
            let time = 1000 + 3 * at as u64;
            bytes.extend(match at {
                _ if at == different => text(time),
                // At unequal distances, after events at equal ones.
                _ if [20, 22, 27, 28].contains(&at.wrapping_sub(different)) => name(time),
                // The clock goes back, or a compact time wraps.
                _ if at == different + 30 => name(time - 500),
                _ if at == different + 31 => number(time - 700),
                _ => number(time),
            });
        }
        bytes
    };
    for different in 0..30 {
        let bytes = events(different);
        for cut in [0, 1, 9, 11, 40, 201] {
            let file = ("stream".to_owned(), bytes[..bytes.len() - cut].to_vec());
            let trace = Trace::from_memory(metadata.as_bytes(), [file]).expect("a trace");
            assert!(compare(&trace) >= 40, "{different} {cut} {second}");
        }
    }
}

/// The id in an extended header may have more bits than the field in a compact one. Where both headers
/// have one size, only the id tells them apart.
#[test]
fn rows_of_one_type_end_where_headers_differ() {
    let metadata = r#"/* CTF 1.8 */
        trace { major = 1; minor = 8; byte_order = le;
            packet.header := struct { integer { size = 32; align = 8; } magic; }; };
        clock { name = c; freq = 1000000000; };
        stream {
            event.header := struct {
                enum : integer { size = 8; align = 8; } { compact = 0 ... 254, extended = 255 } id;
                variant <id> {
                    struct { integer { size = 56; align = 8; map = clock.c.value; } timestamp; } compact;
                    struct {
                        integer { size = 16; align = 8; } id;
                        integer { size = 40; align = 8; map = clock.c.value; } timestamp;
                    } extended;
                } v;
            } align(8); };
        event { name = "compact"; id = 44; fields := struct { integer { size = 32; align = 8; } n; }; };
        event { name = "long"; id = 300; fields := struct { integer { size = 32; align = 8; } n; }; };
        event { name = "escape"; id = 255; fields := struct { integer { size = 32; align = 8; } n; }; };"#;
    // The ids of the dense part of the table are at most four times as many as the types, or 256.
    let others = (400..480).map(|id| format!("event {{ name = \"e{id}\"; id = {id}; }};"));
    let metadata: String = [metadata.to_owned()].into_iter().chain(others).collect();
    let compact = |id: u64, time: u64| time << 8 | id;
    let extended = |id: u64, time: u64| time << 24 | id << 8 | 255;
    for long in [255, 300] {
        let mut bytes = 0xc1fc_1fc1_u32.to_le_bytes().to_vec();
        for time in 0..90_u64 {
            let header = match time / 30 {
                0 => extended(long, time),
                1 => compact(44, time),
                _ => extended(555 - long, time),
            };
            bytes.extend(header.to_le_bytes());
            bytes.extend((time as u32).to_le_bytes());
        }
        let file = ("stream".to_owned(), bytes);
        let trace = Trace::from_memory(metadata.as_bytes(), [file]).expect("a trace");
        assert_eq!(compare(&trace), 90);
    }
}

#[test]
fn fields_that_do_not_fit_are_refused() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
    let trace = Trace::open(path).expect("a trace");
    let id = |name| trace.event_types_named(name).next().expect("a type");
    let (switch, wakeup) = (id("sched_switch"), id("sched_wakeup"));
    let tid = trace.field(switch, Scope::Payload, "next_tid").expect("a field");
    let other = Columns::new(&trace, wakeup, [tid]).expect_err("a field of another type");
    assert_eq!(other, ColumnError::OtherEventType { field: "next_tid".to_owned() });
    let header = trace.field(switch, Scope::EventHeader, "id").expect("a field");
    let error = Columns::new(&trace, switch, [header]).expect_err("a field of the header");
    assert_eq!(error.to_string(), "the field id is in the event header");
}

#[test]
fn merges_fill_columns_in_time_order() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traces = ltt_read::open_all(path).expect("a trace");
    let switch = traces[0].event_types_named("sched_switch").next().expect("a type");
    let fields = fields_of(&traces[0], switch);
    let (mut merge, mut expected) = (Merge::new(&traces), Vec::new());
    while let Some(event) = merge.next() {
        if event.type_id() == switch {
            expected.push(rows_of(&event, &fields));
        }
    }
    let mut columns = Columns::new(&traces[0], switch, fields).expect("columns");
    assert_eq!(Merge::new(&traces).drive(u64::MAX, &mut columns), 6087);
    assert_eq!(rows_in(&columns), expected);
    assert!(columns.times().is_sorted());
    let (times, taken) = columns.take();
    assert_eq!((times.len(), taken.len(), columns.len()), (497, columns.columns().len(), 0));
    assert_eq!(taken[0].values().len(), 497);
}
