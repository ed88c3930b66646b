//! Options: declarations, values and queries.

use std::time::Duration;

use lttv_context::attributes::{Kind, Paths, Text};
use lttv_context::framework::{OptionError, OptionSpec, Options};

fn options() -> Options {
    let mut options = Options::new();
    let specs = [
        OptionSpec::flag("stats", "Compute statistics").short('s'),
        OptionSpec::new("trace", Kind::Text, "A trace").short('t').repeatable(),
        OptionSpec::new("every", Kind::Duration, "How often").default_value("0.5"),
        OptionSpec::new("limit", Kind::UInt, "How many"),
    ];
    specs.into_iter().for_each(|spec| options.declare("batch", spec).unwrap());
    options
}

#[test]
fn values_and_defaults() {
    let mut options = options();
    assert_eq!(options.is_set("stats"), Ok(false));
    assert_eq!(options.get::<Duration>("every"), Ok(Some(&Duration::from_millis(500))));
    assert_eq!(options.get::<u64>("limit"), Ok(None));
    assert_eq!(options.all::<Text>("trace"), Ok(vec![]));

    options.set("stats", true).unwrap();
    options.set_text("trace", "one").unwrap();
    options.set("trace", "two").unwrap();
    options.set_text("every", "2").unwrap();
    options.set_text("limit", "0x10").unwrap();
    assert_eq!(options.is_set("stats"), Ok(true));
    assert_eq!(options.get::<Duration>("every"), Ok(Some(&Duration::from_secs(2))));
    assert_eq!(options.get::<u64>("limit"), Ok(Some(&16)));
    assert!(options.all::<Text>("trace").unwrap().into_iter().eq(["one", "two"]));
    assert_eq!(
        Paths(&options).to_string(),
        "/stats: true\n/trace/[0]: \"one\"\n/trace/[1]: \"two\"\n/every: 2.000000000 s\n/limit: 16\n"
    );
}

#[test]
fn refused_values() {
    let mut options = options();
    let text = |result: Result<(), OptionError>| result.unwrap_err().to_string();
    assert_eq!(text(options.set("speed", 1_u64)), "unknown option --speed");
    assert_eq!(text(options.set("limit", 1_i64)), "option --limit has kind uint, not int");
    assert_eq!(
        text(options.set_text("limit", "many")),
        "invalid value `many` for --limit: expected kind uint"
    );
    options.set("limit", 1_u64).unwrap();
    assert_eq!(text(options.set("limit", 2_u64)), "option --limit can be given only once");
    assert_eq!(options.get::<u64>("limit"), Ok(Some(&1)));
    assert!(matches!(options.get::<i64>("limit"), Err(OptionError::WrongKind { .. })));
    assert!(matches!(options.is_set("limit"), Err(OptionError::WrongKind { .. })));
    assert!(matches!(options.all::<u64>("speed"), Err(OptionError::Unknown { .. })));
}

#[test]
fn refused_declarations() {
    let mut options = options();
    let mut declare = |spec| options.declare("late", spec).unwrap_err();
    for name in ["", "-x", "Trace", "a b", "a=b", "1st", "é"] {
        let error = declare(OptionSpec::flag(name, ""));
        assert_eq!(error, OptionError::InvalidName(name.to_owned()));
    }
    assert!(matches!(
        declare(OptionSpec::flag("x", "").short('-')),
        OptionError::InvalidName { .. }
    ));
    assert_eq!(
        declare(OptionSpec::flag("trace", "")).to_string(),
        "option --trace of module late is already declared by module batch"
    );
    assert_eq!(
        declare(OptionSpec::flag("speed", "").short('s')).to_string(),
        "option -s of module late is already declared by module batch"
    );
    for spec in [
        OptionSpec::new("x", Kind::Tree, ""),
        OptionSpec::flag("x", "").repeatable(),
        OptionSpec::flag("x", "").default_value("true"),
        OptionSpec::new("x", Kind::Text, "").repeatable().default_value("one"),
    ] {
        assert!(matches!(declare(spec), OptionError::InvalidSpec { .. }));
    }
    let wrong_default = OptionSpec::new("x", Kind::UInt, "").default_value("many");
    assert!(matches!(declare(wrong_default), OptionError::InvalidValue { .. }));
    assert_eq!(options.specs().len(), 4);
}
