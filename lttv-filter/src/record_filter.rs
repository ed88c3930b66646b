//! Filters for any kind of records.

use std::fmt;

use crate::compile::program::{ACCEPT, Programs, REJECT};
use crate::compile::record::ModelRecord;
use crate::compile::{self, Checked, Fault};
use crate::diagnostic::{Diagnostic, FilterError, FilterErrorKind, FilterNotes};
use crate::environment::Environment;
use crate::expression::Expression;
use crate::model::Model;
use crate::syntax::Expr;
use crate::verdict::Verdict;

/// A filter: an expression, compiled for the records of an application.
///
/// Records of one type are described by [`Columns`](crate::Columns). This example
/// implements [`Model`] for records of several types:
///
/// ```
/// use std::borrow::Cow;
///
/// use lttv_filter::model::{FieldAccess, FieldType, Model, Resolution, SelectorError};
/// use lttv_filter::{Expression, RecordFilter, Selector, Verdict};
///
/// /// A shape on a map.
/// enum Shape {
///     Circle { radius: u32, title: String },
///     Line { length: f64 },
/// }
///
/// #[derive(Debug, Clone, PartialEq)]
/// enum Field { Radius, Title, Length }
///
/// struct Shapes;
///
/// impl Model for Shapes {
///     type Field = Field;
///     type Record<'r> = Shape;
///
///     fn types(&self) -> u32 {
///         2
///     }
///
///     fn find(&self, record_type: u32, selector: &Selector) -> Resolution<Field> {
///         let (field, of) = match (record_type, &*selector.to_string()) {
///             (0, "radius") => (Field::Radius, FieldType::integer(32, false)),
///             (0, "title") => (Field::Title, FieldType::Text),
///             (1, "length") => (Field::Length, FieldType::Float),
///             _ => return Resolution::Nothing,
///         };
///         Resolution::Fields(vec![FieldAccess { field, field_type: of, always: true }])
///     }
///
///     fn check(&self, selector: &Selector) -> Result<(), SelectorError> {
///         let (names, name) = (["radius", "title", "length"], selector.to_string());
///         if names.contains(&&*name) {
///             return Ok(());
///         }
///         let problem = SelectorError::new(selector.span, format!("no shape has a `{name}`"));
///         Err(problem.nearest(&name, names))
///     }
///
///     fn record_type(shape: &Shape) -> u32 {
///         match shape {
///             Shape::Circle { .. } => 0,
///             Shape::Line { .. } => 1,
///         }
///     }
///
///     fn integer(shape: &Shape, field: &Field) -> Option<u64> {
///         match (shape, field) {
///             (Shape::Circle { radius, .. }, Field::Radius) => Some(u64::from(*radius)),
///             _ => None,
///         }
///     }
///
///     fn float(shape: &Shape, field: &Field) -> Option<f64> {
///         match (shape, field) {
///             (Shape::Line { length }, Field::Length) => Some(*length),
///             _ => None,
///         }
///     }
///
///     fn text<'a>(shape: &'a Shape, field: &Field) -> Option<Cow<'a, [u8]>> {
///         match (shape, field) {
///             (Shape::Circle { title, .. }, Field::Title) => Some(title.as_bytes().into()),
///             _ => None,
///         }
///     }
/// }
///
/// let expression = Expression::parse("title =~ \"north*\" && radius > 5 || length < 1.5")?;
/// let filter = RecordFilter::new(&expression, &Shapes)?;
/// assert!(filter.matches(&Shape::Line { length: 1.0 }));
/// assert!(filter.matches(&Shape::Circle { radius: 6, title: "northern lake".to_owned() }));
/// assert!(!filter.matches(&Shape::Circle { radius: 5, title: "northern lake".to_owned() }));
/// assert_eq!(filter.verdict(0), Verdict::Depends);
///
/// let expression = Expression::parse("raduis > 5")?;
/// let error = RecordFilter::new(&expression, &Shapes).unwrap_err();
/// assert_eq!(error.to_string(), "column 1: no shape has a `raduis` (perhaps `radius`)");
/// # Ok::<(), lttv_filter::FilterError>(())
/// ```
pub struct RecordFilter<M: Model> {
    programs: Programs<M::Field>,
    notes: FilterNotes,
}

impl<M: Model> RecordFilter<M> {
    /// Builds a filter from an expression, with times in UTC.
    ///
    /// # Errors
    ///
    /// Returns an error for each comparison that is invalid for all types of records:
    /// unknown fields, and values of the wrong type.
    pub fn new(expression: &Expression, model: &M) -> Result<Self, FilterError> {
        Self::with_environment(expression, model, &Environment::new())
    }

    /// Builds a filter from an expression, with an environment for times.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`new`](Self::new).
    pub fn with_environment(
        expression: &Expression,
        model: &M,
        environment: &Environment,
    ) -> Result<Self, FilterError> {
        let tree = expression.tree();
        let Checked { trees, faults, findings } =
            compile::check(tree, model, environment, &|_, _| None);
        if !faults.is_empty() {
            let leaves: Vec<&Expr> = tree.walk().filter(|it| it.selector().is_some()).collect();
            let diagnostic = |fault: Fault| match leaves.get(fault.leaf) {
                Some(leaf) if leaf.is_named() => no_events(leaf),
                _ => fault.diagnostic,
            };
            let diagnostics = faults.into_iter().map(diagnostic).collect();
            let kind = FilterErrorKind::Meaning;
            return Err(FilterError::new(kind, expression.text(), diagnostics));
        }
        let notes = FilterNotes::new(expression.text(), findings.notes(tree, false));
        Ok(RecordFilter { programs: Programs::new(&trees), notes })
    }

    /// Returns notes on parts of the expression that are never or always true.
    pub fn notes(&self) -> &FilterNotes {
        &self.notes
    }

    /// Returns the result for all records of a type, as far as the type decides it.
    #[inline]
    pub fn verdict(&self, record_type: u32) -> Verdict {
        match self.programs.entry(record_type) {
            ACCEPT => Verdict::Always,
            REJECT => Verdict::Never,
            _ => Verdict::Depends,
        }
    }

    /// Returns `true` if a record passes. Does not allocate, unless a text field has to
    /// be converted to UTF-8.
    #[inline(always)]
    pub fn matches(&self, record: &M::Record<'_>) -> bool {
        self.programs.matches(&ModelRecord::<M>(record))
    }
}

/// Creates the fault of a pattern that stands alone.
fn no_events(leaf: &Expr) -> Diagnostic {
    let error = Diagnostic::new(leaf.span, "a pattern alone is neither true nor false");
    error.label("it has to be compared with a field").help("as in `FIELD =~ \"…\"`")
}

impl<M: Model> fmt::Debug for RecordFilter<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RecordFilter { programs, notes } = self;
        f.debug_struct("RecordFilter").field("programs", programs).field("notes", notes).finish()
    }
}
