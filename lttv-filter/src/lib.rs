//! Filters for trace events.
//!
//! An expression is parsed once, compiled once for each trace, and then evaluated for
//! events. Conditions on the type of an event, its time or its tracefile are decided in
//! advance, without reading events.
//!
//! ```
//! use lttv_filter::{Expression, Filters};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let traces = ltt_read::open_all(path)?;
//! let expression = Expression::parse(r#"event.name =~ "syscall_exit_*" && ret < 0"#)?;
//! let filters = Filters::new(&expression, &traces)?;
//!
//! let mut failed = 0;
//! let mut events = filters.read();
//! while let Some(event) = events.next() {
//!     println!("{:?} {}", event.timestamp(), event.event_type().name());
//!     failed += 1;
//! }
//! events.finish()?; // an error if a trace is damaged
//! # assert!(failed > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The feature `traces` (enabled by default) provides filters of traces. Without it, the
//! crate does not depend on `ltt-read`, and filters [records of an application](Columns).
//!
//! Errors point at their places in the expression; several are reported at once:
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! # let traces = ltt_read::open_all(path)?;
//! use lttv_filter::{Expression, Filters};
//!
//! let expression = Expression::parse("nxt_tid == 5 || event.nam == read")?;
//! let error = Filters::new(&expression, &traces).unwrap_err();
//! assert_eq!(error.to_string(), "\
//! column 1: no event has a field `nxt_tid` (perhaps `next_tid`)
//! column 23: there is no `event.nam` (perhaps `name`)");
//! # #[cfg(feature = "render")]
//! eprintln!("{}", error.render(true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Overview
//!
//! | task | items |
//! |---|---|
//! | read the events that pass, and as little other data as possible | [`Filters::read`] |
//! | test single events | [`Filters::matches`], [`Filter::matches`] |
//! | call hooks only for events that pass | [`Filters`] as the [`EventSelection`](ltt_read::selection::EventSelection) of a context of `lttv-context` |
//! | inspect the conditions decided in advance | [`Filter::verdict`], [`spans`](Filter::spans), [`can_match_tracefile`](Filter::can_match_tracefile) |
//! | add or remove traces | [`Filters::set_traces`] |
//! | show errors | [`FilterError`] |
//! | show parts of a filter that are never or always true | [`Filters::notes`], [`FilterNotes`] |
//! | list fields, relations, labels and events; complete an expression that is being typed | [`Vocabulary`] |
//! | build, traverse and edit expressions without text | [`Expr`], [`Selector`] |
//! | set the time zone, or the day of times of day | [`Environment`] |
//! | filter by the state of the traced system | [`StateFields`], [`StateView`] |
//! | filter records of an application | [`RecordFilter`], [`Columns`], [`model`] |
//!
//! # The language
//!
//! ```text
//! filter     = or                                      blank text is an error
//! or         = xor { ( "||" | "|" | "or" ) xor }
//! xor        = and { ( "^" | "xor" ) and }
//! and        = not { ( "&&" | "&" | "and" ) not }
//! not        = ( "!" | "not" ) not | term
//! term       = "(" or ")" | "true" | "false"
//!            | selector RELATION value | value RELATION selector
//!            | selector "&" ( INTEGER | LABEL )        a test of bits; a label ends the term
//!            | selector [ "not" ] "in" "(" value { "," value } ")"
//!            | "exists" "(" selector ")"
//!            | selector                                a truth value, or the name of an event
//!            | PATTERN | TEXT                          a pattern of names of events
//! RELATION   = "==" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "=~" | "!~"
//! selector   = NAME { "." NAME | ".*" | "[" INTEGER "]" }
//! NAME       = letters, digits, "_" (within also ":", "-", "/"), or `anything`
//! PATTERN    = a NAME with "*" and "?", also with points: sched_*, sched.*
//! ```
//!
//! Keywords are recognized in upper and lower case. `≤`, `≥` and `≠` can be typed, too.
//! The nesting of an expression (200 levels), its number of comparisons (4096) and its
//! length (1 MiB) are limited; sets can have any size.
//!
//! ## Operators
//!
//! From the lowest to the highest precedence, all from `f == v` on alike:
//!
//! | operator | true if |
//! |---|---|
//! | `a \|\| b` | at least one operand is true |
//! | `a ^ b` | an odd number of operands is true |
//! | `a && b` | all operands are true |
//! | `!a` | the operand is false |
//! | `f == v`, `f != v` | the field has the value; the field has another value |
//! | `f < v`, `f <= v`, `f > v`, `f >= v` | the number or time of the field compares accordingly |
//! | `f in (v, …)`, `f not in (v, …)` | the field has one of the values; none of them |
//! | `f =~ "p"`, `f !~ "p"` | the text of the field, or one of its labels, matches the pattern; does not |
//! | `f & v` | the integer has at least one of the bits of the number or label; closer than `!`, and not to be compared, unlike in C |
//! | `exists(f)` | the event has the field |
//! | `f` | the field is a truth value, and true |
//! | `sched_switch`, `sched_*`, `"p"` | the name of the event matches |
//!
//! ## Selectors
//!
//! | selector | meaning |
//! |---|---|
//! | `name`, `cpu` | name and CPU of the event |
//! | `tid`, `pid`, `comm` | thread, process (thread group) and command that the event belongs to: see [below](#short-words) |
//! | `event.name` | name of the event, also with its channel: `CHANNEL.EVENT` |
//! | `event.category` | provider, subsystem, facility or channel: see [below](#names-and-categories) |
//! | `event.subname` | the part of the name after the first `:`, or the whole name |
//! | `event.id`, `event.loglevel` | number of the event type in its stream; log level (`WARNING`, or a number) |
//! | `event.time` | timestamp |
//! | `event.cycles`, `event.tsc` | clock value, in cycles |
//! | `event.fields.EVENT.FIELD` | a payload field of the events of a name |
//! | `event.fields.*.FIELD` | a payload field of any event that has it |
//! | `event.context.FIELD` | a context field of the event or its stream |
//! | `event.header.FIELD` | a field of the event header, as recorded |
//! | `packet.context.FIELD`, `packet.header.FIELD` | a field of the event's packet |
//! | `tracefile.cpu`, `tracefile.name` | CPU number and name of the event's tracefile |
//! | `channel.name`, `tracefile.channel` | name of the event's channel |
//! | `trace.name`, `trace.path`, `trace.uuid` | name and path of the trace's directory; UUID |
//! | `trace.env.NAME` | an entry of the trace's environment |
//! | `state.NAME` | a field of a state provider, at the event |
//! | `FIELD` | a payload or context field, or one of the packet's context, if only one of these has the name |
//!
//! Members follow a point, and indices of elements are in brackets:
//! `fds[0].events.EPOLLIN`. Steps that lead to a variant apply to its options. Names that
//! are not words are quoted with backticks: ``event.fields.`my event`.`field-1` ``.
//!
//! ## Short words
//!
//! Five words alone refer to what is known about any event, not to fields of its payload:
//!
//! | word | at each event, the first of these that there is |
//! |---|---|
//! | `tid` | the context `tid` or `vtid`; the field `perf_tid`; the thread of the state |
//! | `pid` | the context `pid` or `vpid`; the field `perf_pid`; the process of the state |
//! | `comm` | the context `procname` or `comm`; the command of the state |
//! | `cpu` | the context `cpu_id` of the packet; the context `cpu_id` or the field `perf_cpu` of the event; the CPU of the tracefile |
//! | `name` | the name of the event, like `event.name` |
//!
//! The state is that of a [state provider](StateFields), such as the kernel state of
//! `lttv-state` for kernel traces: `tid == 212` then selects the same events whether or not
//! the trace records the context. A context is tested like any other field; the state has to
//! follow all events.
//!
//! A field of the payload with the name of such a word is written with its event, or with
//! `*` for any event: `event.fields.*.tid`. [`Filters::notes`] contains a note where a word
//! hides a field that may be meant: all events that can pass the other terms have it, as in
//! `sched_wakeup && tid == 5`, or the word never has the text. If neither contexts nor the state of a
//! trace contain the meaning of a word, the word refers to a field of the payload like any
//! other name, which is noted as well; without such a field it is an error.
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! use lttv_filter::{Expression, Filters};
//!
//! let traces = ltt_read::open_all(path)?;
//! let count = |text: &str| -> Result<u32, lttv_filter::FilterError> {
//!     let filters = Filters::new(&Expression::parse(text)?, &traces)?;
//!     let (mut events, mut count) = (filters.read(), 0);
//!     while events.next().is_some() {
//!         count += 1;
//!     }
//!     Ok(count)
//! };
//! assert_eq!(count("sched_* && cpu == 2")?, count(r#"name =~ "sched_*" && tracefile.cpu == 2"#)?);
//! assert_eq!(count("tid == 146")?, count("event.context.tid == 146")?);
//! // Events that wake up the thread, in place of those that it causes.
//! assert!(count("sched_wak* && event.fields.*.tid == 146")? > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Names and categories
//!
//! A name that stands alone is that of an event: `sched_switch && next_tid == 5`. So is a
//! pattern, `sched_*`, and text in quotes, which can contain blanks and all signs of patterns.
//! If any event has a truth value of that name, the name refers to this field instead. A name
//! of neither events nor fields of the traces passes nothing, which is noted with the nearest
//! name.
//!
//! Text and patterns that contain a point are compared with the name of the event and with
//! `CHANNEL.EVENT`, as LTTV prints events: `event.name == sched.sched_switch` passes the
//! events `sched_switch` of the channel `sched`, `event.name =~ "sched.*"` all events of
//! this channel. Traces of LTT, which have no channels, contain the facility in its place.
//! `!=` and `!~` are true if neither form matches.
//!
//! The category of an event is the first of these that it has:
//!
//! 1. the channel or facility, in traces of LTTng 0.x and LTT;
//! 2. the part of its name before the first `:`: the provider of a user-space event;
//! 3. the subsystem of the Linux kernel, for kernel events of LTTng 2;
//! 4. the channel.
//!
//! The subsystem is not in the trace. It is known from the names that LTTng gives to the
//! events of the kernel, each of which starts with the subsystem: `irq` for
//! `irq_softirq_entry`, `kvm_mmu` for `kvm_mmu_get_page`. All events of system calls have the
//! category `syscall`. The names of LTTng before 2.5 are known as well: `timer` for
//! `hrtimer_start`. Probes that a user has added have no subsystem.
//!
//! ## Values
//!
//! | value | examples |
//! |---|---|
//! | integers | `-12`, `1_000`, `0x2a`, `0o17`, `0b1010`: of any size (127 bits, if not decimal) |
//! | decimal fractions | `0.5`, `1e-3`: of any size |
//! | text | `"tab\t"`, `'…'`, or a word without quotes |
//! | labels of enumerations | `RUNNING`, `"two words"`; a field has a label if its number is in the label's ranges |
//! | durations | `12ms`, `1.5s`, `3us`, `10ns`: nanoseconds, if compared with a number |
//! | seconds | `1795233416.5`: exact, if compared with a time |
//! | integers compared with a time | `1795233416`: seconds; `1795233416500000000`: nanoseconds, if it is too great for seconds |
//! | times of day | `03:56`, `03:56:56.25`: the one instant of the traces with that time |
//! | dates | `2026-11-21`, `2026-11-21T03:56:56.25Z`, `…+01:00` |
//!
//! The notation of times and the reasons for which they are refused are those of the
//! [`Environment`], which reads times of options and prompts as well.
//!
//! Numbers are compared exactly, whatever the widths, signs and bases of the field and
//! the value are; nothing is rounded. A value that a field cannot hold is compared like
//! any other number. For a field of 8 unsigned bits:
//!
//! | comparison | is |
//! |---|---|
//! | `x == 300`, `x == -1`, `x == 1.5`, `x in (300, -1)` | false |
//! | `x != 300`, `x != -1`, `x != 1.5`, `x not in (300, -1)` | true |
//! | `x < 256`, `x > -1`, `x < 1e30` | true |
//! | `x >= 1.5` | equivalent to `x >= 2` |
//! | `x in (5, 300)` | equivalent to `x == 5` |
//!
//! A comparison with a constant result is not an error, but it is noted: see
//! [`Filters::notes`]. Floating-point fields are compared exactly with integers. With
//! values that have a point or an exponent, they are compared as the nearest double,
//! which is the meaning of `0.1` there. A NaN differs from all values, and has no order.
//!
//! In patterns, `*` matches any text, `?` any character, `[a-z]` any of these characters and
//! `[!a-z]` any other. A backslash makes the next character literal. A pattern has to match the
//! whole text. A pattern of letters, digits, `_`, `*` and `?` needs no quotes:
//! `comm =~ kworker*`.
//!
//! ## Absent fields, and fields of another type
//!
//! A comparison with a field that an event does not have is false, whatever the relation.
//! `x != 5` is therefore not equivalent to `!(x == 5)`. A comparison is also false if the
//! field is present, but has a type that cannot be compared with the value, such as text
//! with a number. Where several types of events have a field with the name, it is enough
//! that one of them can be compared; if none can, the expression is refused.
//!
//! | | `x` is 5 | `x` is 6 | no `x` | `x` is text |
//! |---|---|---|---|---|
//! | `x == 5` | true | false | false | false |
//! | `x != 5` | false | true | **false** | **false** |
//! | `!(x == 5)` | false | true | **true** | **true** |
//! | `x in (5)` | true | false | false | false |
//! | `x not in (5)` | false | true | **false** | **false** |
//! | `x < 6` | true | false | false | false |
//! | `x >= 6` | false | true | **false** | **false** |
//! | `exists(x)` | true | true | false | true |
//! | `!exists(x) \|\| x == 5` | true | false | true | false |
//! | `x == 5 ^ true` | false | true | true | true |
//!
//! The types that can be compared:
//!
//! | field | values |
//! |---|---|
//! | integer | numbers; durations, as nanoseconds |
//! | enumeration | numbers; durations; text, as a label: by `==`, `!=`, `in`, `=~` and `!~` |
//! | truth value | `true` and `false`; numbers, where they are 1 and 0 |
//! | floating point | numbers |
//! | time | times and dates; numbers, as seconds; durations |
//! | text | text: by `==`, `!=`, `in`, `=~` and `!~` |
//!
//! An enumeration without a label that another enumeration with this name declares has
//! none of the label's numbers: `x == LABEL` is false for it, and `x != LABEL` is true.
//! In a set, values of types that cannot be compared with the field are ignored; if none
//! can be compared, the comparison is false, also with `not in`.
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
//! use lttv_filter::{Expression, Filter};
//!
//! let trace = ltt_read::Trace::open(path)?;
//! // `next_tid` is 0, has another value, or is absent.
//! let (mut zero, mut other, mut none) = (0, 0, 0);
//! for (text, of_zero, of_other, of_none) in [
//!     ("next_tid == 0", true, false, false),
//!     ("next_tid != 0", false, true, false),
//!     ("!(next_tid == 0)", false, true, true),
//!     ("next_tid in (0)", true, false, false),
//!     ("next_tid not in (0)", false, true, false),
//!     ("next_tid < 1", true, false, false),
//!     ("next_tid >= 1", false, true, false),
//!     ("exists(next_tid)", true, true, false),
//!     ("!exists(next_tid) || next_tid == 0", true, false, true),
//!     ("next_tid == 0 ^ true", false, true, true),
//! ] {
//!     let filter = Filter::new(&Expression::parse(text)?, &trace)?;
//!     let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
//!     while let Some(event) = cursor.next()? {
//!         let tid = event.field("next_tid").and_then(|value| value.as_i64());
//!         let (count, expected) = match tid {
//!             Some(0) => (&mut zero, of_zero),
//!             Some(_) => (&mut other, of_other),
//!             None => (&mut none, of_none),
//!         };
//!         assert_eq!(filter.matches(&event), expected, "{text} {tid:?}");
//!         *count += 1;
//!     }
//! }
//! assert!(zero > 0 && other > 0 && none > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A field that no event of any trace has is an error; a field that only some traces have
//! is absent in the others. If a comparison is invalid in all of several traces, the
//! error of the trace that has most of its names is reported, with the name of that
//! trace.
//!
//! A comparison that can never be true is no error, but it is noted, with the reason: text
//! that a name or category never equals, a number that the field cannot hold, or a field that
//! none of the events has for which the other terms can hold:
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! use lttv_filter::{Expression, Filters};
//!
//! let traces = ltt_read::open_all(path)?;
//! let expression = Expression::parse("event.name == sched_switch && ret < 0")?;
//! let filters = Filters::new(&expression, &traces)?;
//! assert_eq!(
//!     filters.notes().to_string(),
//!     "column 1: nothing passes this filter: nothing that fits the other terms has `ret`"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Lists of choices, and completion
//!
//! A [`Vocabulary`] contains the names that filters of given traces can have: events with
//! their fields, the types of fields and the relations that these allow, labels of
//! enumerations, properties such as `event.name`, fields of a state, and CPUs.
//! [`Vocabulary::complete`] returns the texts that can stand at the cursor of an expression,
//! also of an incomplete or faulty one, as an editor needs them. Both exist for
//! [`Columns`], too.
//!
//! # Editing expressions
//!
//! Each node of a tree has a span in the text. Trees can be built and changed, and are
//! formatted in a canonical form that parses to an equal tree:
//!
//! ```
//! use lttv_filter::{Expr, ExprKind, Expression, Relation, Selector};
//!
//! let expression = Expression::parse("cpu_load>0.5 and event.name=sched_switch")?;
//! let mut tree = expression.into_tree();
//! for node in tree.children_mut() {
//!     if let ExprKind::Compare { relation: relation @ Relation::Gt, .. } = &mut node.kind {
//!         *relation = Relation::Ge;
//!     }
//! }
//! let wider = Expression::new(Expr::any([tree, Selector::event("name").like("irq_*")]))?;
//! assert_eq!(
//!     wider.to_string(),
//!     r#"cpu_load >= 0.5 && event.name == "sched_switch" || event.name =~ "irq_*""#
//! );
//! # Ok::<(), lttv_filter::FilterError>(())
//! ```
//!
//! # Conditions decided in advance
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
//! use lttv_filter::{Expression, Filter, Verdict};
//!
//! let trace = ltt_read::Trace::open(path)?;
//! let text = "event.time >= 03:56:56.5 && event.time < 03:56:56.6 && tracefile.cpu == 3 \
//!             && (event.name == sched_waking || next_prio < 20)";
//! let filter = Filter::new(&Expression::parse(text)?, &trace)?;
//! // Packets of this tenth of a second,
//! let [span] = filter.spans() else { panic!("one span") };
//! assert_eq!(span.end.as_ns() - span.start.as_ns(), 99_999_999);
//! // of one processor,
//! for (number, tracefile) in trace.tracefiles().iter().enumerate() {
//!     let number = ltt_read::TracefileIndex(number);
//!     assert_eq!(filter.can_match_tracefile(number), tracefile.cpu() == Some(3));
//! }
//! // and of their events those of two types.
//! assert_eq!(filter.event_types().count(), 2);
//! let wakeup = trace.event_types_named("sched_wakeup").next().expect("a kernel trace");
//! assert_eq!(filter.verdict(wakeup), Verdict::Never);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cost
//!
//! Evaluation does not allocate, unless text in UTF-16 or UTF-32 has to be converted. An
//! event whose type decides costs a table lookup. For other events, a program runs whose
//! tests are ordered by cost, with comparisons of one field merged into one set of
//! ranges; nothing is hashed, and no names are compared. Integer fields that all events
//! of the type have, and that are joined by `&&` or `||` at the top level, are tested
//! before the program, with a load and a comparison each.
//!
//! Results are not cached.
//!
//! # Features
//!
//! * `traces` (enabled by default): filters of traces, by `ltt-read`.
//! * `render` (enabled by default): errors and notes drawn in the style of compilers,
//!   with the faults underlined.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "traces"),
    allow(dead_code, reason = "filters of traces are the only users of some parts")
)]
#![deny(missing_docs)]
#![forbid(unsafe_code)]

/// The README, whose code must compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

mod columns;
mod compile;
mod diagnostic;
mod environment;
mod expression;
#[cfg(feature = "traces")]
mod filter;
#[cfg(feature = "traces")]
mod filters;
mod glob;
pub mod model;
mod ranges;
mod record_filter;
#[cfg(feature = "render")]
mod render;
#[cfg(feature = "traces")]
mod shortcut;
mod span;
mod suggestion;
mod syntax;
mod time;
#[cfg(feature = "traces")]
mod trace;
mod verdict;
mod vocabulary;
mod zone;

pub use columns::Columns;
pub use diagnostic::{Diagnostic, FilterError, FilterErrorKind, FilterNotes};
pub use environment::Environment;
pub use expression::Expression;
#[cfg(feature = "traces")]
pub use filter::Filter;
#[cfg(feature = "traces")]
pub use filters::{FilteredEvents, Filters};
#[cfg(feature = "traces")]
pub use ltt_read::{self, TimeSpan};
pub use record_filter::RecordFilter;
pub use span::Span;
pub use suggestion::nearest;
pub use syntax::{
    ExactNumber, Expr, ExprKind, Literal, LiteralKind, Relation, Root, Selector, Step, StepKind,
};
#[cfg(feature = "traces")]
pub use time::TraceTimes;
pub use time::{
    CivilTime, Notation, TimeError, TimeErrorKind, TimeRangeText, TimeText, parse_length,
};
#[cfg(feature = "traces")]
pub use trace::{StateField, StateFields, StateView, recorded_word};
pub use verdict::Verdict;
pub use vocabulary::{Candidate, CandidateKind, KnownEvent, KnownField, Vocabulary};
pub use zone::{UnknownZone, Zone};
