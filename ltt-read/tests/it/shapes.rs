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
const KINDS: [(&str, &str, usize); 21] = [
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
    ("h", "integer { size = 8; align = 8; signed = true; } ", 1),
    // A sequence after its length, with the number of its elements' kind instead of a size.
    ("a", "integer { size = 64; align = 8; } ", 0),
    ("a", "integer { size = 32; align = 8; } ", 1),
    ("a", "integer { size = 16; align = 8; } ", 2),
    ("a", "integer { size = 8; align = 8; } ", 3),
    ("a", "integer { size = 32; align = 8; signed = true; } ", 4),
    ("a", "integer { size = 64; align = 8; signed = true; } ", 5),
    ("a", "integer { size = 32; align = 8; byte_order = be; } ", 9),
    ("a", "floating_point { exp_dig = 11; mant_dig = 53; align = 8; } ", 10),
    // A text after its length.
    ("x", "integer { size = 8; align = 8; encoding = UTF8; } ", 0),
];

/// The shapes, and sequences that are none.
const SHAPES: [&str; 75] = [
    "u", "uu", "uuu", "uuuu", "uuuuu", "uuuuuu", "uuuuuuu", "i", "ii", "iii", "iiii", "iiiii",
    "iu", "ui", "uui", "uuuui", "uiuuuu", "s", "su", "suu", "t", "ti", "tii", "tiii", "tiiii",
    "tiuu", "tuu", "iit", "tiistii", "tiiutii", "tiz", "zu", "bu", "fui", "titi", "z", "uz", "iz",
    "uiz", "iuz", "uuz", "iiz", "f", "ff", "fu", "ffu", "uf", "zffu", "uuza", "ua", "uiaz", "aa",
    "zz", "izziu", "zaz", "bzb", "iuuu", "iuuuui", "uuuiu", "suuu", "uus", "usu", "uussuu",
    "uuuuiut", "zi", "izi", "iziu", "uiuz", "x", "xu", "ax", "axa", "uax", "ha", "zx",
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
    let (letter, _, element) = KINDS[kind];
    let len = random.below(if letter == "a" { 4 } else { 40 });
    let length = format!("n{number} {len}");
    match letter {
        "a" => {
            bytes.push(len as u8);
            let mut calls = vec![length, format!("f{number} [{len}")];
            for _ in 0..len {
                let call = add_scalar(number, element, random, bytes);
                calls.push(call.replace(&format!("f{number} "), "root "));
            }
            calls.push(format!("f{number} ]"));
            calls
        }
        "x" => {
            let end = random.below(len + 1);
            bytes.push(len as u8);
            bytes.extend((0..len).map(|i| if i < end { b'a' + i as u8 % 26 } else { 0 }));
            let text = String::from_utf8_lossy(&bytes[bytes.len() - len..][..end]);
            vec![length, format!("f{number} {text:?} {}", len - end)]
        }
        _ => vec![add_scalar(number, kind, random, bytes)],
    }
}

/// Adds a field without a length.
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
        "i" | "s" | "h" => {
            format!("f{number} {}", (u64::from_le_bytes(low) << shift) as i64 >> shift)
        }
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
    check_visits(false);
}

/// The place of the payload then depends on the data.
#[test]
fn visits_after_a_text_in_the_context_have_the_values_of_the_bytes() {
    check_visits(true);
}

fn check_visits(has_text: bool) {
    let mut random = Random(1);
    let text = if has_text { "string c2; " } else { "" };
    let mut metadata = format!(
        "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }};
         stream {{ event.header := struct {{ integer {{ size = 16; align = 8; }} id; }};
             event.context := struct {{ integer {{ size = 32; align = 8; signed = true; }} c0;
                 integer {{ size = 32; align = 8; signed = true; }} c1; {text}}}; }};",
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
            let has_length = matches!(letter, "a" | "x");
            if has_length {
                write!(fields, "integer {{ size = 8; align = 8; }} n{number}; ").unwrap();
            }
            let length = match letter {
                "t" => "[16]".to_owned(),
                _ if has_length => format!("[n{number}]"),
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
        let text_of_context = has_text.then(|| {
            let text = "name of a thread"[..random.below(16)].to_owned();
            bytes.extend(text.bytes());
            bytes.push(0);
            format!("c2 {text:?} 0")
        });
        let mut calls = vec!["root (".to_owned()];
        for (number, kind) in types[id].iter().enumerate() {
            calls.extend(add(number, *kind, &mut random, &mut bytes));
        }
        calls.push("root )".to_owned());
        let [first, second] = context;
        let mut context = vec!["root (".to_owned(), format!("c0 {first}"), format!("c1 {second}")];
        context.extend(text_of_context);
        context.push("root )".to_owned());
        expected.push((context, calls));
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
