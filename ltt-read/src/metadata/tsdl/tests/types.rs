use super::*;
use crate::schema::{
    BitOrder, ByteOrder, DisplayBase, Encoding, FieldKind, FixedLen, Length, LocationOrigin,
    PathStep, Scope,
};

fn integer(class: &FieldClass) -> (FixedLen, &crate::schema::Integer) {
    match &class.kind {
        FieldKind::Integer(fixed, integer) => (*fixed, integer),
        other => panic!("{other:?}"),
    }
}

#[test]
fn integers() {
    let class = member("integer { size = 13; } a;");
    let natural = BitOrder::Natural;
    let (fixed, int) = integer(&class);
    assert_eq!(fixed, FixedLen { bits: 13, byte_order: ByteOrder::Little, bit_order: natural });
    assert_eq!((class.align, int.signed, int.base), (1, false, DisplayBase::Decimal));

    let class = member(
        "integer { size = 0x20; align = 64; signed = TRUE; byte_order = network; base = 'a'; } a;"
            .replace("'a'", "X")
            .as_str(),
    );
    let (fixed, int) = integer(&class);
    assert_eq!((fixed.bits, fixed.byte_order, class.align), (32, ByteOrder::Big, 64));
    assert_eq!((int.signed, int.base), (true, DisplayBase::Hexadecimal));
    assert_eq!(member("integer { size = 32; } a;").align, 8);

    for (bases, expected) in [
        ("2 b bin binary", DisplayBase::Binary),
        ("8 o oct octal", DisplayBase::Octal),
        ("10 d i u dec decimal", DisplayBase::Decimal),
        ("16 x X p hex hexadecimal", DisplayBase::Hexadecimal),
    ] {
        for base in bases.split(' ') {
            let class = member(&format!("integer {{ size = 8; base = {base}; }} a;"));
            assert_eq!(integer(&class).1.base, expected, "{base}");
        }
    }
}

#[test]
fn equal_inline_integers_are_one_class() {
    let class = payload(
        "integer { size = 8; } a; integer { size = 8; } b; integer { size = 8; /* } */ } c;
         integer { size = 8; /* } */ } d;",
    );
    let m = class.members();
    assert!(Arc::ptr_eq(&m[0].class, &m[1].class));
    assert_eq!(m[2].class, m[0].class);
    assert_eq!(m[3].class, m[0].class);
}

#[test]
fn floats_and_strings() {
    for (exponent, mantissa, bits) in [(5, 11, 16), (8, 24, 32), (11, 53, 64), (15, 113, 128)] {
        let class = member(&format!(
            "floating_point {{ exp_dig = {exponent}; mant_dig = {mantissa}; align = 32;
             byte_order = be; }} a;"
        ));
        let FieldKind::Float(fixed) = &class.kind else { panic!("{class:?}") };
        assert_eq!((fixed.bits, fixed.byte_order, class.align), (bits, ByteOrder::Big, 32));
    }
    for text in ["string a;", "string { encoding = UTF8; } a;", "string { encoding = ascii; } a;"] {
        assert_eq!(*member(text), FieldClass::string());
    }
}

#[test]
fn enumerations() {
    let class = member(
        r#"enum : integer { size = 8; signed = true; } {
            A, B = -5, C, "d e" = 3 ... 7, F, A = 'x', G = 0b1, H = +017,
        } a;"#,
    );
    let mappings: Vec<_> =
        class.mappings().expect("labels").iter().map(|m| (&*m.label, &m.ranges[..])).collect();
    assert_eq!(
        mappings,
        [
            ("A", &[(0, 0), (120, 120)][..]),
            ("B", &[(-5, -5)]),
            ("C", &[(-4, -4)]),
            ("d e", &[(3, 7)]),
            ("F", &[(8, 8)]),
            ("G", &[(1, 1)]),
            ("H", &[(15, 15)]),
        ]
    );
    let (schema, warnings) = accept(&format!(
        "{TRACE}typealias integer {{ size = 64; }} := int; event {{ name = e; fields := struct {{
         enum {{ A = -1, B }} a; }}; }};"
    ));
    let class = &schema.event_types[0].payload.as_ref().unwrap().members()[0].class;
    let max = i128::from(u64::MAX);
    assert_eq!(class.mappings().unwrap()[0].ranges, [(max, max)]);
    assert_eq!(class.mappings().unwrap()[1].ranges, [(0, 0)]);
    assert_eq!(warnings, ["negative value in an enumeration of unsigned integers"]);
}

#[test]
fn structures() {
    let class = payload(
        "struct s { integer { size = 16; align = 16; } _x; string y; } align(32);
         struct s a; struct s _b, c[2]; struct { struct s d; } e;;",
    );
    assert_eq!(names(&class), ["a", "b", "c", "e"]);
    let m = class.members();
    assert_eq!(m[0].class.align, 32);
    assert_eq!(names(&m[0].class), ["x", "y"]);
    assert!(Arc::ptr_eq(&m[0].class, &m[1].class));
    assert_eq!(m[2].class.align, 32);
    assert_eq!(class.align, 32);
}

#[test]
fn leading_underscores() {
    let text = "string _; string __; string _a; string __b;";
    assert_eq!(names(&payload(text)), ["", "_", "a", "_b"]);
    let (schema, warnings) = accept(&format!(
        "{TRACE}event {{ name = e; fields := struct {{ string a; string _a; string _b; }}; }};"
    ));
    assert_eq!(names(schema.event_types[0].payload.as_ref().unwrap()), ["a", "_a", "_b"]);
    assert_eq!(warnings.len(), 1);
}

#[test]
fn variants() {
    let class = payload(
        "enum : integer { size = 8; } { a, _b, \"c\" } _tag;
         variant v { string a; integer { size = 8; } _b; };
         variant v <_tag> x;
         variant <event.fields.tag> { string c; } y;
         variant <stream.event.context.p.q> { string c; } z;
         typealias variant <tag> { string a; } := alias; alias w;",
    );
    let variant = |n: usize| match &class.members()[n].class.kind {
        FieldKind::Variant(variant) => variant.clone(),
        other => panic!("{other:?}"),
    };
    let x = variant(1);
    let options: Vec<_> = x
        .options
        .iter()
        .map(|o| (o.name.as_deref().unwrap(), o.label.as_deref().unwrap()))
        .collect();
    assert_eq!(options, [("a", "a"), ("b", "_b")]);
    assert_eq!(x.selector.origin, LocationOrigin::Enclosing);
    assert_eq!(x.selector.path, [PathStep::Name("tag".into())]);
    assert_eq!(variant(2).selector.origin, LocationOrigin::Scope(Scope::Payload));
    assert_eq!(variant(3).selector.origin, LocationOrigin::Scope(Scope::CommonContext));
    assert_eq!(variant(3).selector.path.len(), 2);
    assert_eq!(variant(4).options.len(), 1);
}

#[test]
fn arrays() {
    let class = payload(
        "integer { size = 8; } n;
         string a[3]; string b[2][n]; string c[_n.m]; string d[event . context . k];",
    );
    let array = |class: &FieldClass| match &class.kind {
        FieldKind::Array(array) => array.clone(),
        other => panic!("{other:?}"),
    };
    let m = class.members();
    assert_eq!(array(&m[1].class).length, Length::Static(3));
    let outer = array(&m[2].class);
    assert_eq!(outer.length, Length::Static(2));
    assert!(matches!(array(&outer.element).length, Length::Dynamic(_)));
    let Length::Dynamic(c) = array(&m[3].class).length else { panic!() };
    assert_eq!(c.path, [PathStep::Name("n".into()), PathStep::Name("m".into())]);
    let Length::Dynamic(d) = array(&m[4].class).length else { panic!() };
    assert_eq!(d.origin, LocationOrigin::Scope(Scope::SpecificContext));
    assert_eq!(d.path, [PathStep::Name("k".into())]);
}

#[test]
fn arrays_of_characters_are_strings() {
    let text = |size, align, encoding, suffix| {
        member(&format!(
            "integer {{ size = {size}; align = {align}; encoding = {encoding}; }} a{suffix};"
        ))
    };
    let class = text(8, 8, "UTF8", "[16]");
    let FieldKind::String(string) = &class.kind else { panic!("{class:?}") };
    assert_eq!((string.encoding, &string.length), (Encoding::Utf8, &Some(Length::Static(16))));
    let class = text(8, 8, "ASCII", "[2][n]");
    let FieldKind::Array(array) = &class.kind else { panic!("{class:?}") };
    assert!(matches!(&array.element.kind, FieldKind::String(s) if s.length.is_some()));
    for (size, align, encoding) in
        [(16, 8, "UTF8"), (8, 16, "UTF8"), (8, 8, "none"), (8, 4, "UTF8")]
    {
        let class = text(size, align, encoding, "[16]");
        assert!(matches!(class.kind, FieldKind::Array(_)), "{size} {align} {encoding}");
    }
}

#[test]
fn aliases_and_scopes() {
    let class = payload(
        "typealias integer { size = 8; } := unsigned  char;
         typedef unsigned char u8, pair[2];
         typealias unsigned char := void *;
         struct { typedef string u8; u8 inner; } a;
         const u8 b; pair c; unsigned char d; void * e; pair f[3];",
    );
    let m = class.members();
    assert_eq!(*m[0].class.members()[0].class, FieldClass::string());
    assert_eq!(*m[1].class, FieldClass::uint(8, ByteOrder::Little));
    assert!(Arc::ptr_eq(&m[1].class, &m[3].class));
    assert!(Arc::ptr_eq(&m[1].class, &m[4].class));
    let FieldKind::Array(f) = &m[5].class.kind else { panic!() };
    assert_eq!(f.length, Length::Static(3));
    assert!(Arc::ptr_eq(&f.element, &m[2].class));
}

#[test]
fn lengths_from_the_environment() {
    let text = format!(
        "{TRACE}env {{ n = 7; }};
         event {{ name = e; fields := struct {{ string a[env.n]; }}; }};"
    );
    let schema = schema(&text);
    let class = &schema.event_types[0].payload.as_ref().unwrap().members()[0].class;
    assert!(matches!(&class.kind, FieldKind::Array(a) if a.length == Length::Static(7)));
}
