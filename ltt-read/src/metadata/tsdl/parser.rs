//! The state of the parser, its access to tokens, and recovery from errors.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use memchr::memmem::Finder;

use super::blocks::Declared;
use super::error::{Error, Result, found};
use super::lexer::Lexer;
use super::scalars::plain_string;
use super::scope::{Scopes, Type};
use super::token::{Keyword, Token, TokenKind};
use crate::metadata::{Diagnostic, Span, limits};
use crate::schema::{ByteOrder, FieldClass};

/// The number of errors after which the parser stops.
const MAX_ERRORS: usize = 20;
/// The end of the block of an event's fields in the metadata of LTTng.
const BLOCK_END: &str = "\n\t}";
/// The length of a block that is compared with others, in bytes.
const LONGEST_BLOCK: usize = 1 << 13;
/// The number of bytes of large metadata in which there is about one more name of a field.
const PER_NAME: usize = 256;
/// The maximum number of stored warnings.
const MAX_WARNINGS: usize = 500;

/// A reference of an integer class to a clock class.
#[derive(Debug)]
pub(super) struct ClockMap<'a> {
    /// The class; kept alive so that its address stays unique.
    pub(super) _class: Arc<FieldClass>,
    pub(super) clock: &'a str,
    pub(super) span: Span,
}

/// A parser of TSDL text into the declarations of its blocks.
///
/// The grammar is spread over sibling modules by subject, all of which use this state.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    lexer: Lexer<'a>,
    /// The next token.
    pub(super) token: Token,
    /// The end of the previous token.
    previous_end: u32,
    /// The number of open braces before `token`.
    open_braces: u32,
    /// The number of struct, variant and array types around the current position.
    pub(super) nesting: usize,
    /// The number of structs among them.
    pub(super) open_structs: usize,
    pub(super) native: ByteOrder,
    pub(super) scopes: Scopes<'a>,
    names: HashSet<Arc<str>>,
    /// Finds [`BLOCK_END`].
    block_end: Finder<'static>,
    /// The integer types by the text of their block. Large metadata repeats few different
    /// integer types many times.
    pub(super) integers: HashMap<&'a str, Type>,
    /// The mappings of classes to clocks, by the address of the class.
    pub(super) clock_maps: HashMap<usize, ClockMap<'a>>,
    pub(super) plain_string: Type,
    pub(super) declared: Declared,
    pub(super) errors: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
    /// `true` if an error hid a declaration to which others may refer.
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
            scopes: Scopes::new(text),
            names: HashSet::with_capacity(text.len() / PER_NAME),
            block_end: Finder::new(BLOCK_END),
            integers: HashMap::new(),
            clock_maps: HashMap::new(),
            plain_string: plain_string(),
            declared: Declared::of_text(text),
            errors: Vec::new(),
            warnings: Vec::new(),
            declaration_lost: false,
        }
    }

    /// Parses the whole text. Errors are added to `errors`.
    pub(super) fn run(&mut self) {
        while self.token.kind != TokenKind::End && self.errors.len() < MAX_ERRORS {
            let start = self.token.span.start;
            if let Err(error) = self.top_level() {
                self.record(*error);
                self.recover(start);
            }
        }
    }

    /// Adds an error, unless a lost declaration explains it.
    pub(super) fn record(&mut self, error: Error) {
        let follows = error.consequence && self.declaration_lost;
        if !follows && self.errors.len() < MAX_ERRORS {
            self.errors.push(error.diagnostic);
        }
    }

    /// Skips to the probable start of the next block, at least past `start`.
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

    /// Returns `true` if the next token, a keyword, starts a block or a type alias.
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

    /// Returns the text from the next token, a `{`, to the next `}` that is on a line of its own
    /// with the indentation of LTTng, where the block usually ends. `None` if the next token is
    /// another one.
    pub(super) fn block_text(&self) -> Option<&'a str> {
        if self.token.kind != TokenKind::LeftBrace {
            return None;
        }
        let rest = self.text.get(self.token.span.start as usize..)?;
        // A limit, so that texts without such lines take linear time.
        let near = rest.as_bytes().get(..LONGEST_BLOCK).unwrap_or(rest.as_bytes());
        let line = self.block_end.find(near)?;
        rest.get(..line + BLOCK_END.len())
    }

    /// Continues at an offset that is the end of a token. As many braces have been opened as closed up
    /// to there.
    pub(super) fn continue_at(&mut self, end: usize) {
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

    /// Takes the next token, or returns an error if it is not of this kind.
    pub(super) fn expect(&mut self, kind: TokenKind, what: &str) -> Result<Token> {
        match self.token.kind == kind {
            true => Ok(self.advance()),
            false => Err(self.unexpected(what)),
        }
    }

    /// Takes the `;` after a statement, and any further ones.
    pub(super) fn semicolon(&mut self) -> Result<()> {
        self.expect(TokenKind::Semicolon, "`;`")?;
        while self.accept(TokenKind::Semicolon) {}
        Ok(())
    }

    /// Takes an identifier, or returns an error, which explains reserved words.
    pub(super) fn identifier(&mut self, what: &str) -> Result<Token> {
        match self.token.kind {
            TokenKind::Identifier => Ok(self.advance()),
            _ => Err(self.expected_identifier(what)),
        }
    }

    /// Creates the error of a next token that should be an identifier.
    pub(super) fn expected_identifier(&self, what: &str) -> Box<Error> {
        let error = self.unexpected(what);
        match self.token.kind {
            TokenKind::Keyword(_) => error
                .help("this word is reserved; put a `_` before it, which is not part of the name"),
            _ => error,
        }
    }

    /// Creates the error of an unexpected next token.
    pub(super) fn unexpected(&self, what: &str) -> Box<Error> {
        let found = found(self.token.kind, self.slice(self.token.span));
        Error::new(self.token.span, format!("expected {what}, found {found}"))
    }

    /// Adds a warning.
    pub(super) fn warn(&mut self, span: Span, message: impl Into<String>) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(Diagnostic::warning(span, message));
        }
    }

    /// Returns the text of a span.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Returns the span from the start of `start` to the last taken token.
    pub(super) fn since(&self, start: Span) -> Span {
        Span { start: start.start, end: self.previous_end.max(start.end) }
    }

    /// Enters one level of nesting, or returns an error if it is too deep.
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

    /// Returns the shared copy of a name.
    pub(super) fn intern(&mut self, name: &'a str) -> Arc<str> {
        self.names.get_or_insert_with(name, |name| name.into()).clone()
    }

    /// Takes all words of a type name (`unsigned long`, `void *`).
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

    /// Joins words to one name, with single spaces.
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

/// Removes the leading underscore of a member's name, which only escapes reserved words.
pub(super) fn unescape(name: &str) -> &str {
    name.strip_prefix('_').unwrap_or(name)
}

/// Finds the byte order that the `trace` block declares. The block may come late in the
/// text.
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

/// Returns the byte order of a word other than `native`.
pub(super) fn byte_order(word: &str) -> Option<ByteOrder> {
    match word {
        "le" => Some(ByteOrder::Little),
        "be" | "network" => Some(ByteOrder::Big),
        _ => None,
    }
}
