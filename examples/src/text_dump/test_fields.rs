//! Fields for the tests of the formats: a visitor is fed by hand.

use std::sync::Arc;

use ltt_read::layout::FieldInfo;
use ltt_read::schema::{
    ByteOrder, DisplayBase, Encoding, FieldClass, FieldKind, FixedLen, Flag, Integer, Mapping,
    Role, Roles, VariantOption,
};
use ltt_read::schema::{Dependency, Variant};
use ltt_read::{StrValue, Visitor};

pub(super) fn info(name: &str, class: FieldClass) -> FieldInfo {
    FieldInfo::new((!name.is_empty()).then(|| name.into()), Arc::new(class))
}

fn fixed(bits: u32) -> FixedLen {
    FixedLen { bits, byte_order: ByteOrder::Little, bit_order: Default::default() }
}

fn uint(bits: u32) -> FieldClass {
    FieldClass::uint(bits, ByteOrder::Little)
}

fn root() -> FieldInfo {
    info("", FieldClass::structure([]))
}

/// One field of each kind that has no parts.
pub(super) fn every_kind(v: &mut dyn Visitor) {
    let hex = Integer { base: DisplayBase::Hexadecimal, ..Integer::default() };
    let mapping =
        |label: &str, low, high| Mapping { label: label.into(), ranges: vec![(low, high)] };
    let mappings = Arc::new([mapping("RANGE", 2, 5), mapping("OVERLAP", 4, 6)]);
    let en = Integer { mappings: Some(mappings), ..Integer::default() };
    let en = FieldClass::integer(8, ByteOrder::Little, en);
    let flag = |name: &str, bit| Flag { name: name.into(), ranges: vec![(bit, bit)] };
    let flags = Arc::new([flag("low", 0), flag("one", 1), flag("two", 2)]);
    let float = |bits| FieldClass::new(FieldKind::Float(fixed(bits)), 8);
    let text = |bytes, encoding| StrValue { bytes, encoding };

    v.begin_struct(&root());
    v.uint(&info("u", uint(64)), u64::MAX);
    v.sint(&info("s", FieldClass::sint(8, ByteOrder::Little)), -7);
    v.uint(&info("x", FieldClass::integer(32, ByteOrder::Little, hex)), 0xBEEF);
    v.uint(&info("en", en.clone()), 4);
    v.uint(&info("un", en), 9);
    v.boolean(&info("b", FieldClass::new(FieldKind::Bool(fixed(8), None), 8)), true);
    v.bits(&info("ba", FieldClass::new(FieldKind::BitArray(fixed(3)), 1)), 6);
    v.bits(&info("bm", FieldClass::new(FieldKind::BitMap(fixed(3), flags), 1)), 5);
    v.float(&info("f", float(32)), f64::from(0.1f32));
    v.float(&info("d", float(64)), 1e300);
    v.float(&info("nan", float(64)), f64::NAN);
    v.string(&info("str", FieldClass::string()), text(b"a\"\nb", Encoding::Utf8));
    v.string(&info("wide", FieldClass::string()), text(b"h\0\xe9\0", Encoding::Utf16Le));
    v.blob(&info("blob", FieldClass::string()), &[0, 255]);
    v.end_struct(&root());
}

/// One field of each kind that has parts.
pub(super) fn nested(v: &mut dyn Visitor) {
    let option = VariantOption {
        name: Some("one".into()),
        label: None,
        ranges: Vec::new(),
        class: Arc::new(uint(8)),
        attributes: None,
    };
    let variant = Variant { selector: Dependency::sibling("tag"), options: vec![option] };
    let variant = info("var", FieldClass::new(FieldKind::Variant(variant), 1));
    // The kinds of arrays and options do not matter to the formats.
    let any = |name| info(name, FieldClass::structure([]));

    v.begin_struct(&root());
    v.begin_struct(&any("st"));
    v.end_struct(&any("st"));
    v.begin_array(&any("arr"), 2);
    for value in [1, 2] {
        v.begin_struct(&root());
        v.uint(&info("a", uint(8)), value);
        v.end_struct(&root());
    }
    v.end_array(&any("arr"));
    v.begin_array(&any("none"), 0);
    v.end_array(&any("none"));
    v.begin_variant(&variant, 0);
    v.uint(&info("one", uint(8)), 3);
    v.end_variant(&variant);
    v.begin_option(&any("opt"), true);
    v.uint(&info("", uint(8)), 4);
    v.end_option(&any("opt"));
    v.begin_option(&any("nil"), false);
    v.end_option(&any("nil"));
    v.end_struct(&root());
}

/// A packet context as LTTng has it: mostly for the reader.
pub(super) fn packet_context(v: &mut dyn Visitor) {
    let role = |role| {
        let integer = Integer { roles: Roles::only(role), ..Integer::default() };
        FieldClass::integer(64, ByteOrder::Little, integer)
    };
    v.begin_struct(&root());
    v.uint(&info("timestamp_begin", role(Role::ClockTimestamp)), 1);
    v.uint(&info("packet_size", role(Role::PacketTotalLength)), 4096);
    v.uint(&info("cpu_id", uint(32)), 3);
    v.uint(&info("events_discarded", role(Role::DiscardedEvents)), 0);
    v.end_struct(&root());
}

/// The members of the root structure that a function feeds.
pub(super) fn member_classes(feed: fn(&mut dyn Visitor)) -> Vec<(&'static str, FieldClass)> {
    let mut collector = Collector::default();
    feed(&mut collector);
    collector.members
}

#[derive(Default)]
struct Collector {
    depth: usize,
    members: Vec<(&'static str, FieldClass)>,
}

impl Collector {
    fn leaf(&mut self, field: &FieldInfo) {
        if self.depth == 1 {
            let name = field.name().unwrap_or_default().to_owned();
            self.members.push((name.leak(), FieldClass::clone(field.class())));
        }
    }

    fn begin(&mut self, field: &FieldInfo) {
        self.leaf(field);
        self.depth += 1;
    }

    fn end(&mut self) {
        self.depth -= 1;
    }
}

impl Visitor for Collector {
    fn uint(&mut self, field: &FieldInfo, _value: u64) {
        self.leaf(field);
    }
    fn sint(&mut self, field: &FieldInfo, _value: i64) {
        self.leaf(field);
    }
    fn boolean(&mut self, field: &FieldInfo, _value: bool) {
        self.leaf(field);
    }
    fn bits(&mut self, field: &FieldInfo, _value: u64) {
        self.leaf(field);
    }
    fn float(&mut self, field: &FieldInfo, _value: f64) {
        self.leaf(field);
    }
    fn string(&mut self, field: &FieldInfo, _value: StrValue<'_>) {
        self.leaf(field);
    }
    fn blob(&mut self, field: &FieldInfo, _value: &[u8]) {
        self.leaf(field);
    }
    fn begin_struct(&mut self, field: &FieldInfo) {
        self.begin(field);
    }
    fn end_struct(&mut self, _field: &FieldInfo) {
        self.end();
    }
    fn begin_array(&mut self, field: &FieldInfo, _len: u64) {
        self.begin(field);
    }
    fn end_array(&mut self, _field: &FieldInfo) {
        self.end();
    }
    fn begin_variant(&mut self, field: &FieldInfo, _option: usize) {
        self.begin(field);
    }
    fn end_variant(&mut self, _field: &FieldInfo) {
        self.end();
    }
    fn begin_option(&mut self, field: &FieldInfo, _present: bool) {
        self.begin(field);
    }
    fn end_option(&mut self, _field: &FieldInfo) {
        self.end();
    }
}
