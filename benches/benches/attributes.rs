//! Counting in attributes: by handle, by name in a tree, by path. The counters are those of a
//! kernel trace: 200 event types on each CPU, in random order. A plain table of as many
//! numbers is the lower bound.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lttv_context::attributes::{AttributeError, AttributeId, Attributes, Key, MergeRule, Path};
use lttv_traces::Random;

const TYPES: u64 = 200;
/// The number of counts per iteration, so that the loop costs nothing.
const COUNTS: usize = 10_000;

/// The counters of some CPUs, with several ways of access.
struct Counters {
    tree: Attributes,
    keys: Vec<Key<u64>>,
    /// The subtree and the name of each counter.
    names: Vec<(AttributeId, String)>,
    texts: Vec<String>,
    paths: Vec<Path>,
}

impl Counters {
    fn new(cpus: u64) -> Result<Self, AttributeError> {
        let (mut tree, mut keys) = (Attributes::new(), Vec::new());
        let (mut names, mut texts, mut paths) = (Vec::new(), Vec::new(), Vec::new());
        for cpu in 0..cpus {
            let types = tree.subtree_at(&format!("traces/[0]/cpus/[{cpu}]/event_types"))?;
            for number in 0..TYPES {
                let name = format!("syscall_entry_number_{number}");
                let key = tree.entry::<u64>(types, &name)?;
                let path = tree.path(key.id()).unwrap_or_default();
                keys.push(key);
                names.push((types, name));
                texts.push(path.to_string());
                paths.push(path);
            }
        }
        Ok(Counters { tree, keys, names, texts, paths })
    }
}

fn counting(c: &mut Criterion) {
    let mut group = c.benchmark_group("count in attributes");
    group.throughput(Throughput::Elements(COUNTS as u64));
    for cpus in [4, 256] {
        let Counters { mut tree, keys, names, texts, paths } =
            Counters::new(cpus).expect("few attributes");
        let mut random = Random::new(7);
        let order: Vec<usize> =
            (0..COUNTS).map(|_| random.below(keys.len() as u64) as usize).collect();
        let id = |what: &str| BenchmarkId::new(what, format!("{} counters", keys.len()));

        let mut table = vec![0_u64; keys.len()];
        group.bench_function(id("plain table"), |b| {
            b.iter(|| {
                for &which in &order {
                    table[which] += 1;
                }
                black_box(&table);
            });
        });
        group.bench_function(id("by handle"), |b| {
            b.iter(|| {
                for &which in &order {
                    tree[keys[which]] += 1;
                }
                black_box(&tree);
            });
        });
        group.bench_function(id("by name in a tree"), |b| {
            b.iter(|| {
                for &which in &order {
                    let (types, name) = &names[which];
                    let key = tree.entry::<u64>(*types, name).expect("a counter");
                    tree[key] += 1;
                }
            });
        });
        group.bench_function(id("by path"), |b| {
            b.iter(|| {
                for &which in &order {
                    let id = tree.find_path_from(AttributeId::ROOT, &paths[which]);
                    let key = id.and_then(|id| tree.key::<u64>(id)).expect("a counter");
                    tree[key] += 1;
                }
            });
        });
        group.bench_function(id("by path as text"), |b| {
            b.iter(|| {
                for &which in &order {
                    let key = tree.entry_at::<u64>(&texts[which]).expect("a counter");
                    tree[key] += 1;
                }
            });
        });
    }
    group.finish();
}

fn whole_trees(c: &mut Criterion) {
    let mut group = c.benchmark_group("51200 counters");
    group.sample_size(10);
    let Counters { tree, keys, .. } = Counters::new(256).expect("few attributes");
    group.throughput(Throughput::Elements(keys.len() as u64));
    group.bench_function("make", |b| {
        b.iter(|| {
            let mut made = Attributes::new();
            made.merge(AttributeId::ROOT, &tree, MergeRule::Sum).expect("nothing is there");
            made
        });
    });
    let mut sums = tree.clone();
    group.bench_function("sum", |b| {
        b.iter(|| sums.merge(AttributeId::ROOT, &tree, MergeRule::Sum).expect("small numbers"));
    });
    group.finish();
}

criterion_group!(benches, counting, whole_trees);
criterion_main!(benches);
