//! Flame graphs: the stacks of several threads put together by the names of functions.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use crate::call_stacks::{Function, PathId, ThreadCalls, TraceCalls};
use crate::durations::Durations;
use crate::stack_samples::{Frame, SampledThread, TraceSamples, WeightUnit};

/// The maximum number of frames on a path.
const MAX_DEPTH: usize = 1 << 10;

/// A flame graph: the stacks of any number of threads, put together by the names of functions. Each path of
/// functions has a weight: the time of calls in ns, or the weight of samples in their unit.
///
/// ```
/// use lttv_state::flame_graph::FlameGraph;
///
/// let mut graph = FlameGraph::new();
/// graph.add_path(["main", "read"], 40, &Default::default());
/// graph.add_path(["main"], 10, &Default::default());
/// assert_eq!(graph.node(0).total, 50);
///
/// let mut folded = Vec::new();
/// graph.write_folded(&mut folded)?;
/// assert_eq!(folded, b"main;read 40\nmain 10\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FlameGraph {
    unit: WeightUnit,
    nodes: Vec<FlameNode>,
    children: HashMap<(usize, Arc<str>), usize>,
}

/// A path to add.
struct NewPath {
    id: PathId,
    caller: Option<PathId>,
    thread: usize,
    function: usize,
    own: u64,
    calls: Durations,
}

/// A path of functions in a flame graph. Weights are in the [unit](FlameGraph::unit) of the graph.
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
    /// The weight without the functions called from it.
    pub own: u64,
    /// The weight with the functions called from it.
    pub total: u64,
}

impl Default for FlameGraph {
    fn default() -> Self {
        Self::new()
    }
}

impl FlameGraph {
    /// Creates a graph of times with the root alone.
    pub fn new() -> Self {
        Self::with_unit(WeightUnit::Nanoseconds)
    }

    /// Creates a graph of weights of a unit with the root alone.
    pub fn with_unit(unit: WeightUnit) -> Self {
        let nodes = vec![FlameNode::new("".into(), None, 0)];
        FlameGraph { unit, nodes, children: HashMap::new() }
    }

    /// Returns the unit of weights.
    pub fn unit(&self) -> &WeightUnit {
        &self.unit
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
        let names: Vec<Arc<str>> = calls.functions().iter().map(&mut name).collect();
        let paths = calls.paths().into_iter().map(|path| NewPath {
            id: path.id,
            caller: path.caller,
            thread: path.thread,
            function: path.function.index(),
            own: path.figures.self_time,
            calls: path.figures.calls,
        });
        self.add_paths(paths, &names, threads.iter().map(&mut place).collect());
    }

    /// Adds the stacks of the samples of a trace. For each thread, `place` returns the names of frames to put
    /// below its stacks, or `None` to leave it out; for each frame, `name` returns the name of its function.
    /// Functions of equal names are one. The unit of the samples should be that of the graph.
    pub fn add_samples(
        &mut self,
        samples: &TraceSamples,
        place: impl FnMut(&SampledThread) -> Option<Vec<Arc<str>>>,
        name: impl FnMut(&Frame) -> Arc<str>,
    ) {
        let names: Vec<Arc<str>> = samples.frames().iter().map(name).collect();
        let paths = samples.paths().into_iter().map(|path| NewPath {
            id: path.id,
            caller: path.caller,
            thread: path.thread,
            function: path.frame.index(),
            own: path.weight,
            calls: Durations::default(),
        });
        self.add_paths(paths, &names, samples.threads().iter().map(place).collect());
    }

    /// Adds paths, callers first, with the names of functions, and of the frames below the paths of each thread.
    fn add_paths(
        &mut self,
        paths: impl Iterator<Item = NewPath>,
        names: &[Arc<str>],
        places: Vec<Option<Vec<Arc<str>>>>,
    ) {
        let mut bases: Vec<Option<usize>> = vec![None; places.len()];
        let mut numbers: HashMap<PathId, usize> = HashMap::new();
        for NewPath { id, caller, thread, function, own, calls } in paths {
            let parent = match caller {
                Some(caller) => numbers.get(&caller).copied(),
                None => {
                    let Some(Some(below)) = places.get(thread) else { continue };
                    let base = bases[thread].unwrap_or_else(|| {
                        below.iter().fold(0, |at, name| self.child(at, name.clone()))
                    });
                    bases[thread] = Some(base);
                    Some(base)
                }
            };
            let (Some(parent), Some(name)) = (parent, names.get(function)) else { continue };
            let node = match self.nodes[parent].depth {
                MAX_DEPTH => parent,
                _ => self.child(parent, name.clone()),
            };
            numbers.insert(id, node);
            let of = &mut self.nodes[node];
            of.own = of.own.saturating_add(own);
            of.calls.add(&calls);
        }
        self.sum_up();
    }

    /// Computes the weights with the functions called from each path.
    fn sum_up(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.total = node.own);
        for at in (1..self.nodes.len()).rev() {
            let total = self.nodes[at].total;
            if let Some(parent) = self.nodes[at].parent {
                let of = &mut self.nodes[parent];
                of.total = of.total.saturating_add(total);
            }
        }
    }

    /// Adds a path, outermost function first, with its own weight and its calls.
    pub fn add_path<N: Into<Arc<str>>>(
        &mut self,
        names: impl IntoIterator<Item = N>,
        own: u64,
        calls: &Durations,
    ) {
        let node = names.into_iter().fold(0, |at, name| self.child(at, name.into()));
        let of = &mut self.nodes[node];
        of.own = of.own.saturating_add(own);
        of.calls.add(calls);
        let mut at = Some(node);
        while let Some(node) = at {
            let of = &mut self.nodes[node];
            of.total = of.total.saturating_add(own);
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
    /// path with a weight of its own, of its names separated by semicolons, a space, and that weight. Greater
    /// weights come first. A semicolon in a name becomes a colon, and a control character
    /// a space.
    ///
    /// # Errors
    ///
    /// If the stacks cannot be written.
    pub fn write_folded(&self, out: &mut impl Write) -> io::Result<()> {
        let mut paths: Vec<usize> = (1..self.nodes.len()).collect();
        paths.retain(|path| self.nodes[*path].own > 0);
        // The sort is stable: equal weights stay in the order of paths.
        paths.sort_by_key(|path| Reverse(self.nodes[*path].own));
        for path in paths {
            let names: Vec<String> = self.names(path).into_iter().map(folded_name).collect();
            writeln!(out, "{} {}", names.join(";"), self.nodes[path].own)?;
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
            own: 0,
            total: 0,
        }
    }
}
