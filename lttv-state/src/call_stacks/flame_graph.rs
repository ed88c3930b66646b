//! Flame graphs: call paths of several threads put together by the names of functions.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use super::calls::{CallPath, ThreadCalls, TraceCalls};
use super::functions::Function;
use crate::durations::Durations;

/// The maximum number of frames on a path.
const MAX_DEPTH: usize = 1 << 10;

/// A flame graph: the call paths of any number of threads, put together by the names of functions.
///
/// ```
/// use lttv_state::call_stacks::FlameGraph;
///
/// let mut graph = FlameGraph::new();
/// graph.add_path(["main", "read"], 40, &Default::default());
/// graph.add_path(["main"], 10, &Default::default());
/// assert_eq!(graph.node(0).total_time, 50);
///
/// let mut folded = Vec::new();
/// graph.write_folded(&mut folded)?;
/// assert_eq!(folded, b"main;read 40\nmain 10\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FlameGraph {
    nodes: Vec<FlameNode>,
    children: HashMap<(usize, Arc<str>), usize>,
}

/// A call path of a flame graph. Times are in ns.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FlameNode {
    /// The name of the function; empty for the root.
    pub name: Arc<str>,
    /// The number of the caller; `None` for the root.
    pub parent: Option<usize>,
    /// The number of callers: 0 for the root.
    pub depth: usize,
    /// The numbers of the paths called from this one, in order of names.
    pub children: Vec<usize>,
    /// The durations of the calls that have ended.
    pub calls: Durations,
    /// The time without the calls from it.
    pub self_time: u64,
    /// The time with the calls from it.
    pub total_time: u64,
}

impl Default for FlameGraph {
    fn default() -> Self {
        Self::new()
    }
}

impl FlameGraph {
    /// Creates a graph with the root alone.
    pub fn new() -> Self {
        FlameGraph { nodes: vec![FlameNode::new("".into(), None, 0)], children: HashMap::new() }
    }

    /// Adds the paths of the threads of a trace. For each thread, `place` returns the names of
    /// frames to put below its calls, such as that of its process, or `None` to leave it out; for
    /// each function, `name` returns its name. Functions of equal names are one. Calls with more than
    /// 1024 frames below them count for their caller.
    pub fn add_calls(
        &mut self,
        calls: &TraceCalls,
        mut place: impl FnMut(&ThreadCalls) -> Option<Vec<Arc<str>>>,
        mut name: impl FnMut(&Function) -> Arc<str>,
    ) {
        let threads = calls.threads();
        let mut places: Vec<Option<Option<usize>>> = vec![None; threads.len()];
        let names: Vec<Arc<str>> = calls.functions().iter().map(&mut name).collect();
        let mut numbers: HashMap<_, usize> = HashMap::new();
        for CallPath { id, caller, thread, function, figures, .. } in calls.paths() {
            let parent = match caller {
                Some(caller) => numbers.get(&caller).copied(),
                None => {
                    let Some(of) = places.get_mut(thread) else { continue };
                    *of.get_or_insert_with(|| {
                        let below = place(&threads[thread])?;
                        Some(below.into_iter().fold(0, |at, name| self.child(at, name)))
                    })
                }
            };
            let (Some(parent), Some(name)) = (parent, names.get(function.index())) else {
                continue;
            };
            let node = match self.nodes[parent].depth {
                MAX_DEPTH => parent,
                _ => self.child(parent, name.clone()),
            };
            numbers.insert(id, node);
            let of = &mut self.nodes[node];
            of.self_time = of.self_time.saturating_add(figures.self_time);
            of.calls.add(&figures.calls);
        }
        self.sum_up();
    }

    /// Computes the times with the calls from each path.
    fn sum_up(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.total_time = node.self_time);
        for at in (1..self.nodes.len()).rev() {
            let total = self.nodes[at].total_time;
            if let Some(parent) = self.nodes[at].parent {
                let of = &mut self.nodes[parent];
                of.total_time = of.total_time.saturating_add(total);
            }
        }
    }

    /// Adds a path, outermost function first, with its self time in ns and its calls.
    pub fn add_path<N: Into<Arc<str>>>(
        &mut self,
        names: impl IntoIterator<Item = N>,
        self_time: u64,
        calls: &Durations,
    ) {
        let node = names.into_iter().fold(0, |at, name| self.child(at, name.into()));
        let of = &mut self.nodes[node];
        of.self_time = of.self_time.saturating_add(self_time);
        of.calls.add(calls);
        let mut at = Some(node);
        while let Some(node) = at {
            let of = &mut self.nodes[node];
            of.total_time = of.total_time.saturating_add(self_time);
            at = of.parent;
        }
    }

    fn child(&mut self, parent: usize, name: Arc<str>) -> usize {
        let key = (parent, name);
        if let Some(child) = self.children.get(&key) {
            return *child;
        }
        let (child, name) = (self.nodes.len(), key.1.clone());
        let depth = self.nodes[parent].depth + 1;
        self.nodes.push(FlameNode::new(name.clone(), Some(parent), depth));
        let siblings = &self.nodes[parent].children;
        let at = siblings.partition_point(|sibling| self.nodes[*sibling].name < name);
        self.nodes[parent].children.insert(at, child);
        self.children.insert(key, child);
        child
    }

    /// Returns all paths, callers before those that they called. The first one is the root.
    pub fn nodes(&self) -> &[FlameNode] {
        &self.nodes
    }

    /// Returns the path with a number. The root is path 0.
    ///
    /// # Panics
    ///
    /// If the graph has no such path.
    pub fn node(&self, number: usize) -> &FlameNode {
        &self.nodes[number]
    }

    /// Returns the largest number of functions on a path.
    pub fn max_depth(&self) -> usize {
        self.nodes.iter().map(|node| node.depth).max().unwrap_or(0)
    }

    /// Returns the names of a path, outermost first.
    pub fn names(&self, number: usize) -> Vec<&str> {
        let mut names = Vec::new();
        let mut at = self.nodes.get(number);
        while let Some(node) = at.filter(|node| node.parent.is_some()) {
            names.push(&*node.name);
            at = node.parent.and_then(|parent| self.nodes.get(parent));
        }
        names.reverse();
        names
    }

    /// Returns the number of the path with some names, outermost first; `None` if there is none.
    pub fn find<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<usize> {
        names.into_iter().try_fold(0, |at, name| self.children.get(&(at, name.into())).copied())
    }

    /// Writes collapsed stacks, as programs that draw flame graphs read them: one line for each
    /// path with self time, of its names separated by semicolons, a space, and the self time in
    /// ns. Longer times come first. A semicolon in a name becomes a colon, and a control character
    /// a space.
    ///
    /// # Errors
    ///
    /// If the stacks cannot be written.
    pub fn write_folded(&self, out: &mut impl Write) -> io::Result<()> {
        let mut paths: Vec<usize> = (1..self.nodes.len()).collect();
        paths.retain(|path| self.nodes[*path].self_time > 0);
        // The sort is stable: equal times stay in the order of paths.
        paths.sort_by_key(|path| Reverse(self.nodes[*path].self_time));
        for path in paths {
            let names: Vec<String> = self.names(path).into_iter().map(folded_name).collect();
            writeln!(out, "{} {}", names.join(";"), self.nodes[path].self_time)?;
        }
        Ok(())
    }
}

fn folded_name(name: &str) -> String {
    let plain = |c: char| match c {
        ';' => ':',
        c if c.is_control() => ' ',
        c => c,
    };
    name.chars().map(plain).collect()
}

impl FlameNode {
    fn new(name: Arc<str>, parent: Option<usize>, depth: usize) -> Self {
        FlameNode {
            name,
            parent,
            depth,
            children: Vec::new(),
            calls: Durations::default(),
            self_time: 0,
            total_time: 0,
        }
    }
}
