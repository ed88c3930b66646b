//! Random field classes. A [`Shape`] describes a field with all that it
//! depends on; [`structure`] turns shapes to members, and puts length and
//! selector fields before those that need them.

use std::sync::Arc;

use ltt_read::schema::*;
use proptest::prelude::*;

/// A field to be.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Leaf(FieldClass),
    Text { helper: FieldClass, encoding: Encoding },
    Blob { helper: FieldClass },
    Sequence { helper: FieldClass, element: Box<Shape> },
    Array { length: u64, element: Box<Shape> },
    Struct { members: Vec<Shape>, align: u32 },
    Variant { helper: FieldClass, options: Vec<Shape> },
    Option { helper: FieldClass, present: Selector, content: Box<Shape> },
}

impl Shape {
    fn helper(&self) -> Option<&FieldClass> {
        match self {
            Shape::Text { helper, .. }
            | Shape::Blob { helper }
            | Shape::Sequence { helper, .. }
            | Shape::Variant { helper, .. }
            | Shape::Option { helper, .. } => Some(helper),
            _ => None,
        }
    }

    /// The class; dynamic ones depend on `on`. Names under it that are unique
    /// from the root of a scope start with `path`.
    fn class(&self, on: &Dependency, path: Option<&Path<'_>>) -> FieldClass {
        // What has a helper needs a structure to hold it, unless it is a
        // member already.
        let inner = |shape: &Shape| {
            Arc::new(match shape.helper() {
                Some(_) => structure(std::slice::from_ref(shape), 1, None),
                None => shape.class(on, None),
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
            Shape::Struct { members, align } => structure(members, *align, path),
            Shape::Variant { helper, options } => {
                let options = options.iter().enumerate().map(|(i, shape)| VariantOption {
                    name: Some(format!("o{i}").into()),
                    label: None,
                    ranges: helper.mappings().unwrap()[i].ranges.clone(),
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

/// Where a structure is, if no array or variant is on the way.
struct Path<'a> {
    scope: Scope,
    names: &'a [&'a str],
}

/// A root structure.
pub(crate) fn root(scope: Scope, members: &[Shape]) -> Arc<FieldClass> {
    Arc::new(structure(members, 1, Some(&Path { scope, names: &[] })))
}

/// A structure of these members and of what they depend on. Every other
/// location is an absolute one, where possible.
fn structure(members: &[Shape], align: u32, path: Option<&Path<'_>>) -> FieldClass {
    let mut all: Vec<(String, FieldClass)> = Vec::new();
    for (i, shape) in members.iter().enumerate() {
        // Names that TSDL has to escape, too.
        let name = match i % 4 {
            1 => format!("_f{i}"),
            2 => ["enum", "event", "string"][i / 4 % 3].to_owned(),
            _ => format!("f{i}"),
        };
        let helper_name = format!("{name}_of{i}");
        let mut on = Dependency::sibling(&helper_name);
        if let Some(path) = path
            && i % 2 == 0
        {
            let steps = path.names.iter().copied().chain([&*helper_name]);
            on = Dependency::absolute(path.scope, steps);
        }
        if let Some(helper) = shape.helper() {
            all.push((helper_name, helper.clone()));
        }
        let names = path.map(|p| [p.names, &[&*name]].concat());
        let inner = path.zip(names.as_deref());
        let inner = inner.map(|(p, names)| Path { scope: p.scope, names });
        let class = shape.class(&on, inner.as_ref());
        all.push((name, class));
    }
    let class = FieldClass::structure(all.iter().map(|(name, class)| (&**name, class.clone())));
    FieldClass::new(class.kind, align)
}

/// Members of any kind that the format has. `native` is the byte order of
/// fields that do not fill whole bytes.
pub(crate) fn members(format: Format, native: ByteOrder) -> BoxedStrategy<Vec<Shape>> {
    prop::collection::vec(shape(format, native), 0..7).boxed()
}

fn shape(format: Format, native: ByteOrder) -> BoxedStrategy<Shape> {
    let ctf2 = format == Format::Ctf2;
    let leaf = leaf(format, native).prop_map(Shape::Leaf);
    let text = (length_class(format, native), encoding(format))
        .prop_map(|(helper, encoding)| Shape::Text { helper, encoding });
    let flat = if ctf2 {
        let blob = length_class(format, native).prop_map(|helper| Shape::Blob { helper });
        prop_oneof![8 => leaf, 1 => text, 1 => blob].boxed()
    } else {
        prop_oneof![8 => leaf, 1 => text].boxed()
    };
    flat.prop_recursive(3, 24, 4, move |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let sequence = (length_class(format, native), boxed())
            .prop_map(|(helper, element)| Shape::Sequence { helper, element });
        let array =
            (0..4u64, boxed()).prop_map(|(length, element)| Shape::Array { length, element });
        let structure = (prop::collection::vec(inner.clone(), 0..4), align())
            .prop_map(|(members, align)| Shape::Struct { members, align });
        let options = prop::collection::vec(inner.clone(), 1..4);
        let variant = (options, any::<bool>(), fixed_len(4..=64, native))
            .prop_map(|(options, signed, (fixed, align))| variant(options, signed, fixed, align));
        let all = prop_oneof![2 => sequence, 2 => array, 2 => structure, 2 => variant].boxed();
        if !ctf2 {
            return all;
        }
        let option = (selector(native), boxed())
            .prop_map(|((helper, present), content)| Shape::Option { helper, present, content });
        prop_oneof![4 => all, 1 => option].boxed()
    })
    .boxed()
}

/// A variant whose option `i` is chosen by two values.
fn variant(options: Vec<Shape>, signed: bool, fixed: FixedLen, align: u32) -> Shape {
    let base = if signed { -8 } else { 0 };
    let mappings = (0..options.len() as i128).map(|i| Mapping {
        label: format!("o{i}").into(),
        ranges: vec![(base + 2 * i, base + 2 * i + 1)],
    });
    let mappings = Some(mappings.collect());
    let integer = Integer { signed, mappings, ..Integer::default() };
    let helper = FieldClass::new(FieldKind::Integer(fixed, integer), align);
    Shape::Variant { helper, options }
}

fn selector(native: ByteOrder) -> impl Strategy<Value = (FieldClass, Selector)> {
    let boolean = fixed_len(1..=64, native).prop_map(|(fixed, align)| {
        (FieldClass::new(FieldKind::Bool(fixed, None), align), Selector::Bool)
    });
    let number = (length_class(Format::Ctf2, native), 0..4i128)
        .prop_map(|(class, n)| (class, Selector::Ranges(vec![(n, n + 2)])));
    prop_oneof![boolean, number]
}

/// An unsigned integer that is good for lengths up to 15.
fn length_class(format: Format, native: ByteOrder) -> BoxedStrategy<FieldClass> {
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

fn align() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1, 1, 1, 2, 4, 8, 8, 16, 32, 64])
}

/// Size, orders and alignment. Fields that may share a byte with others have
/// the native byte order.
fn fixed_len(
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

/// Up to three labels, of which ranges may overlap.
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
