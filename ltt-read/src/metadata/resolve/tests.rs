//! Tests of locations in schemas that are built by hand.

use std::sync::Arc;

use super::resolve;
use crate::metadata::{Diagnostic, limits};
use crate::schema::{
    Array, ByteOrder, Dependency, EventType, FieldClass, FieldKind, FixedLen, Format, Integer,
    Length, LocationOrigin, Mapping, OptionField, PathStep, RangeSet, Schema, Scope, Selector,
    SlotId, Str, StreamClass, StreamClassId, Variant, VariantOption,
};

const LE: ByteOrder = ByteOrder::Little;

fn u8_() -> FieldClass {
    FieldClass::uint(8, LE)
}

fn st<const N: usize>(members: [(&'static str, FieldClass); N]) -> FieldClass {
    FieldClass::structure(members)
}

/// Creates a string with its length in bytes at a location.
fn text(at: Dependency) -> FieldClass {
    let length = Some(Length::Dynamic(at));
    FieldClass::new(FieldKind::String(Str { encoding: Default::default(), length }), 8)
}

fn array(length: Length, element: FieldClass) -> FieldClass {
    let element = Arc::new(element);
    FieldClass::new(FieldKind::Array(Array { element, length, roles: Default::default() }), 1)
}

fn option(at: Dependency, present: Selector, class: FieldClass) -> FieldClass {
    let class = Arc::new(class);
    FieldClass::new(FieldKind::Option(OptionField { selector: at, present, class }), 1)
}

fn variant<const N: usize>(at: Dependency, options: [(RangeSet, FieldClass); N]) -> FieldClass {
    let options = options.into_iter().enumerate().map(|(i, (ranges, class))| VariantOption {
        name: Some(format!("o{i}").into()),
        label: None,
        ranges,
        class: Arc::new(class),
        attributes: None,
    });
    FieldClass::new(FieldKind::Variant(Variant { selector: at, options: options.collect() }), 1)
}

fn labelled<const N: usize>(at: Dependency, labels: [&str; N]) -> FieldClass {
    let options = labels.iter().map(|&label| VariantOption {
        name: Some(label.into()),
        label: Some(label.into()),
        ranges: vec![],
        class: Arc::new(FieldClass::string()),
        attributes: None,
    });
    FieldClass::new(FieldKind::Variant(Variant { selector: at, options: options.collect() }), 1)
}

fn enumeration(mappings: &[(&str, i128, i128)]) -> FieldClass {
    let mappings =
        mappings.iter().map(|&(l, a, b)| Mapping { label: l.into(), ranges: vec![(a, b)] });
    let mappings = Some(mappings.collect());
    FieldClass::integer(8, LE, Integer { mappings, ..Integer::default() })
}

/// Creates a CTF 2 location relative to the enclosing structure; "" is a step up.
fn relative<const N: usize>(path: [&str; N]) -> Dependency {
    let step = |n: &&str| match *n {
        "" => PathStep::Parent,
        name => PathStep::Name(name.into()),
    };
    let path = path.iter().map(step).collect();
    Dependency { origin: LocationOrigin::Parent, path, ..Dependency::sibling("") }
}

fn near(name: &str) -> Dependency {
    Dependency::sibling(name)
}

fn at<const N: usize>(scope: Scope, path: [&str; N]) -> Dependency {
    Dependency::absolute(scope, path)
}

fn schema_of(payload: FieldClass) -> Schema {
    let mut schema = Schema::new(Format::Ctf1);
    schema.stream_classes.push(StreamClass::new(0));
    let mut event = EventType::new(StreamClassId(0), 0, "e");
    event.payload = Some(Arc::new(payload));
    schema.event_types.push(event);
    schema
}

fn resolved(payload: FieldClass) -> Schema {
    let mut schema = schema_of(payload);
    resolve(&mut schema).unwrap_or_else(|e| panic!("{e:#?}"));
    schema
}

#[track_caller]
fn refused(payload: FieldClass, expected: &str) -> Vec<Diagnostic> {
    let errors = resolve(&mut schema_of(payload)).unwrap_err();
    assert!(errors[0].message.contains(expected), "{:?} lacks {expected:?}", errors[0].message);
    errors
}

/// Returns the slots of all targets, then of all dependent fields, in walking order.
fn slots(class: &FieldClass) -> (Vec<u16>, Vec<u16>) {
    fn walk(class: &FieldClass, out: &mut (Vec<u16>, Vec<u16>)) {
        let mut user = |d: &Dependency| out.1.push(d.slot.expect("unresolved").0);
        match &class.kind {
            FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => {
                out.0.extend(i.slot.map(|s| s.0));
            }
            FieldKind::Bool(_, s) => out.0.extend(s.map(|s| s.0)),
            FieldKind::String(Str { length: Some(Length::Dynamic(d)), .. }) => user(d),
            FieldKind::Struct(s) => s.members.iter().for_each(|m| walk(&m.class, out)),
            FieldKind::Array(a) => {
                if let Length::Dynamic(d) = &a.length {
                    user(d);
                }
                walk(&a.element, out);
            }
            FieldKind::Option(o) => {
                user(&o.selector);
                walk(&o.class, out);
            }
            FieldKind::Variant(v) => {
                user(&v.selector);
                v.options.iter().for_each(|o| walk(&o.class, out));
            }
            _ => {}
        }
    }
    let mut out = Default::default();
    walk(class, &mut out);
    out
}

fn payload_slots(payload: FieldClass) -> (Vec<u16>, Vec<u16>) {
    slots(resolved(payload).event_types[0].payload.as_ref().unwrap())
}

#[test]
fn all_fields_with_one_length_share_a_slot() {
    let payload = st([("n", u8_()), ("a", text(near("n"))), ("b", text(near("n")))]);
    let schema = resolved(payload);
    assert_eq!(schema.event_types[0].slots.0, 1);
    assert_eq!(slots(schema.event_types[0].payload.as_ref().unwrap()), (vec![0], vec![0, 0]));
}

#[test]
fn outer_scopes_are_numbered_first() {
    let mut schema = schema_of(st([
        ("k", u8_()),
        ("a", text(at(Scope::PacketContext, ["x", "n"]))),
        ("b", text(near("k"))),
        ("c", text(at(Scope::PacketHeader, ["m"]))),
        ("d", text(at(Scope::CommonContext, ["m"]))),
    ]));
    schema.packet_header = Some(Arc::new(st([("m", u8_())])));
    let stream = &mut schema.stream_classes[0];
    stream.packet_context = Some(Arc::new(st([("x", st([("n", u8_())]))])));
    stream.common_context = Some(Arc::new(st([("m", u8_())])));
    resolve(&mut schema).unwrap();
    let (stream, event) = (&schema.stream_classes[0], &schema.event_types[0]);
    assert_eq!((schema.slots.0, stream.slots.0, event.slots.0), (1, 3, 4));
    assert_eq!(slots(schema.packet_header.as_ref().unwrap()).0, [0]);
    assert_eq!(slots(stream.packet_context.as_ref().unwrap()).0, [1]);
    assert_eq!(slots(stream.common_context.as_ref().unwrap()).0, [2]);
    assert_eq!(slots(event.payload.as_ref().unwrap()), (vec![3], vec![1, 3, 0, 2]));
}

#[test]
fn a_shared_class_is_copied_per_use() {
    let counted = Arc::new(st([("n", u8_()), ("s", text(near("n")))]));
    let mut schema = schema_of(st([]));
    schema.event_types.push(EventType::new(StreamClassId(0), 1, "plain"));
    let member = |name: &str| crate::schema::Member {
        name: name.into(),
        class: Arc::clone(&counted),
        attributes: None,
    };
    let members = vec![member("a"), member("b")];
    let payload = FieldClass::new(FieldKind::Struct(crate::schema::Struct { members }), 1);
    schema.event_types[0].payload = Some(Arc::new(payload));
    resolve(&mut schema).unwrap();
    let payload = schema.event_types[0].payload.as_ref().unwrap();
    assert_eq!(slots(payload), (vec![0, 1], vec![0, 1]));
    let FieldKind::Integer(_, n) = &counted.members()[0].class.kind else { panic!() };
    assert_eq!(n.slot, None, "the shared class itself is untouched");
}

#[test]
fn names_are_looked_up_outwards() {
    let inner = st([("pad", u8_()), ("s", text(near("n")))]);
    assert_eq!(
        payload_slots(st([("n", u8_()), ("in", array(Length::Static(3), inner))])),
        (vec![0], vec![0])
    );
    // The nearest one is used; the outer one gets no slot.
    let inner = st([("n", u8_()), ("s", text(near("n")))]);
    let schema = resolved(st([("n", u8_()), ("in", inner)]));
    let payload = schema.event_types[0].payload.as_ref().unwrap();
    let FieldKind::Integer(_, far) = &payload.members()[0].class.kind else { panic!() };
    assert_eq!(far.slot, None);
    // A later member of the same name does not hide an earlier outer one.
    let inner = st([("s", text(near("n"))), ("n", u8_())]);
    assert_eq!(payload_slots(st([("n", u8_()), ("in", inner)])), (vec![0], vec![0]));
}

#[test]
fn paths_relative_to_the_containing_structure() {
    let inner = st([("s", text(relative(["", "n"]))), ("t", text(relative(["", "x", "", "n"])))]);
    assert_eq!(payload_slots(st([("n", u8_()), ("in", inner)])), (vec![0], vec![0, 0]));
    refused(st([("s", text(relative(["", "n"])))]), "leads out of the root structure");
    refused(st([("n", u8_()), ("s", text(relative(["n", ""])))]), "does not end with the name");
}

#[test]
fn large_structures_are_indexed() {
    let names: Vec<String> = (0..1000).map(|i| format!("m{i}")).collect();
    let mut members: Vec<_> = names.iter().map(|n| (n.as_str(), u8_())).collect();
    members.push(("s", text(near("m777"))));
    members.push(("t", text(near("m777"))));
    assert_eq!(payload_slots(FieldClass::structure(members)), (vec![0], vec![0, 0]));
}

#[test]
fn a_target_inside_a_variant_must_be_in_every_option() {
    let tag = || ("tag", u8_());
    let choice = |a, b| {
        variant(near("tag"), [(vec![(0, 0)], st([("n", a)])), (vec![(1, 1)], st([("n", b)]))])
    };
    let both = choice(u8_(), FieldClass::uint(32, LE));
    assert_eq!(
        payload_slots(st([tag(), ("v", both), ("s", text(relative(["v", "n"])))])),
        (vec![0, 1, 1], vec![0, 1])
    );
    let one = choice(u8_(), FieldClass::string());
    refused(st([tag(), ("v", one), ("s", text(relative(["v", "n"])))]), "leads to a string");
    let mixed = choice(u8_(), FieldClass::sint(8, LE));
    refused(st([tag(), ("v", mixed), ("s", text(relative(["v", "n"])))]), "unsigned integer");
}

#[test]
fn alternatives_that_overlap_share_one_slot() {
    // The first option uses its own `n`, the field after the variant uses either.
    let first = st([("n", u8_()), ("s", text(at(Scope::Payload, ["v", "n"])))]);
    let second = st([("n", u8_())]);
    let v = variant(near("tag"), [(vec![(0, 0)], first), (vec![(1, 1)], second)]);
    let payload = st([("tag", u8_()), ("v", v), ("t", text(relative(["v", "n"])))]);
    assert_eq!(payload_slots(payload), (vec![0, 1, 1], vec![0, 1, 1]));
}

#[test]
fn array_elements_are_reached_only_from_inside() {
    let element = st([("n", u8_()), ("s", text(at(Scope::Payload, ["a", "n"])))]);
    assert_eq!(payload_slots(st([("a", array(Length::Static(2), element))])), (vec![0], vec![0]));
    let a = array(Length::Static(2), st([("n", u8_())]));
    refused(st([("a", a), ("s", text(relative(["a", "n"])))]), "an array that does not hold");
}

#[test]
fn optional_fields_are_reached_only_from_inside() {
    let flag = FieldClass::new(
        FieldKind::Bool(FixedLen { bits: 8, byte_order: LE, bit_order: Default::default() }, None),
        8,
    );
    let o = |class| option(relative(["f"]), Selector::Bool, class);
    let inside = st([("n", u8_()), ("s", text(at(Scope::Payload, ["o", "n"])))]);
    assert_eq!(
        payload_slots(st([("f", flag.clone()), ("o", o(inside))])),
        (vec![0, 1], vec![0, 1])
    );
    let outside = st([("f", flag), ("o", o(u8_())), ("s", text(relative(["o"])))]);
    refused(outside, "may be absent");
}

#[test]
fn later_fields_and_the_dependent_field_are_refused() {
    refused(st([("s", text(near("n"))), ("n", u8_())]), "not decoded before");
    refused(st([("s", text(relative(["n"]))), ("n", u8_())]), "decoded after");
    refused(st([("s", text(relative(["s"])))]), "the dependent field itself");
    refused(st([("s", text(near("s")))]), "not decoded before");
    let a = array(Length::Dynamic(at(Scope::Payload, ["a"])), u8_());
    refused(st([("a", a)]), "the dependent field itself");
    let mut schema = schema_of(st([("n", u8_())]));
    let context = st([("s", text(at(Scope::Payload, ["n"])))]);
    schema.event_types[0].specific_context = Some(Arc::new(context));
    let errors = resolve(&mut schema).unwrap_err();
    assert_eq!(
        errors[0].message,
        "length location `event.fields.n`: `event.fields` is decoded after `event.context`, \
         where it is needed"
    );
}

#[test]
fn targets_have_to_suit_dependent_fields() {
    refused(st([("n", FieldClass::sint(8, LE)), ("s", text(near("n")))]), "a signed integer");
    refused(st([("n", st([])), ("s", text(near("n")))]), "leads to a structure");
    let o = option(near("n"), Selector::Bool, u8_());
    refused(st([("n", u8_()), ("o", o)]), "must be a boolean");
    let o = option(near("n"), Selector::Ranges(vec![(-1, 1)]), u8_());
    refused(st([("n", u8_()), ("o", o)]), "the range -1 to 1");
    let v = labelled(near("n"), ["x"]);
    refused(st([("n", u8_()), ("v", v)]), "must be an enumeration");
}

#[test]
fn labels_choose_all_their_ranges() {
    let tag = enumeration(&[("x", 0, 1), ("_y", 2, 2), ("x", 7, 9), ("z", 3, 3)]);
    let schema = resolved(st([("t", tag.clone()), ("v", labelled(near("t"), ["x", "y", "_z"]))]));
    let payload = schema.event_types[0].payload.as_ref().unwrap();
    let FieldKind::Variant(v) = &payload.members()[1].class.kind else { panic!() };
    let ranges: Vec<_> = v.options.iter().map(|o| o.ranges.clone()).collect();
    assert_eq!(ranges, [vec![(0, 1), (7, 9)], vec![(2, 2)], vec![(3, 3)]]);
    refused(st([("t", tag), ("v", labelled(near("t"), ["other"]))]), "no label `other`");
}

#[test]
fn messages_list_or_suggest_members() {
    let members = || [("length", u8_()), ("data", text(near("lenght")))];
    let errors = refused(st(members()), "did you mean `length`?");
    assert_eq!(errors[0].context[0].what, "in `event.fields` of event `e`");
    refused(st([("k", u8_()), ("s", text(near("size")))]), "(members before it: `k`)");
    let nested = st([("x", st([("k", u8_())])), ("s", text(relative(["x", "size"])))]);
    refused(nested, "no member `size` (members there: `k`)");
}

#[test]
fn hostile_schemas_end_in_errors() {
    let mut deep = st([]);
    for _ in 0..limits::DEPTH + 1 {
        deep = st([("x", deep)]);
    }
    refused(deep, "deeper than");

    // 30 levels of ten members each.
    let mut wide = Arc::new(u8_());
    for _ in 0..30 {
        let member = |i: usize| crate::schema::Member {
            name: format!("m{i}").into(),
            class: Arc::clone(&wide),
            attributes: None,
        };
        let members = (0..10).map(member).collect();
        wide = Arc::new(FieldClass::new(FieldKind::Struct(crate::schema::Struct { members }), 1));
    }
    refused(Arc::unwrap_or_clone(wide), "parts");

    // 70000 lengths exceed the number of slots.
    let counted = st([("n", u8_()), ("s", text(near("n")))]);
    let names: Vec<String> = (0..70_000).map(|i| i.to_string()).collect();
    let members = names.iter().map(|n| (n.as_str(), counted.clone()));
    refused(FieldClass::structure(members), "more than 65535");
}

#[test]
fn slot_ids_are_dense() {
    let payload = st([("a", u8_()), ("b", u8_()), ("s", text(near("b"))), ("t", text(near("a")))]);
    let schema = resolved(payload);
    let payload = schema.event_types[0].payload.as_ref().unwrap();
    let FieldKind::Integer(_, b) = &payload.members()[1].class.kind else { panic!() };
    assert_eq!(b.slot, Some(SlotId(0)), "numbered in the order of first need");
    assert_eq!(schema.event_types[0].slots.0, 2);
}
