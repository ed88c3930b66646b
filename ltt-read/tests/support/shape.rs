//! Random field classes. A [`Shape`] describes a field and everything that it depends on.
//! [`structure`] converts shapes to members, and adds length and selector fields before
//! the fields that need them, unless they use a [key](super::keys).

use std::sync::Arc;

use ltt_read::schema::*;
use proptest::prelude::*;

use super::keys::{OPTIONS, length_key, option_key, option_range};

/// The place of the length or selector of a field.
#[derive(Debug, Clone)]
pub(crate) enum Helper {
    /// A separate member before the field.
    Own(FieldClass),
    /// The key of a scope, which other fields may use, too.
    Key(Scope),
}

/// A description of a field.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Leaf(FieldClass),
    Text { helper: Helper, encoding: Encoding },
    Blob { helper: Helper },
    Sequence { helper: Helper, element: Box<Shape> },
    Array { length: u64, element: Box<Shape> },
    Struct { members: Vec<Shape>, align: u32 },
    Variant { helper: Helper, options: Vec<Shape> },
    Option { helper: Helper, present: Selector, content: Box<Shape> },
}

impl Shape {
    fn helper(&self) -> Option<&Helper> {
        match self {
            Shape::Text { helper, .. }
            | Shape::Blob { helper }
            | Shape::Sequence { helper, .. }
            | Shape::Variant { helper, .. }
            | Shape::Option { helper, .. } => Some(helper),
            _ => None,
        }
    }

    /// Returns the class of the field at a place. Dynamic ones depend on `on`.
    fn class(&self, on: &Dependency, at: At<'_>) -> FieldClass {
        // A field with a helper needs a structure around both, unless it is a member
        // already.
        let inner = |shape: &Shape| {
            Arc::new(match shape.helper() {
                Some(Helper::Own(_)) => structure(std::slice::from_ref(shape), 1, at),
                Some(Helper::Key(scope)) => shape.class(&at.key(shape, *scope), at),
                None => shape.class(on, at),
            })
        };
        match self {
            Shape::Leaf(class) => class.clone(),
            Shape::Text { encoding, .. } => {
                let length = Some(Length::Dynamic(on.clone()));
                FieldClass::new(FieldKind::String(Str { encoding: *encoding, length }), 8)
            }
            Shape::Blob { .. } => {
                let (length, roles) = (Length::Dynamic(on.clone()), Roles::NONE);
                FieldClass::new(FieldKind::Blob(Blob { length, media_type: None, roles }), 8)
            }
            Shape::Sequence { element, .. } => {
                let (element, length) = (inner(element), Length::Dynamic(on.clone()));
                FieldClass::new(FieldKind::Array(Array { element, length, roles: Roles::NONE }), 1)
            }
            Shape::Array { length, element } => {
                let (element, length) = (inner(element), Length::Static(*length));
                FieldClass::new(FieldKind::Array(Array { element, length, roles: Roles::NONE }), 1)
            }
            Shape::Struct { members, align } => structure(members, *align, at),
            Shape::Variant { helper, options } => {
                let options = options.iter().enumerate().map(|(i, shape)| VariantOption {
                    name: Some(format!("o{i}").into()),
                    label: None,
                    ranges: match helper {
                        Helper::Own(class) => class.mappings().unwrap()[i].ranges.clone(),
                        Helper::Key(_) => vec![option_range(i)],
                    },
                    class: inner(shape),
                    attributes: None,
                });
                let options = options.collect();
                FieldClass::new(FieldKind::Variant(Variant { selector: on.clone(), options }), 1)
            }
            Shape::Option { present, content, .. } => {
                let (selector, present) = (on.clone(), present.clone());
                let class = inner(content);
                FieldClass::new(FieldKind::Option(OptionField { selector, present, class }), 1)
            }
        }
    }
}

/// The place of a structure.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) format: Format,
    pub(crate) scope: Scope,
    /// The scopes that have keys, at least the packet header.
    pub(crate) keyed: &'a [Scope],
    /// The names of the members on the path to the structure.
    pub(crate) names: &'a [&'a str],
}

impl At<'_> {
    /// Returns the key of a scope, or of another scope if that has none.
    fn key(&self, shape: &Shape, scope: Scope) -> Dependency {
        let there = self.keyed.contains(&scope) && scope <= self.scope;
        let scope = if there { scope } else { Scope::PacketHeader };
        let name = match shape {
            Shape::Variant { .. } | Shape::Option { .. } => option_key(scope),
            _ => length_key(scope),
        };
        if scope == self.scope && self.format == Format::Ctf1 && self.names.len() > 1 {
            return Dependency::sibling(&name); // found outwards
        }
        Dependency::absolute(scope, [&*name])
    }

    /// Returns a member of this structure, by one of the ways to refer to it.
    fn member(&self, name: &str, way: usize) -> Dependency {
        let step = |name: &str| PathStep::Name(name.into());
        match (way % 3, self.names.last()) {
            (0, _) => Dependency::absolute(self.scope, self.names.iter().copied().chain([name])),
            // A relative location that leaves the structure and enters it again.
            (1, Some(last)) if self.format == Format::Ctf2 => Dependency {
                origin: LocationOrigin::Parent,
                path: vec![PathStep::Parent, step(last), step(name)],
                ..Dependency::sibling(name)
            },
            _ => Dependency::sibling(name),
        }
    }
}

/// Returns a structure of these members and of the fields that they depend on.
pub(crate) fn structure(members: &[Shape], align: u32, at: At<'_>) -> FieldClass {
    let mut all: Vec<(String, FieldClass)> = Vec::new();
    for (i, shape) in members.iter().enumerate() {
        // Some names have to be escaped in TSDL.
        let name = match i % 4 {
            1 => format!("_f{i}"),
            2 => ["enum", "event", "string"][i / 4 % 3].to_owned(),
            _ => format!("f{i}"),
        };
        let helper_name = format!("{name}_of{i}");
        let on = match shape.helper() {
            Some(Helper::Key(scope)) => at.key(shape, *scope),
            _ => at.member(&helper_name, i),
        };
        if let Some(Helper::Own(helper)) = shape.helper() {
            all.push((helper_name, helper.clone()));
        }
        let names = [at.names, &[&*name]].concat();
        let class = shape.class(&on, At { names: &names, ..at });
        all.push((name, class));
    }
    let class = FieldClass::structure(all.iter().map(|(name, class)| (&**name, class.clone())));
    FieldClass::new(class.kind, align)
}

/// Generates members of any kind that the format has. `native` is the byte order of
/// fields that do not fill whole bytes.
pub(crate) fn members(format: Format, native: ByteOrder) -> BoxedStrategy<Vec<Shape>> {
    prop::collection::vec(shape(format, native), 0..7).boxed()
}

fn shape(format: Format, native: ByteOrder) -> BoxedStrategy<Shape> {
    let ctf2 = format == Format::Ctf2;
    let leaf = leaf(format, native).prop_map(Shape::Leaf);
    let length = move || helper(length_class(format, native));
    let text = (length(), encoding(format)).prop_map(|(helper, encoding)| {
        let keyed = matches!(helper, Helper::Key(_));
        // The value of a key may not be a multiple of a larger code unit's size.
        Shape::Text { helper, encoding: if keyed { Encoding::Utf8 } else { encoding } }
    });
    let flat = if ctf2 {
        let blob = length().prop_map(|helper| Shape::Blob { helper });
        prop_oneof![8 => leaf, 1 => text, 1 => blob].boxed()
    } else {
        prop_oneof![8 => leaf, 1 => text].boxed()
    };
    flat.prop_recursive(3, 24, 4, move |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let sequence =
            (length(), boxed()).prop_map(|(helper, element)| Shape::Sequence { helper, element });
        let array =
            (0..4u64, boxed()).prop_map(|(length, element)| Shape::Array { length, element });
        let structure = (prop::collection::vec(inner.clone(), 0..4), align())
            .prop_map(|(members, align)| Shape::Struct { members, align });
        let options = prop::collection::vec(inner.clone(), 1..4);
        let variant = (options, any::<bool>(), fixed_len(4..=64, native))
            .prop_map(|(options, signed, (fixed, align))| variant(options, signed, fixed, align));
        let keyed = (key_scope(), prop::collection::vec(inner.clone(), OPTIONS))
            .prop_map(|(scope, options)| Shape::Variant { helper: Helper::Key(scope), options });
        let all = prop_oneof![4 => sequence, 4 => array, 4 => structure, 4 => variant, 1 => keyed]
            .boxed();
        if !ctf2 {
            return all;
        }
        let keyed_option = (key_scope(), boxed()).prop_map(|(scope, content)| Shape::Option {
            helper: Helper::Key(scope),
            present: Selector::Ranges(vec![option_range(1)]),
            content,
        });
        let option = (selector(native), boxed())
            .prop_map(|((helper, present), content)| Shape::Option { helper, present, content });
        prop_oneof![8 => all, 2 => option, 1 => keyed_option].boxed()
    })
    .boxed()
}

/// Generates a variant whose option `i` is selected by two values.
fn variant(options: Vec<Shape>, signed: bool, fixed: FixedLen, align: u32) -> Shape {
    let base = if signed { -8 } else { 0 };
    let mappings = (0..options.len() as i128).map(|i| Mapping {
        label: format!("o{i}").into(),
        ranges: vec![(base + 2 * i, base + 2 * i + 1)],
    });
    let mappings = Some(mappings.collect());
    let integer = Integer { signed, mappings, ..Integer::default() };
    let helper = FieldClass::new(FieldKind::Integer(fixed, integer), align);
    Shape::Variant { helper: Helper::Own(helper), options }
}

fn key_scope() -> impl Strategy<Value = Scope> {
    prop::sample::select(Scope::ALL.to_vec())
}

/// Generates a place, mostly a separate helper.
fn helper(class: impl Strategy<Value = FieldClass>) -> impl Strategy<Value = Helper> {
    prop_oneof![3 => class.prop_map(Helper::Own), 1 => key_scope().prop_map(Helper::Key)]
}

fn selector(native: ByteOrder) -> impl Strategy<Value = (Helper, Selector)> {
    let boolean = fixed_len(1..=64, native).prop_map(|(fixed, align)| {
        (Helper::Own(FieldClass::new(FieldKind::Bool(fixed, None), align)), Selector::Bool)
    });
    let number = (length_class(Format::Ctf2, native), 0..4i128)
        .prop_map(|(class, n)| (Helper::Own(class), Selector::Ranges(vec![(n, n + 2)])));
    prop_oneof![boolean, number]
}

/// Generates an unsigned integer that can hold lengths up to 15.
pub(super) fn length_class(format: Format, native: ByteOrder) -> BoxedStrategy<FieldClass> {
    let fixed = fixed_len(4..=64, native).prop_map(|(fixed, align)| {
        FieldClass::new(FieldKind::Integer(fixed, Integer::default()), align)
    });
    match format {
        Format::Ctf2 => {
            let variable = FieldClass::new(FieldKind::VarInteger(Integer::default()), 8);
            prop_oneof![3 => fixed, 1 => Just(variable)].boxed()
        }
        _ => fixed.boxed(),
    }
}

pub(super) fn align() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1, 1, 1, 2, 4, 8, 8, 16, 32, 64])
}

/// Generates size, byte and bit order, and alignment. Fields that may share a byte with
/// others have the native byte order.
pub(super) fn fixed_len(
    bits: std::ops::RangeInclusive<u32>,
    native: ByteOrder,
) -> impl Strategy<Value = (FixedLen, u32)> {
    let bits = prop_oneof![3 => bits, 2 => prop::sample::select(vec![8, 16, 32, 64])];
    (bits, align(), any::<bool>()).prop_map(move |(bits, align, big)| {
        let free = bits % 8 == 0 && align >= 8;
        let foreign = if big { ByteOrder::Big } else { ByteOrder::Little };
        let byte_order = if free { foreign } else { native };
        (FixedLen { bits, byte_order, bit_order: BitOrder::Natural }, align)
    })
}

fn encoding(format: Format) -> impl Strategy<Value = Encoding> {
    use Encoding::*;
    prop::sample::select(match format {
        Format::Ctf2 => vec![Utf8, Utf16Be, Utf16Le, Utf32Be, Utf32Le],
        _ => vec![Utf8],
    })
}

fn integer() -> impl Strategy<Value = Integer> {
    use DisplayBase::*;
    let base = prop::sample::select(vec![Decimal, Hexadecimal, Octal, Binary]);
    (any::<bool>(), base).prop_map(|(signed, base)| Integer { signed, base, ..Default::default() })
}

/// Generates up to three labels, whose ranges may overlap.
fn enumerated(bits: u32, integer: Integer) -> impl Strategy<Value = Integer> {
    let (low, high) = match integer.signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let range = (low..=high, low..=high).prop_map(|(a, b)| (a.min(b), a.max(b)));
    prop::collection::vec(prop::collection::vec(range, 1..3), 1..4).prop_map(move |labels| {
        let labels = labels.into_iter().enumerate().map(|(i, ranges)| Mapping {
            label: ["plain", "with space", "q\"uote\\"][i].into(),
            ranges,
        });
        Integer { mappings: Some(labels.collect()), ..integer.clone() }
    })
}

fn leaf(format: Format, native: ByteOrder) -> BoxedStrategy<FieldClass> {
    let fixed = move || fixed_len(1..=64, native);
    let number = (fixed(), integer())
        .prop_map(|((f, align), i)| FieldClass::new(FieldKind::Integer(f, i), align));
    let enumeration = (fixed(), integer()).prop_flat_map(|((f, align), i)| {
        enumerated(f.bits, i).prop_map(move |i| FieldClass::new(FieldKind::Integer(f, i), align))
    });
    let float_bits = prop::sample::select(vec![32, 64]);
    let float = (fixed(), float_bits).prop_map(move |((mut f, align), bits)| {
        f.bits = bits;
        if align < 8 {
            f.byte_order = native;
        }
        FieldClass::new(FieldKind::Float(f), align)
    });
    let null_terminated = encoding(format)
        .prop_map(|encoding| FieldClass::new(FieldKind::String(Str { encoding, length: None }), 8));
    let text = (encoding(format), 0..20u64).prop_map(|(encoding, length)| {
        let length = Some(Length::Static(length));
        FieldClass::new(FieldKind::String(Str { encoding, length }), 8)
    });
    let common = prop_oneof![
        6 => number, 2 => enumeration, 1 => float, 1 => null_terminated, 1 => text
    ];
    if format != Format::Ctf2 {
        return common.boxed();
    }
    let bits = fixed().prop_map(|(f, align)| FieldClass::new(FieldKind::BitArray(f), align));
    let map = fixed().prop_map(|(f, align)| {
        let last = i128::from(f.bits) - 1;
        let flag = |name: &str, ranges| Flag { name: name.into(), ranges };
        let flags = [flag("first", vec![(0, 0)]), flag("all", vec![(0, last)])];
        FieldClass::new(FieldKind::BitMap(f, flags.into()), align)
    });
    let boolean = fixed().prop_map(|(f, align)| FieldClass::new(FieldKind::Bool(f, None), align));
    let variable = integer().prop_map(|i| FieldClass::new(FieldKind::VarInteger(i), 8));
    let half = (8..=64u32).prop_map(|align| {
        let fixed = FixedLen { bits: 16, byte_order: ByteOrder::Big, bit_order: BitOrder::Natural };
        FieldClass::new(FieldKind::Float(fixed), align.next_power_of_two())
    });
    let blob = (0..5u64).prop_map(|length| {
        let (length, roles) = (Length::Static(length), Roles::NONE);
        let media_type = Some("image/png".into());
        FieldClass::new(FieldKind::Blob(Blob { length, media_type, roles }), 8)
    });
    let more = prop_oneof![bits, map, boolean, variable, half, blob];
    (prop_oneof![3 => common, 2 => more], any::<bool>())
        .prop_map(|(mut class, reverse)| {
            use FieldKind::*;
            if let BitArray(f) | BitMap(f, _) | Bool(f, _) | Integer(f, _) | Float(f) =
                &mut class.kind
                && reverse
            {
                f.bit_order = BitOrder::Reversed;
            }
            class
        })
        .boxed()
}
