//! Where in the tree of fields a visitor stands.

/// What surrounds a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    /// Nothing: the field is the root of its scope.
    Scope,
    /// The root structure of a scope.
    Root,
    /// Any other structure.
    Struct,
    /// An array.
    Array,
    /// A variant, or an option that has its field.
    Wrapper,
    /// An option without its field, or a structure that is not shown.
    Absent,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    around: Around,
    /// Fields that came before in this frame.
    count: u64,
}

/// The containers around the next field, innermost on top. Never deeper than
/// the metadata, which the parsers limit.
#[derive(Debug)]
pub(super) struct Nesting {
    top: Frame,
    outer: Vec<Frame>,
}

impl Default for Nesting {
    fn default() -> Self {
        Nesting { top: Frame { around: Around::Scope, count: 0 }, outer: Vec::new() }
    }
}

impl Nesting {
    /// What surrounds the next field, and how many came before it there.
    #[inline]
    pub(super) fn next(&mut self) -> (Around, u64) {
        let Frame { around, count } = self.top;
        self.top.count += 1;
        (around, count)
    }

    /// Whether the next field is the root of its scope.
    #[inline]
    pub(super) fn is_root(&self) -> bool {
        self.outer.is_empty()
    }

    /// Goes into a container.
    #[inline]
    pub(super) fn enter(&mut self, around: Around) {
        self.outer.push(self.top);
        self.top = Frame { around, count: 0 };
    }

    /// Comes out of a container; tells which and how many fields it had.
    #[inline]
    pub(super) fn leave(&mut self) -> (Around, u64) {
        let Frame { around, count } = self.top;
        if let Some(outer) = self.outer.pop() {
            self.top = outer;
        }
        (around, count)
    }
}
