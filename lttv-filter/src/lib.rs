//! Event filters: typed by people, evaluated in nanoseconds.
//!
//! An expression says which events are wanted. It is read once, compiled once for
//! each trace, and then asked of events; what a type of event, a time, a tracefile
//! decides is decided without looking at any.
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
//! # assert!(failed > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is wrong is shown where it is wrong, all of it at once:
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
//! # Who uses what
//!
//! | to | use |
//! |---|---|
//! | read the events that pass, and as little else as possible | [`Filters::read`] |
//! | ask of single events | [`Filters::matches`], [`Filter::matches`] |
//! | have hooks called for what passes only | [`Filters`] as the [`Choice`](ltt_read::choice::Choice) of a context of `lttv-context` |
//! | know what is decided in advance | [`Filter::verdict`], [`spans`](Filter::spans), [`can_match_tracefile`](Filter::can_match_tracefile) |
//! | go on after traces were added or removed | [`Filters::set_traces`] |
//! | show what is wrong | [`FilterError`] |
//! | show that a filter, or a part of it, is never or always true | [`Filters::notes`], [`FilterNotes`] |
//! | build, walk and change expressions without text | [`Expr`], [`Selector`] |
//! | choose a time zone, or the day of times of day | [`Environment`] |
//! | filter by the state of the traced system | [`StateFields`], [`StateView`] |
//! | filter records of one's own | [`Compiled`], [`model`] |
//!
//! # The language
//!
//! ```text
//! filter     = or                                      no text at all is an error
//! or         = xor { ( "||" | "|" | "or" ) xor }
//! xor        = and { ( "^" | "xor" ) and }
//! and        = not { ( "&&" | "&" | "and" ) not }
//! not        = ( "!" | "not" ) not | term
//! term       = "(" or ")" | "true" | "false"
//!            | selector RELATION value | value RELATION selector
//!            | selector [ "not" ] "in" "(" value { "," value } ")"
//!            | "exists" "(" selector ")"
//!            | selector                                a truth value
//! RELATION   = "==" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "=~" | "!~"
//! selector   = NAME { "." NAME | ".*" | "[" INTEGER "]" }
//! NAME       = letters, digits, "_" (within also ":", "-", "/"), or `anything`
//! ```
//!
//! Words of the language are known in upper and lower case. `≤`, `≥` and `≠` may be
//! typed, too. How deep an expression may be nested (200), how many comparisons it
//! may have (4096) and how long it may be (1 MiB) is limited; sets may be of any
//! size.
//!
//! ## Operators
//!
//! From the one that binds least to the one that binds most, as in C:
//!
//! | operator | true if |
//! |---|---|
//! | `a \|\| b` | one of them is |
//! | `a ^ b` | an odd number of them is |
//! | `a && b` | all are |
//! | `!a` | it is not |
//! | `f == v`, `f != v` | the field has the value; has another one |
//! | `f < v`, `f <= v`, `f > v`, `f >= v` | its number or time compares so |
//! | `f in (v, …)`, `f not in (v, …)` | it has one of the values; none of them |
//! | `f =~ "p"`, `f !~ "p"` | its text, or one of its labels, matches the pattern; does not |
//! | `exists(f)` | the event has the field |
//! | `f` | it is a truth value, and true |
//!
//! ## Selectors
//!
//! | selector | meaning |
//! |---|---|
//! | `event.name` | name of the event |
//! | `event.category`, `event.subname` | what is before and behind the first `:` of it |
//! | `event.id`, `event.loglevel` | number in its stream; log level (`WARNING`, or a number) |
//! | `event.time` | time stamp |
//! | `event.cycles`, `event.tsc` | what its clock showed |
//! | `event.fields.EVENT.FIELD` | a payload field of the events of a name |
//! | `event.fields.*.FIELD` | a payload field of any event that has it |
//! | `event.context.FIELD` | a context field of the event or its stream |
//! | `event.header.FIELD` | a field of its header, as recorded |
//! | `packet.context.FIELD`, `packet.header.FIELD` | a field of the packet that it is in |
//! | `tracefile.cpu`, `tracefile.name` | processor and name of its tracefile |
//! | `channel.name`, `tracefile.channel` | name of its channel |
//! | `trace.name`, `trace.path`, `trace.uuid` | name and path of its trace's directory; UUID |
//! | `trace.env.NAME` | an entry of the trace's environment |
//! | `state.NAME` | what a state provider knows at the event |
//! | `FIELD` | a payload or context field, or one of the packet's context, if the name is in one of these only |
//!
//! Members follow a point, elements are in brackets: `fds[0].events.EPOLLIN`. Where
//! a variant is on the way, its options are looked into. Names that are no words are
//! quoted by backticks: ``event.fields.`my event`.`field-1` ``.
//!
//! ## Values
//!
//! | value | as in |
//! |---|---|
//! | integers | `-12`, `1_000`, `0x2a`, `0o17`, `0b1010`: of any size (127 bits, if not decimal) |
//! | decimal fractions | `0.5`, `1e-3`: of any size |
//! | text | `"tab\t"`, `'…'`, or a word without quotes |
//! | labels of enumerations | `RUNNING`, `"two words"`; a field has a label if its number is in the label's ranges |
//! | spans of time | `12ms`, `1.5s`, `3us`, `10ns`: nanoseconds, if compared with a number |
//! | seconds | `1795233416.5`: exact, if compared with a time |
//! | times of day | `03:56`, `03:56:56.25`: of the day on which the traces begin |
//! | dates | `2026-11-21`, `2026-11-21T03:56:56.25Z`, `…+01:00` |
//!
//! Numbers are compared as numbers, whatever the widths, signs and bases of the field
//! and the value are, and nothing is rounded. A value that a field cannot hold is a
//! number like any other: for a field of 8 unsigned bits,
//!
//! | comparison | is |
//! |---|---|
//! | `x == 300`, `x == -1`, `x == 1.5`, `x in (300, -1)` | false |
//! | `x != 300`, `x != -1`, `x != 1.5`, `x not in (300, -1)` | true |
//! | `x < 256`, `x > -1`, `x < 1e30` | true |
//! | `x >= 1.5` | as `x >= 2` |
//! | `x in (5, 300)` | as `x == 5` |
//!
//! A comparison that is always the same is no error, but it is noted: see
//! [`Filters::notes`]. Floating-point fields are compared exactly with integers. With
//! values that have a point or an exponent they are compared as the nearest double,
//! which is what `0.1` means there. A field that is not a number (NaN) differs from all
//! values, and has no order.
//!
//! In patterns `*` is any text, `?` any character, `[a-z]` one of these and `[!a-z]`
//! none of them; a backslash makes the next character mean itself. A pattern has to
//! match the whole text.
//!
//! ## Fields that are not there, or of another type
//!
//! A comparison with a field that an event does not have is false, whatever the
//! relation. So `x != 5` is not the same as `!(x == 5)`. The same holds for a field that
//! is there, but cannot be compared so: text with a number, say. Where several types of
//! events have a field of the name, it is enough that one of them can be compared; if
//! none can, the expression is refused.
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
//! What can be compared with what:
//!
//! | field | values |
//! |---|---|
//! | integer | numbers; spans of time, as nanoseconds |
//! | enumeration | the same; text, as a label: by `==`, `!=`, `in`, `=~` and `!~` |
//! | truth value | `true` and `false`; numbers, where they are 1 and 0 |
//! | floating point | numbers |
//! | time | times and dates; numbers, as seconds; spans of time |
//! | text | text: by `==`, `!=`, `in`, `=~` and `!~` |
//!
//! An enumeration that does not have a label, where another one of the name does, has
//! none of the label's numbers: `x == LABEL` is false for it, `x != LABEL` is true. In
//! a set, values of types that the field does not have are passed over; if all are, the
//! comparison is false, by `not in` too.
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
//! use lttv_filter::{Expression, Filter};
//!
//! let trace = ltt_read::Trace::open(path)?;
//! // Next to run was thread 0, another one; other events do not say.
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
//!     let mut cursor = trace.cursor(0);
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
//! A field that no event of any trace has is an error; one that some traces do not
//! have is absent there. If an expression makes sense in none of several traces, what
//! is told is the fault in the trace that has most of its names, and which one that is.
//!
//! # In a graphical editor
//!
//! Each node of a tree has its place in the text. Trees can be built and changed, and
//! print in a canonical form that reads as the same tree:
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
//! # What is decided in advance
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
//! assert_eq!(span.end.ns() - span.begin.ns(), 99_999_999);
//! // of one processor,
//! for (number, tracefile) in trace.tracefiles().iter().enumerate() {
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
//! Evaluating allocates nothing (but where text in UTF-16 or UTF-32 has to be
//! converted). An event whose type decides costs a look-up in a table. For others a
//! program is run whose tests are in order of their cost, comparisons of one field
//! merged into one set of ranges; nothing is hashed, no name compared. Integers that
//! all events of the type have are tested before that, a load and a comparison each,
//! as far as `&&` or `||` joins them at the top.
//!
//! Results are not cached.
//!
//! # Features
//!
//! * `render` (on by default): errors and notes drawn as a compiler does, the
//!   expression with the places underlined.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

/// The code in the README, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

mod compile;
mod compiled;
mod diagnostic;
mod environment;
mod expression;
mod filter;
mod filters;
mod glob;
pub mod model;
mod ranges;
mod read;
#[cfg(feature = "render")]
mod render;
mod shortcut;
mod syntax;
mod trace;
mod zone;

pub use compiled::Compiled;
pub use diagnostic::{Diagnostic, FilterError, FilterErrorKind, FilterNotes};
pub use environment::Environment;
pub use expression::Expression;
pub use filter::Filter;
pub use filters::Filters;
pub use ltt_read::TimeSpan;
pub use ltt_read::choice::Verdict;
pub use ltt_read::metadata::Span;
pub use read::Matches;
pub use syntax::{
    CivilTime, ExactNumber, Expr, ExprKind, Literal, LiteralKind, Relation, Root, Selector, Step,
    StepKind,
};
pub use trace::{NoState, StateField, StateFields, StateView};
pub use zone::{UnknownZone, Zone};
