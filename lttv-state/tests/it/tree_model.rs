//! The attribute tree, compared with a set of paths.

use std::collections::{BTreeMap, BTreeSet};

use lttv_state::tree::{Quark, Tree, TreeError};
use proptest::prelude::*;

#[test]
fn absolute_paths_are_resolved_from_the_root_with_any_attribute() {
    let mut tree = Tree::new();
    let status = tree.add(Quark::ROOT, "/CPUs/0/Status").unwrap();
    let one = tree.add(status, "/CPUs/1").unwrap();
    assert_eq!(tree.path(one), "CPUs/1");
    assert_eq!(tree.add(one, "CPUs/1").map(|quark| tree.path(quark)).unwrap(), "CPUs/1/CPUs/1");
    assert_eq!(tree.find(one, "/CPUs/0/Status"), Ok(Some(status)));
    assert_eq!(tree.find(one, "CPUs/0/Status"), Ok(None));
    assert_eq!(tree.find(one, "/"), Ok(Some(Quark::ROOT)));
    assert_eq!(tree.find(one, ""), Ok(Some(one)));
    assert_eq!(tree.matching(one, "/*/*").unwrap().len(), 2);
    assert_eq!(tree.matching(one, "/**/Status"), Ok(vec![status]));
    // A slash in a name is not that of an absolute path.
    let slash = tree.add_child(one, "/CPUs").unwrap();
    assert_eq!(tree.find(one, r"\/CPUs"), Ok(Some(slash)));
    assert_eq!(tree.find(Quark::ROOT, &tree.path(slash)), Ok(Some(slash)));
    let unknown = Quark::from_index(99);
    assert_eq!(tree.find(unknown, "/CPUs"), Err(TreeError::UnknownQuark(unknown)));
    let error = TreeError::EmptyName { path: "//CPUs".to_owned(), offset: 1 };
    assert_eq!(tree.find(one, "//CPUs"), Err(error));
}

#[derive(Debug, Clone)]
enum Op {
    /// Adds a path below an attribute. An absolute path starts with a slash.
    Add(prop::sample::Index, String),
    AddChild(prop::sample::Index, String),
    Remove(prop::sample::Index),
    RemoveAll,
}

fn op() -> impl Strategy<Value = Op> {
    let path = || "/?[ab](/[ab]){0,2}";
    prop_oneof![
        8 => (any::<prop::sample::Index>(), path()).prop_map(|(base, path)| Op::Add(base, path)),
        4 => (any::<prop::sample::Index>(), "[ab/]").prop_map(|(at, name)| Op::AddChild(at, name)),
        4 => any::<prop::sample::Index>().prop_map(Op::Remove),
        1 => Just(Op::RemoveAll),
    ]
}

/// The names from the root to an attribute.
type Names = Vec<String>;

#[derive(Debug, Default)]
struct Model {
    existing: BTreeSet<Names>,
    /// The quark of each path, also if it is removed.
    quarks: BTreeMap<Names, Quark>,
    /// All paths in the order in which they were first added.
    order: Vec<Names>,
}

impl Model {
    fn add(&mut self, names: &[String]) {
        for len in 1..=names.len() {
            let part = &names[..len];
            self.existing.insert(part.to_vec());
            if !self.quarks.contains_key(part) {
                self.quarks.insert(part.to_vec(), Quark::from_index(self.order.len() as u32));
                self.order.push(part.to_vec());
            }
        }
    }

    fn remove(&mut self, names: &[String]) -> usize {
        let before = self.existing.len();
        self.existing.retain(|other| !other.starts_with(names));
        before - self.existing.len()
    }

    fn quark(&self, names: &[String]) -> Quark {
        self.quarks.get(names).copied().unwrap_or(Quark::ROOT)
    }

    fn below(&self, names: &[String]) -> Vec<&Names> {
        let below = |other: &&Names| {
            self.existing.contains(*other) && other.starts_with(names) && other.len() > names.len()
        };
        self.order.iter().filter(below).collect()
    }
}

fn text(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| name.replace('/', r"\/")).collect();
    names.join("/")
}

fn check(tree: &Tree, model: &Model) -> Result<(), TestCaseError> {
    prop_assert_eq!((tree.len(), tree.index_limit()), (model.existing.len(), model.order.len()));
    prop_assert_eq!(tree.is_empty(), model.existing.is_empty());
    let expected: Vec<Quark> = model.below(&[]).iter().map(|names| model.quark(names)).collect();
    prop_assert_eq!(&tree.quarks().collect::<Vec<_>>(), &expected);
    let mut back: Vec<Quark> = tree.quarks().rev().collect();
    back.reverse();
    prop_assert_eq!(&back, &expected);
    prop_assert_eq!(&tree.matching(Quark::ROOT, "**").unwrap(), &expected);

    let root = (&Names::new(), &Quark::ROOT);
    for (names, quark) in model.quarks.iter().chain([root]) {
        let exists = names.is_empty() || model.existing.contains(names);
        let found = exists.then_some(*quark);
        prop_assert_eq!(tree.find(Quark::ROOT, &text(names)), Ok(found));
        prop_assert_eq!(tree.contains(*quark), exists && !names.is_empty());
        let named = tree.name(*quark).map(str::to_owned);
        prop_assert_eq!(named, names.last().cloned().filter(|_| exists));
        let parent = names.split_last().map(|(_, parent)| model.quark(parent));
        prop_assert_eq!(tree.parent(*quark), parent.filter(|_| exists));
        prop_assert_eq!(tree.path(*quark), if exists { text(names) } else { String::new() });
        if let Some((name, parent)) = names.split_last() {
            prop_assert_eq!(tree.child(model.quark(parent), name), found);
        }
        let below = if exists { model.below(names) } else { Vec::new() };
        let children = below.iter().filter(|other| other.len() == names.len() + 1);
        let children: Vec<_> = children.map(|names| model.quark(names)).collect();
        prop_assert_eq!(tree.children(*quark).len(), children.len());
        prop_assert_eq!(tree.children(*quark).collect::<Vec<_>>(), children);
        let mut descendants: Vec<_> = tree.descendants(*quark).collect();
        prop_assert!(descendants.iter().all(|at| tree.parent(*at).is_some()));
        descendants.sort();
        prop_assert_eq!(descendants, below.iter().map(|n| model.quark(n)).collect::<Vec<_>>());
        if exists {
            for (other, quark) in &model.quarks {
                let absolute = format!("/{}", text(other));
                let found = Some(*quark).filter(|_| model.existing.contains(other));
                prop_assert_eq!(tree.find(model.quark(names), &absolute), Ok(found));
            }
        } else {
            let error = TreeError::UnknownQuark(*quark);
            prop_assert_eq!(tree.find(*quark, "a"), Err(error.clone()));
            prop_assert_eq!(tree.matching(*quark, "**"), Err(error));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn removed_attributes_are_gone_until_their_names_are_added_again(
        ops in prop::collection::vec(op(), 0..40),
    ) {
        let mut tree = Tree::new();
        let mut model = Model::default();
        for op in ops {
            // An attribute so far, removed or not, or the root.
            let pick = |index: prop::sample::Index, model: &Model| {
                let at = index.index(model.order.len() + 1);
                model.order.get(at).cloned().unwrap_or_default()
            };
            match op {
                Op::Add(base, path) => {
                    let base = pick(base, &model);
                    let quark = model.quark(&base);
                    if !base.is_empty() && !model.existing.contains(&base) {
                        prop_assert_eq!(tree.add(quark, &path), Err(TreeError::UnknownQuark(quark)));
                        continue;
                    }
                    let mut names = if path.starts_with('/') { Names::new() } else { base };
                    names.extend(path.trim_start_matches('/').split('/').map(str::to_owned));
                    model.add(&names);
                    prop_assert_eq!(tree.add(quark, &path), Ok(model.quark(&names)));
                }
                Op::AddChild(at, name) => {
                    let mut names = pick(at, &model);
                    let quark = model.quark(&names);
                    if !names.is_empty() && !model.existing.contains(&names) {
                        let error = Err(TreeError::UnknownQuark(quark));
                        prop_assert_eq!(tree.add_child(quark, &name), error);
                        continue;
                    }
                    names.push(name.clone());
                    model.add(&names);
                    prop_assert_eq!(tree.add_child(quark, &name), Ok(model.quark(&names)));
                }
                Op::Remove(at) => {
                    let names = pick(at, &model);
                    let quark = model.quark(&names);
                    let removed = match model.existing.contains(&names) || names.is_empty() {
                        true => Ok(model.remove(&names)),
                        false => Err(TreeError::UnknownQuark(quark)),
                    };
                    prop_assert_eq!(tree.remove(quark), removed);
                }
                Op::RemoveAll => {
                    let all = model.remove(&[]);
                    prop_assert_eq!(tree.remove(Quark::ROOT), Ok(all));
                }
            }
            check(&tree, &model)?;
        }
    }
}
