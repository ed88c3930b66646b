//! Visits of events with frequent and rare sequences of fields, compared with their bytes.

use std::fmt::Write;

use ltt_read::schema::Scope;
use ltt_read::{FieldInfo, StrValue, Trace, TracefileIndex, Visitor};

/// The calls of a visitor.
#[derive(Debug, Default, PartialEq)]
struct Calls(Vec<String>);

impl Visitor for Calls {
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        self.0.push(format!("{} {value}", name(field)));
    }
    fn sint(&mut self, field: &FieldInfo, value: i64) {
        self.0.push(format!("{} {value}", name(field)));
    }
    fn float(&mut self, field: &FieldInfo, value: f64) {
        self.0.push(format!("{} {value:?}", name(field)));
    }
    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        let text = value.to_str_lossy();
        self.0.push(format!("{} {text:?} {}", name(field), value.padding));
    }
    fn begin_array(&mut self, field: &FieldInfo, len: u64) {
        self.0.push(format!("{} [{len}", name(field)));
    }
    fn end_array(&mut self, field: &FieldInfo) {
        self.0.push(format!("{} ]", name(field)));
    }
    fn begin_struct(&mut self, field: &FieldInfo) {
        self.0.push(format!("{} (", name(field)));
    }
    fn end_struct(&mut self, field: &FieldInfo) {
        self.0.push(format!("{} )", name(field)));
    }
}

fn name(field: &FieldInfo) -> &str {
    field.name().unwrap_or("root")
}

/// The kinds of fields, each with its class and its size in bytes.
const KINDS: [(&str, &str, usize); 12] = [
    ("u", "integer { size = 64; align = 8; } ", 8),
    ("u", "integer { size = 32; align = 8; } ", 4),
    ("u", "integer { size = 16; align = 8; } ", 2),
    ("u", "integer { size = 8; align = 8; } ", 1),
    ("i", "integer { size = 32; align = 8; signed = true; } ", 4),
    ("s", "integer { size = 64; align = 8; signed = true; } ", 8),
    ("s", "integer { size = 16; align = 8; signed = true; } ", 2),
    ("t", "integer { size = 8; align = 8; encoding = UTF8; } ", 16),
    ("z", "string ", 0),
    ("b", "integer { size = 32; align = 8; byte_order = be; } ", 4),
    ("f", "floating_point { exp_dig = 11; mant_dig = 53; align = 8; } ", 8),
    // A sequence, after its length.
    ("a", "integer { size = 16; align = 8; } ", 0),
];

/// The shapes, and sequences that are none.
const SHAPES: [&str; 56] = [
    "u", "uu", "uuu", "uuuu", "uuuuu", "uuuuuu", "uuuuuuu", "i", "ii", "iii", "iiii", "iiiii",
    "iu", "ui", "uui", "uuuui", "uiuuuu", "s", "su", "suu", "t", "ti", "tii", "tiii", "tiiii",
    "tiuu", "tuu", "iit", "tiistii", "tiiutii", "tiz", "zu", "bu", "fui", "titi", "z", "uz", "iz",
    "uiz", "iuz", "uuz", "iiz", "f", "ff", "fu", "ffu", "uf", "zffu", "uuza", "ua", "uiaz", "aa",
    "zz", "izziu", "zaz", "bzb",
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

/// Adds a field with random bytes, and returns its expected calls.
fn add(number: usize, kind: usize, random: &mut Random, bytes: &mut Vec<u8>) -> Vec<String> {
    if KINDS[kind].0 != "a" {
        return vec![add_scalar(number, kind, random, bytes)];
    }
    let elements: Vec<u16> = (0..random.below(4)).map(|_| random.below(1 << 16) as u16).collect();
    let len = elements.len();
    bytes.push(len as u8);
    elements.iter().for_each(|element| bytes.extend(element.to_le_bytes()));
    let mut calls = vec![format!("n{number} {len}"), format!("f{number} [{len}")];
    calls.extend(elements.iter().map(|element| format!("root {element}")));
    calls.push(format!("f{number} ]"));
    calls
}

/// Adds a field of another kind than a sequence.
fn add_scalar(number: usize, kind: usize, random: &mut Random, bytes: &mut Vec<u8>) -> String {
    let (letter, _, size) = KINDS[kind];
    let size = if letter == "z" { 1 + random.below(5) } else { size };
    let mut value: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
    let text = random.below(size + 1);
    if letter == "t" || letter == "z" {
        value.iter_mut().for_each(|byte| *byte = b'a' + *byte % 26);
        // A text without a length ends at its only null byte.
        let end = if letter == "z" { size - 1 } else { text };
        value[end..].fill(0);
    }
    bytes.extend(&value);
    let (mut low, mut high) = ([0; 8], [0; 8]);
    low[..size.min(8)].copy_from_slice(&value[..size.min(8)]);
    high[8 - size.min(8)..].copy_from_slice(&value[..size.min(8)]);
    let shift = 64 - 8 * size.min(8) as u32;
    match letter {
        "u" => format!("f{number} {}", u64::from_le_bytes(low)),
        "i" | "s" => format!("f{number} {}", (u64::from_le_bytes(low) << shift) as i64 >> shift),
        "b" => format!("f{number} {}", u64::from_be_bytes(high)),
        "f" => format!("f{number} {:?}", f64::from_le_bytes(low)),
        _ => {
            let end = value.iter().position(|byte| *byte == 0).unwrap_or(size);
            let padding = if letter == "t" { size - end } else { 0 };
            let text = String::from_utf8_lossy(&value[..end]);
            format!("f{number} {text:?} {padding}")
        }
    }
}

#[test]
fn visits_have_the_values_of_the_bytes() {
    let mut random = Random(1);
    let mut metadata = String::from(
        "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
         stream { event.header := struct { integer { size = 16; align = 8; } id; };
             event.context := struct { integer { size = 32; align = 8; signed = true; } c0;
                 integer { size = 32; align = 8; signed = true; } c1; }; };",
    );
    let mut types = Vec::new();
    for id in 0..600 {
        let kinds: Vec<usize> = match SHAPES.get(id % 100) {
            Some(shape) => {
                let of = |letter: char| loop {
                    let kind = random.below(KINDS.len());
                    if KINDS[kind].0.starts_with(letter) {
                        break kind;
                    }
                };
                shape.chars().map(of).collect()
            }
            None => (0..random.below(9)).map(|_| random.below(KINDS.len())).collect(),
        };
        let mut fields = String::new();
        for (number, kind) in kinds.iter().enumerate() {
            let (letter, class, _) = KINDS[*kind];
            if letter == "a" {
                write!(fields, "integer {{ size = 8; align = 8; }} n{number}; ").unwrap();
            }
            let length = match letter {
                "t" => "[16]".to_owned(),
                "a" => format!("[n{number}]"),
                _ => String::new(),
            };
            write!(fields, "{class} f{number}{length}; ").unwrap();
        }
        let event = format!("event {{ name = e; id = {id}; fields := struct {{ {fields} }}; }};");
        metadata += &event;
        types.push(kinds);
    }
    let (mut bytes, mut expected) = (Vec::new(), Vec::new());
    for at in 0..6000 {
        let id = if at < 600 { at } else { random.below(600) };
        bytes.extend((id as u16).to_le_bytes());
        let context = [random.below(1 << 20) as i32 - 5000, at as i32];
        bytes.extend(context.map(i32::to_le_bytes).as_flattened());
        let mut calls = vec!["root (".to_owned()];
        for (number, kind) in types[id].iter().enumerate() {
            calls.extend(add(number, *kind, &mut random, &mut bytes));
        }
        calls.push("root )".to_owned());
        let [first, second] = context;
        let context = ["root (".to_owned(), format!("c0 {first}"), format!("c1 {second}")];
        expected.push(([&context[..], &["root )".to_owned()]].concat(), calls));
    }
    let trace = Trace::from_memory(metadata.as_bytes(), [("stream".to_owned(), bytes)]);
    let mut cursor = trace.expect("a trace").cursor(TracefileIndex(0));
    for (context, payload) in expected {
        let event = cursor.next().expect("a sound stream").expect("an event");
        let (mut body, mut scope) = (Calls::default(), Calls::default());
        event.visit_body(&mut body);
        assert_eq!(body.0, [&context[..], &payload].concat());
        event.visit(Scope::CommonContext, &mut scope);
        assert_eq!(scope.0, context);
        scope.0.clear();
        event.visit(Scope::Payload, &mut scope);
        assert_eq!(scope.0, payload);
    }
    assert!(cursor.next().expect("a sound stream").is_none());
}
