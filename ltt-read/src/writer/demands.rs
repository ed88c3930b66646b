//! The demands of dynamic fields on the lengths and selectors that they depend on, and
//! the locations of these.
//!
//! This module resolves locations independently of the decoder, so that each tests the
//! other.

use std::fmt;
use std::sync::Arc;

use super::error::{LocatedProblem, Problem};
use super::fit::{encoded, range_of};
use super::value::FieldValue;
use crate::schema::{
    Dependency, FieldClass, FieldKind, Length, LocationOrigin, PathStep, RangeSet, Scope, Selector,
    Struct, VariantOption,
};

type Classes = [Option<Arc<FieldClass>>; 6];

/// The demand of a field on the length or selector that it depends on.
#[derive(Debug)]
pub(super) enum Demand<'a> {
    /// The number has to be this length.
    Length(u64),
    /// The boolean has to be this one.
    Bool(bool),
    /// The number has to be in these ranges.
    In(&'a RangeSet),
    /// The number must not be in these ranges.
    NotIn(&'a RangeSet),
    /// The number has to select this option.
    Option(&'a VariantOption),
}

/// A demand, and the length or selector that it concerns.
#[derive(Debug)]
pub(super) struct Demanded<'a> {
    pub(super) demand: Demand<'a>,
    /// The scope of the length or selector.
    pub(super) scope: Scope,
    /// The indices of the parts from the root of the scope to the length or selector.
    pub(super) path: Vec<usize>,
    /// The class of the length or selector.
    pub(super) class: &'a FieldClass,
    location: &'a Dependency,
    /// The scope of the dependent field.
    pub(super) user_scope: Scope,
    /// The names from the root of the scope to the dependent field.
    pub(super) user: Vec<String>,
}

impl Demanded<'_> {
    pub(super) fn location_text(&self) -> String {
        location_text(self.location)
    }
}

impl Demand<'_> {
    /// Returns the ranges of an option: its own, or those of its label in the selector's
    /// enumeration for a hand-made CTF 1.8 schema.
    fn option_ranges<'b>(option: &'b VariantOption, class: &'b FieldClass) -> &'b [(i128, i128)] {
        if !option.ranges.is_empty() {
            return &option.ranges;
        }
        let label = option.label.as_ref().or(option.name.as_ref());
        let mappings = class.mappings().unwrap_or_default();
        mappings.iter().find(|m| Some(&m.label) == label).map_or(&[], |m| &m.ranges)
    }

    /// Returns `true` if a number satisfies the demand.
    pub(super) fn allows(&self, number: i128, class: &FieldClass) -> bool {
        match self {
            Demand::Length(n) => i128::from(*n) == number,
            Demand::Bool(b) => *b == (number != 0),
            Demand::In(ranges) => holds(ranges, number),
            Demand::NotIn(ranges) => !holds(ranges, number),
            Demand::Option(option) => holds(Self::option_ranges(option, class), number),
        }
    }

    /// Returns a number that satisfies the demand.
    pub(super) fn choose(&self, class: &FieldClass) -> Option<i128> {
        match self {
            Demand::Length(n) => Some((*n).into()),
            Demand::Bool(b) => Some((*b).into()),
            Demand::In(ranges) => ranges.first().map(|r| r.0),
            Demand::Option(option) => Self::option_ranges(option, class).first().map(|r| r.0),
            Demand::NotIn(ranges) => {
                let (low, high) = match &class.kind {
                    FieldKind::Integer(f, i) => range_of(i.signed, f.bits),
                    FieldKind::VarInteger(i) => range_of(i.signed, 64),
                    _ => (0, 1),
                };
                let neighbours = ranges.iter().flat_map(|&(first, last)| [first - 1, last + 1]);
                let mut candidates = std::iter::once(0).chain(neighbours);
                candidates.find(|&n| (low..=high).contains(&n) && !holds(ranges, n))
            }
        }
    }
}

impl fmt::Display for Demand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Demand::Length(n) => write!(f, "{n}"),
            Demand::Bool(b) => write!(f, "{b}"),
            Demand::In(ranges) => write!(f, "one of {ranges:?}"),
            Demand::NotIn(ranges) => write!(f, "none of {ranges:?}"),
            Demand::Option(option) => {
                write!(f, "the selector of option {:?}", option.name.as_deref().unwrap_or(""))
            }
        }
    }
}

fn holds(ranges: &[(i128, i128)], number: i128) -> bool {
    ranges.iter().any(|&(first, last)| (first..=last).contains(&number))
}

fn location_text(location: &Dependency) -> String {
    let origin = match location.origin {
        LocationOrigin::Scope(scope) => Some(scope.ctf2_name()),
        LocationOrigin::Parent | LocationOrigin::Enclosing => None,
    };
    let steps = location.path.iter().map(|step| match step {
        PathStep::Name(name) => &**name,
        PathStep::Parent => "<parent>",
    });
    origin.into_iter().chain(steps).collect::<Vec<_>>().join(".")
}

/// Finds all demands of one scope, in decoding order.
pub(super) fn demands_of<'a>(
    classes: &'a Classes,
    values: &[FieldValue; 6],
    scope: Scope,
) -> Result<Vec<Demanded<'a>>, LocatedProblem> {
    let mut walk = Walk { classes, values, scope, path: vec![], frames: vec![], found: vec![] };
    if let Some(class) = &classes[scope as usize] {
        walk.field(class, &values[scope as usize])?;
    }
    Ok(walk.found)
}

struct Walk<'a, 'v> {
    classes: &'a Classes,
    values: &'v [FieldValue; 6],
    scope: Scope,
    /// The indices of the parts from the root to the current field.
    path: Vec<usize>,
    /// The structures around the current field.
    frames: Vec<Frame<'a>>,
    found: Vec<Demanded<'a>>,
}

/// A structure around the current field.
struct Frame<'a> {
    class: &'a Struct,
    /// The index of the member that contains the current field.
    member: usize,
    /// The length of the path to the structure.
    depth: usize,
}

impl<'a> Walk<'a, '_> {
    fn field(&mut self, class: &'a FieldClass, value: &FieldValue) -> Result<(), LocatedProblem> {
        match (&class.kind, value) {
            (FieldKind::Struct(s), FieldValue::Struct(values)) => {
                for (i, (member, value)) in s.members.iter().zip(values).enumerate() {
                    self.frames.push(Frame { class: s, member: i, depth: self.path.len() });
                    let done = self.part(i, &member.class, value);
                    self.frames.pop();
                    done.map_err(|e| e.within(&member.name))?;
                }
            }
            (FieldKind::Array(a), FieldValue::Array(elements)) => {
                self.length(&a.length, elements.len())?;
                for (i, element) in elements.iter().enumerate() {
                    self.part(i, &a.element, element).map_err(|e| e.at(i))?;
                }
            }
            (FieldKind::Blob(b), FieldValue::Bytes(bytes)) => {
                self.length(&b.length, bytes.len())?
            }
            (FieldKind::String(s), value) => {
                if let Some(length) = &s.length {
                    self.length(length, encoded(s.encoding, value).len())?;
                }
            }
            (FieldKind::Option(o), FieldValue::Option(content)) => {
                let present = content.is_some();
                let demand = match &o.present {
                    Selector::Bool => Demand::Bool(present),
                    Selector::Ranges(ranges) if present => Demand::In(ranges),
                    Selector::Ranges(ranges) => Demand::NotIn(ranges),
                };
                self.demand(&o.selector, demand)?;
                if let Some(content) = content {
                    self.part(0, &o.class, content)?;
                }
            }
            (FieldKind::Variant(v), FieldValue::Variant { option, value }) => {
                let chosen = v.options.get(*option).ok_or(Problem::NoOption(*option))?;
                self.demand(&v.selector, Demand::Option(chosen))?;
                self.part(0, &chosen.class, value)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn part(
        &mut self,
        index: usize,
        class: &'a FieldClass,
        value: &FieldValue,
    ) -> Result<(), LocatedProblem> {
        self.path.push(index);
        let done = self.field(class, value);
        self.path.pop();
        done
    }

    fn length(&mut self, length: &'a Length, found: usize) -> Result<(), LocatedProblem> {
        match length {
            Length::Static(_) => Ok(()),
            Length::Dynamic(location) => self.demand(location, Demand::Length(found as u64)),
        }
    }

    fn demand(
        &mut self,
        location: &'a Dependency,
        demand: Demand<'a>,
    ) -> Result<(), LocatedProblem> {
        let located = self.locate(location);
        let unresolved = || Problem::Unresolved(location_text(location));
        let (scope, path, class) = located.ok_or_else(unresolved)?;
        let user = self.frames.iter().map(|f| f.class.members[f.member].name.to_string());
        let user = user.collect();
        let user_scope = self.scope;
        self.found.push(Demanded { demand, scope, path, class, location, user_scope, user });
        Ok(())
    }

    /// Finds the field at a location, seen from the current field.
    fn locate(&self, location: &Dependency) -> Option<(Scope, Vec<usize>, &'a FieldClass)> {
        // A step up cancels the previous step down. The remaining steps up start at
        // the structure around the field.
        let mut names: Vec<&str> = Vec::new();
        let mut ups = 0;
        for step in &location.path {
            match step {
                PathStep::Name(name) => names.push(name),
                PathStep::Parent if names.pop().is_none() => ups += 1,
                PathStep::Parent => {}
            }
        }
        match location.origin {
            LocationOrigin::Scope(scope) => {
                let root = self.classes[scope as usize].as_deref()?;
                let FieldKind::Struct(root) = &root.kind else { return None };
                self.follow(scope, Vec::new(), root, &names)
            }
            LocationOrigin::Parent => {
                let frame = self.frames.iter().rev().nth(ups)?;
                self.follow(self.scope, self.path[..frame.depth].to_vec(), frame.class, &names)
            }
            LocationOrigin::Enclosing => {
                let first = names.first()?;
                let before =
                    |f: &&Frame<'_>| f.class.members[..f.member].iter().any(|m| &*m.name == *first);
                let frame = self.frames.iter().rev().find(before)?;
                self.follow(self.scope, self.path[..frame.depth].to_vec(), frame.class, &names)
            }
        }
    }

    /// Follows member names down from a structure. On the way, enters the current element
    /// of arrays, the content of option fields and the selected option of variants.
    fn follow(
        &self,
        scope: Scope,
        mut path: Vec<usize>,
        mut within: &'a Struct,
        names: &[&str],
    ) -> Option<(Scope, Vec<usize>, &'a FieldClass)> {
        let mut names = names.iter().peekable();
        loop {
            let name = names.next()?;
            let index = within.members.iter().position(|m| &*m.name == *name)?;
            path.push(index);
            let mut class = &*within.members[index].class;
            within = loop {
                match &class.kind {
                    FieldKind::Struct(inner) => break inner,
                    FieldKind::Array(a) => {
                        path.push(self.element_on_the_way(scope, &path)?);
                        class = &a.element;
                    }
                    FieldKind::Option(o) => {
                        path.push(0);
                        class = &o.class;
                    }
                    FieldKind::Variant(v) => {
                        let FieldValue::Variant { option, .. } = self.value_at(scope, &path)?
                        else {
                            return None;
                        };
                        let chosen = v.options.get(*option)?;
                        // TSDL paths name the option, CTF 2 paths do not.
                        names.next_if(|n| Some(**n) == chosen.name.as_deref());
                        path.push(0);
                        class = &chosen.class;
                    }
                    _ if names.peek().is_none() => return Some((scope, path, class)),
                    _ => return None,
                }
            };
        }
    }

    /// Returns the index of the current element of the array at `path`: the element
    /// around the current field, or else the last one.
    fn element_on_the_way(&self, scope: Scope, path: &[usize]) -> Option<usize> {
        if scope == self.scope && self.path.starts_with(path) && self.path.len() > path.len() {
            return Some(self.path[path.len()]);
        }
        match self.value_at(scope, path)? {
            FieldValue::Array(elements) => elements.len().checked_sub(1),
            _ => None,
        }
    }

    fn value_at(&self, scope: Scope, path: &[usize]) -> Option<&FieldValue> {
        path.iter().try_fold(&self.values[scope as usize], |value, &i| value.part(i))
    }
}
