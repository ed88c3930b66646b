//! Tests of bits: `FIELD & BITS`, as in C but for the precedence.

use std::sync::Arc;

use ltt_read::schema::{
    BitOrder, ByteOrder, FieldClass, FieldKind, FixedLen, Flag, Format, Integer, Mapping, RangeSet,
    StreamClassId,
};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use ltt_read::{Merge, Trace};
use lttv_filter::{Expression, Filters};

/// Returns a trace whose events have the flags 0, 1, 2, … 15, also as signed numbers below zero.
fn flags() -> Arc<Trace> {
    let mapping = |(label, ranges): (&str, RangeSet)| Mapping { label: label.into(), ranges };
    let labels: [(&str, RangeSet); 4] = [
        ("DISCARD", vec![(1, 1)]),
        ("WRITE", vec![(2, 2)]),
        ("READ", vec![(4, 4)]),
        ("MANY", vec![(8, 15)]),
    ];
    let integer = Integer { mappings: Some(labels.map(mapping).into()), ..Integer::default() };
    let fields = FieldClass::structure([
        ("rwbs", FieldClass::integer(8, ByteOrder::Little, integer)),
        ("below", FieldClass::sint(16, ByteOrder::Little)),
        ("text", FieldClass::string()),
    ]);
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let event = schema.add_event_type(StreamClassId(0), "block_rq_issue", fields);
    let mut trace = MemoryTrace::new(schema);
    let mut stream = trace.stream(StreamClassId(0), "c_0").unwrap();
    for n in 0..16_i64 {
        let payload = FieldValue::fields([("rwbs", n), ("below", n - 16)]);
        stream.event(event, n as u64, payload).unwrap();
    }
    trace.add(stream).unwrap();
    trace.open().unwrap()
}

/// A function that says which numbers pass.
type Passes = fn(u64) -> bool;

/// Returns the numbers of the events that pass, or the error.
fn passing(trace: &Arc<Trace>, text: &str) -> Result<Vec<u64>, String> {
    let traces = [trace.clone()];
    let expression = Expression::parse(text).map_err(|error| error.to_string())?;
    let filters = Filters::new(&expression, &traces).map_err(|error| error.to_string())?;
    let printed = Expression::parse(&expression.to_string()).unwrap();
    assert_eq!(printed.tree(), expression.tree(), "{text}");
    let mut merge = Merge::new(&traces);
    let mut numbers = Vec::new();
    while let Some(event) = merge.next() {
        numbers.extend(event.cycles().filter(|_| filters.matches(&event)));
    }
    Ok(numbers)
}

#[test]
fn a_bit_test_is_true_if_one_of_the_bits_is_set() {
    let trace = flags();
    let expected = |is: Passes| Ok((0..16).filter(|n| is(*n)).collect());
    let cases: [(&str, Passes); 12] = [
        ("rwbs & 2", |n| n & 2 != 0),
        ("rwbs & 0x6", |n| n & 6 != 0),
        ("rwbs & WRITE", |n| n & 2 != 0),
        ("rwbs & \"READ\"", |n| n & 4 != 0),
        ("event.fields.block_rq_issue.rwbs & READ", |n| n & 4 != 0),
        ("below & 0x8000", |_| true),
        ("below & 1", |n| n & 1 != 0),
        // It binds as `==` does: closer than `!`, `&&` and `||`.
        ("!rwbs & 2", |n| n & 2 == 0),
        ("rwbs & 1 && rwbs & 2 || rwbs == 4", |n| n & 3 == 3 || n == 4),
        ("!(rwbs & WRITE) && !(rwbs & 1)", |n| n & 3 == 0),
        // Between conditions, a single sign means the same as two, as in earlier versions.
        ("rwbs == 3 & below == -13", |n| n == 3),
        ("block_rq_* & rwbs == 3", |n| n == 3),
    ];
    for (text, is) in cases {
        assert_eq!(passing(&trace, text), expected(is), "{text}");
    }
}

#[test]
fn what_has_no_bits_is_refused() {
    let trace = flags();
    for (text, message) in [
        ("rwbs & 2 == 2", "a test of bits cannot be compared"),
        ("rwbs & MANY", "stands for a range of values"),
        ("text & 2", "the bits of text cannot be tested"),
        ("event.time & 2", "cannot be tested"),
        ("text & WRITE", "cannot be tested"),
        ("rwbs & WRIET", "there is no label `WRIET`"),
        ("rwbs & -1", "without a sign"),
    ] {
        let error = passing(&trace, text);
        let found = error.as_ref().err().is_some_and(|error| error.contains(message));
        // A label that does not exist is a note, since other types may have it.
        assert!(found || text.contains("WRIET") && error == Ok(vec![]), "{text}: {error:?}");
    }
}

/// Returns a trace in CTF 2 whose events have a bit map with the values 0, 1, 2, … 15, also in other orders
/// of bytes and bits.
fn bit_maps() -> Arc<Trace> {
    let flag = |(name, ranges): (&str, RangeSet)| Flag { name: name.into(), ranges };
    let flags: [(&str, RangeSet); 4] = [
        ("READ", vec![(0, 0)]),
        ("WRITE", vec![(1, 1)]),
        ("HIGH", vec![(2, 3)]),
        ("ENDS", vec![(0, 0), (3, 3), (7, 90)]),
    ];
    let flags: Arc<[Flag]> = flags.map(flag).into();
    let map = |bits, byte_order, bit_order| {
        let fixed = FixedLen { bits, byte_order, bit_order };
        FieldClass::new(FieldKind::BitMap(fixed, flags.clone()), 8)
    };
    let fields = FieldClass::structure([
        ("perm", map(8, ByteOrder::Little, BitOrder::Natural)),
        ("wide", map(64, ByteOrder::Big, BitOrder::Reversed)),
    ]);
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let event = schema.add_event_type(StreamClassId(0), "access", fields);
    let mut trace = MemoryTrace::new(schema);
    let mut stream = trace.stream(StreamClassId(0), "c_0").unwrap();
    for n in 0..16_u64 {
        let payload = FieldValue::fields([
            ("perm", FieldValue::Bits(n)),
            ("wide", FieldValue::Bits(n << 60)),
        ]);
        stream.event(event, n, payload).unwrap();
    }
    trace.add(stream).unwrap();
    trace.open().unwrap()
}

#[test]
fn bits_of_bit_maps_are_tested_by_the_names_of_flags() {
    let trace = bit_maps();
    let cases: [(&str, Passes); 12] = [
        ("perm & READ", |n| n & 1 != 0),
        ("perm & WRITE", |n| n & 2 != 0),
        ("perm & \"HIGH\"", |n| n & 12 != 0),
        ("perm & ENDS", |n| n & 9 != 0),
        ("perm & 6", |n| n & 6 != 0),
        ("!(perm & HIGH)", |n| n & 12 == 0),
        ("perm & READ && perm & WRITE", |n| n & 3 == 3),
        ("perm == 5", |n| n == 5),
        ("perm > 8", |n| n > 8),
        ("wide & READ", |_| false),
        ("wide & ENDS", |n| n != 0),
        ("event.fields.access.perm & WRITE", |n| n & 2 != 0),
    ];
    for (text, is) in cases {
        let expected = Ok((0..16).filter(|n| is(*n)).collect());
        assert_eq!(passing(&trace, text), expected, "{text}");
    }
}

#[test]
fn a_bit_map_is_compared_as_a_number_only() {
    let trace = bit_maps();
    for (text, message) in [
        ("perm == READ", "its flags are tested by `&`"),
        ("perm =~ \"RE*\"", "pattern"),
        ("perm == 3ms", "a bit map cannot be compared"),
    ] {
        let error = passing(&trace, text).expect_err(text);
        assert!(error.contains(message), "{text}: {error}");
    }
    let error = passing(&trace, "perm & REED").expect_err("no such flag");
    assert!(error.contains("there is no label `REED`"), "{error}");
}
