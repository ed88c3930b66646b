//! Numbers beyond the limits of fields, for records of an application.

use lttv_filter::model::{FieldAccess, FieldType, IntegerType, Model, Resolution, SelectorError};
use lttv_filter::{Columns, Environment, Expression, RecordFilter, Selector, Verdict};

struct Request {
    status: u64,
    delta: i64,
    cached: bool,
    seconds: f64,
    user: Option<&'static str>,
    level: u64,
    at: i64,
}

const REQUEST: Request = Request {
    status: 404,
    delta: -5,
    cached: true,
    seconds: 9_007_199_254_740_992.0,
    user: None,
    level: 2,
    at: 1_500_000_000,
};

fn columns() -> Columns<Request> {
    Columns::<Request>::new()
        .unsigned("status", |r| Some(r.status))
        .signed("delta", |r| Some(r.delta))
        .truth("cached", |r| Some(r.cached))
        .float("seconds", |r| Some(r.seconds))
        .text("user", |r| r.user)
        .labels("level", [("low", 1), ("high", 2)], |r| Some(r.level))
        .time("at", |r| Some(r.at))
}

#[test]
fn columns_compare_with_numbers_that_they_cannot_hold() {
    for (text, expected) in [
        ("status != -1", true),
        ("status == -1", false),
        ("status > -1", true),
        ("status < 99999999999999999999", true),
        ("status >= 403.5 && status <= 404.5", true),
        ("status in (-1, 404, 404.5, 1e30)", true),
        ("status not in (-1, 404.5)", true),
        ("!(status < -1)", true),
        ("delta >= -5.000000000000000000001", true),
        ("delta > -99999999999999999999 && delta < 18446744073709551616", true),
        ("delta == -5.0", true),
        ("cached != 2", true),
        ("cached < 0.5", false),
        ("cached == 1.0", true),
        ("seconds == 9007199254740993", false),
        ("seconds != 9007199254740993", true),
        ("seconds < 9007199254740993", true),
        ("seconds >= 9007199254740993", false),
        ("seconds == 9007199254740992", true),
        ("seconds in (9007199254740993)", false),
        ("seconds not in (9007199254740993)", true),
        ("seconds < 1e400", true),
        ("user != \"me\"", false),
        ("!(user == \"me\")", true),
        ("level == high && level != -1 && level < 1e30", true),
        ("level in (high, -1)", true),
        ("at > 1.4999999999", true),
        ("at >= 1500000000.5ns", false),
        ("at >= 1499999999.5ns", true),
        ("at != 99999999999999", true),
    ] {
        let expression = Expression::parse(text).expect(text);
        let filter = columns().compile(&expression).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(filter.matches(&REQUEST), expected, "{text}");
    }
}

#[test]
fn columns_have_notes() {
    let notes = |text: &str| {
        let expression = Expression::parse(text).expect(text);
        columns().compile(&expression).expect(text).notes().to_string()
    };
    assert_eq!(
        notes("status == -1"),
        "column 1: nothing passes this filter: \
         `status` holds integers from 0 to 18446744073709551615"
    );
    assert_eq!(notes("seconds == 9007199254740993"), "column 1: nothing passes this filter");
    assert_eq!(
        notes("cached < 2"),
        "column 1: this is true wherever `cached` is present: \
         `cached` is true or false: 1 or 0"
    );
    assert_eq!(notes("status == 404"), "");
}

/// A model with limits that no record can have, or with an empty range.
struct Strange;

/// The number of a field, and its declared limits.
const LIMITS: [(&str, i128, i128); 4] = [
    ("wide", i128::MIN, i128::MAX),
    ("unsigned", 0, i128::MAX),
    ("reversed", 5, 3),
    ("beyond", i128::MAX - 1, i128::MAX),
];

impl Model for Strange {
    type Field = u64;
    type Record<'r> = Number;

    fn types(&self) -> u32 {
        1
    }

    fn find(&self, _: u32, selector: &Selector) -> Resolution<u64> {
        let name = selector.to_string();
        let Some(at) = LIMITS.iter().position(|(known, ..)| *known == name) else {
            return Resolution::Nothing;
        };
        let (_, low, high) = LIMITS[at];
        let of = IntegerType::new(low, high);
        let of = FieldType::Integer(of);
        Resolution::Fields(vec![FieldAccess { field: at as u64, field_type: of, always: true }])
    }

    fn check(&self, _: &Selector) -> Result<(), SelectorError> {
        Ok(())
    }

    fn record_type(_: &Number) -> u32 {
        0
    }

    fn integer(number: &Number, _: &u64) -> Option<u64> {
        Some(number.0)
    }
}

/// The value of all fields.
struct Number(u64);

#[test]
fn limits_that_no_record_can_have_are_clamped() {
    let minus_one = Number(u64::MAX);
    for (text, expected) in [
        ("wide == -1", true),
        ("wide < 0 && wide > -2 && wide != 18446744073709551615", true),
        ("wide > -99999999999999999999999999999999999999999999", true),
        ("unsigned == 18446744073709551615", true),
        ("unsigned < 170141183460469231731687303715884105727 && unsigned != -1", true),
    ] {
        let expression = Expression::parse(text).expect(text);
        let filter = RecordFilter::new(&expression, &Strange).expect(text);
        assert_eq!(filter.matches(&minus_one), expected, "{text}");
    }
    for name in ["reversed", "beyond"] {
        for relation in ["==", "!=", "<", "<=", ">", ">="] {
            let text = format!("{name} {relation} 4");
            let expression = Expression::parse(&text).expect("sound");
            let filter = RecordFilter::with_environment(&expression, &Strange, &Environment::new())
                .expect("sound");
            assert_eq!(filter.verdict(0), Verdict::Never, "{text}");
        }
    }
}
