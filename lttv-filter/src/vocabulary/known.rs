//! Fields and events that filters can name.

#[cfg(feature = "traces")]
use ltt_read::TraceIndex;
#[cfg(feature = "traces")]
use ltt_read::schema::EventTypeId;

use crate::model::{FieldType, IntegerKind};
use crate::syntax::Relation;

/// A field or property that filters can test.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownField {
    selector: String,
    description: String,
    types: Vec<FieldType>,
    pub(super) values: Vec<String>,
    /// The path from the payload, for a field in one.
    pub(super) path: Option<String>,
}

impl KnownField {
    pub(super) fn new(selector: String, description: &str) -> Self {
        let (description, path) = (description.to_owned(), None);
        KnownField { selector, description, types: Vec::new(), values: Vec::new(), path }
    }

    /// Adds a type, unless it is known.
    pub(super) fn add_type(&mut self, of: &FieldType) {
        if !self.types.contains(of) {
            self.types.push(of.clone());
        }
    }

    /// Returns the text that stands for the field in an expression: `next_tid`,
    /// `event.name`.
    pub fn selector(&self) -> &str {
        &self.selector
    }

    /// Returns a short description, such as `field of the payload`.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the types of the field. There are several if event types have different
    /// fields of this name.
    pub fn types(&self) -> &[FieldType] {
        &self.types
    }

    /// Returns the relations that one of the types allows: see [`FieldType::relations`].
    pub fn relations(&self) -> Vec<Relation> {
        relations(&self.types)
    }

    /// Returns the labels of enumerations, and the texts with several spellings, except for
    /// empty ones.
    pub fn labels(&self) -> Vec<&str> {
        labels(&self.types)
    }

    /// Returns the values that are known without reading events, as they are written in an
    /// expression: names of events and channels, numbers of CPUs.
    pub fn values(&self) -> &[String] {
        &self.values
    }
}

/// Returns the relations that one of several types allows.
pub(super) fn relations<'t>(types: impl IntoIterator<Item = &'t FieldType>) -> Vec<Relation> {
    use Relation::*;
    let mut allowed = Vec::new();
    for of in types {
        let new = of.relations().iter().filter(|relation| !allowed.contains(*relation));
        allowed.extend(new.copied().collect::<Vec<_>>());
    }
    let all = [Eq, Ne, Lt, Le, Gt, Ge, Matches, NotMatches];
    all.into_iter().filter(|relation| allowed.contains(relation)).collect()
}

/// Returns the labels of several types, without duplicates and empty ones.
pub(super) fn labels<'t>(types: impl IntoIterator<Item = &'t FieldType>) -> Vec<&'t str> {
    let mut labels: Vec<&str> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for of in types {
        let mut add = |label: &'t str| {
            if !label.is_empty() && known.insert(label) {
                labels.push(label);
            }
        };
        match of {
            // Flags are no values.
            FieldType::Integer(of) if of.kind == IntegerKind::Flags => {}
            FieldType::Integer(of) => of.labels.iter().for_each(|label| add(&label.name)),
            FieldType::Spelled(spellings) => spellings.iter().for_each(|spelling| {
                add(&spelling.text);
                add(&spelling.also);
            }),
            _ => {}
        }
    }
    labels
}

/// The events of one name, with their fields.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownEvent {
    pub(super) name: String,
    pub(super) categories: Vec<String>,
    pub(super) channels: Vec<String>,
    /// The traces and event types.
    pub(super) types: Vec<(usize, u32)>,
    pub(super) fields: Vec<KnownField>,
}

impl KnownEvent {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the values that `event.category` has for these events, usually one.
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// Returns the channels in which there can be such events. Those of LTT, which has no
    /// channels, are in none.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// Iterates over the event types of this name, in all traces.
    #[cfg(feature = "traces")]
    pub fn types(&self) -> impl Iterator<Item = (TraceIndex, EventTypeId)> {
        self.types.iter().map(|(trace, id)| (TraceIndex(*trace), EventTypeId(*id)))
    }

    /// Returns the fields of the payload and of the event's own context, in the order of
    /// their declaration. An array has an entry for itself, and entries for its first
    /// element.
    pub fn fields(&self) -> &[KnownField] {
        &self.fields
    }
}
