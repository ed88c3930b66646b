//! Filters for any kind of records.

use crate::verdict::Verdict;

use crate::compile::program::{ACCEPT, Programs, REJECT};
use crate::compile::{self, Checked};
use crate::diagnostic::{FilterError, FilterErrorKind, FilterNotes};
use crate::environment::Environment;
use crate::expression::Expression;
use crate::model::{Model, Record};

/// A filter: an expression, compiled for records of an application.
///
/// ```
/// use std::borrow::Cow;
///
/// use lttv_filter::model::{FieldType, Resolution, Model, SelectorError, FieldAccess, Record};
/// use lttv_filter::{Compiled, Environment, Expression, Selector, Verdict};
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
/// }
///
/// impl Record<Field> for Shape {
///     fn record_type(&self) -> u32 {
///         match self {
///             Shape::Circle { .. } => 0,
///             Shape::Line { .. } => 1,
///         }
///     }
///
///     fn integer(&self, field: &Field) -> Option<u64> {
///         match (self, field) {
///             (Shape::Circle { radius, .. }, Field::Radius) => Some(u64::from(*radius)),
///             _ => None,
///         }
///     }
///
///     fn float(&self, field: &Field) -> Option<f64> {
///         match (self, field) {
///             (Shape::Line { length }, Field::Length) => Some(*length),
///             _ => None,
///         }
///     }
///
///     fn text<'a>(&'a self, field: &Field) -> Option<Cow<'a, [u8]>> {
///         match (self, field) {
///             (Shape::Circle { title, .. }, Field::Title) => Some(title.as_bytes().into()),
///             _ => None,
///         }
///     }
///
///     fn has(&self, _: &Field) -> bool {
///         false // all fields are read by the functions above
///     }
/// }
///
/// let expression = Expression::parse("title =~ \"north*\" && radius > 5 || length < 1.5")?;
/// let filter = Compiled::new(&expression, &Shapes, &Environment::new())?;
/// assert!(filter.matches(&Shape::Line { length: 1.0 }));
/// assert!(filter.matches(&Shape::Circle { radius: 6, title: "northern lake".to_owned() }));
/// assert!(!filter.matches(&Shape::Circle { radius: 5, title: "northern lake".to_owned() }));
/// assert_eq!(filter.verdict(0), Verdict::Depends);
///
/// let expression = Expression::parse("raduis > 5")?;
/// let error = Compiled::new(&expression, &Shapes, &Environment::new()).unwrap_err();
/// assert_eq!(error.to_string(), "column 1: no shape has a `raduis` (perhaps `radius`)");
/// # Ok::<(), lttv_filter::FilterError>(())
/// ```
#[derive(Debug)]
pub struct Compiled<F> {
    programs: Programs<F>,
    notes: FilterNotes,
}

impl<F: Clone> Compiled<F> {
    /// Builds a filter from an expression.
    ///
    /// # Errors
    ///
    /// Returns an error for each comparison that is invalid for all types of records:
    /// unknown fields, and values of the wrong type.
    pub fn new<M: Model<Field = F>>(
        expression: &Expression,
        model: &M,
        environment: &Environment,
    ) -> Result<Self, FilterError> {
        let tree = expression.tree();
        let Checked { trees, faults, findings } = compile::check(tree, model, environment);
        if !faults.is_empty() {
            let diagnostics = faults.into_iter().map(|fault| fault.diagnostic).collect();
            let kind = FilterErrorKind::Meaning;
            return Err(FilterError::new(kind, expression.text(), diagnostics));
        }
        let notes = FilterNotes::new(expression.text(), findings.notes(tree, false));
        Ok(Compiled { programs: Programs::new(&trees), notes })
    }

    /// Creates the programs of trees that have been checked.
    pub(crate) fn of(trees: &[compile::Node<F>]) -> Self {
        Compiled { programs: Programs::new(trees), notes: FilterNotes::default() }
    }
}

impl<F> Compiled<F> {
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
    pub fn matches<R: Record<F>>(&self, record: &R) -> bool {
        self.programs.matches(record)
    }
}
