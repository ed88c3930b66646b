//! Blocks, the statements of the outermost level.

use std::sync::Arc;

use hashbrown::HashMap;

use super::attributes::{Name, Value, ValueKind};
use super::error::{Error, Result, Within};
use super::parser::{Parser, byte_order};
use super::scope::{Names, Type};
use super::token::{Keyword, TokenKind};
use crate::base::uuid::Uuid;
use crate::metadata::{Span, limits};
use crate::schema::{ClockClass, ClockOrigin, EnvValue, FieldClass, FieldKind, Identity};

/// The declarations of the blocks.
#[derive(Debug, Default)]
pub(super) struct Declared {
    pub(super) trace: Option<TraceBlock>,
    pub(super) env: Vec<(Arc<str>, EnvValue)>,
    /// The indices in `env`, by name.
    pub(super) env_entries: HashMap<Arc<str>, usize>,
    pub(super) clocks: Vec<ClockClass>,
    /// The indices in `clocks`, by name.
    pub(super) clock_names: HashMap<Arc<str>, usize>,
    pub(super) streams: Vec<StreamBlock>,
    pub(super) events: Vec<EventBlock>,
    /// The number of classes reachable from all roots so far.
    pub(super) nodes: usize,
}

/// The number of bytes of large metadata in which there is about one event, or less.
const PER_EVENT: usize = 256;

impl Declared {
    /// Creates empty declarations, with memory for the events of a text: growing would copy them.
    pub(super) fn of_text(text: &str) -> Self {
        Declared { events: Vec::with_capacity(text.len() / PER_EVENT), ..Declared::default() }
    }
}

/// A `trace` block.
#[derive(Debug, Default)]
pub(super) struct TraceBlock {
    pub(super) uuid: Option<Uuid>,
    pub(super) packet_header: Root,
}

/// A `stream` block.
#[derive(Debug, Default)]
pub(super) struct StreamBlock {
    pub(super) span: Span,
    pub(super) id: Option<u64>,
    pub(super) packet_context: Root,
    pub(super) event_header: Root,
    pub(super) event_context: Root,
}

/// An `event` block.
#[derive(Debug, Default)]
pub(super) struct EventBlock {
    pub(super) span: Span,
    pub(super) id: Option<u64>,
    pub(super) stream: Option<(u64, Span)>,
    pub(super) identity: Identity,
    pub(super) log_level: Option<i64>,
    pub(super) emf_uri: Option<Arc<str>>,
    pub(super) context: Option<Arc<FieldClass>>,
    pub(super) fields: Option<Arc<FieldClass>>,
}

/// The root structure of a scope, with the position of its type.
pub(super) type Root = Option<(Arc<FieldClass>, Span)>;

impl<'a> Parser<'a> {
    /// Parses a block or declaration with its `;`.
    pub(super) fn top_level(&mut self) -> Result<()> {
        let span = self.token.span;
        let TokenKind::Keyword(keyword) = self.token.kind else {
            return match self.token.kind {
                TokenKind::Semicolon => self.semicolon(),
                _ => Err(self.unexpected("a block (such as `event`) or a type declaration")),
            };
        };
        match keyword {
            Keyword::Trace => self.block(Self::trace).within(span, "in `trace` block"),
            Keyword::Env => self.block(Self::env).within(span, "in `env` block"),
            Keyword::Clock => self.block(Self::clock).within(span, "in `clock` block"),
            Keyword::Stream => self.block(Self::stream).within(span, "in `stream` block"),
            Keyword::Event => self.block(Self::event).within(span, "in `event` block"),
            Keyword::Callsite => self.block(Self::callsite).within(span, "in `callsite` block"),
            Keyword::Align | Keyword::Const => {
                Err(self.unexpected("a block (such as `event`) or a type declaration"))
            }
            _ => self.type_declaration(),
        }
    }

    fn block(&mut self, body: fn(&mut Self, Span) -> Result<()>) -> Result<()> {
        let keyword = self.advance().span;
        self.expect(TokenKind::LeftBrace, "`{`")?;
        self.scopes.enter();
        body(self, keyword)?;
        self.scopes.leave();
        self.semicolon()
    }

    /// Parses the statements of a block and its `}`. `attribute` is called after each
    /// attribute name to parse the rest.
    fn statements(
        &mut self,
        mut attribute: impl FnMut(&mut Self, &Name<'a>) -> Result<()>,
    ) -> Result<()> {
        let mut seen = Names::default();
        loop {
            match self.token.kind {
                TokenKind::RightBrace => break,
                TokenKind::Semicolon => self.semicolon()?,
                TokenKind::Keyword(
                    Keyword::Typealias
                    | Keyword::Typedef
                    | Keyword::Struct
                    | Keyword::Variant
                    | Keyword::Enum,
                ) => self.type_declaration()?,
                _ => {
                    let name = self.attribute_name(&mut seen)?;
                    attribute(self, &name)?;
                }
            }
        }
        self.advance();
        Ok(())
    }

    /// Parses a type declaration: `typealias …;`, `typedef …;`, `struct NAME { … };` and
    /// similar.
    fn type_declaration(&mut self) -> Result<()> {
        if let TokenKind::Keyword(Keyword::Typealias | Keyword::Typedef) = self.token.kind {
            return self.type_alias();
        }
        let start = self.token.span;
        self.whole_type("a type")?;
        match self.token.kind {
            // Some producers omit the semicolon, and other readers accept that.
            TokenKind::Keyword(_) => self.warn(self.since(start), "expected `;` after this type"),
            _ => self.semicolon()?,
        }
        Ok(())
    }

    /// Parses `:= TYPE;` of a scope's root structure.
    fn root(&mut self, name: &Name<'a>, what: &'static str) -> Result<Root> {
        self.root_type().within(name.span, what).map(Some)
    }

    fn root_type(&mut self) -> Result<(Arc<FieldClass>, Span)> {
        self.expect(TokenKind::TypeAssign, "`:=`")?;
        let start = self.token.span;
        let Type { class, nodes, .. } = self.whole_type("a structure type")?;
        let span = self.since(start);
        if !matches!(class.kind, FieldKind::Struct(_)) {
            return Err(Error::new(span, "expected a structure type"));
        }
        self.declared.nodes = self.declared.nodes.saturating_add(nodes as usize);
        if self.declared.nodes > limits::NODES {
            return Err(Error::new(span, "all types together are too large"));
        }
        self.semicolon()?;
        Ok((class, span))
    }

    fn trace(&mut self, keyword: Span) -> Result<()> {
        if self.declared.trace.is_some() {
            return Err(Error::new(keyword, "duplicate `trace` block"));
        }
        let mut trace = TraceBlock::default();
        let (mut major, mut minor, mut has_byte_order) = (false, false, false);
        self.statements(|parser, name| {
            if name.path.as_slice() == ["packet", "header"] {
                trace.packet_header = parser.root(name, "in `packet.header`")?;
                return Ok(());
            }
            let Some(value) =
                parser.known_value(name, &["major", "minor", "uuid", "byte_order"], "`trace`")?
            else {
                return Ok(());
            };
            match name.path[0] {
                "major" => {
                    major = true;
                    if value.unsigned("the major version 1")? != 1 {
                        return Err(value.unsuitable("the major version 1"));
                    }
                }
                "minor" => {
                    minor = true;
                    if value.unsigned("the minor version 8")? != 8 {
                        return Err(value.unsuitable("the minor version 8"));
                    }
                }
                "uuid" => trace.uuid = Some(value.uuid()?),
                _ => {
                    has_byte_order = true;
                    if value.word().and_then(byte_order).is_none() {
                        return Err(value.unsuitable("`le`, `be` or `network`"));
                    }
                }
            }
            Ok(())
        })?;
        for (name, given) in [("major", major), ("minor", minor), ("byte_order", has_byte_order)] {
            if !given {
                return Err(Error::new(keyword, format!("`trace` needs the attribute `{name}`")));
            }
        }
        self.declared.trace = Some(trace);
        Ok(())
    }

    fn env(&mut self, _: Span) -> Result<()> {
        loop {
            match self.token.kind {
                TokenKind::RightBrace => break,
                TokenKind::Semicolon => self.semicolon()?,
                _ => {
                    let (path, span) = self.path("a name of an entry")?;
                    let value = self.attribute_value()?;
                    self.env_entry(&path.join("."), span, value);
                }
            }
        }
        self.advance();
        Ok(())
    }

    fn env_entry(&mut self, name: &str, span: Span, value: Value<'a>) {
        let value = match value.kind {
            ValueKind::Integer(i) => EnvValue::Int(i),
            ValueKind::String(s) => EnvValue::Str(s.into_owned()),
            ValueKind::Path(path) => {
                self.warn(value.span, "expected an integer or a string: taken as a string");
                EnvValue::Str(path.join("."))
            }
        };
        match self.declared.env_entries.get(name) {
            Some(&index) => {
                self.declared.env[index].1 = value;
                self.warn(span, format!("duplicate entry `{name}`: the last value is used"));
            }
            None => {
                let name: Arc<str> = name.into();
                self.declared.env_entries.insert(name.clone(), self.declared.env.len());
                self.declared.env.push((name, value));
            }
        }
    }

    fn clock(&mut self, keyword: Span) -> Result<()> {
        let known =
            ["name", "uuid", "description", "freq", "precision", "offset_s", "offset", "absolute"];
        let mut clock = ClockClass { origin: ClockOrigin::Unknown, ..ClockClass::new("") };
        let mut named = false;
        let mut cycles = 0u64;
        self.statements(|parser, name| {
            let Some(value) = parser.known_value(name, &known, "`clock`")? else { return Ok(()) };
            match name.path[0] {
                "name" => {
                    clock.name = value.text("the name of the clock")?.as_ref().into();
                    named = true;
                }
                "uuid" => clock.uuid = Some(value.uuid()?),
                "description" => {
                    clock.description = Some(value.string("a string")?.into());
                }
                "freq" => {
                    let what = "a frequency in Hz, more than 0";
                    clock.frequency = value.unsigned(what)?;
                    if clock.frequency == 0 {
                        return Err(value.unsuitable(what));
                    }
                }
                "precision" => clock.precision = Some(value.unsigned("a number of cycles")?),
                "offset_s" => clock.offset_seconds = value.signed("a number of seconds")?,
                "offset" => cycles = value.unsigned("a number of cycles")?,
                _ => {
                    if value.boolean()? {
                        clock.origin = ClockOrigin::UnixEpoch;
                    }
                }
            }
            Ok(())
        })?;
        if !named {
            return Err(Error::new(keyword, "`clock` needs the attribute `name`"));
        }
        let index = self.declared.clocks.len();
        if self.declared.clock_names.insert(clock.name.clone(), index).is_some() {
            return Err(Error::new(keyword, format!("duplicate clock `{}`", clock.name)));
        }
        // Whole seconds move to the other part if the cycles would not fit.
        if cycles > i64::MAX as u64 {
            let seconds = i64::try_from(cycles / clock.frequency).unwrap_or(i64::MAX);
            clock.offset_seconds = clock.offset_seconds.saturating_add(seconds);
            cycles %= clock.frequency;
        }
        clock.offset_cycles = i64::try_from(cycles).unwrap_or(i64::MAX);
        // LTTng's clocks count from the epoch without declaring it, and an offset
        // makes no sense otherwise.
        if clock.offset_cycles != 0 || clock.offset_seconds != 0 {
            clock.origin = ClockOrigin::UnixEpoch;
        }
        self.declared.clocks.push(clock);
        Ok(())
    }

    fn stream(&mut self, keyword: Span) -> Result<()> {
        let mut stream = StreamBlock { span: keyword, ..StreamBlock::default() };
        self.statements(|parser, name| {
            match name.path.as_slice() {
                ["packet", "context"] => {
                    stream.packet_context = parser.root(name, "in `packet.context`")?
                }
                ["event", "header"] => {
                    stream.event_header = parser.root(name, "in `event.header`")?
                }
                ["event", "context"] => {
                    stream.event_context = parser.root(name, "in `event.context`")?
                }
                _ => {
                    if let Some(value) = parser.known_value(name, &["id"], "`stream`")? {
                        stream.id = Some(value.unsigned("the id of the stream")?);
                    }
                }
            }
            Ok(())
        })?;
        self.declared.streams.push(stream);
        Ok(())
    }

    fn event(&mut self, keyword: Span) -> Result<()> {
        let mut event = EventBlock { span: keyword, ..EventBlock::default() };
        self.statements(|parser, name| {
            match name.path.as_slice() {
                ["fields"] => event.fields = parser.root(name, "in `fields`")?.map(|root| root.0),
                ["context"] => {
                    event.context = parser.root(name, "in `context`")?.map(|root| root.0)
                }
                ["name"] => {
                    let value = parser.attribute_value()?;
                    event.identity.name =
                        Some(value.text("the name of the event")?.as_ref().into());
                }
                ["id"] => {
                    let value = parser.attribute_value()?;
                    event.id = Some(value.unsigned("the id of the event")?);
                }
                ["stream_id"] => {
                    let value = parser.attribute_value()?;
                    event.stream = Some((value.unsigned("the id of a stream")?, value.span));
                }
                ["loglevel"] => {
                    let value = parser.attribute_value()?;
                    event.log_level = Some(value.signed("a log level (an integer)")?);
                }
                ["model", "emf", "uri"] => {
                    let value = parser.attribute_value()?;
                    event.emf_uri = Some(value.string("a string with a URI")?.into());
                }
                _ => drop(parser.known_value(name, &[], "`event`")?),
            }
            Ok(())
        })?;
        if event.identity.name.is_none() {
            return Err(Error::new(keyword, "`event` needs the attribute `name`"));
        }
        self.declared.events.push(event);
        Ok(())
    }

    /// Parses a `callsite` block, which does not affect the contents of the trace.
    fn callsite(&mut self, _: Span) -> Result<()> {
        self.statements(|parser, name| {
            parser.known_value(name, &["name", "func", "file", "line", "ip"], "`callsite`")?;
            Ok(())
        })
    }

    /// Parses the value of an attribute. An attribute that is not among `known` is
    /// skipped with a warning.
    fn known_value(
        &mut self,
        name: &Name<'a>,
        known: &[&str],
        of: &str,
    ) -> Result<Option<Value<'a>>> {
        if let [name] = name.path.as_slice()
            && known.contains(name)
        {
            return self.attribute_value().map(Some);
        }
        self.unknown_attribute(name, of);
        match self.token.kind {
            TokenKind::TypeAssign => self.unknown_type()?,
            _ => drop(self.attribute_value()?),
        }
        Ok(None)
    }

    /// Parses `:= TYPE;`.
    fn unknown_type(&mut self) -> Result<()> {
        self.expect(TokenKind::TypeAssign, "`:=`")?;
        self.whole_type("a type")?;
        self.semicolon()
    }
}
