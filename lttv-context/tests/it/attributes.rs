//! The tree of attributes, compared with a naive map from paths to values.

use std::collections::BTreeMap;
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_context::attributes::{
    AttributeError, AttributeId, AttributeType, AttributeValue, Attributes, Kind, MergeRule, Name,
    Path, Paths, Text,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A name that owns its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Text(String),
    Index(u64),
}

impl Key {
    fn name(&self) -> Name<'_> {
        match self {
            Key::Text(text) => Name::Text(text),
            Key::Index(index) => Name::Index(*index),
        }
    }
}

type Keys = Vec<Key>;

fn path_of(keys: &[Key]) -> Path {
    keys.iter().map(Key::name).collect()
}

/// The content of an attribute: `None` for a tree.
type Content = Option<AttributeValue<'static>>;

fn kind_of(content: &Content) -> Kind {
    content.as_ref().map_or(Kind::Tree, AttributeValue::kind)
}

/// The model of the tree: contents by path, with the number of the step that created them.
#[derive(Debug, Clone, Default)]
struct Model {
    nodes: BTreeMap<Keys, (usize, Content)>,
    made: usize,
}

impl Model {
    fn kind(&self, keys: &[Key]) -> Option<Kind> {
        if keys.is_empty() {
            return Some(Kind::Tree);
        }
        self.nodes.get(keys).map(|(_, content)| kind_of(content))
    }

    /// Finds or creates an attribute. Returns `false` if an attribute of another kind prevents
    /// this.
    fn make(&mut self, keys: &[Key], content: Content) -> bool {
        for length in 1..keys.len() {
            match self.kind(&keys[..length]) {
                None => self.add(&keys[..length], None),
                Some(Kind::Tree) => {}
                Some(_) => return false,
            }
        }
        match self.kind(keys) {
            None => self.add(keys, content),
            Some(kind) => return kind == kind_of(&content),
        }
        true
    }

    fn add(&mut self, keys: &[Key], content: Content) {
        self.made += 1;
        self.nodes.insert(keys.to_vec(), (self.made, content));
    }

    fn set(&mut self, keys: &[Key], value: &AttributeValue<'static>) -> bool {
        let done = self.make(keys, Some(value.clone()));
        if done {
            self.nodes.get_mut(keys).unwrap().1 = Some(value.clone());
        }
        done
    }

    fn remove(&mut self, keys: &[Key]) -> bool {
        let before = self.nodes.len();
        self.nodes.retain(|path, _| keys.is_empty() || !path.starts_with(keys));
        self.nodes.len() < before
    }

    /// Lists everything below an attribute, a tree before its contents, siblings in the order of
    /// their creation.
    fn below(&self, keys: &[Key]) -> Vec<Keys> {
        let is_child = |path: &Keys| path.len() == keys.len() + 1 && path.starts_with(keys);
        let mut children: Vec<_> = self.nodes.iter().filter(|(path, _)| is_child(path)).collect();
        children.sort_by_key(|(_, (made, _))| *made);
        let with_below = |(path, _): (&Keys, _)| [vec![path.clone()], self.below(path)].concat();
        children.into_iter().flat_map(with_below).collect()
    }

    fn merge(&mut self, other: &Model, rule: MergeRule) -> bool {
        let mut result = self.clone();
        for keys in other.below(&[]) {
            let new = &other.nodes[&keys].1;
            let old = result.nodes.get(&keys).map(|(_, content)| content.clone());
            let merged = match (old, new) {
                (None, new) => {
                    result.add(&keys, new.clone());
                    continue;
                }
                (Some(old), new) if kind_of(&old) != kind_of(new) => return false,
                (Some(None), _) | (_, None) => continue,
                (Some(Some(old)), Some(new)) => match (rule, old, new) {
                    (MergeRule::Replace, _, new) => Some(new.clone()),
                    (MergeRule::Keep, old, _) => Some(old),
                    (MergeRule::Sum, AttributeValue::Int(a), AttributeValue::Int(b)) => {
                        a.checked_add(*b).map(AttributeValue::Int)
                    }
                    (MergeRule::Sum, AttributeValue::UInt(a), AttributeValue::UInt(b)) => {
                        a.checked_add(*b).map(AttributeValue::UInt)
                    }
                    (MergeRule::Sum, AttributeValue::Float(a), AttributeValue::Float(b)) => {
                        Some(AttributeValue::Float(a + b))
                    }
                    (MergeRule::Sum, AttributeValue::Duration(a), AttributeValue::Duration(b)) => {
                        a.checked_add(*b).map(AttributeValue::Duration)
                    }
                    (MergeRule::Sum, old, _) => Some(old),
                },
            };
            let Some(merged) = merged else { return false };
            result.nodes.get_mut(&keys).unwrap().1 = Some(merged);
        }
        *self = result;
        true
    }
}

fn key() -> impl Strategy<Value = Key> {
    // Few names, so that paths overlap. Some need escapes, and some are texts that look like
    // numbers next to numbers.
    prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "0", "1"]).prop_map(|s| Key::Text(s.to_owned())),
        4 => (0..3_u64).prop_map(Key::Index),
        1 => prop::sample::select(vec!["", "*", "**", "[1]", "a/b", "\\", "\"\"", "\n", "é"])
            .prop_map(|s| Key::Text(s.to_owned())),
    ]
}

fn keys() -> impl Strategy<Value = Keys> {
    vec(key(), 0..5)
}

fn value() -> impl Strategy<Value = AttributeValue<'static>> {
    let near_the_end = |max: u64| prop_oneof![0..10_u64, max - 5..=max];
    prop_oneof![
        any::<bool>().prop_map(AttributeValue::Bool),
        near_the_end(i64::MAX as u64).prop_map(|n| AttributeValue::Int(n as i64)),
        near_the_end(u64::MAX).prop_map(AttributeValue::UInt),
        (-1e6..1e6).prop_map(AttributeValue::Float),
        any::<i64>().prop_map(|ns| AttributeValue::Time(Timestamp::from_ns(ns))),
        near_the_end(u64::MAX).prop_map(|s| AttributeValue::Duration(Duration::from_secs(s))),
        "[a-c]{0,2}".prop_map(AttributeValue::from),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Subtree(Keys),
    Entry(Keys, Kind),
    Set(Keys, AttributeValue<'static>),
    Remove(Keys),
    Merge(Vec<(Keys, AttributeValue<'static>)>, MergeRule),
}

fn step() -> impl Strategy<Value = Step> {
    let rule = prop::sample::select(vec![MergeRule::Sum, MergeRule::Replace, MergeRule::Keep]);
    prop_oneof![
        3 => keys().prop_map(Step::Subtree),
        3 => (keys(), prop::sample::select(&Kind::ALL[..7])).prop_map(|(k, t)| Step::Entry(k, t)),
        6 => (keys(), value()).prop_map(|(k, v)| Step::Set(k, v)),
        1 => keys().prop_map(Step::Remove),
        1 => (vec((keys(), value()), 0..6), rule).prop_map(|(s, r)| Step::Merge(s, r)),
    ]
}

fn entry(tree: &mut Attributes, path: &str, kind: Kind) -> Result<AttributeId, AttributeError> {
    match kind {
        Kind::Bool => tree.entry_at::<bool>(path).map(|key| key.id()),
        Kind::Int => tree.entry_at::<i64>(path).map(|key| key.id()),
        Kind::UInt => tree.entry_at::<u64>(path).map(|key| key.id()),
        Kind::Float => tree.entry_at::<f64>(path).map(|key| key.id()),
        Kind::Time => tree.entry_at::<Timestamp>(path).map(|key| key.id()),
        Kind::Duration => tree.entry_at::<Duration>(path).map(|key| key.id()),
        Kind::Text => tree.entry_at::<Text>(path).map(|key| key.id()),
        Kind::Tree => tree.subtree_at(path),
    }
}

fn zero(kind: Kind) -> AttributeValue<'static> {
    match kind {
        Kind::Bool => false.into(),
        Kind::Int => 0_i64.into(),
        Kind::UInt => 0_u64.into(),
        Kind::Float => 0.0.into(),
        Kind::Time => Timestamp::from_ns(0).into(),
        Kind::Duration => Duration::ZERO.into(),
        Kind::Text => "".into(),
        Kind::Tree => unreachable!("no value"),
    }
}

fn all_below(tree: &Attributes, id: AttributeId) -> Vec<AttributeId> {
    tree.children(id).flat_map(|id| [vec![id], all_below(tree, id)].concat()).collect()
}

/// Applies a step to the tree and the model, which must agree on whether it succeeds.
fn apply(tree: &mut Attributes, model: &mut Model, step: &Step) -> Result<(), TestCaseError> {
    match step {
        Step::Subtree(keys) => {
            let done = tree.subtree_at(&path_of(keys).to_string());
            prop_assert_eq!(done.is_ok(), model.make(keys, None), "{:?}", done);
        }
        Step::Entry(keys, kind) => {
            let done = entry(tree, &path_of(keys).to_string(), *kind);
            prop_assert_eq!(done.is_ok(), model.make(keys, Some(zero(*kind))), "{:?}", done);
        }
        Step::Set(keys, value) => {
            let done = tree.set_at(&path_of(keys).to_string(), value.borrowed());
            prop_assert_eq!(done.is_ok(), model.set(keys, value), "{:?}", done);
        }
        Step::Remove(keys) => {
            let id = tree.find_path_from(AttributeId::ROOT, &path_of(keys));
            let done = id.is_some_and(|id| tree.remove(id));
            prop_assert_eq!(done, model.remove(keys));
        }
        Step::Merge(sets, rule) => {
            let (mut other, mut other_model) = (Attributes::new(), Model::default());
            for (keys, value) in sets {
                let set = Step::Set(keys.clone(), value.clone());
                apply(&mut other, &mut other_model, &set)?;
            }
            let before = tree.to_string();
            let done = tree.merge(AttributeId::ROOT, &other, *rule);
            prop_assert_eq!(done.is_ok(), model.merge(&other_model, *rule), "{:?}", done);
            if done.is_err() {
                prop_assert_eq!(tree.to_string(), before);
            }
        }
    }
    Ok(())
}

/// Compares all queries of the tree with the model.
fn check(tree: &Attributes, model: &Model) -> Result<(), TestCaseError> {
    let expected = model.below(&[]);
    prop_assert_eq!(tree.len(), expected.len());
    prop_assert_eq!(tree.is_empty(), expected.is_empty());
    let ids = all_below(tree, AttributeId::ROOT);
    prop_assert_eq!(ids.len(), expected.len());
    for (id, keys) in ids.into_iter().zip(&expected) {
        let (path, content) = (path_of(keys), &model.nodes[keys].1);
        prop_assert!(id.index() < tree.index_bound());
        prop_assert_eq!(tree.path(id), Some(path.clone()));
        prop_assert_eq!(tree.find_path(&path.to_string()), Ok(Some(id)));
        prop_assert_eq!(tree.name(id), keys.last().map(Key::name));
        prop_assert_eq!(tree.kind(id), Some(kind_of(content)));
        prop_assert_eq!(tree.value(id), content.as_ref());
        let parent = tree.parent(id).unwrap();
        prop_assert_eq!(tree.path(parent), Some(path_of(&keys[..keys.len() - 1])));
        prop_assert_eq!(tree.key::<u64>(id).is_some(), kind_of(content) == Kind::UInt);
        let backward: Vec<_> = tree.children(parent).rev().collect();
        let forward: Vec<_> = tree.children(parent).collect();
        prop_assert!(backward.iter().rev().eq(&forward));
    }
    let lines = expected.iter().filter_map(|keys| {
        let value = model.nodes[keys].1.as_ref()?;
        Some(format!("{}: {value}\n", path_of(keys)))
    });
    prop_assert_eq!(Paths(tree).to_string(), lines.collect::<String>());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn operations_match_a_map(steps in vec(step(), 0..60)) {
        let (mut tree, mut model) = (Attributes::new(), Model::default());
        for step in &steps {
            apply(&mut tree, &mut model, step)?;
            check(&tree, &model)?;
        }
    }

    /// A handle finds its attribute as long as it exists, and nothing afterwards.
    #[test]
    fn handles_stay_valid(steps in vec(step(), 0..60)) {
        let (mut tree, mut model) = (Attributes::new(), Model::default());
        let mut handles: BTreeMap<usize, (AttributeId, Keys)> = BTreeMap::new();
        for step in &steps {
            apply(&mut tree, &mut model, step)?;
            for (keys, (made, _)) in &model.nodes {
                let here = || tree.find_path_from(AttributeId::ROOT, &path_of(keys)).unwrap();
                handles.entry(*made).or_insert_with(|| (here(), keys.clone()));
            }
            let copy = tree.clone();
            for (made, (id, keys)) in &handles {
                let there = model.nodes.get(keys).is_some_and(|(at, _)| at == made);
                let path = there.then(|| path_of(keys));
                prop_assert_eq!(tree.path(*id), path.clone());
                prop_assert_eq!(copy.path(*id), path);
                prop_assert_eq!(tree.kind(*id).is_some(), there);
                if !there {
                    prop_assert!(tree.value(*id).is_none() && tree.key::<u64>(*id).is_none());
                    prop_assert!(tree.children(*id).next().is_none());
                    prop_assert!(tree.child(*id, "a").is_none());
                }
            }
        }
    }

    #[test]
    fn names_survive_paths(names in vec(any::<String>(), 0..5), index in any::<u64>()) {
        let names = names.iter().map(|name| Name::from(name.as_str())).chain([index.into()]);
        let path: Path = names.collect();
        let text = path.to_string();
        prop_assert!(!text.contains(|c: char| c.is_control()));
        prop_assert_eq!(text.parse::<Path>(), Ok(path));
    }

    #[test]
    fn any_text_is_a_path_or_an_error(text in r#"[a/\\*"\[\]0-9u{}é]{0,12}"#) {
        if let Ok(path) = text.parse::<Path>() {
            prop_assert_eq!(path.to_string().parse::<Path>(), Ok(path));
        }
    }
}

#[test]
fn errors_contain_the_path() {
    let mut tree = Attributes::new();
    tree.set_at("cpus/[0]/events", 1_u64).unwrap();
    let error = tree.entry_at::<i64>("cpus/[0]/events").unwrap_err();
    assert_eq!(error.to_string(), "attribute /cpus/[0]/events has kind uint, not int");
    let error = tree.entry_at::<i64>("cpus/[0]/events/sched").unwrap_err();
    assert_eq!(error.to_string(), "attribute /cpus/[0]/events has kind uint, not tree");

    let mut other = Attributes::new();
    other.set_at("[0]/new", true).unwrap();
    other.set_at("[0]/events", u64::MAX).unwrap();
    let cpus = tree.find_path("cpus").unwrap().unwrap();
    let error = tree.merge(cpus, &other, MergeRule::Sum).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sum of attribute /cpus/[0]/events exceeds the range of kind uint"
    );
    assert_eq!(tree.len(), 3, "nothing was merged");

    assert!(tree.remove(cpus));
    let error = tree.subtree(cpus, "more").unwrap_err();
    assert_eq!(error, AttributeError::Gone(cpus.index()));
    assert!(!tree.remove(AttributeId::ROOT));
}

#[test]
fn depth_is_bounded() {
    let mut tree = Attributes::new();
    let mut deepest = AttributeId::ROOT;
    let error = loop {
        match tree.subtree(deepest, "x") {
            Ok(next) => deepest = next,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, AttributeError::TooDeep { .. }), "{error}");
    assert_eq!(tree.len(), lttv_context::attributes::MAX_DEPTH);
    let mut other = Attributes::new();
    other.subtree_at("too/deep").unwrap();
    let above = tree.parent(deepest).unwrap();
    let error = tree.merge(above, &other, MergeRule::Sum).unwrap_err();
    assert!(matches!(error, AttributeError::TooDeep { .. }), "{error}");
}

/// A structure that contains itself, which is possible only in code.
struct Endless;

impl lttv_context::attributes::Browse for Endless {
    fn entries(
        &self,
        out: &mut lttv_context::attributes::Entries<'_>,
    ) -> std::ops::ControlFlow<()> {
        out.value("value", 1_u64)?;
        out.subtree("self", self)
    }
}

#[test]
fn recursive_structures_are_cut_off() {
    use lttv_context::attributes::Indented;
    assert!(Indented(&Endless).to_string().ends_with("self…\n"));
    assert!(Paths(&Endless).to_string().ends_with("self…\n"));
    let mut tree = Attributes::new();
    let error = tree.merge(AttributeId::ROOT, &Endless, MergeRule::Sum).unwrap_err();
    assert!(matches!(error, AttributeError::TooDeep { .. }), "{error}");
    assert!(tree.is_empty());
}

#[test]
fn typed_keys_access_values() {
    let mut tree = Attributes::new();
    let count = tree.entry_at::<u64>("count").unwrap();
    for _ in 0..10 {
        tree[count] += 1;
    }
    assert_eq!((tree[count], tree.get(count)), (10, Some(&10)));
    assert_eq!(u64::KIND, Kind::UInt);
    assert!(tree.remove(count.id()));
    let again = tree.entry_at::<u64>("again").unwrap();
    assert_eq!(again.id().index(), count.id().index(), "numbers are used again");
    assert_eq!(tree.get(count), None);
    assert_eq!(tree.get_mut(count), None);
}
