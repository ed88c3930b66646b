//! Connected hosts, their references, and the paths of least weight to them.

/// A pair of hosts with a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    /// The ranks of the hosts, the lower one first.
    pub(super) hosts: [usize; 2],
    pub(super) weight: u64,
    /// The index of the pair.
    pub(super) pair: usize,
}

/// A step from a host towards the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) pair: usize,
    /// The rank of the next host.
    pub(super) to: usize,
    /// `true` if the step leads from the first host of the pair to the second one.
    pub(super) is_forward: bool,
}

/// Hosts that are connected, by rank.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) reference: usize,
    /// The members by rank, each with its first step towards the reference.
    pub(super) members: Vec<(usize, Option<Step>)>,
}

/// The least sums of weights and the steps to one host, by rank. `None` for hosts that are not
/// connected with it.
type Tree = Vec<Option<(u128, Option<Step>)>>;

/// Divides the hosts into islands, in the order of their lowest ranks, and selects a
/// reference for each.
pub(super) fn islands(hosts: usize, edges: &[Edge], reference: Option<usize>) -> Vec<Part> {
    let mut neighbours = vec![Vec::new(); hosts];
    for edge in edges {
        let [first, second] = edge.hosts;
        let step = |to, is_forward| (Step { pair: edge.pair, to, is_forward }, edge.weight);
        neighbours[first].push(step(second, true));
        neighbours[second].push(step(first, false));
    }
    let mut is_placed = vec![false; hosts];
    let mut islands = Vec::new();
    for start in 0..hosts {
        if is_placed[start] {
            continue;
        }
        let connected = paths_to(start, &neighbours);
        let members: Vec<_> = (start..hosts).filter(|host| connected[*host].is_some()).collect();
        members.iter().for_each(|host| is_placed[*host] = true);
        let given = reference.filter(|host| members.contains(host));
        let sum = |host: &usize| -> u128 {
            paths_to(*host, &neighbours).iter().flatten().map(|(distance, _)| distance).sum()
        };
        // The first of equal ones is taken.
        let reference = given.or_else(|| members.iter().copied().min_by_key(sum)).unwrap_or(start);
        let tree = paths_to(reference, &neighbours);
        let members = members.into_iter().map(|host| (host, tree[host].and_then(|(_, step)| step)));
        islands.push(Part { reference, members: members.collect() });
    }
    islands
}

/// Finds the paths of least weight from all hosts to one (Dijkstra, 1959). Of paths of equal
/// weight, the one whose next host has the lowest rank is taken.
fn paths_to(target: usize, neighbours: &[Vec<(Step, u64)>]) -> Tree {
    let mut tree: Tree = vec![None; neighbours.len()];
    let mut is_final = vec![false; neighbours.len()];
    tree[target] = Some((0, None));
    loop {
        let open = (0..tree.len()).filter(|host| !is_final[*host]);
        let next = open.filter_map(|host| tree[host].map(|(sum, _)| (sum, host))).min();
        let Some((sum, host)) = next else { return tree };
        is_final[host] = true;
        for (step, weight) in &neighbours[host] {
            // A pair of weight 0 still costs a step.
            let sum = sum + u128::from(*weight) + 1;
            let back = Step { pair: step.pair, to: host, is_forward: !step.is_forward };
            let is_better = tree[step.to]
                .is_none_or(|(best, to)| (sum, Some(host)) < (best, to.map(|step| step.to)));
            if !is_final[step.to] && is_better {
                tree[step.to] = Some((sum, Some(back)));
            }
        }
    }
}
