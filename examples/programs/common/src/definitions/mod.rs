//! Definitions of periods and counters, by options and in files.

mod args;
mod file;
mod pairs;

use std::collections::HashMap;
use std::sync::Arc;

use ltt_read::Trace;
use lttv_filter::Environment;
use lttv_state::counters::{Counter, CounterError, CounterSettings};
use lttv_state::latency::{Period, PeriodError};
use lttv_state::spans::SpanSettings;

pub use self::args::{DefineArgs, PeriodArgs};
use crate::report::Usage;

/// The definitions of periods and counters, with their places in files.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    /// The periods.
    pub periods: Vec<Period>,
    /// The counters.
    pub counters: Vec<Counter>,
    /// The beginnings of messages about a period, or about a field that it names.
    places: HashMap<(String, Option<String>), String>,
    /// The beginnings of messages about a counter, or about a field or label of it.
    counter_places: HashMap<(String, Option<String>), String>,
}

impl Definitions {
    /// Returns the definitions of counters in files, or those that come with the program if there are no files.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, is wrong, or has no counters.
    pub fn counters_of(files: &[String]) -> Result<Self, Usage> {
        let mut all = Definitions::default();
        let own = || file::counters_of_the_program().map(str::to_owned).collect();
        let files = if files.is_empty() { own() } else { files.to_vec() };
        for file in &files {
            let before = all.counters.len();
            all.add(file)?;
            if all.counters.len() == before {
                return Err(Usage::new(format_args!(
                    "--define: {file}: there is no [[counter]]; `lttv spans` shows each [[span]]"
                )));
            }
        }
        Ok(all)
    }

    /// Returns these definitions, after those that come with the program and that some trace serves. A definition
    /// replaces one of the program with the same name.
    ///
    /// # Errors
    ///
    /// If these definitions do not fit the traces.
    pub fn with_served(
        &self,
        traces: &[Arc<Trace>],
        environment: &Environment,
    ) -> Result<Self, Usage> {
        let mut all = Definitions::of_the_program();
        all.retain_served(traces, environment);
        all.periods.retain(|own| self.periods.iter().all(|of| of.name() != own.name()));
        all.retain_with_parent();
        all.counters.retain(|own| self.counters.iter().all(|of| of.name() != own.name()));
        all.periods.extend_from_slice(&self.periods);
        all.counters.extend_from_slice(&self.counters);
        SpanSettings::new()
            .periods(all.periods.clone(), traces, environment)
            .map_err(|error| self.wrong(&error))?;
        CounterSettings::new(all.counters.clone(), traces, environment)
            .map_err(|error| self.wrong_counter(&error))?;
        Ok(all)
    }

    /// Returns `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.periods.is_empty() && self.counters.is_empty()
    }

    /// Returns the definitions that come with the program and that a trace serves, with the names of their files.
    pub fn served_by(trace: &Arc<Trace>, environment: &Environment) -> Vec<(&'static str, Self)> {
        let mut all: Vec<_> = Self::built_in().collect();
        all.iter_mut()
            .for_each(|(_, of)| of.retain_served(std::slice::from_ref(trace), environment));
        all.retain(|(_, of)| !of.is_empty());
        all
    }

    /// Iterates over the definitions that come with the program, with the names of their files.
    pub fn built_in() -> impl Iterator<Item = (&'static str, Self)> {
        file::built_in().map(|name| {
            let mut of = Definitions::default();
            // A test checks that they are right.
            _ = of.add(name);
            (name, of)
        })
    }

    /// Returns the definitions that come with the program.
    pub fn of_the_program() -> Self {
        let mut all = Definitions::default();
        for (_, of) in Self::built_in() {
            all.periods.extend(of.periods);
            all.counters.extend(of.counters);
        }
        all
    }

    /// Removes the definitions that no trace serves.
    pub fn retain_served(&mut self, traces: &[Arc<Trace>], environment: &Environment) {
        self.periods.retain(|of| traces.iter().any(|trace| of.is_served_by(trace, environment)));
        self.retain_with_parent();
        self.counters
            .retain(|counter| traces.iter().any(|of| counter.is_served_by(of, environment)));
    }

    /// Removes the periods whose parent is not among them.
    fn retain_with_parent(&mut self) {
        let mut all: Vec<Period> = Vec::new();
        for period in self.periods.drain(..) {
            let has_parent = |parent| all.iter().any(|of| of.name() == parent);
            if period.parent_name().is_none_or(has_parent) {
                all.push(period);
            }
        }
        self.periods = all;
    }

    /// Adds the definitions of a file, or those of a name that come with the program.
    ///
    /// # Errors
    ///
    /// If there is no such file, or if it is wrong.
    pub fn add(&mut self, file: &str) -> Result<(), Usage> {
        file::add(file, self)
    }

    /// Returns the message about a counter that does not fit the traces.
    pub fn wrong_counter(&self, error: &CounterError) -> Usage {
        let (counter, part) = match error {
            CounterError::Field { counter, field, .. } => (counter, Some(field.clone())),
            CounterError::Label { counter, label } => (counter, Some(label.clone())),
            CounterError::Twice(counter) | CounterError::Expression { counter, .. } => {
                (counter, None)
            }
            other => return Usage::new(format_args!("--define: {}", ltt_read::ErrorChain(other))),
        };
        let place = self.counter_places.get(&(counter.clone(), part));
        let place = place.map_or("--define:", |place| place);
        match error {
            CounterError::Expression { source, .. } => {
                Usage::filter(&format!("{place} the expression of `{counter}`"), source)
            }
            error => Usage::new(format_args!("{place} {}", ltt_read::ErrorChain(error))),
        }
    }

    /// Returns the message about a definition that does not fit the traces.
    pub fn wrong(&self, error: &PeriodError) -> Usage {
        let (period, field) = match error {
            PeriodError::Twice(period) | PeriodError::Key(period) => (period, None),
            PeriodError::Field { period, field, .. } => (period, Some(field.clone())),
            PeriodError::Label { period, name } => (period, Some(name.clone())),
            PeriodError::Parent { period, .. } | PeriodError::Expression { period, .. } => {
                (period, None)
            }
            other => return Usage::new(format_args!("--period: {}", ltt_read::ErrorChain(other))),
        };
        let place = self.places.get(&(period.clone(), field));
        let place = place.map_or("--period:", |place| place);
        match error {
            PeriodError::Expression { source, .. } => {
                Usage::filter(&format!("{place} an expression of `{period}`"), source)
            }
            error => Usage::new(format_args!("{place} {}", ltt_read::ErrorChain(error))),
        }
    }
}
