//! The short words for the thread, process, CPU and name of any event: `tid`, `pid`, `comm`, `cpu` and
//! `name`.

use ltt_read::schema::{EventTypeId, FieldClass, FieldKind, Schema, Scope};
use ltt_read::{Field, Trace};

use super::fields::TraceField;
use super::model::TraceModel;
use super::state::StateFields;
use crate::compile::WordUse;
use crate::model::{Constant, Resolution};
use crate::syntax::{Root, Selector, Step, StepKind};

/// A short word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Tid,
    Pid,
    Comm,
    Cpu,
    Name,
}

/// A scope and the name of a field in it.
type Place = (Scope, &'static str);

impl Word {
    /// All words, in the order of their declaration.
    pub(crate) const ALL: [Word; 5] = [Word::Tid, Word::Pid, Word::Comm, Word::Cpu, Word::Name];

    /// Returns the word that a selector consists of.
    pub(crate) fn of(selector: &Selector) -> Option<Word> {
        match (selector.root, &*selector.steps) {
            (Root::Unqualified, [step]) => Word::of_name(step.name()?),
            _ => None,
        }
    }

    /// Returns the word with a name.
    pub(crate) fn of_name(name: &str) -> Option<Word> {
        Word::ALL.into_iter().find(|word| word.as_str() == name)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Word::Tid => "tid",
            Word::Pid => "pid",
            Word::Comm => "comm",
            Word::Cpu => "cpu",
            Word::Name => "name",
        }
    }

    /// Returns what the word means, for messages and lists.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Word::Tid => "the thread that the event belongs to",
            Word::Pid => "the process (thread group) that the event belongs to",
            Word::Comm => "the command of the thread that the event belongs to",
            Word::Cpu => "the CPU of the event",
            Word::Name => "the name of the event",
        }
    }

    /// Iterates over the fields that record the meaning of the word in traces of a schema, the best
    /// one first. In kernel traces the ids of a container are not among them: `pid` is an id of the
    /// host.
    fn places(self, schema: &Schema) -> impl Iterator<Item = Place> + use<> {
        let is_kernel = schema.env_str("domain") == Some("kernel");
        let is_of_container = move |name: &str| is_kernel && matches!(name, "vtid" | "vpid");
        self.all_places().iter().copied().filter(move |(_, name)| !is_of_container(name))
    }

    /// Returns the fields that may record the meaning of the word. perf records them with the payload.
    fn all_places(self) -> &'static [Place] {
        use Scope::{CommonContext, Payload, SpecificContext};
        match self {
            Word::Tid => &[
                (SpecificContext, "tid"),
                (CommonContext, "tid"),
                (SpecificContext, "vtid"),
                (CommonContext, "vtid"),
                (Payload, "perf_tid"),
            ],
            Word::Pid => &[
                (SpecificContext, "pid"),
                (CommonContext, "pid"),
                (SpecificContext, "vpid"),
                (CommonContext, "vpid"),
                (Payload, "perf_pid"),
            ],
            Word::Comm => &[
                (SpecificContext, "procname"),
                (CommonContext, "procname"),
                (SpecificContext, "comm"),
                (CommonContext, "comm"),
                (Payload, "perf_comm"),
            ],
            Word::Cpu => {
                &[(SpecificContext, "cpu_id"), (CommonContext, "cpu_id"), (Payload, "perf_cpu")]
            }
            Word::Name => &[],
        }
    }
}

/// The words that have a meaning of their own in a trace. The others are names of fields, as
/// any other word is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    known: [bool; Word::ALL.len()],
    /// The fields of the state for events that do not record the meaning.
    state: [Option<&'static str>; Word::ALL.len()],
}

impl Words {
    /// Finds the words of a trace.
    pub(crate) fn of(trace: &Trace, state: &dyn StateFields) -> Self {
        let state = Word::ALL.map(|word| {
            let name = state.field_of_word(word.as_str(), trace)?;
            state.find(name).map(|_| name)
        });
        let schema = trace.schema();
        let is_recorded = |word: Word| {
            let types = 0..schema.event_types.len() as u32;
            types.map(EventTypeId).any(|id| word.places(schema).any(|at| has(schema, id, at)))
        };
        let known = Word::ALL.map(|word| match word {
            Word::Name => true,
            Word::Cpu => {
                trace.tracefiles().iter().any(|tracefile| tracefile.cpu().is_some())
                    || is_recorded(word)
            }
            _ => state[word as usize].is_some() || is_recorded(word),
        });
        Words { known, state }
    }

    /// Returns `true` if a word has a meaning of its own.
    pub(crate) fn know(&self, word: Word) -> bool {
        self.known[word as usize]
    }

    /// Returns the name of the field of the state for a word.
    pub(super) fn in_state(&self, word: Word) -> Option<&'static str> {
        self.state[word as usize]
    }
}

/// Returns `true` if events of a type have a field at a place.
fn has(schema: &Schema, id: EventTypeId, (scope, name): Place) -> bool {
    match schema.root(id, scope).map(|class: &FieldClass| &class.kind) {
        Some(FieldKind::Struct(s)) => s.members.iter().any(|member| *member.name == *name),
        _ => false,
    }
}

/// Returns the field of events of a type that records the meaning of one of the words `tid`, `pid`, `comm`
/// and `cpu` of filters; `None` if they do not record it. The state or the tracefile may know it then.
///
/// ```
/// use lttv_filter::recorded_word;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
/// let trace = ltt_read::Trace::open(path)?;
/// let event = ltt_read::schema::EventTypeId(0);
/// assert!(recorded_word(&trace, event, "tid").is_some());
/// assert!(recorded_word(&trace, event, "pid").is_none());
/// # Ok::<(), ltt_read::Error>(())
/// ```
pub fn recorded_word(trace: &Trace, event_type: EventTypeId, word: &str) -> Option<Field> {
    let mut places = Word::of_name(word)?.places(trace.schema());
    places.find_map(|(scope, name)| trace.field(event_type, scope, name))
}

impl TraceModel<'_> {
    /// Returns how a word of the selector relates to fields of the payload of the same name
    /// in events of a type.
    pub(crate) fn word_use(&self, record_type: u32, selector: &Selector) -> Option<WordUse> {
        let (word, id) = (Word::of(selector)?, EventTypeId(record_type));
        if !has(self.schema(), id, (Scope::Payload, word.as_str())) {
            return None;
        }
        Some(match self.words.know(word) {
            true => WordUse::HidesField(word.meaning()),
            false => WordUse::IsField(word.meaning()),
        })
    }

    /// Finds the meaning of a word for events of a type: what the event or its tracefile
    /// records, or else the state.
    pub(super) fn word(&self, id: EventTypeId, word: Word) -> Resolution<TraceField> {
        // The tracefile has the CPU of its packets.
        let is_of_packet =
            word == Word::Cpu && has(self.schema(), id, (Scope::PacketContext, "cpu_id"));
        for (scope, name) in word.places(self.schema()).filter(|_| !is_of_packet) {
            let steps = [Step::new(StepKind::Name(name.to_owned()))];
            let found = self.field(id, &[scope], &steps);
            if !matches!(found, Resolution::Nothing) {
                return found;
            }
        }
        match (word, self.words.in_state(word)) {
            (Word::Cpu, _) => self.of_tracefile(|t| Some(Constant::integer(t.cpu()?.into()))),
            (_, Some(name)) => self.in_state(name),
            (_, None) => Resolution::Nothing,
        }
    }
}
