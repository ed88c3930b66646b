//! Filters for records of one type, described column by column.

use std::borrow::Cow;
use std::fmt;

use crate::compiled::Compiled;
use crate::diagnostic::{FilterError, FilterNotes};
use crate::environment::Environment;
use crate::expression::Expression;
use crate::model::{FieldAccess, FieldType, Label, Model, Record, Resolution, SelectorError};
use crate::syntax::Selector;

/// The columns of an application's records, each with a name and a function that reads
/// it. This is all that records of one type need; for records of several types, see
/// [`Model`].
///
/// A function returns `None` for a record without the value; every comparison with it is
/// false then.
///
/// ```
/// use lttv_filter::Expression;
/// use lttv_filter::Columns;
///
/// struct Request { path: String, status: u16, seconds: f64, user: Option<String> }
///
/// let columns = Columns::new()
///     .text("path", |r: &Request| Some(&r.path))
///     .unsigned("status", |r| Some(r.status.into()))
///     .float("seconds", |r| Some(r.seconds))
///     .text("user", |r| r.user.as_deref());
///
/// let slow = columns.compile(&Expression::parse("status >= 500 || seconds > 1.5")?)?;
/// let request = Request { path: "/a".into(), status: 200, seconds: 1.6, user: None };
/// assert!(slow.matches(&request));
///
/// let mine = columns.compile(&Expression::parse("path =~ \"/*\" && user == ada")?)?;
/// assert!(!mine.matches(&request));
///
/// let error = columns.compile(&Expression::parse("stauts == 500")?).unwrap_err();
/// assert_eq!(error.to_string(), "column 1: there is no field `stauts` (perhaps `status`)");
/// # Ok::<(), lttv_filter::FilterError>(())
/// ```
pub struct Columns<R> {
    columns: Vec<(String, FieldAccess<Column<R>>)>,
}

/// A filter for records described by [`Columns`].
pub struct RecordFilter<R> {
    compiled: Compiled<Column<R>>,
}

/// The type of a column, with the function that reads it.
enum Column<R> {
    Unsigned(fn(&R) -> Option<u64>),
    Signed(fn(&R) -> Option<i64>),
    Truth(fn(&R) -> Option<bool>),
    Float(fn(&R) -> Option<f64>),
    Text(fn(&R) -> Option<&str>),
}

impl<R> Columns<R> {
    /// Creates an empty list of columns.
    pub fn new() -> Self {
        Columns { columns: Vec::new() }
    }

    /// Adds a column of unsigned integers.
    #[must_use]
    pub fn unsigned(self, name: &str, read: fn(&R) -> Option<u64>) -> Self {
        self.column(name, FieldType::integer(64, false), Column::Unsigned(read))
    }

    /// Adds a column of signed integers.
    #[must_use]
    pub fn signed(self, name: &str, read: fn(&R) -> Option<i64>) -> Self {
        self.column(name, FieldType::integer(64, true), Column::Signed(read))
    }

    /// Adds a column of points in time, in ns since the epoch, which can be compared with
    /// dates and times of day.
    #[must_use]
    pub fn time(self, name: &str, read: fn(&R) -> Option<i64>) -> Self {
        self.column(name, FieldType::time(), Column::Signed(read))
    }

    /// Adds a column of truth values.
    #[must_use]
    pub fn truth(self, name: &str, read: fn(&R) -> Option<bool>) -> Self {
        self.column(name, FieldType::truth(), Column::Truth(read))
    }

    /// Adds a column of floating-point numbers.
    #[must_use]
    pub fn float(self, name: &str, read: fn(&R) -> Option<f64>) -> Self {
        self.column(name, FieldType::Float, Column::Float(read))
    }

    /// Adds a column of text.
    #[must_use]
    pub fn text(self, name: &str, read: fn(&R) -> Option<&str>) -> Self {
        self.column(name, FieldType::Text, Column::Text(read))
    }

    /// Adds a column of unsigned integers with labels, such as severities.
    #[must_use]
    pub fn labels<'n>(
        self,
        name: &str,
        labels: impl IntoIterator<Item = (&'n str, u64)>,
        read: fn(&R) -> Option<u64>,
    ) -> Self {
        let FieldType::Integer(mut of) = FieldType::integer(64, false) else { return self };
        of.labels.extend(labels.into_iter().map(|(label, number)| Label {
            name: label.into(),
            ranges: vec![(number.into(), number.into())],
        }));
        self.column(name, FieldType::Integer(of), Column::Unsigned(read))
    }

    /// Adds a column, replacing one with the same name.
    fn column(mut self, name: &str, of: FieldType, field: Column<R>) -> Self {
        self.columns.retain(|(known, _)| known != name);
        self.columns.push((name.to_owned(), FieldAccess { field, field_type: of, always: false }));
        self
    }

    /// Builds a filter from an expression, with dates and times in UTC.
    ///
    /// # Errors
    ///
    /// Returns an error if a column is unknown, or a value has the wrong type.
    pub fn compile(&self, expression: &Expression) -> Result<RecordFilter<R>, FilterError> {
        self.compile_with_environment(expression, &Environment::new())
    }

    /// Builds a filter from an expression, with the time zone and day of an environment.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`compile`](Self::compile).
    pub fn compile_with_environment(
        &self,
        expression: &Expression,
        environment: &Environment,
    ) -> Result<RecordFilter<R>, FilterError> {
        Ok(RecordFilter {
            compiled: Compiled::new(expression, &Table(&self.columns), environment)?,
        })
    }
}

impl<R> RecordFilter<R> {
    /// Returns notes on parts of the expression that are never or always true.
    pub fn notes(&self) -> &FilterNotes {
        self.compiled.notes()
    }

    /// Returns `true` if a record passes. Does not allocate.
    #[inline]
    pub fn matches(&self, record: &R) -> bool {
        self.compiled.matches(&Row(record))
    }
}

/// The model of records with these columns.
struct Table<'c, R>(&'c [(String, FieldAccess<Column<R>>)]);

impl<R> Model for Table<'_, R> {
    type Field = Column<R>;

    fn types(&self) -> u32 {
        1
    }

    fn find(&self, _: u32, selector: &Selector) -> Resolution<Column<R>> {
        let name = selector.to_string();
        match self.0.iter().find(|(known, _)| *known == name) {
            Some((_, column)) => Resolution::Fields(vec![column.clone()]),
            None => Resolution::Nothing,
        }
    }

    fn check(&self, selector: &Selector) -> Result<(), SelectorError> {
        let name = selector.to_string();
        let names = || self.0.iter().map(|(known, _)| &**known);
        if names().any(|known| known == name) {
            return Ok(());
        }
        let problem = SelectorError::new(selector.span, format!("there is no field `{name}`"));
        Err(problem.nearest(&name, names()))
    }
}

/// A record with columns.
struct Row<'r, R>(&'r R);

impl<R> Record<Column<R>> for Row<'_, R> {
    fn record_type(&self) -> u32 {
        0
    }

    #[inline]
    fn integer(&self, column: &Column<R>) -> Option<u64> {
        match column {
            Column::Unsigned(read) => read(self.0),
            Column::Signed(read) => read(self.0).map(i64::cast_unsigned),
            Column::Truth(read) => read(self.0).map(u64::from),
            Column::Float(_) | Column::Text(_) => None,
        }
    }

    fn float(&self, column: &Column<R>) -> Option<f64> {
        match column {
            Column::Float(read) => read(self.0),
            _ => None,
        }
    }

    fn text<'a>(&'a self, column: &Column<R>) -> Option<Cow<'a, [u8]>> {
        match column {
            Column::Text(read) => read(self.0).map(|text| text.as_bytes().into()),
            _ => None,
        }
    }

    fn has(&self, _: &Column<R>) -> bool {
        false // all columns have types read by the functions above
    }
}

// Implemented by hand, without bounds on `R`.

impl<R> Default for Columns<R> {
    fn default() -> Self {
        Columns::new()
    }
}

impl<R> Clone for Columns<R> {
    fn clone(&self) -> Self {
        Columns { columns: self.columns.clone() }
    }
}

impl<R> fmt::Debug for Columns<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.columns).finish()
    }
}

impl<R> fmt::Debug for RecordFilter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecordFilter").field(&self.compiled).finish()
    }
}

impl<R> Clone for Column<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Column<R> {}

impl<R> fmt::Debug for Column<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Column::Unsigned(_) => "Unsigned",
            Column::Signed(_) => "Signed",
            Column::Truth(_) => "Truth",
            Column::Float(_) => "Float",
            Column::Text(_) => "Text",
        })
    }
}
