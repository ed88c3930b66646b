//! `lttv convert --anonymise`: no text of the source is in any byte or name of the result, except
//! the words that docs/convert.md lists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::{
    Array, Blob, ClockOrigin, EnvValue, FieldClass, FieldKind, Flag, Format, Identity, Integer,
    Length, Mapping, Roles, Schema, Scope, StreamClassId,
};
use ltt_read::schema::{BitOrder, ByteOrder::Little, FixedLen};
use ltt_read::uuid::Uuid;
use ltt_read::writer::{FieldValue, Record, StreamWriter, TraceWriter, presets};
use ltt_read::{FieldInfo, StrValue, Trace, Visitor};

use crate::support::convert::{convert_here, kernel};

/// The UUIDs of the trace and of the clock.
const UUIDS: [Uuid; 2] = [Uuid([0x5e; 16]), Uuid([0xc1; 16])];

/// Returns all names and contents of files below a folder, one after the other.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        bytes.extend(entry.file_name().as_encoded_bytes());
        bytes.push(b'\n');
        match entry.file_type().unwrap().is_dir() {
            true => bytes.extend(bytes_below(&entry.path())),
            false => bytes.extend(fs::read(entry.path()).unwrap()),
        }
    }
    bytes
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == text[0]) {
        if rest[at..].starts_with(text) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

/// Asserts that nothing with a secret is in the result.
fn assert_no_secret(output: &Path) {
    let bytes = bytes_below(output);
    assert!(bytes.len() > 500);
    let found: BTreeSet<String> = (0..bytes.len().saturating_sub(6))
        .filter(|at| bytes[*at..].starts_with(b"SECRET"))
        .map(|at| {
            let word = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric());
            word.map(|byte| char::from(*byte)).collect()
        })
        .collect();
    assert!(found.is_empty(), "{found:?} is in the result");
    for uuid in UUIDS {
        let is_there = contains(&bytes, &uuid.0) || contains(&bytes, uuid.to_string().as_bytes());
        assert!(!is_there, "{uuid:?} is in the result");
    }
}

fn secret_identity(name: &str) -> Identity {
    let word = |part: &str| Some(format!("SECRET{name}{part}").into());
    Identity { namespace: word("SPACE"), name: word("NAME"), uid: word("UID") }
}

/// Returns a copy of a structure with further members.
fn with_members(
    class: &Option<Arc<FieldClass>>,
    members: Vec<(&str, FieldClass)>,
) -> Option<Arc<FieldClass>> {
    let mut all = match class.as_deref().map(|class| &class.kind) {
        Some(FieldKind::Struct(of)) => of.members.clone(),
        _ => Vec::new(),
    };
    if let FieldKind::Struct(of) = FieldClass::structure(members).kind {
        all.extend(of.members);
    }
    let of = ltt_read::schema::Struct { members: all };
    Some(Arc::new(FieldClass::new(FieldKind::Struct(of), 8)))
}

fn labelled(label: &str) -> FieldClass {
    let mapping = Mapping { label: label.into(), ranges: vec![(0, 9)] };
    let integer = Integer { mappings: Some([mapping].into()), ..Integer::default() };
    FieldClass::integer(8, Little, integer)
}

/// Writes a user-space trace with a secret in each place where there can be text.
fn write_secrets(folder: &Path, format: Format) {
    let is_ctf2 = format == Format::Ctf2;
    let mut schema = presets::lttng_kernel(format);
    schema.uuid = Some(UUIDS[0]);
    let text = |text: &str| EnvValue::Str(text.to_owned());
    schema.env = vec![
        ("domain".into(), text("ust")),
        ("tracer_name".into(), text("lttng-ust")),
        ("hostname".into(), text("SECRETHOST")),
        ("trace_name".into(), text("SECRETSESSION")),
        ("procname".into(), text("SECRETPROCESS")),
        ("owner".into(), text("SECRETOWNER")),
        ("kernel_release".into(), text("6.1.0-SECRETBUILD")),
    ];
    let clock = &mut schema.clocks[0];
    clock.name = "SECRETCLOCK".into();
    (clock.uuid, clock.description) = (Some(UUIDS[1]), Some("SECRETTEXT".into()));
    let bytes = || {
        let (element, length) = (FieldClass::uint(8, Little).into(), Length::Static(8));
        FieldClass::new(FieldKind::Array(Array { element, length, roles: Roles::NONE }), 8)
    };
    let mut payload = vec![
        ("filename", FieldClass::string()),
        ("fixed", presets::text_array(24)),
        ("bytes", bytes()),
        ("kind", labelled("SECRETLABEL")),
    ];
    let stream = &mut schema.stream_classes[0];
    let context = vec![("note", FieldClass::string()), ("state", labelled("SECRETSTATE"))];
    stream.packet_context = with_members(&stream.packet_context, context);
    stream.event_header = with_members(&stream.event_header, vec![("who", FieldClass::string())]);
    stream.common_context = with_members(&None, vec![("procname", FieldClass::string())]);
    let header = vec![("title", FieldClass::string()), ("raw", bytes())];
    schema.packet_header = with_members(&schema.packet_header, header);
    if is_ctf2 {
        let attributes = Some("{\"a\":\"SECRETATTRIBUTE\"}".into());
        let blob = Blob {
            length: Length::Static(8),
            media_type: Some("text/SECRETMEDIA".into()),
            roles: Roles::NONE,
        };
        let flag = Flag { name: "SECRETFLAG".into(), ranges: vec![(0, 0)] };
        let fixed = FixedLen { bits: 8, byte_order: Little, bit_order: BitOrder::Natural };
        let mut map = FieldClass::new(FieldKind::BitMap(fixed, [flag].into()), 8);
        map.attributes.clone_from(&attributes);
        payload.extend([("blob", FieldClass::new(FieldKind::Blob(blob), 8)), ("map", map)]);
        schema.identity = secret_identity("TRACE");
        schema.attributes.clone_from(&attributes);
        let clock = &mut schema.clocks[0];
        clock.identity.name = Some("SECRETCLOCKNAME".into());
        clock.origin = ClockOrigin::Custom(secret_identity("ORIGIN"));
        clock.attributes.clone_from(&attributes);
        schema.stream_classes[0].identity = secret_identity("STREAM");
        schema.stream_classes[0].attributes = attributes;
    }
    let event = schema.add_event_type(StreamClassId(0), "e", FieldClass::structure(payload));
    schema.event_types[event.index()].emf_uri = Some("http://SECRETURI".into());
    if is_ctf2 {
        schema.event_types[event.index()].identity.uid = Some("SECRETEVENT".into());
    }
    let dir = folder.join("ust/pid/SECRETAPP-4711-20261121-032239");
    let writer = TraceWriter::create(&dir, schema).unwrap();
    let metadata = dir.join("metadata");
    if !is_ctf2 {
        let commented = fs::read_to_string(&metadata).unwrap() + "\n/* SECRETCOMMENT */\n";
        fs::write(metadata, commented).unwrap();
    }
    let raw = || FieldValue::array("SECRET-8".bytes());
    let mut stream: StreamWriter<_> = writer
        .stream(StreamClassId(0), "SECRETCHANNEL_0")
        .unwrap()
        .with_packet_header(FieldValue::fields([("title", "SECRETTITLE".into()), ("raw", raw())]))
        .with_packet_context(FieldValue::fields([("note", "SECRETNOTE")]));
    let mut payload = vec![
        ("filename", "/home/SECRETFILE".into()),
        ("fixed", FieldValue::Bytes(b"SECRET\0SECRETREST\0\0\0\0\0\0\0".to_vec())),
        ("bytes", raw()),
    ];
    if is_ctf2 {
        payload.push(("blob", FieldValue::Bytes(b"SECRET-8".to_vec())));
    }
    for time in 1..4 {
        stream
            .record(Record {
                header: FieldValue::fields([("who", "SECRETHEADER")]),
                common_context: FieldValue::fields([("procname", "SECRETNAME")]),
                payload: FieldValue::fields(payload.clone()),
                ..Record::new(event, time)
            })
            .unwrap();
    }
    stream.finish().unwrap();
    // A second trace, so that the folders of the sessions appear in the result.
    fs::create_dir_all(folder.join("SECRETOTHER")).unwrap();
    let schema = presets::lttng_kernel(format);
    let other = TraceWriter::create(folder.join("SECRETOTHER"), schema).unwrap();
    other.stream(StreamClassId(0), "SECRETEMPTY_0").unwrap().finish().unwrap();
}

#[test]
fn an_anonymous_trace_contains_no_text_of_its_source() {
    for format in [Format::Ctf1, Format::Ctf2] {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("SECRETDIR");
        write_secrets(&source, format);
        for (name, args) in [
            ("plain", &["--anonymise"][..]),
            ("ctf1", &["--anonymise", "--to", "ctf1.8"]),
            ("ctf2", &["--anonymise", "--to", "ctf2"]),
        ] {
            let output = folder.path().join(name);
            convert_here(&source, &output, args);
            assert_no_secret(&output);
            let traces = ltt_read::find_traces(&output).unwrap();
            let events: usize = traces
                .iter()
                .flat_map(|path| Trace::open(path).unwrap().cursors().collect::<Vec<_>>())
                .map(|mut cursor| (0..).take_while(|_| cursor.advance().unwrap()).count())
                .sum();
            assert_eq!(events, 3, "{format:?}, {name}");
        }
    }
}

/// The texts in the fields of events.
#[derive(Default)]
struct Texts(BTreeSet<Vec<u8>>);

impl Visitor for Texts {
    fn string(&mut self, _: &FieldInfo, value: StrValue<'_>) {
        self.0.insert(value.bytes.to_vec());
    }
}

/// Returns the texts of a trace: of its environment and of its events.
fn texts_of(trace: &Arc<Trace>) -> BTreeSet<Vec<u8>> {
    let mut texts = Texts::default();
    for mut cursor in trace.cursors() {
        while let Some(event) = cursor.next().unwrap() {
            for scope in Scope::ALL {
                event.visit(scope, &mut texts);
            }
        }
    }
    const KEPT: [&str; 3] = ["domain", "tracer_name", "tracer_buffering_scheme"];
    for (key, value) in &trace.schema().env {
        if let EnvValue::Str(text) = value
            && !KEPT.contains(&&**key)
        {
            texts.0.insert(text.clone().into_bytes());
        }
    }
    texts.0.retain(|text| text.len() >= 4);
    texts.0
}

/// Adds the names of the fields in a class, and the labels of enumerations.
fn add_words(class: &FieldClass, words: &mut String) {
    words.extend(class.mappings().unwrap_or_default().iter().map(|mapping| &*mapping.label));
    match &class.kind {
        FieldKind::Struct(of) => {
            for member in &of.members {
                words.push_str(&member.name);
                words.push('\n');
                add_words(&member.class, words);
            }
        }
        FieldKind::Array(array) => add_words(&array.element, words),
        FieldKind::Variant(variant) => {
            variant.options.iter().for_each(|option| add_words(&option.class, words));
        }
        _ => {}
    }
}

/// Returns the words of a kernel trace that stay readable.
fn vocabulary(schema: &Schema) -> String {
    let mut words = String::new();
    for event in &schema.event_types {
        words.push_str(event.name());
        words.push('\n');
        event.payload.iter().for_each(|class| add_words(class, &mut words));
        event.specific_context.iter().for_each(|class| add_words(class, &mut words));
    }
    schema.stream_classes.iter().flat_map(|class| &class.common_context).for_each(|class| {
        add_words(class, &mut words);
    });
    words
}

#[test]
fn an_anonymous_kernel_trace_with_a_state_dump_contains_no_text_of_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let source = Trace::open(kernel()).unwrap();
    let (texts, words) = (texts_of(&source), vocabulary(source.schema()));
    assert!(texts.len() > 50);
    // The event in the middle: names of processes are known then.
    let mut times: Vec<i64> = Vec::new();
    for mut cursor in source.cursors() {
        while let Some(event) = cursor.next().unwrap() {
            times.extend(event.timestamp().map(|time| time.as_ns()));
        }
    }
    times.sort_unstable();
    let middle = times[times.len() / 2];
    let begin = format!("{}.{:09}", middle / 1_000_000_000, middle % 1_000_000_000);
    for args in [&["--begin", &begin, "--with-statedump"][..], &[], &["--to", "ctf2"]] {
        let output = folder.path().join(format!("out{}", args.len()));
        convert_here(&kernel(), &output, &[args, &["--anonymise"]].concat());
        let bytes = bytes_below(&output);
        let found: Vec<_> = texts
            .iter()
            .filter(|text| contains(&bytes, text))
            .map(|text| String::from_utf8_lossy(text))
            // Parts of the words that stay readable, and of those that are put in.
            .filter(|text| {
                !words.contains(&**text) && !"process text file host mappings".contains(&**text)
            })
            .collect();
        assert!(found.is_empty(), "{args:?}: {found:?}");
    }
}
