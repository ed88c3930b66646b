//! The fields of an event as lines.

use ltt_read::schema::{DisplayBase, FieldClass, FieldKind, Integer};
use ltt_read::{FieldInfo, StrValue, Visitor};

use super::FieldLine;

/// The greatest number of lines, so that a damaged length does no harm.
const MOST: usize = 20_000;

/// A visitor that writes a line for each field.
#[derive(Debug, Default)]
pub(super) struct Fields {
    lines: Vec<FieldLine>,
    omitted: u64,
    depth: u16,
    /// `true` before the structure of a scope itself, which has no line.
    is_root: bool,
    /// The numbers of elements so far of the arrays around the current field; `None` for a
    /// structure.
    counts: Vec<Option<u64>>,
    /// The elements of the current array of bytes, which has one line.
    bytes: Option<Vec<u8>>,
}

impl Fields {
    /// Appends the heading of a scope, whose fields follow.
    pub(super) fn open_scope(&mut self, title: &str) {
        self.push(title.to_owned(), String::new(), String::new());
        (self.depth, self.is_root) = (1, true);
    }

    /// Removes the heading of the scope if it has no fields.
    pub(super) fn close_scope(&mut self) {
        self.depth = 0;
        if self.lines.last().is_some_and(|last| last.depth == 0) {
            self.lines.pop();
        }
    }

    /// Returns all lines, and one about those that were left out.
    pub(super) fn finish(mut self) -> Vec<FieldLine> {
        if self.omitted > 0 {
            let name = format!("… and {} more lines", self.omitted);
            self.lines.push(FieldLine { name, ..FieldLine::default() });
        }
        self.lines
    }

    /// Appends a line.
    fn push(&mut self, name: String, value: String, class: String) {
        if self.lines.len() < MOST {
            self.lines.push(FieldLine { depth: self.depth, name, value, class });
        } else {
            self.omitted += 1;
        }
    }

    /// Appends the line of a field.
    fn field(&mut self, field: &FieldInfo, value: String, class: String) {
        let name = match (field.name(), self.counts.last_mut()) {
            (_, Some(Some(count))) => {
                *count += 1;
                format!("[{}]", *count - 1)
            }
            (Some(name), _) => name.to_owned(),
            (None, _) => String::new(),
        };
        self.push(name, value, class);
    }

    /// Starts a field with parts.
    fn open(&mut self, field: &FieldInfo, value: String, class: String, count: Option<u64>) {
        self.field(field, value, class);
        self.depth += 1;
        self.counts.push(count);
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.counts.pop();
    }

    /// Sets the value of the current array if its elements are bytes. Its line is the last one,
    /// unless it was left out.
    fn close_bytes(&mut self) {
        if let Some(bytes) = self.bytes.take()
            && let Some(line) = self.lines.last_mut().filter(|_| self.omitted == 0)
        {
            line.value = hexadecimal(&bytes);
        }
    }

    fn integer(&mut self, field: &FieldInfo, value: i128) {
        if let Some(bytes) = &mut self.bytes {
            return bytes.push(value as u8);
        }
        let Some((integer, bits)) = properties(field.class()) else {
            return self.field(field, value.to_string(), "integer".to_owned());
        };
        let labels = integer.flags(value).unwrap_or_else(|| field.labels(value).collect());
        self.field(field, number(value, integer.base, bits, &labels), class(field.class()));
    }
}

/// Returns the integer properties of a class and its length in bits.
fn properties(class: &FieldClass) -> Option<(&Integer, u32)> {
    match &class.kind {
        FieldKind::Integer(fixed, integer) => Some((integer, fixed.bits)),
        FieldKind::VarInteger(integer) => Some((integer, 64)),
        _ => None,
    }
}

/// Formats an integer in its preferred base, with its labels, and in decimal and hexadecimal:
/// `420 (0644, 0x1a4)`.
fn number(value: i128, base: DisplayBase, bits: u32, labels: &[&str]) -> String {
    // In other bases than ten, negative numbers are in two's complement.
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let raw = (value as u64) & mask;
    let (decimal, hexadecimal) = (value.to_string(), format!("{raw:#x}"));
    let number = match base {
        DisplayBase::Decimal => format!("{decimal} ({hexadecimal})"),
        DisplayBase::Hexadecimal => format!("{hexadecimal} ({decimal})"),
        DisplayBase::Octal => format!("0{raw:o} ({decimal}, {hexadecimal})"),
        DisplayBase::Binary => format!("{raw:#b} ({decimal}, {hexadecimal})"),
    };
    match labels {
        [] => number,
        labels => format!("{}  {number}", labels.join(", ")),
    }
}

/// Returns `true` for an integer of eight bits without labels.
fn is_byte(class: &FieldClass) -> bool {
    properties(class).is_some_and(|(integer, bits)| bits == 8 && integer.mappings.is_none())
        && matches!(class.kind, FieldKind::Integer(..))
}

/// Returns bytes as hexadecimal digits.
fn hexadecimal(bytes: &[u8]) -> String {
    let shown: Vec<String> = bytes.iter().take(MOST).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > MOST { " …" } else { "" };
    format!("{}{more}", shown.join(" "))
}

/// Returns the name of a type.
fn class(class: &FieldClass) -> String {
    match &class.kind {
        FieldKind::Integer(fixed, integer) => {
            let sign = if integer.signed { "int" } else { "uint" };
            let kind = if integer.mappings.is_some() { " enumeration" } else { "" };
            format!("{sign}{}{kind}", fixed.bits)
        }
        FieldKind::VarInteger(integer) => {
            let sign = if integer.signed { "int" } else { "uint" };
            let kind = if integer.mappings.is_some() { " enumeration" } else { "" };
            format!("{sign} of variable length{kind}")
        }
        FieldKind::BitArray(fixed) => format!("{} bits", fixed.bits),
        FieldKind::BitMap(fixed, _) => format!("bit map of {} bits", fixed.bits),
        FieldKind::Bool(..) => "boolean".to_owned(),
        FieldKind::Float(fixed) => format!("float{}", fixed.bits),
        FieldKind::String(_) => "string".to_owned(),
        FieldKind::Blob(_) => "blob".to_owned(),
        FieldKind::Array(_) => "array".to_owned(),
        FieldKind::Struct(_) => "structure".to_owned(),
        FieldKind::Option(_) => "option".to_owned(),
        FieldKind::Variant(_) => "variant".to_owned(),
        _ => String::new(),
    }
}

impl Visitor for Fields {
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        self.integer(field, value.into());
    }

    fn sint(&mut self, field: &FieldInfo, value: i64) {
        self.integer(field, value.into());
    }

    fn boolean(&mut self, field: &FieldInfo, value: bool) {
        self.field(field, value.to_string(), class(field.class()));
    }

    fn bits(&mut self, field: &FieldInfo, value: u64) {
        let labels = field.class().flags(value.into()).unwrap_or_default();
        let number = format!("{value:#x} ({value:#b})");
        let text = match &labels[..] {
            [] => number,
            labels => format!("{}  {number}", labels.join(" | ")),
        };
        self.field(field, text, class(field.class()));
    }

    fn float(&mut self, field: &FieldInfo, value: f64) {
        self.field(field, format!("{value:?}"), class(field.class()));
    }

    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        let text = format!("\"{}\"", value.to_str_lossy().escape_debug());
        self.field(field, text, class(field.class()));
    }

    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        self.field(field, hexadecimal(value), format!("blob of {} bytes", value.len()));
    }

    fn begin_struct(&mut self, field: &FieldInfo) {
        if std::mem::take(&mut self.is_root) {
            return self.counts.push(None);
        }
        self.open(field, String::new(), class(field.class()), None);
    }

    fn end_struct(&mut self, _: &FieldInfo) {
        self.close();
    }

    fn begin_array(&mut self, field: &FieldInfo, len: u64) {
        let elements = if len == 1 { "1 element".to_owned() } else { format!("{len} elements") };
        let (kind, has_bytes) = match &field.class().kind {
            FieldKind::Array(array) => (class(&array.element), is_byte(&array.element)),
            _ => (String::new(), false),
        };
        self.open(field, String::new(), format!("array of {elements}: {kind}"), Some(0));
        self.bytes = has_bytes.then(Vec::new);
    }

    fn end_array(&mut self, _: &FieldInfo) {
        self.close_bytes();
        self.close();
    }

    fn begin_variant(&mut self, field: &FieldInfo, option: usize) {
        let name = match &field.class().kind {
            FieldKind::Variant(variant) => {
                variant.options.get(option).and_then(|option| option.name.as_deref())
            }
            _ => None,
        };
        let name = name.map_or_else(|| option.to_string(), ToOwned::to_owned);
        self.open(field, String::new(), format!("variant: {name}"), None);
    }

    fn end_variant(&mut self, _: &FieldInfo) {
        self.close();
    }

    fn begin_option(&mut self, field: &FieldInfo, present: bool) {
        let value = if present { "" } else { "not present" };
        self.open(field, value.to_owned(), class(field.class()), None);
    }

    fn end_option(&mut self, _: &FieldInfo) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ltt_read::TracefileIndex;
    use ltt_read::schema::{ByteOrder, FixedLen, Flag, Format, StreamClassId};
    use ltt_read::writer::{FieldValue, MemoryTrace, presets};

    use super::super::EventDetail;
    use super::*;

    /// Returns the lines of the payload of an event.
    fn lines(members: Vec<(&'static str, FieldClass, FieldValue)>) -> Vec<(u16, String)> {
        let mut schema = presets::lttng_kernel(Format::Ctf2);
        let values = FieldValue::structure(members.iter().map(|(_, _, value)| value.clone()));
        let classes = members.into_iter().map(|(name, class, _)| (name, class));
        let class = FieldClass::structure(classes);
        let event_type = schema.add_event_type(StreamClassId(0), "sample", class);
        let mut trace = MemoryTrace::new(schema);
        let writer = trace.stream(StreamClassId(0), "c_0").expect("a stream class");
        let mut writer = writer.with_packet_context(FieldValue::fields([("cpu_id", 3)]));
        writer.event(event_type, 1_000_000_007, values).expect("values that suit");
        trace.add(writer).expect("room");
        let mut cursor = trace.open().expect("sound metadata").cursor(TracefileIndex(0));
        let detail = EventDetail::of(&cursor.next().expect("a sound event").expect("an event"));
        assert_eq!(detail.name, "sample");
        let line = |line: &FieldLine| {
            (line.depth, format!("{} = {} : {}", line.name, line.value, line.class))
        };
        let all: Vec<_> = detail.fields.iter().map(line).collect();
        assert!(all.contains(&(1, "cpu_id = 3 (0x3) : uint32".to_owned())), "{all:#?}");
        let payload = all.into_iter().skip_while(|line| !line.1.starts_with("payload")).skip(1);
        payload.take_while(|line| line.0 > 0).collect()
    }

    #[test]
    fn an_array_of_bytes_without_a_line_leaves_other_lines_as_they_are() {
        let mut fields = Fields::default();
        for number in 0..=MOST {
            fields.push(number.to_string(), String::new(), String::new());
        }
        fields.bytes = Some(vec![1, 2]);
        fields.close_bytes();
        let lines = fields.finish();
        assert!(lines.iter().all(|line| line.value.is_empty()));
        assert_eq!(lines[MOST].name, "… and 1 more lines");
    }

    fn uint(bits: u32) -> FieldClass {
        FieldClass::uint(bits, ByteOrder::Little)
    }

    #[test]
    fn integers_are_in_decimal_and_hexadecimal_with_their_labels() {
        let octal = Integer { base: DisplayBase::Octal, ..Integer::default() };
        let hexadecimal = Integer { base: DisplayBase::Hexadecimal, ..Integer::default() };
        let en = presets::enumeration(8, [("RANGE", 2, 5), ("OVERLAP", 4, 6)]);
        let fixed =
            FixedLen { bits: 3, byte_order: ByteOrder::Little, bit_order: Default::default() };
        let flag = |name: &str, bit| Flag { name: name.into(), ranges: vec![(bit, bit)] };
        let flags: Arc<[Flag]> = Arc::new([flag("low", 0), flag("one", 1), flag("two", 2)]);
        let found = lines(vec![
            ("u", uint(64), u64::MAX.into()),
            ("s", FieldClass::sint(8, ByteOrder::Little), (-7).into()),
            ("x", FieldClass::integer(32, ByteOrder::Little, hexadecimal), 0xBEEFu32.into()),
            ("o", FieldClass::integer(16, ByteOrder::Little, octal), 0o644u16.into()),
            ("en", en.clone(), 4.into()),
            ("un", en, 9.into()),
            ("bm", FieldClass::new(FieldKind::BitMap(fixed, flags), 8), FieldValue::Bits(5)),
            ("str", FieldClass::string(), "a\"\n\u{1b}b".into()),
        ]);
        let expected = [
            "u = 18446744073709551615 (0xffffffffffffffff) : uint64",
            "s = -7 (0xf9) : int8",
            "x = 0xbeef (48879) : uint32",
            "o = 0644 (420, 0x1a4) : uint16",
            "en = RANGE, OVERLAP  4 (0x4) : uint8 enumeration",
            "un = 9 (0x9) : uint8 enumeration",
            "bm = low | two  0x5 (0b101) : bit map of 3 bits",
            "str = \"a\\\"\\n\\u{1b}b\" : string",
        ];
        assert_eq!(found, expected.map(|line| (1, line.to_owned())));
    }

    #[test]
    fn parts_are_below_their_fields() {
        let a = |value: u8| FieldValue::structure([value.into()]);
        let found = lines(vec![
            ("n", uint(8), 2.into()),
            ("zero", uint(8), 0.into()),
            (
                "arr",
                presets::sequence("n", FieldClass::structure([("a", uint(8))])),
                FieldValue::array([a(1), a(2)]),
            ),
            ("raw", presets::sequence("n", uint(8)), FieldValue::array([0xA5, 7])),
            ("wide", presets::sequence("n", uint(16)), FieldValue::array([0xA5, 7])),
            ("none", presets::sequence("zero", uint(8)), FieldValue::array::<FieldValue>([])),
        ]);
        let expected = [
            (1, "n = 2 (0x2) : uint8"),
            (1, "zero = 0 (0x0) : uint8"),
            (1, "arr =  : array of 2 elements: structure"),
            (2, "[0] =  : structure"),
            (3, "a = 1 (0x1) : uint8"),
            (2, "[1] =  : structure"),
            (3, "a = 2 (0x2) : uint8"),
            (1, "raw = a5 07 : array of 2 elements: uint8"),
            (1, "wide =  : array of 2 elements: uint16"),
            (2, "[0] = 165 (0xa5) : uint16"),
            (2, "[1] = 7 (0x7) : uint16"),
            (1, "none =  : array of 0 elements: uint8"),
        ];
        assert_eq!(found, expected.map(|(depth, line)| (depth, line.to_owned())));
    }
}
