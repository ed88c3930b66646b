//! Parses any text as an expression. The result is a tree whose printed form parses to an
//! equal tree, or diagnostics within the text; never a crash. Completes it at its end and in
//! its middle.
#![no_main]

use std::sync::LazyLock;

use lttv_filter::model::FieldType;
use lttv_filter::{Expression, Vocabulary};

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    Vocabulary::of_fields([
        ("number", FieldType::integer(8, true)),
        ("user.name", FieldType::Text),
        ("is_open", FieldType::truth()),
    ])
});

libfuzzer_sys::fuzz_target!(|text: &str| {
    for cursor in [text.len(), text.len() / 2] {
        for candidate in VOCABULARY.complete(text, cursor) {
            let (start, end) = (candidate.span.start as usize, candidate.span.end as usize);
            assert!(text.get(start..end).is_some(), "{start}..{end}");
        }
    }
    match Expression::parse(text) {
        Ok(expression) => {
            let printed = expression.tree().to_string();
            let again = Expression::parse(&printed).expect("printed expressions parse");
            assert_eq!(again.tree(), expression.tree(), "{printed}");
            assert_eq!(again.tree().to_string(), printed);
            for node in expression.tree().walk() {
                let (start, end) = (node.span.start as usize, node.span.end as usize);
                assert!(text.get(start..end).is_some(), "{start}..{end}");
            }
        }
        Err(error) => {
            assert!(!error.diagnostics().is_empty());
            for diagnostic in error.diagnostics() {
                let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
                assert!(text.get(start..end).is_some(), "{start}..{end} {diagnostic}");
            }
            drop((error.to_string(), error.render(false)));
        }
    }
});
