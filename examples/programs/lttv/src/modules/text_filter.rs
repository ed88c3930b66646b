//! Selection of events by expressions.

use std::fs;

use lttv_common::report::Usage;
use lttv_common::settings;
use lttv_context::attributes::{Kind, Text};
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionSpec};
use lttv_filter::{Environment, Expression, FilterError, Zone};
use lttv_state::filter::KernelFilters;

use super::{Host, Results};

/// The module `textFilter`.
#[derive(Debug)]
pub(super) struct TextFilter;

impl Module<Host> for TextFilter {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "textFilter",
            summary: "Choose the events that are printed and counted",
            description: "Selects the events for which all expressions are true. Affects the \
                          events that are printed and counted; the state of the machine and the \
                          analyses of it always follow all events.",
            requires: &["core"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let expression = "Select only events for which this is true";
        let file = "Select only events for which the expression in this file is true";
        vec![
            OptionSpec::new("expression", Kind::Text, expression)
                .short('e')
                .value_name("EXPR")
                .repeatable(),
            OptionSpec::new("filename", Kind::Text, file)
                .short('f')
                .value_name("FILE")
                .repeatable(),
        ]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let given = host.options.all::<Text>("expression")?;
        let mut expressions: Vec<String> = given.into_iter().map(ToString::to_string).collect();
        for path in host.options.all::<Text>("filename")? {
            let text = fs::read_to_string(&**path);
            expressions.push(text.map_err(|error| format!("cannot read {path}: {error}"))?);
        }
        if expressions.is_empty() {
            return Ok(());
        }
        // A result that seems to be of some events only would mislead.
        let loaded = &host.data.loaded;
        let chooses = |of| matches!(of, Results::PrintedEvents | Results::CountedEvents);
        if let Some((name, _)) = loaded.iter().find(|(_, of)| *of == Results::AllEvents)
            && !loaded.iter().any(|(_, of)| chooses(*of))
        {
            let reason = format_args!("a filter has no use here: {name} follows all events");
            return Err(Usage::new(reason).into());
        }
        let zone =
            if host.options.is_set("clock-gmt")? { Zone::UTC } else { settings::current().zone() };
        let work = &mut host.data;
        let compile = || -> Result<KernelFilters, FilterError> {
            let expression = Expression::parse_all(expressions.iter().map(String::as_str))?;
            let environment = Environment::new().in_zone(zone);
            let traces = work.batch.context.traceset().traces();
            KernelFilters::new(&expression, traces, &environment)
        };
        if expressions.iter().any(|text| text.trim().is_empty()) {
            return Err(Usage::new("invalid filter: an expression is empty").into());
        }
        // The diagnostic is drawn below the expression.
        let usage = |error: FilterError| Usage::filter("invalid filter", &error);
        let filters = compile().map_err(usage)?;
        work.report.filter_notes(filters.filters().notes());
        let filters = match filters.uses_state() {
            true => filters.with_state(work.kernel()),
            false => filters,
        };
        work.chosen.set(filters);
        Ok(())
    }
}
