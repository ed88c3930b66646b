//! The words that filters of given traces or records can contain, and completion of
//! expressions.

#[cfg(feature = "traces")]
mod build;
mod candidates;
mod complete;
mod known;
mod narrow;
mod source;
#[cfg(feature = "traces")]
mod traces;
#[cfg(feature = "traces")]
mod walk;

use crate::model::FieldType;
use source::Source;

pub use complete::{Candidate, CandidateKind};
pub use known::{KnownEvent, KnownField};

/// The fields, events and values that filters of given traces or records can name, for lists
/// of choices and for [completion](Self::complete).
///
/// ```
/// use lttv_filter::{Relation, Vocabulary};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traces = ltt_read::open_all(path)?;
/// let vocabulary = Vocabulary::new(&traces);
///
/// assert_eq!(vocabulary.cpus(), [0, 1, 2, 3, 4, 5, 6, 7]);
/// let event = vocabulary.event("irq_softirq_entry").expect("a kernel trace");
/// assert_eq!(event.categories(), ["irq"]);
/// let name = &event.fields()[1];
/// assert_eq!(name.selector(), "event.fields.*.name");
/// assert_eq!(name.types()[0].name(), "enumeration");
/// assert!(name.relations().contains(&Relation::Eq));
/// assert!(name.labels().contains(&"TIMER"));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
pub struct Vocabulary {
    source: Source,
    selectors: Vec<KnownField>,
    fields: Vec<KnownField>,
    events: Vec<KnownEvent>,
    cpus: Vec<u32>,
}

impl Vocabulary {
    /// Creates the vocabulary of records with these fields, for an application that
    /// implements [`Model`](crate::model::Model). The names are selectors, as in `user` or
    /// `request.path`. For [`Columns`](crate::Columns) there is
    /// [`Columns::vocabulary`](crate::Columns::vocabulary).
    ///
    /// ```
    /// use lttv_filter::Vocabulary;
    /// use lttv_filter::model::FieldType;
    ///
    /// let vocabulary = Vocabulary::of_fields([
    ///     ("status", FieldType::integer(16, false)),
    ///     ("path", FieldType::Text),
    /// ]);
    /// let relations = vocabulary.complete("path ", 5);
    /// assert_eq!(relations[0].text, "==");
    /// ```
    pub fn of_fields<'n>(fields: impl IntoIterator<Item = (&'n str, FieldType)>) -> Self {
        let fields: Vec<(String, FieldType)> =
            fields.into_iter().map(|(name, of)| (name.to_owned(), of)).collect();
        let known = fields.iter().map(|(name, of)| {
            let mut known = KnownField::new(name.clone(), "");
            known.add_type(of);
            known
        });
        let fields_of = known.collect();
        let (selectors, events, cpus) = (Vec::new(), Vec::new(), Vec::new());
        Vocabulary { source: Source::Fields(fields), selectors, fields: fields_of, events, cpus }
    }

    /// Returns the selectors that are not particular to events of some names: the properties
    /// of events, tracefiles and traces, the fields of the state, of packets and of event
    /// headers, and contexts that all events of a stream have.
    pub fn selectors(&self) -> &[KnownField] {
        &self.selectors
    }

    /// Returns the fields of all events, in alphabetical order. Fields of one name are one
    /// entry.
    pub fn fields(&self) -> &[KnownField] {
        &self.fields
    }

    /// Returns the events, in alphabetical order. Events of one name are one entry. Records of
    /// an application have none.
    pub fn events(&self) -> &[KnownEvent] {
        &self.events
    }

    /// Returns the events of a name.
    pub fn event(&self, name: &str) -> Option<&KnownEvent> {
        let at = self.events.binary_search_by(|event| (*event.name).cmp(name)).ok()?;
        self.events.get(at)
    }

    /// Returns the numbers of the CPUs that recorded the traces, in ascending
    /// order. Records of an application have none.
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }
}
