//! The parser's state, its view of the tokens, and recovery from errors.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::HashMap;

use super::blocks::Declared;
use super::error::{Error, Result, found};
use super::lexer::Lexer;
use super::scalars::plain_string;
use super::scope::{Scopes, Type};
use super::token::{Keyword, Token, TokenKind};
use crate::metadata::{Diagnostic, Span, limits};
use crate::schema::{ByteOrder, FieldClass};

/// After so many errors the parser gives up: more would help nobody.
const MAX_ERRORS: usize = 20;
/// So many warnings are kept.
const MAX_WARNINGS: usize = 500;

/// An integer class's reference to a clock class.
#[derive(Debug)]
pub(super) struct ClockMap<'a> {
    /// The class; held so that its address stays its own.
    pub(super) _class: Arc<FieldClass>,
    pub(super) clock: &'a str,
    pub(super) span: Span,
}

/// Parses TSDL text into what its blocks declare.
///
/// The grammar is spread over sibling modules by subject; all of it works on
/// this state.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    lexer: Lexer<'a>,
    /// The token that comes next.
    pub(super) token: Token,
    /// End of the token before.
    previous_end: u32,
    /// Open braces before `token`.
    open_braces: u32,
    /// Struct, variant and array types that are being parsed around here.
    pub(super) nesting: usize,
    /// Structs among them.
    pub(super) open_structs: usize,
    pub(super) native: ByteOrder,
    pub(super) scopes: Scopes<'a>,
    names: HashMap<&'a str, Arc<str>>,
    /// Integer types by the text of their block. Most types of a large
    /// metadata text are spelled out in place, in few different ways.
    pub(super) integers: HashMap<&'a str, Type>,
    /// Classes that are mapped to clocks, by address.
    pub(super) clock_maps: HashMap<usize, ClockMap<'a>>,
    pub(super) plain_string: Type,
    pub(super) declared: Declared,
    pub(super) errors: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Whether an error hid a declaration that others may refer to.
    declaration_lost: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, native: ByteOrder) -> Self {
        let mut lexer = Lexer::new(text);
        Parser {
            text,
            token: lexer.next(),
            lexer,
            previous_end: 0,
            open_braces: 0,
            nesting: 0,
            open_structs: 0,
            native,
            scopes: Scopes::new(),
            names: HashMap::new(),
            integers: HashMap::new(),
            clock_maps: HashMap::new(),
            plain_string: plain_string(),
            declared: Declared::default(),
            errors: Vec::new(),
            warnings: Vec::new(),
            declaration_lost: false,
        }
    }

    /// Parses everything; errors are left in `errors`.
    pub(super) fn run(&mut self) {
        while self.token.kind != TokenKind::End && self.errors.len() < MAX_ERRORS {
            let start = self.token.span.start;
            if let Err(error) = self.top_level() {
                self.record(*error);
                self.recover(start);
            }
        }
    }

    /// Keeps an error.
    pub(super) fn record(&mut self, error: Error) {
        let follows = error.consequence && self.declaration_lost;
        if !follows && self.errors.len() < MAX_ERRORS {
            self.errors.push(error.diagnostic);
        }
    }

    /// Goes to where the next block seems to start, past `start` in any case.
    fn recover(&mut self, start: u32) {
        self.declaration_lost = true;
        self.scopes.leave_all();
        self.nesting = 0;
        self.open_structs = 0;
        if self.token.span.start == start {
            self.advance();
        }
        loop {
            match self.token.kind {
                TokenKind::End => return,
                TokenKind::Keyword(k) if self.open_braces == 0 && self.starts_block(k) => return,
                TokenKind::Semicolon if self.open_braces == 0 => {
                    self.advance();
                    return;
                }
                _ => self.advance(),
            };
        }
    }

    /// Whether the next token, a keyword, begins a block or an alias.
    fn starts_block(&self, keyword: Keyword) -> bool {
        use Keyword::{Callsite, Clock, Env, Event, Stream, Trace, Typealias, Typedef};
        match keyword {
            Typealias | Typedef => true,
            Callsite | Clock | Env | Event | Stream | Trace => {
                self.lexer.clone().next().kind == TokenKind::LeftBrace
            }
            _ => false,
        }
    }

    /// Takes the next token.
    pub(super) fn advance(&mut self) -> Token {
        let token = self.token;
        match token.kind {
            TokenKind::LeftBrace => self.open_braces += 1,
            TokenKind::RightBrace => self.open_braces = self.open_braces.saturating_sub(1),
            _ => {}
        }
        self.previous_end = token.span.end;
        self.token = self.lexer.next();
        token
    }

    /// Continues behind a `}` whose `{` is the next token.
    pub(super) fn skip_block(&mut self, end: usize) {
        self.lexer.seek(end);
        self.previous_end = Span::new(end, end).end;
        self.token = self.lexer.next();
    }

    /// Takes the next token if it is of this kind.
    pub(super) fn accept(&mut self, kind: TokenKind) -> bool {
        let is = self.token.kind == kind;
        if is {
            self.advance();
        }
        is
    }

    /// Takes the next token, which must be of this kind.
    pub(super) fn expect(&mut self, kind: TokenKind, what: &str) -> Result<Token> {
        match self.token.kind == kind {
            true => Ok(self.advance()),
            false => Err(self.unexpected(what)),
        }
    }

    /// Takes the `;` behind a statement, and any further ones.
    pub(super) fn semicolon(&mut self) -> Result<()> {
        self.expect(TokenKind::Semicolon, "`;`")?;
        while self.accept(TokenKind::Semicolon) {}
        Ok(())
    }

    /// Takes an identifier. Reserved words get an error that says so.
    pub(super) fn identifier(&mut self, what: &str) -> Result<Token> {
        match self.token.kind {
            TokenKind::Identifier => Ok(self.advance()),
            _ => Err(self.no_identifier(what)),
        }
    }

    /// The error that the next token is no identifier.
    pub(super) fn no_identifier(&self, what: &str) -> Box<Error> {
        let error = self.unexpected(what);
        match self.token.kind {
            TokenKind::Keyword(_) => error
                .help("this word is reserved; put a `_` before it, which is not part of the name"),
            _ => error,
        }
    }

    /// The error that the next token is not what it has to be.
    pub(super) fn unexpected(&self, what: &str) -> Box<Error> {
        let found = found(self.token.kind, self.slice(self.token.span));
        Error::new(self.token.span, format!("expected {what}, found {found}"))
    }

    /// Keeps a warning.
    pub(super) fn warn(&mut self, span: Span, message: impl Into<String>) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(Diagnostic::warning(span, message));
        }
    }

    /// The text of a span that this parser made.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// From the start of a span to the last token taken.
    pub(super) fn since(&self, start: Span) -> Span {
        Span { start: start.start, end: self.previous_end.max(start.end) }
    }

    /// Goes one level deeper, if that is allowed.
    pub(super) fn descend(&mut self, span: Span) -> Result<()> {
        self.nesting += 1;
        self.check_depth(self.nesting, span)
    }

    pub(super) fn check_depth(&self, depth: usize, span: Span) -> Result<()> {
        match depth > limits::DEPTH {
            true => Err(Error::new(
                span,
                format!("types are nested more than {} levels deep", limits::DEPTH),
            )),
            false => Ok(()),
        }
    }

    /// The one shared copy of a name.
    pub(super) fn intern(&mut self, name: &'a str) -> Arc<str> {
        self.names.entry(name).or_insert_with(|| name.into()).clone()
    }

    /// Collects the words of a type name (`unsigned long`, `void *`) for as
    /// long as they go on.
    pub(super) fn words(&mut self) -> Words {
        let mut words = Words::new();
        while matches!(
            self.token.kind,
            TokenKind::Identifier | TokenKind::Star | TokenKind::Keyword(Keyword::Const)
        ) {
            let token = self.advance();
            if token.kind != TokenKind::Keyword(Keyword::Const) {
                words.push(token);
            }
        }
        words
    }

    /// Words as one name: with single blanks between them.
    pub(super) fn join(&self, words: &[Token]) -> Cow<'a, str> {
        match words {
            [word] => Cow::Borrowed(self.slice(word.span)),
            _ => {
                let words: Vec<_> = words.iter().map(|w| self.slice(w.span)).collect();
                Cow::Owned(words.join(" "))
            }
        }
    }
}

pub(super) type Words = smallvec::SmallVec<[Token; 4]>;

/// The name of a member as people see it: one leading underscore only keeps
/// it from clashing with reserved words.
pub(super) fn unescape(name: &str) -> &str {
    name.strip_prefix('_').unwrap_or(name)
}

/// The byte order that the `trace` block, which may come late, declares.
pub(super) fn native_byte_order(text: &str) -> Option<ByteOrder> {
    let mut lexer = Lexer::new(text);
    let word = |t: Token| &text[t.span.start as usize..t.span.end as usize];
    let mut depth = 0;
    let mut in_trace = false;
    let mut before = lexer.next();
    loop {
        let token = lexer.next();
        match before.kind {
            TokenKind::End | TokenKind::Bad(_) => return None,
            TokenKind::LeftBrace => depth += 1,
            TokenKind::RightBrace if depth <= 1 && in_trace => return None,
            TokenKind::RightBrace => depth = (depth - 1).max(0),
            TokenKind::Keyword(Keyword::Trace) if depth == 0 => {
                in_trace = token.kind == TokenKind::LeftBrace;
            }
            TokenKind::Identifier if in_trace && depth == 1 && word(before) == "byte_order" => {
                let value = lexer.next();
                return match value.kind {
                    TokenKind::Identifier => byte_order(word(value)),
                    _ => None,
                };
            }
            _ => {}
        }
        before = token;
    }
}

/// The byte order of a word, `native` aside.
pub(super) fn byte_order(word: &str) -> Option<ByteOrder> {
    match word {
        "le" => Some(ByteOrder::Little),
        "be" | "network" => Some(ByteOrder::Big),
        _ => None,
    }
}
