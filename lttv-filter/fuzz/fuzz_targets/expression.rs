//! Parses any text as an expression. The result is a tree whose printed form parses to an
//! equal tree, or diagnostics within the text; never a crash.
#![no_main]

use lttv_filter::Expression;

libfuzzer_sys::fuzz_target!(|text: &str| {
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
