//! The parameters of requests for lines of tables.

use ltt_read::Timestamp;
use regex::{Regex, RegexBuilder};

use crate::protocol::models::Column;
use crate::protocol::parameters::{ParameterError, Parameters};

/// The greatest number of lines in an answer.
const MOST_LINES: i64 = 10_000;

/// The greatest length of an expression in bytes.
const LONGEST: usize = 4096;

/// The parameters of a request for lines.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) start: Start,
    pub(super) count: usize,
    /// The indices of the columns.
    pub(super) columns: Vec<usize>,
    pub(super) search: Search,
    pub(super) direction: Option<Direction>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Start {
    Index(u64),
    Time(Timestamp),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Direction {
    Next,
    Previous,
}

/// The conditions of a search: columns with expressions, all of which must match.
#[derive(Debug, Clone, Default)]
pub(super) struct Search(Vec<(usize, Regex)>);

impl Query {
    /// Reads the parameters of a request for lines of a table with some columns.
    pub(super) fn parse(
        parameters: &Parameters,
        columns: &[Column],
    ) -> std::result::Result<Query, ParameterError> {
        const INDEX: &str = "requested_table_index";
        const COUNT: &str = "requested_table_count";
        const DIRECTION: &str = "table_search_direction";
        let start = match parameters.integer(INDEX)? {
            // A client that wants the last lines of a short table may ask from before the first one.
            Some(index) => Start::Index(u64::try_from(index).unwrap_or(0)),
            None => match parameters.optional_samples("nbTimes")? {
                Some(times) => Start::Time(Timestamp::from_ns(times.start())),
                None => return Err(ParameterError::Missing(INDEX)),
            },
        };
        let count = parameters.integer(COUNT)?.ok_or(ParameterError::Missing(COUNT))?;
        if count < 0 {
            return Err(ParameterError::invalid(COUNT, "negative"));
        }
        let ids = parameters.ids("requested_table_column_ids")?.unwrap_or_default();
        let known = |id: &i64| columns.iter().position(|column| column.id == *id);
        let search = Search::parse(parameters, columns)?;
        let columns = match ids.is_empty() {
            true => (0..columns.len()).collect(),
            // More columns than there are repeat some of them.
            false => ids.iter().filter_map(known).take(2 * columns.len()).collect(),
        };
        let direction = match parameters.text(DIRECTION)? {
            None => None,
            Some("NEXT") => Some(Direction::Next),
            Some("PREVIOUS") => Some(Direction::Previous),
            Some(_) => return Err(ParameterError::invalid(DIRECTION, "unknown")),
        };
        Ok(Query {
            start,
            count: count.min(MOST_LINES) as usize,
            columns,
            direction: direction.filter(|_| !search.0.is_empty()),
            search,
        })
    }
}

impl Search {
    fn parse(
        parameters: &Parameters,
        columns: &[Column],
    ) -> std::result::Result<Search, ParameterError> {
        const NAME: &str = "table_search_expressions";
        let Some(value) = parameters.get(NAME) else { return Ok(Search::default()) };
        let Some(expressions) = value.as_object() else {
            return Err(ParameterError::invalid(NAME, "not an object"));
        };
        // Several names of one column, such as `1` and `01`, would have an expression each.
        if expressions.len() > 2 * columns.len() {
            return Err(ParameterError::invalid(NAME, "too many expressions"));
        }
        let mut search = Vec::new();
        for (id, expression) in expressions {
            let expression = expression
                .as_str()
                .ok_or_else(|| ParameterError::invalid(NAME, "an expression is not a text"))?;
            let column = id
                .parse()
                .ok()
                .and_then(|id: i64| columns.iter().position(|column| column.id == id));
            if expression.len() > LONGEST {
                let reason = format!("an expression is longer than {LONGEST} bytes");
                return Err(ParameterError::invalid(NAME, reason));
            }
            // A search over an unknown column is ignored.
            let Some(column) = column else { continue };
            let limited = RegexBuilder::new(expression).size_limit(1 << 20).build();
            let regex =
                limited.map_err(|error| ParameterError::invalid(NAME, error.to_string()))?;
            search.push((column, regex));
        }
        Ok(Search(search))
    }

    /// Sorts the conditions so that those of columns with the least cost decide first.
    pub(super) fn sort_by_cost<C: Ord>(&mut self, cost: impl Fn(usize) -> C) {
        self.0.sort_by_key(|(column, _)| cost(*column));
    }

    /// Returns `true` if there are conditions, and all are fulfilled: `fulfils` compares the cell of a
    /// column with an expression.
    pub(super) fn matches(&self, mut fulfils: impl FnMut(usize, &Regex) -> bool) -> bool {
        !self.0.is_empty() && self.0.iter().all(|(column, regex)| fulfils(*column, regex))
    }
}

impl Query {
    /// Returns the ids of the wanted columns of a table.
    pub(super) fn ids(&self, columns: &[Column]) -> Vec<i64> {
        self.columns.iter().map(|at| columns[*at].id).collect()
    }
}
