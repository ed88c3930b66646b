//! Handmade traces of facilities, in format 0.8 and in that of 2003. Their events are
//! read, and damage causes no panic.

use std::sync::Arc;

use crate::support::read_all::{Seen, read_all, read_tracefile, visit_event};
use ltt_read::legacy::from_memory;
use ltt_read::{Trace, TracefileIndex, Value};

type Files = Vec<(String, Vec<u8>)>;

/// Concatenates little-endian parts.
macro_rules! bytes {
    ($($part:expr),*) => {{
        let mut bytes = Vec::new();
        $(bytes.extend($part.to_le_bytes());)*
        bytes
    }};
}

const ZOO: &str = r#"<?xml version="1.0"?><facility name="zoo">
<event name="cat"><field name="name"><string/></field><field name="age"><uint_fixed size="2"/></field>
  <field name="kind"><enum><label name="TAME"/><label name="WILD" value="7"/></enum></field></event>
<event name="herd"><field name="sizes"><sequence/><uchar/><ushort/></sequence></field>
  <field name="place"><array size="2"/><struct><field name="x"><char/></field></struct></array></field>
</event></facility>"#;

/// Writes a sub-buffer of format 0.8 with 32-bit times, packed.
fn block_0_8(events: &[u8]) -> Vec<u8> {
    let size = 512u32;
    let used = 108 + events.len() as u32;
    let mut block = bytes![1000u64, 0u64, 9000u64, 0u64, size - used, size];
    block.extend(bytes![0x00d6_b7edu32, 1u32, 0u32, 0u32]);
    block.extend([4, 0, 8, 0, 1, 0, 0, 32]);
    block.extend(bytes![1u32, 1_000_000_000u64, 1000u64, 0u64, 0u64, 0u64]);
    block.extend(events);
    block.resize(size as usize, 0xaa);
    block
}

fn event_0_8(time: u32, facility: u8, event: u8, payload: &[u8]) -> Vec<u8> {
    let header = [bytes![time], vec![facility, event], bytes![payload.len() as u16]];
    [header.concat(), payload.to_vec()].concat()
}

fn of_0_8() -> Files {
    let load = |name: &str, id: u32| {
        let sizes = bytes![0u32, id, 4u32, 4u32, 4u32, 4u32, 0u32];
        [name.as_bytes(), &[0], &sizes].concat()
    };
    let loads = [event_0_8(1001, 0, 0, &load("core", 0)), event_0_8(1002, 0, 4, &load("zoo", 3))];
    let cat = [b"Tom\0".as_slice(), &bytes![9u16, 7u32]].concat();
    let herd = [[2u8].to_vec(), bytes![100u16, 200u16], b"AB".to_vec()].concat();
    let events = [
        event_0_8(2000, 3, 0, &cat),
        event_0_8(2500, 0, 3, &bytes![1u64 << 32 | 7]), // a full heartbeat
        event_0_8(8, 3, 1, &herd),
    ];
    vec![
        ("control/facilities_0".to_owned(), block_0_8(&loads.concat())),
        ("cpu_0".to_owned(), block_0_8(&events.concat())),
        ("eventdefs/zoo.xml".to_owned(), ZOO.into()),
    ]
}

fn of_2003() -> Files {
    let system = "<system endian=LITTLE_ENDIAN arch_size=ILP32 ltt_block_size=200 x=\"y\">";
    let mut core = "<facility name=core><event name=facility_load/>".to_owned();
    core.push_str("<event name=poke><struct><field name=a><uint size=2/></field>");
    core.push_str("<field name=b><string/></field></struct></event>");
    for i in 2..17 {
        core.push_str(&format!("<event name=e{i}/>"));
    }
    core.push_str("<event name=block_start><typeref name=stamp/></event>");
    core.push_str("<event name=block_end><typeref name=stamp/></event></facility>");
    let field = |name: &str, size| format!("<field name={name}><uint size={size}/></field>");
    let fields = [field("s", 4), field("ns", 4), field("cycles", 8), field("id", 4)].concat();
    let stamp = format!("<type name=stamp><struct>{fields}</struct></type></facility>");
    let core = core.replace("</facility>", &stamp);
    let edge = |id: u16, cycles: u64, ns: u32| bytes![id, cycles as u32, 5u32, ns, cycles, 0u32];
    let mut block = edge(17, 1000, 100);
    block.extend(bytes![1u16, 1500u32, 7u16]);
    block.extend(b"hi\0");
    let end = edge(18, 2000, 300);
    let lost = (200 - block.len()) as u32;
    block.extend(end);
    block.resize(196, 0);
    block.extend(bytes![lost]);
    vec![
        ("info/system.xml".to_owned(), system.into()),
        ("eventdefs/core.xml".to_owned(), core.into()),
        ("cpu/0".to_owned(), block),
    ]
}

fn open(files: Files) -> Arc<Trace> {
    from_memory(files).expect("a trace")
}

fn tracefile(trace: &Trace, name: &str) -> usize {
    trace.tracefiles().iter().position(|t| t.name() == name).expect("a tracefile")
}

#[test]
fn facilities_of_0_8() {
    let trace = open(of_0_8());
    assert_eq!(trace.schema().version, (0, 8));
    // The checksums in the files are 0.
    assert_eq!(trace.warnings().len(), 2, "{:?}", trace.warnings());
    let mut cursor = trace.cursor(TracefileIndex(tracefile(&trace, "cpu_0")));
    let cat = cursor.next().unwrap().unwrap();
    assert_eq!(cat.event_type().identity.namespace.as_deref(), Some("zoo"));
    assert_eq!((cat.event_type().name(), cat.cycles()), ("cat", Some(2000)));
    assert_eq!(cat.field("name").unwrap().as_str().unwrap().to_str(), Some("Tom"));
    assert_eq!(cat.field("age").unwrap().as_u64(), Some(9));
    assert_eq!(cat.field("kind").unwrap().as_u64(), Some(7));
    let heartbeat = cursor.next().unwrap().unwrap();
    assert_eq!(heartbeat.cycles(), Some(1 << 32 | 7));
    let herd = cursor.next().unwrap().unwrap();
    assert_eq!((herd.event_type().name(), herd.cycles()), ("herd", Some(1 << 32 | 8)));
    let Some(Value::Array(sizes)) = herd.field("sizes") else { panic!("no array") };
    let sizes: Vec<_> = sizes.iter().map(|v| v.as_u64()).collect();
    assert_eq!(sizes, [Some(100), Some(200)]);
    assert!(cursor.next().unwrap().is_none());
    read_all(&trace);
}

#[test]
fn blocks_of_2003() {
    let trace = open(of_2003());
    assert_eq!(trace.schema().env_str("x"), Some("y"));
    let mut cursor = trace.cursor(TracefileIndex(tracefile(&trace, "cpu/0")));
    let mut seen = Vec::new();
    while let Some(event) = cursor.next().unwrap() {
        let ns = event.timestamp().unwrap().as_ns() - 5_000_000_000;
        seen.push((event.event_type().name().to_owned(), ns));
    }
    let expected = [("block_start", 100), ("poke", 200), ("block_end", 300)];
    assert_eq!(seen, expected.map(|(name, ns)| (name.to_owned(), ns)));
    read_all(&trace);
}

#[test]
fn damage_is_survived() {
    for whole in [of_0_8(), of_2003()] {
        for (number, (_, bytes)) in whole.iter().enumerate() {
            for at in 0..bytes.len() * 9 {
                let mut files = whole.clone();
                match at.checked_sub(bytes.len() * 8) {
                    Some(cut) => files[number].1.truncate(cut),
                    None => files[number].1[at / 8] ^= 1 << (at % 8),
                }
                let Ok(trace) = from_memory(files) else { continue };
                for t in 0..trace.tracefiles().len() {
                    let mut seen = Seen::default();
                    read_tracefile(&mut trace.cursor(TracefileIndex(t)), &mut seen, visit_event);
                }
                if at % 16 == 0 {
                    read_all(&trace);
                }
            }
        }
    }
}
