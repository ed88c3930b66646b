//! Filters for records of one type, described column by column.

use std::borrow::Cow;
use std::fmt;

use crate::diagnostic::FilterError;
use crate::expression::Expression;
use crate::model::{FieldAccess, FieldType, Label, Model, Resolution, SelectorError};
use crate::record_filter::RecordFilter;
use crate::syntax::Selector;
use crate::vocabulary::Vocabulary;

/// The columns of an application's records, each with a name and a function that reads
/// it. They are the [`Model`] of records of one type.
///
/// A function returns `None` for a record without the value; every comparison with it is
/// false then. [`compile`](Self::compile) builds a filter, which can be stored as a
/// `RecordFilter<Columns<Request>>`.
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

/// A column of [`Columns`]: the field of a filter of their records.
pub struct Column<R>(Read<R>);

/// The function that reads a column.
enum Read<R> {
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
        self.column(name, FieldType::integer(64, false), Column(Read::Unsigned(read)))
    }

    /// Adds a column of signed integers.
    #[must_use]
    pub fn signed(self, name: &str, read: fn(&R) -> Option<i64>) -> Self {
        self.column(name, FieldType::integer(64, true), Column(Read::Signed(read)))
    }

    /// Adds a column of points in time, in ns since the epoch, which can be compared with
    /// dates and times of day.
    #[must_use]
    pub fn time(self, name: &str, read: fn(&R) -> Option<i64>) -> Self {
        self.column(name, FieldType::time(), Column(Read::Signed(read)))
    }

    /// Adds a column of truth values.
    #[must_use]
    pub fn truth(self, name: &str, read: fn(&R) -> Option<bool>) -> Self {
        self.column(name, FieldType::truth(), Column(Read::Truth(read)))
    }

    /// Adds a column of floating-point numbers.
    #[must_use]
    pub fn float(self, name: &str, read: fn(&R) -> Option<f64>) -> Self {
        self.column(name, FieldType::Float, Column(Read::Float(read)))
    }

    /// Adds a column of text.
    #[must_use]
    pub fn text(self, name: &str, read: fn(&R) -> Option<&str>) -> Self {
        self.column(name, FieldType::Text, Column(Read::Text(read)))
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
        self.column(name, FieldType::Integer(of), Column(Read::Unsigned(read)))
    }

    /// Adds a column, replacing one with the same name.
    fn column(mut self, name: &str, of: FieldType, field: Column<R>) -> Self {
        self.columns.retain(|(known, _)| known != name);
        self.columns.push((name.to_owned(), FieldAccess { field, field_type: of, always: false }));
        self
    }

    /// Returns the vocabulary of the columns, for lists of choices and completion.
    pub fn vocabulary(&self) -> Vocabulary {
        let column = |(name, access): &'_ (String, FieldAccess<Column<R>>)| {
            (name.clone(), access.field_type.clone())
        };
        let columns: Vec<(String, FieldType)> = self.columns.iter().map(column).collect();
        Vocabulary::of_fields(columns.iter().map(|(name, of)| (&**name, of.clone())))
    }

    /// Builds a filter from an expression, like [`RecordFilter::new`].
    ///
    /// # Errors
    ///
    /// Returns an error if a column is unknown, or a value has the wrong type.
    pub fn compile(&self, expression: &Expression) -> Result<RecordFilter<Self>, FilterError> {
        RecordFilter::new(expression, self)
    }
}

impl<R> Model for Columns<R> {
    type Field = Column<R>;
    type Record<'r> = R;

    fn types(&self) -> u32 {
        1
    }

    fn find(&self, _: u32, selector: &Selector) -> Resolution<Column<R>> {
        let name = selector.to_string();
        match self.columns.iter().find(|(known, _)| *known == name) {
            Some((_, column)) => Resolution::Fields(vec![column.clone()]),
            None => Resolution::Nothing,
        }
    }

    fn check(&self, selector: &Selector) -> Result<(), SelectorError> {
        let name = selector.to_string();
        let names = || self.columns.iter().map(|(known, _)| &**known);
        if names().any(|known| known == name) {
            return Ok(());
        }
        let problem = SelectorError::new(selector.span, format!("there is no field `{name}`"));
        Err(problem.nearest(&name, names()))
    }

    fn record_type(_: &R) -> u32 {
        0
    }

    #[inline]
    fn integer(record: &R, column: &Column<R>) -> Option<u64> {
        match &column.0 {
            Read::Unsigned(read) => read(record),
            Read::Signed(read) => read(record).map(i64::cast_unsigned),
            Read::Truth(read) => read(record).map(u64::from),
            Read::Float(_) | Read::Text(_) => None,
        }
    }

    fn float(record: &R, column: &Column<R>) -> Option<f64> {
        match &column.0 {
            Read::Float(read) => read(record),
            _ => None,
        }
    }

    fn text<'a>(record: &'a R, column: &Column<R>) -> Option<Cow<'a, [u8]>> {
        match &column.0 {
            Read::Text(read) => read(record).map(|text| text.as_bytes().into()),
            _ => None,
        }
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

impl<R> Clone for Column<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Column<R> {}

impl<R> Clone for Read<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Read<R> {}

impl<R> fmt::Debug for Column<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Read::Unsigned(_) => "Unsigned",
            Read::Signed(_) => "Signed",
            Read::Truth(_) => "Truth",
            Read::Float(_) => "Float",
            Read::Text(_) => "Text",
        })
    }
}
