use super::*;

/// Texts to put after a valid `trace` block on line 1, with line, column and part of the message
/// of the first error.
const BAD: &[(&str, u32, u32, &str)] = &[
    // Syntax.
    ("}", 2, 1, "expected a block"),
    ("env { a = \"x;", 2, 11, "found a string without closing"),
    ("env { a = 'x;", 2, 11, "found a character without closing"),
    ("env { a = 1 /* ", 2, 13, "found a comment without closing"),
    ("env { a = 1 }; ", 2, 13, "expected `;`, found `}`"),
    ("env { a 1; };", 2, 9, "expected `=`, found `1`"),
    ("env { = 1; };", 2, 7, "expected a name of an entry, found `=`"),
    ("env { a = ; };", 2, 11, "expected a value"),
    ("env { a = 1x; };", 2, 11, "found the malformed number `1x`"),
    ("env { a = 1 $; };", 2, 13, "found the stray character \"$\""),
    ("env { a = \"b\" \"c\"; };", 2, 15, "expected `;`"),
    ("env { a = 18446744073709551616; };", 2, 11, "more than 64 bits"),
    ("env { a = 'bc'; };", 2, 11, "one character"),
    ("env { a = 1; }", 2, 15, "expected `;`, found the end of the metadata"),
    ("event {", 2, 8, "expected an attribute name, found the end of the metadata"),
    // Declarations.
    ("typealias := a;", 2, 11, "expected a type, found `:=`"),
    ("typealias string := ;", 2, 21, "expected a name for the type"),
    ("typealias string a;", 2, 18, "expected `:=`, found `a`"),
    ("typealias string := event;", 2, 21, "expected a name for the type, found `event`"),
    ("typealias string := a; typealias string := a;", 2, 44, "duplicate type alias `a`"),
    ("typealias u8 := a;", 2, 11, "unknown type alias `u8`"),
    ("typedef string int;", 2, 16, "not a C type"),
    ("struct a { string x; }; struct a { string x; };", 2, 32, "duplicate struct `a`"),
    ("struct a { struct a x; };", 2, 19, "unknown struct `a`"),
    ("struct a { string trace; };", 2, 19, "expected a member name, found `trace`"),
    ("struct a { x };", 2, 12, "expected a type and a member name, found only `x`"),
    ("struct a { string x; string x; };", 2, 29, "duplicate member `x`"),
    ("struct a { string x; } align(3);", 2, 30, "a power of two"),
    ("struct a { string x; } align(-8);", 2, 30, "a power of two"),
    ("struct a { string x; } align(X);", 2, 30, "a power of two"),
    // Scalars.
    ("typealias integer { align = 8; } := a;", 2, 11, "needs a `size`"),
    ("typealias integer { size = 0; } := a;", 2, 28, "1 to 64 bits"),
    ("typealias integer { size = 65; } := a;", 2, 28, "1 to 64 bits"),
    ("typealias integer { size = \"8\"; } := a;", 2, 28, "a size in bits, found the string"),
    ("typealias integer { size = 8; size = 8; } := a;", 2, 31, "duplicate attribute `size`"),
    ("typealias integer { size = 8; align = 0; } := a;", 2, 39, "a power of two, found `0`"),
    ("typealias integer { size = 8; signed = 2; } := a;", 2, 40, "`true` or `false`"),
    ("typealias integer { size = 8; base = 9; } := a;", 2, 38, "a base"),
    ("typealias integer { size = 8; encoding = 2; } := a;", 2, 42, "the encoding"),
    ("typealias integer { size = 8; byte_order = x; } := a;", 2, 44, "`native`, found `x`"),
    ("typealias integer { size = 8; map = clock.value; } := a;", 2, 37, "`clock.NAME.value`"),
    ("typealias integer { size = 8; map = clock.c.value; } := a;", 2, 37, "unknown clock `c`"),
    ("typealias floating_point { mant_dig = 24; } := a;", 2, 11, "needs an `exp_dig`"),
    ("typealias floating_point { exp_dig = 8; } := a;", 2, 11, "needs a `mant_dig`"),
    ("typealias floating_point { exp_dig = 8; mant_dig = 25; } := a;", 2, 11, "no floating-point"),
    ("typealias string { encoding = le; } := a;", 2, 31, "the encoding"),
    // Enumerations.
    ("enum a { X };", 2, 1, "needs the type alias `int`"),
    ("enum a : string { X };", 2, 10, "expected an integer type"),
    ("enum a : integer { size = 8; } { };", 2, 34, "expected a label"),
    ("enum a : integer { size = 8; } { X Y };", 2, 36, "expected `,` or `}`"),
    ("enum a : integer { size = 8; } { X = Y };", 2, 38, "expected an integer constant"),
    ("enum a : integer { size = 8; } { X = 3 ... 2 };", 2, 38, "3 ... 2 is reversed"),
    (
        "enum a : integer { size = 64; signed = 1; } { X = 9223372036854775808 };",
        2,
        51,
        "more than 64 bits",
    ),
    ("enum a : integer { size = 64; } { X = 18446744073709551615, Y };", 2, 61, "more than 64"),
    // Variants and arrays.
    ("struct a { variant <t> { } v; };", 2, 12, "at least one option"),
    ("struct a { variant <> { string x; } v; };", 2, 21, "expected the tag field"),
    ("struct a { variant <2> { string x; } v; };", 2, 21, "expected the tag field"),
    ("struct a { variant v <variant> { string x; } v; };", 2, 23, "found the keyword `variant`"),
    ("struct a { variant <b.event.c> { string x; } v; };", 2, 23, "found the keyword `event`"),
    ("struct a { string x[y.string]; };", 2, 23, "found the keyword `string`"),
    ("struct a { variant <t> { string x; string x; } v; };", 2, 43, "duplicate option `x`"),
    ("variant a { string x; }; struct b { variant a v; };", 2, 47, "has no tag"),
    ("variant a <t> { string x; };", 2, 12, "no enclosing structure contains the tag"),
    ("struct a { variant <event.fields> { string x; } v; };", 2, 21, "the name of a field"),
    ("struct a { string x[]; };", 2, 21, "expected a length"),
    ("struct a { string x[-1]; };", 2, 21, "negative length `-1`"),
    ("struct a { string x[env]; };", 2, 21, "expected `env.KEY`"),
    ("struct a { string x[env.k]; };", 2, 21, "no earlier environment entry `k`"),
    ("env { k = \"v\"; }; struct a { string x[env.k]; };", 2, 39, "is a string, not a length"),
    ("env { k = -1; }; struct a { string x[env.k]; };", 2, 38, "is -1, not a length"),
    // Blocks.
    ("trace { };", 2, 1, "duplicate `trace` block"),
    ("clock { };", 2, 1, "needs the attribute `name`"),
    ("clock { name = a; freq = 0; };", 2, 26, "more than 0"),
    ("clock { name = a; uuid = \"x\"; };", 2, 26, "a string with a UUID"),
    ("clock { name = a; offset = -1; };", 2, 28, "a number of cycles"),
    ("clock { name = a; }; clock { name = a; };", 2, 22, "duplicate clock `a`"),
    ("stream { }; stream { id = 0; };", 2, 13, "duplicate `stream` block with id 0"),
    ("stream { event.header := string; };", 2, 26, "expected a structure type"),
    ("event { fields := struct { string s; }; };", 2, 1, "needs the attribute `name`"),
    ("event { name = 3; };", 2, 16, "the name of the event"),
    ("event { name = a; id = -1; };", 2, 24, "the id of the event"),
    ("event { name = a; loglevel = \"x\"; };", 2, 30, "a log level"),
    ("event { name = a; fields = struct { }; };", 2, 26, "expected `:=`"),
    ("event { name = a; stream_id = 2; };", 2, 31, "unknown stream with id 2"),
    (
        "event { name = a; fields := struct { string s; }; };\nevent { name = b; id = 0;\n\
         fields := struct { string s; }; };",
        3,
        1,
        "duplicate event id 0",
    ),
];

#[test]
fn places_and_messages() {
    for (text, line, column, message) in BAD {
        let errors = errors_of(&format!("{TRACE}{text}"));
        let (l, c, m) = &errors[0];
        assert!(m.contains(message), "{text}: {m}");
        assert_eq!((l, c), (line, column), "{text}: {m}");
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
    }
}

#[test]
fn the_trace_block() {
    for (text, message) in [
        ("stream { };", "missing `trace` block"),
        ("trace { minor = 8; byte_order = le; };", "needs the attribute `major`"),
        ("trace { major = 1; byte_order = le; };", "needs the attribute `minor`"),
        ("trace { major = 1; minor = 8; };", "needs the attribute `byte_order`"),
        ("trace { major = 2; };", "expected the major version 1, found `2`"),
        ("trace { major = 1; minor = 9; };", "expected the minor version 8, found `9`"),
        ("trace { byte_order = native; };", "expected `le`, `be` or `network`, found `native`"),
        ("trace { uuid = x; };", "a string with a UUID"),
    ] {
        let errors = errors_of(text);
        assert!(errors.len() == 1 && errors[0].2.contains(message), "{text}: {errors:?}");
    }
}

#[test]
fn several_errors_in_one_run() {
    let text = format!(
        "{TRACE}clock {{ freq = 0; }};\nstruct s {{ bad x; }};\nstream {{ id = -1; }}\n\
         event {{ name = e; fields := struct {{ struct s x; }}; }};\n\
         event {{ name = 2; }};"
    );
    let lines: Vec<_> = errors_of(&text).iter().map(|e| e.0).collect();
    // The unknown `bad` and `s` may be consequences of the previous errors.
    assert_eq!(lines, [2, 4, 6]);
}

#[test]
fn errors_contain_the_constructs_around_them() {
    let text = format!("{TRACE}event {{ fields := struct {{ enum : string {{ A }} x; }}; }};");
    let context: Vec<_> = refuse(&text)[0].context.iter().map(|c| c.what.clone()).collect();
    assert_eq!(context, ["in `event` block", "in `fields`", "in `struct`", "in `enum`"]);
}

#[test]
fn nesting_and_size_have_limits() {
    let nested = |n: usize| {
        let open = "struct { ".repeat(n);
        let close = " } x;".repeat(n - 1);
        format!("{TRACE}event {{ name = e; fields := {open} string s;{close} }}; }};")
    };
    schema(&nested(60));
    assert!(errors_of(&nested(100))[0].2.contains("nested more than 64"));
    assert!(errors_of(&nested(100_000))[0].2.contains("nested more than 64"));
    let dimensions = format!("{TRACE}struct s {{ string a{}; }};", "[1]".repeat(100_000));
    assert!(errors_of(&dimensions)[0].2.contains("nested more than 64"));
    let mut chain = format!("{TRACE}struct s0 {{ string x; }};");
    let mut double = chain.clone();
    for n in 1..100 {
        chain += &format!("struct s{n} {{ struct s{} x; }};", n - 1);
        double += &format!("struct s{n} {{ struct s{0} x; struct s{0} y; }};", n - 1);
    }
    assert!(errors_of(&chain)[0].2.contains("nested more than 64"));
    assert!(errors_of(&double)[0].2.contains("too large"));
}

mod damaged {
    use proptest::prelude::*;

    use crate::metadata::parse;

    const GOOD: &str = r#"/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = be;
        packet.header := struct { integer { size = 32; } magic; }; };
        env { a = -0x1f; b = "c\"\x41"; }; // end
        typealias integer { size = 8; align = 8; base = hex; } := unsigned char;
        stream { event.header := struct { unsigned char id; }; };
        event { name = "e"; id = 3; fields := struct {
            enum : unsigned char { A = 1 ... 3, "B", C = 'x' } t; variant <t> { string A; } v;
            unsigned char n; string s[n][env.a]; struct { string x; } align(8) y; }; };"#;

    proptest! {
        #[test]
        fn text_never_panics(
            edits in prop::collection::vec((0..GOOD.len(), 0..GOOD.len(), 0..12usize), 1..6)
        ) {
            let mut bytes = GOOD.as_bytes().to_vec();
            for (to, from, len) in edits {
                let piece = GOOD.as_bytes()[from..GOOD.len().min(from + len)].to_vec();
                let end = bytes.len().min(to + len / 2);
                bytes.splice(to.min(end)..end, piece);
            }
            let _ = parse(&bytes);
        }

        #[test]
        fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
