//! The printed form of an expression parses to an equal tree, whatever its tokens and the blanks
//! between them.

use lttv_filter::Expression;
use proptest::prelude::*;

/// The tokens of random texts.
const TOKENS: [&str; 42] = [
    "a",
    "b.c",
    "u",
    "v",
    ".",
    ".",
    "*",
    ".*",
    "sched_*",
    "*_exit",
    "?x",
    "[0]",
    "[*]",
    "event",
    "event.fields",
    "state.",
    "`a b`",
    "`in`",
    "\"t*\"",
    "'x'",
    "1",
    "-2",
    "0x1f",
    "1.5",
    "20ms",
    "==",
    "!=",
    "=~",
    "!~",
    "<",
    ">=",
    "in",
    "not",
    "(",
    ")",
    "&&",
    "&",
    "&",
    "||",
    "^",
    "!",
    "exists(",
];

fn check(text: &str) -> Result<bool, TestCaseError> {
    let Ok(expression) = Expression::parse(text) else { return Ok(false) };
    let printed = expression.tree().to_string();
    let again = Expression::parse(&printed).map(Expression::into_tree);
    prop_assert_eq!(again.as_ref(), Ok(expression.tree()), "{} as {}", text, printed);
    prop_assert_eq!(again.map(|tree| tree.to_string()), Ok(printed));
    Ok(true)
}

#[test]
fn a_truth_of_any_member_is_no_pattern_of_names() {
    for text in ["u. v.f.*", "!a .*", "a .*.b || c", "a . * ^ sched_*", "(a .*)"] {
        assert!(check(text).unwrap(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn printed_expressions_parse_to_equal_trees(
        tokens in prop::collection::vec((prop::sample::select(TOKENS.to_vec()), any::<bool>()), 1..8),
    ) {
        let texts = tokens.iter().map(|(token, blank)| format!("{token}{}", if *blank { " " } else { "" }));
        check(&texts.collect::<String>())?;
    }
}
