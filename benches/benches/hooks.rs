//! Calling hooks: the cost of a list, and of finding the list of an id. Times are per call of a
//! list.

use std::hint::black_box;
use std::ops::ControlFlow;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use lttv_hooks::{Flow, HookTargets, Hooks, HooksById, Priority};

type Hook<'h> = dyn FnMut(&mut u64) -> Flow + 'h;

fn add(number: u64) -> Box<Hook<'static>> {
    Box::new(move |sum| {
        *sum = sum.wrapping_add(number);
        ControlFlow::Continue(())
    })
}

fn list(count: u64) -> Hooks<'static, u64> {
    let mut hooks = Hooks::new();
    for number in 0..count {
        hooks.add_boxed(Priority::DEFAULT, add(number));
    }
    hooks
}

fn lists(c: &mut Criterion) {
    let mut group = c.benchmark_group("call a list");
    for count in [0, 1, 10, 100] {
        let mut hooks = list(count);
        let mut sum = 0;
        group.bench_function(BenchmarkId::from_parameter(format!("{count} hooks")), |b| {
            b.iter(|| hooks.call(black_box(&mut sum)));
        });
    }
    group.finish();
}

/// The number of ids, as of the event types of a kernel trace.
const IDS: usize = 1000;

fn by_id(c: &mut Criterion) {
    let mut group = c.benchmark_group("find the hooks of an id and call them");
    for (main, special) in [(0, 0), (0, 1), (1, 0), (1, 1), (10, 1), (99, 1)] {
        let mut hooks: HooksById<Hook<'_>> = HooksById::new();
        for number in 0..main {
            hooks.add(Priority::DEFAULT, HookTargets::All(()), add(number));
        }
        for id in (0..IDS).filter(|_| special > 0) {
            hooks.add(Priority::STATE, HookTargets::ids([id]), add(id as u64));
        }
        let (mut sum, mut id) = (0, 0);
        let name = format!("{main} for all, {special} for it");
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            let mut ready = hooks.ready();
            b.iter(|| {
                id = (id + 7) % IDS;
                let found = ready.find(black_box(id));
                ready.at(found).call(black_box(&mut sum))
            });
        });
    }
    group.finish();
}

fn changes(c: &mut Criterion) {
    c.bench_function("add a hook by id, call it and remove it, among 1000 ids", |b| {
        let mut hooks: HooksById<Hook<'_>> = HooksById::new();
        for id in 0..IDS {
            hooks.add(Priority::STATE, HookTargets::ids([id]), add(id as u64));
        }
        let mut sum = 0;
        b.iter(|| {
            let id = hooks.add(Priority::DEFAULT, HookTargets::ids([5]), add(1));
            _ = hooks.at(5).call(black_box(&mut sum));
            hooks.remove(id).hook().is_some()
        });
    });
}

criterion_group!(benches, lists, by_id, changes);
criterion_main!(benches);
