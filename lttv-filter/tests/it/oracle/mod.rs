//! Compiled filters, compared with an interpreter that walks the tree for each event, on
//! random traces and with random expressions about their contents.

mod choices;
mod exact;
mod fields;
mod interpreter;
mod mixed;
mod random;
mod short_words;
pub(crate) mod words;

use std::sync::Arc;

use crate::support::case::{Case, case};
use crate::support::config::cases;
use crate::support::read_back::Reader;
use choices::Choices;
use interpreter::Facts;
use ltt_read::schema::Format;
use ltt_read::writer::metadata_text;
use ltt_read::{Merge, Trace, TraceIndex};
use lttv_filter::{Expression, Filter, Filters, Verdict};
use proptest::prelude::*;

fn open(case: &Case) -> Arc<Trace> {
    let text = metadata_text(&case.schema).expect("a schema that can be written");
    let bytes = |i| case.bytes(i).expect("a stream that can be written");
    let files = (0..case.streams.len()).map(|i| (Case::file_name(i), bytes(i)));
    Trace::from_memory(text.as_bytes(), files).expect("a sound trace")
}

fn check(case: &Case, numbers: &[u32]) -> Result<(), TestCaseError> {
    let traces = [open(case)];
    let trace = &traces[0];
    let mut reader = Reader::default();
    let mut facts = Vec::new();
    let mut merge = Merge::new(&traces);
    while let Some(event) = merge.next() {
        facts.push(Facts::of(&event, reader.read(event)?));
    }
    let mut choices = Choices::new(numbers);
    for _ in 0..8 {
        let tree = random::expression(&mut choices, trace.schema(), &facts, 3);
        let expression = Expression::new(tree).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let again = Expression::parse(&expression.tree().to_string());
        prop_assert_eq!(again.as_ref(), Ok(&expression));
        let filters = match Filters::new(&expression, &traces) {
            Ok(filters) => filters,
            // Bare names are only valid if one scope has them.
            Err(e) if e.diagnostics().iter().all(|d| d.message.contains(" and in ")) => continue,
            Err(e) => return Err(TestCaseError::fail(format!("{}\n{e}", expression.text()))),
        };
        agree(&traces, &filters, &expression, &facts)?;
    }
    Ok(())
}

fn agree(
    traces: &[Arc<Trace>],
    filters: &Filters,
    expression: &Expression,
    facts: &[Facts],
) -> Result<(), TestCaseError> {
    let filter: &Filter = filters.for_trace(TraceIndex(0)).expect("one for each trace");
    let mut merge = Merge::new(traces);
    let mut passing = Vec::new();
    for facts in facts {
        let event = merge.next().expect("as many as before");
        let expected = interpreter::holds(expression.tree(), traces[0].schema(), facts);
        let passes = filter.matches(&event);
        prop_assert_eq!(passes, expected, "{}\n{:?}", expression.text(), facts);
        match filter.verdict(event.type_id()) {
            Verdict::Always => prop_assert!(passes),
            Verdict::Never => prop_assert!(!passes),
            Verdict::Depends => {}
        }
        if passes {
            prop_assert!(filter.can_match_tracefile(event.tracefile_index()));
            prop_assert!(filter.event_types().any(|id| id == event.type_id()));
            let within = |time| filter.spans().iter().any(|w| w.start <= time && time <= w.end);
            prop_assert!(event.timestamp().is_none_or(within));
            prop_assert!(!filter.spans().is_empty());
            passing.push((event.tracefile_index(), event.offset()));
        }
    }
    let mut read = filters.read();
    let mut found = Vec::new();
    while let Some(event) = read.next() {
        found.push((event.tracefile_index(), event.offset()));
    }
    prop_assert_eq!(found, passing, "{}", expression.text());
    Ok(())
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn ctf_1_8(case in case(Format::Ctf1), numbers in prop::collection::vec(any::<u32>(), 400)) {
        check(&case, &numbers)?;
    }

    /// The fields that a vocabulary lists are fields, and completion leads to valid filters.
    #[test]
    fn vocabularies(case in case(Format::Ctf2), seed in any::<u64>()) {
        let traces = [open(&case)];
        words::fields_are_valid(&traces)?;
        words::completion_leads_to_filters(&traces, seed, 3)?;
    }

    #[test]
    fn ctf_2(case in case(Format::Ctf2), numbers in prop::collection::vec(any::<u32>(), 400)) {
        check(&case, &numbers)?;
    }
}
