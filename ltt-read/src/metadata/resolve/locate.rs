//! Following of locations from dependent fields to their targets.

use hashbrown::HashMap;

use super::needs::{Use, kind};
use super::{Place, scope_name};
use crate::metadata::nearest::nearest;
use crate::metadata::{Diagnostic, Span, limits};
use crate::schema::{
    Dependency, FieldClass, FieldKind, Format, LocationOrigin, Member, PathStep, Scope, Struct,
};

/// A class around the dependent field, with the index of the child that contains the
/// field.
#[derive(Clone, Copy)]
pub(super) struct Frame<'s> {
    pub(super) class: &'s FieldClass,
    pub(super) child: u32,
}

/// The position of the dependent field.
#[derive(Default)]
pub(super) struct Site<'s> {
    /// The root classes, in decoding order.
    pub(super) roots: [Option<&'s FieldClass>; 6],
    /// The root that contains the dependent field.
    pub(super) scope: Scope,
    /// The classes around the dependent field, from the root inwards.
    pub(super) frames: Vec<Frame<'s>>,
}

/// The fields that a location names. Several fields are in different options of a
/// variant, so that only one of them is decoded.
pub(super) struct Found<'s> {
    pub(super) scope: Scope,
    pub(super) targets: Vec<(Place, &'s FieldClass)>,
}

/// A resolver of locations, with a budget of steps for the whole schema.
pub(super) struct Locator<'s> {
    format: Format,
    budget: usize,
    indexes: HashMap<usize, HashMap<&'s str, u32>>,
}

/// The number of members from which a structure is searched by index.
const INDEX_FROM: usize = 16;

/// The steps that storing a place costs: it takes more memory than visiting takes time.
pub(super) const PLACE_COST: usize = 16;

/// A walk along a path.
struct Walk<'s, 'a> {
    frames: &'a [Frame<'s>],
    place: Place,
    targets: Vec<(Place, &'s FieldClass)>,
}

impl<'s> Locator<'s> {
    pub(super) fn new(format: Format) -> Self {
        Locator { format, budget: limits::NODES, indexes: HashMap::new() }
    }

    /// Takes steps from the budget, or returns an error if the budget is used up.
    pub(super) fn spend(&mut self, steps: usize, span: Span) -> Result<(), Diagnostic> {
        if self.try_spend(steps) {
            return Ok(());
        }
        let message = format!("the classes of all fields have more than {} parts", limits::NODES);
        Err(Diagnostic::error(span, message))
    }

    /// Takes steps from the budget. Returns `false` if the budget is used up.
    pub(super) fn try_spend(&mut self, steps: usize) -> bool {
        self.budget = self.budget.saturating_sub(steps);
        self.budget > 0
    }

    /// Finds the fields that a location names.
    pub(super) fn locate(
        &mut self,
        site: &Site<'s>,
        dependency: &Dependency,
        needed: Use<'_>,
    ) -> Result<Found<'s>, String> {
        let (ups, names) = normalise(&dependency.path);
        if names.is_empty() {
            return Err("does not end with the name of a field".into());
        }
        let mut walk = Walk { frames: &site.frames, place: Place::new(), targets: Vec::new() };
        let scope = match dependency.origin {
            LocationOrigin::Scope(scope) => scope,
            LocationOrigin::Parent | LocationOrigin::Enclosing => site.scope,
        };
        // The depth of the first frame, if it is around the dependent field.
        let (start, depth) = match dependency.origin {
            LocationOrigin::Scope(_) if ups > 0 => {
                return Err("leads out of its root structure".into());
            }
            LocationOrigin::Scope(scope) => {
                let name = scope_name(scope, self.format);
                if scope > site.scope {
                    let here = scope_name(site.scope, self.format);
                    return Err(format!("`{name}` is decoded after `{here}`, where it is needed"));
                }
                let Some(root) = site.roots[scope as usize] else {
                    return Err(format!("there is no `{name}` here"));
                };
                (root, (scope == site.scope).then_some(0))
            }
            LocationOrigin::Parent => {
                let mut structs = structs_outwards(&site.frames).skip(ups);
                let Some((depth, frame)) = structs.next() else {
                    return Err("leads out of the root structure".into());
                };
                (frame.class, Some(depth))
            }
            LocationOrigin::Enclosing => {
                let (depth, frame) = self.enclosing(site, names[0])?;
                (frame.class, Some(depth))
            }
        };
        if let Some(depth) = depth {
            walk.place.extend(site.frames[..depth].iter().map(|f| f.child));
        }
        self.follow(&mut walk, start, depth, &names)?;
        if walk.targets.is_empty() {
            let what = needed.what();
            return Err(format!("leads to a variant without options, so there is no {what}"));
        }
        Ok(Found { scope, targets: walk.targets })
    }

    /// Finds the innermost enclosing structure with a member of this name before the
    /// member that contains the dependent field.
    fn enclosing(&mut self, site: &Site<'s>, name: &str) -> Result<(usize, Frame<'s>), String> {
        let mut later = false;
        for (depth, frame) in structs_outwards(&site.frames) {
            let FieldKind::Struct(s) = &frame.class.kind else { continue };
            match self.find(s, name) {
                Some(i) if i < frame.child => return Ok((depth, frame)),
                Some(_) => later = true,
                None => {}
            }
        }
        if later {
            return Err(format!("`{name}` is not decoded before the dependent field"));
        }
        let before = structs_outwards(&site.frames)
            .flat_map(|(_, f)| &f.class.members()[..f.child as usize])
            .take(MAX_LISTED * 4);
        Err(format!("no enclosing structure has a member `{name}` before this field{}", {
            list_members(name, before, "before it")
        }))
    }

    /// Follows the remaining names of a path from `class`. `depth` is the index of
    /// `class` among the frames if it is around the dependent field.
    fn follow(
        &mut self,
        walk: &mut Walk<'s, '_>,
        class: &'s FieldClass,
        depth: Option<usize>,
        names: &[&str],
    ) -> Result<(), String> {
        if !self.try_spend(1) {
            return Err("too many candidate fields".into());
        }
        let here = depth.and_then(|d| walk.frames.get(d));
        if depth.is_some() && here.is_none() {
            return Err("leads to the dependent field itself".into());
        }
        let inner = depth.map(|d| d + 1);
        match &class.kind {
            FieldKind::Struct(s) => {
                let Some((name, rest)) = names.split_first() else {
                    return Err("leads to a structure".into());
                };
                let Some(index) = self.find(s, name) else {
                    let list = list_members(name, &s.members, "there");
                    return Err(format!("there is no member `{name}`{list}"));
                };
                let inner = match here {
                    Some(frame) if index > frame.child => {
                        return Err(format!("`{name}` is decoded after the dependent field"));
                    }
                    Some(frame) if index == frame.child => inner,
                    _ => None,
                };
                self.enter(walk, index, &s.members[index as usize].class, inner, rest)
            }
            FieldKind::Array(a) => match here {
                Some(_) => self.enter(walk, 0, &a.element, inner, names),
                None if names.is_empty() => Err("leads to an array".into()),
                None => Err("leads into an array that does not hold the dependent field".into()),
            },
            FieldKind::Option(o) => match here {
                Some(_) => self.enter(walk, 0, &o.class, inner, names),
                None => Err("leads to an optional field, which may be absent".into()),
            },
            FieldKind::Variant(v) => match here {
                Some(frame) => {
                    let option = &v.options[frame.child as usize];
                    // CTF 1.8 producers may include the name of the option in the
                    // path.
                    let named = option.label.is_some()
                        && names.first().is_some_and(|&n| option.name.as_deref() == Some(n))
                        && names.first().is_some_and(|n| !self.has_member(&option.class, n));
                    let rest = &names[usize::from(named)..];
                    self.enter(walk, frame.child, &option.class, inner, rest)
                }
                None => {
                    for (i, option) in v.options.iter().enumerate() {
                        self.enter(walk, i as u32, &option.class, None, names).map_err(|e| {
                            match &option.name {
                                Some(name) => format!("in variant option `{name}`: {e}"),
                                None => format!("in variant option {i}: {e}"),
                            }
                        })?;
                    }
                    Ok(())
                }
            },
            _ => match names.first() {
                Some(name) => Err(format!("there is no `{name}` inside {}", kind(class))),
                None => {
                    walk.targets.push((walk.place.clone(), class));
                    self.try_spend(PLACE_COST);
                    Ok(())
                }
            },
        }
    }

    fn enter(
        &mut self,
        walk: &mut Walk<'s, '_>,
        index: u32,
        class: &'s FieldClass,
        depth: Option<usize>,
        names: &[&str],
    ) -> Result<(), String> {
        // Hand-built schemas may be deeper than any class visited so far.
        if walk.place.len() >= limits::DEPTH {
            return Err(format!("leads more than {} levels deep", limits::DEPTH));
        }
        walk.place.push(index);
        self.follow(walk, class, depth, names)?;
        walk.place.pop();
        Ok(())
    }

    fn has_member(&mut self, class: &'s FieldClass, name: &str) -> bool {
        matches!(&class.kind, FieldKind::Struct(s) if self.find(s, name).is_some())
    }

    /// Returns the index of a member; in constant time for large structures.
    fn find(&mut self, s: &'s Struct, name: &str) -> Option<u32> {
        if s.members.len() < INDEX_FROM {
            return s.members.iter().position(|m| &*m.name == name).map(|i| i as u32);
        }
        // The schema is borrowed for the lifetime of the index, so an address
        // identifies a structure.
        let index = self.indexes.entry(s as *const Struct as usize).or_insert_with(|| {
            s.members.iter().enumerate().rev().map(|(i, m)| (&*m.name, i as u32)).collect()
        });
        index.get(name).copied()
    }

    /// Prints a location in the notation of the format.
    pub(super) fn show(&self, dependency: &Dependency) -> String {
        let scope = match dependency.origin {
            LocationOrigin::Scope(scope) => Some(scope_name(scope, self.format)),
            LocationOrigin::Parent | LocationOrigin::Enclosing => None,
        };
        let names = dependency.path.iter().map(|step| match step {
            PathStep::Name(name) => &**name,
            PathStep::Parent => "null",
        });
        match self.format {
            Format::Ctf1 | Format::Legacy | Format::Ftrace | Format::Perf => {
                format!("`{}`", scope.into_iter().chain(names).collect::<Vec<_>>().join("."))
            }
            Format::Ctf2 => {
                let quoted = names.map(|n| match n {
                    "null" => n.to_owned(),
                    _ => format!("{n:?}"),
                });
                let path = quoted.collect::<Vec<_>>().join(", ");
                match scope {
                    Some(scope) => format!("`[{path}]` of `{scope}`"),
                    None => format!("`[{path}]`"),
                }
            }
        }
    }
}

/// Iterates over the structures among the frames, innermost first.
fn structs_outwards<'s>(frames: &[Frame<'s>]) -> impl Iterator<Item = (usize, Frame<'s>)> {
    let is_struct = |f: &Frame<'s>| matches!(f.class.kind, FieldKind::Struct(_));
    frames.iter().copied().enumerate().rev().filter(move |(_, f)| is_struct(f))
}

/// Normalizes a path: every step up cancels the previous name. Returns the number of
/// remaining steps up, and the names after them.
fn normalise(path: &[PathStep]) -> (usize, Vec<&str>) {
    let mut ups = 0;
    let mut names = Vec::with_capacity(path.len());
    for step in path {
        match step {
            PathStep::Name(name) => names.push(&**name),
            PathStep::Parent => {
                if names.pop().is_none() {
                    ups += 1;
                }
            }
        }
    }
    (ups, names)
}

/// The maximum number of names in a message.
const MAX_LISTED: usize = 8;

/// Describes possible members: "; did you mean …?" or " (members there: …)".
fn list_members<'s>(
    wanted: &str,
    members: impl IntoIterator<Item = &'s Member>,
    where_: &str,
) -> String {
    let names: Vec<&str> = members.into_iter().map(|m| &*m.name).take(1000).collect();
    if names.is_empty() {
        return format!(" (there are no members {where_})");
    }
    if let Some(name) = nearest(wanted, names.iter().copied()) {
        return format!("; did you mean `{name}`?");
    }
    let shown: Vec<String> = names.iter().take(MAX_LISTED).map(|n| format!("`{n}`")).collect();
    let more = if names.len() > MAX_LISTED { ", …" } else { "" };
    format!(" (members {where_}: {}{more})", shown.join(", "))
}
