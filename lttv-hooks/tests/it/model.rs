//! Comparison of lists of hooks with a naive model, under random changes.

use std::cell::RefCell;
use std::ops::ControlFlow;

use lttv_hooks::{Flow, HookId, HookList, HookTargets, Hooks, HooksById, Priority};
use proptest::prelude::*;

const IDS: usize = 6;

/// Call data: the called hooks with their data, and the hooks that return `Break`.
#[derive(Default)]
struct Calls {
    called: Vec<(usize, usize)>,
    stoppers: Vec<usize>,
}

/// A hook of the model.
#[derive(Debug, Clone)]
struct Model {
    name: usize,
    priority: Priority,
    references: u32,
    reach: HookTargets<usize>,
}

impl Model {
    fn datum(&self, id: usize) -> Option<usize> {
        match &self.reach {
            HookTargets::All(datum) => Some(*datum),
            HookTargets::Main(ids) | HookTargets::Ids(ids) => {
                ids.iter().find(|i| i.0 == id).map(|i| i.1)
            }
        }
    }

    fn by_id(&self) -> bool {
        matches!(self.reach, HookTargets::Ids(_))
    }
}

#[derive(Debug, Clone)]
enum Step {
    Add {
        priority: Priority,
        reach: HookTargets<usize>,
    },
    /// Adds a previously added hook again, by its number.
    AddAgain {
        number: usize,
        priority: Option<Priority>,
    },
    Remove {
        number: usize,
    },
    SetReach {
        number: usize,
        reach: HookTargets<usize>,
    },
    Call {
        stoppers: Vec<usize>,
    },
}

fn priority() -> impl Strategy<Value = Priority> {
    prop::sample::select(vec![0, 25, 50, 51, 99]).prop_map(|n| Priority::new(n).unwrap())
}

fn reach() -> impl Strategy<Value = HookTargets<usize>> {
    let ids = || prop::collection::btree_map(0..IDS, 0..100usize, 0..4);
    prop_oneof![
        (0..100usize).prop_map(HookTargets::All),
        ids().prop_map(|ids| HookTargets::Main(ids.into_iter().collect())),
        ids().prop_map(|ids| HookTargets::Ids(ids.into_iter().collect())),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (priority(), reach()).prop_map(|(priority, reach)| Step::Add { priority, reach }),
        1 => (0..20usize, prop::option::weighted(0.2, priority()))
            .prop_map(|(number, priority)| Step::AddAgain { number, priority }),
        2 => (0..20usize).prop_map(|number| Step::Remove { number }),
        1 => (0..20usize, reach()).prop_map(|(number, reach)| Step::SetReach { number, reach }),
        3 => prop::collection::vec(0..20usize, 0..2).prop_map(|stoppers| Step::Call { stoppers }),
    ]
}

type ByIdHook = dyn FnMut(&mut Calls, usize) -> Flow;

fn by_id_hook(name: usize) -> Box<ByIdHook> {
    Box::new(move |calls, datum| {
        calls.called.push((name, datum));
        if calls.stoppers.contains(&name) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
}

/// Returns the calls of the model for an id, in order.
fn expected(model: &[Model], id: usize) -> Vec<(usize, usize)> {
    let mut hooks: Vec<_> = model.iter().filter(|hook| hook.datum(id).is_some()).collect();
    hooks.sort_by_key(|hook| (hook.priority, hook.by_id()));
    hooks.into_iter().filter_map(|hook| Some((hook.name, hook.datum(id)?))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn by_id(steps in prop::collection::vec(step(), 1..60)) {
        let mut hooks: HooksById<ByIdHook, usize> = HooksById::new();
        let mut ids: Vec<HookId> = Vec::new();
        // In the order in which hooks were added.
        let mut model: Vec<Model> = Vec::new();
        for step in steps {
            match step {
                Step::Add { priority, reach } => {
                    let name = ids.len();
                    ids.push(hooks.add(priority, reach.clone(), by_id_hook(name)));
                    model.push(Model { name, priority, references: 1, reach });
                }
                Step::AddAgain { number, priority } => {
                    let Some(id) = ids.get(number) else { continue };
                    let there = model.iter_mut().find(|hook| hook.name == number);
                    let wanted = priority.unwrap_or_else(|| {
                        there.as_ref().map_or(Priority::DEFAULT, |hook| hook.priority)
                    });
                    let reach = HookTargets::All(number);
                    let added = hooks.add_as(*id, wanted, reach.clone(), by_id_hook(number));
                    match there {
                        Some(hook) if hook.priority == wanted => hook.references += 1,
                        Some(_) => {
                            prop_assert!(added.is_err());
                            continue;
                        }
                        None => model.push(Model {
                            name: number, priority: wanted, references: 1, reach,
                        }),
                    }
                    prop_assert!(added.is_ok());
                }
                Step::Remove { number } => {
                    let Some(id) = ids.get(number) else { continue };
                    let removed = hooks.remove(*id).hook().is_some();
                    let at = model.iter().position(|hook| hook.name == number);
                    let last = at.is_some_and(|at| model[at].references == 1);
                    prop_assert_eq!(removed, last);
                    match at {
                        Some(at) if last => drop(model.remove(at)),
                        Some(at) => model[at].references -= 1,
                        None => {}
                    }
                }
                Step::SetReach { number, reach } => {
                    let Some(id) = ids.get(number) else { continue };
                    let there = model.iter_mut().find(|hook| hook.name == number);
                    prop_assert_eq!(hooks.set_targets(*id, reach.clone()), there.is_some());
                    if let Some(hook) = there {
                        hook.reach = reach;
                    }
                }
                Step::Call { stoppers } => {
                    for id in 0..IDS + 2 {
                        let expected = expected(&model, id);
                        let stops = expected.iter().any(|call| stoppers.contains(&call.0));
                        let mut calls = Calls { stoppers: stoppers.clone(), ..Calls::default() };
                        let mut ready;
                        let mut at = if id % 2 == 0 {
                            hooks.at(id)
                        } else {
                            ready = hooks.ready();
                            let found = ready.find(id);
                            prop_assert_eq!(ready.has_hooks(found), !expected.is_empty());
                            prop_assert!(ready.may_have_hooks(id) || expected.is_empty());
                            ready.at(found)
                        };
                        prop_assert_eq!(at.is_empty(), expected.is_empty());
                        let flow = if id % 3 == 0 {
                            at.call_each(|hook, datum| hook(&mut calls, *datum))
                        } else {
                            at.call_runs(|run, datum| run.call_each(|hook| hook(&mut calls, *datum)))
                        };
                        prop_assert_eq!(&calls.called, &expected, "id {}", id);
                        prop_assert_eq!(flow.is_break(), stops);
                        let listed: Vec<_> = hooks.list_at(id).iter().map(|hook| hook.id).collect();
                        prop_assert_eq!(listed, expected.iter().map(|e| ids[e.0]).collect::<Vec<_>>());
                    }
                }
            }
            prop_assert_eq!(hooks.len(), model.len());
        }
    }

    /// Compares two lists that are called as one, then appended, then removed from each
    /// other again.
    #[test]
    fn lists(
        main in prop::collection::vec((0..8usize, priority()), 0..8),
        other in prop::collection::vec((0..8usize, priority()), 0..8),
        stopper in 0..8usize,
    ) {
        let ids: Vec<HookId> = (0..8).map(|_| HookId::unique()).collect();
        let called = RefCell::new(Vec::new());
        let hook = |name: usize, list: &'static str| {
            let called = &called;
            move |_: &mut ()| {
                called.borrow_mut().push((name, list));
                if name == stopper { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
        };
        let make = |hooks: &[(usize, Priority)], list| {
            let mut made: Hooks<()> = Hooks::new();
            let mut model: Vec<(usize, Priority, u32)> = Vec::new();
            for (name, priority) in hooks {
                let added = made.add_as(ids[*name], *priority, hook(*name, list));
                match model.iter_mut().find(|there| there.0 == *name) {
                    None => model.push((*name, *priority, 1)),
                    Some(there) if there.1 == *priority => there.2 += 1,
                    Some(_) => assert!(added.is_err()),
                }
            }
            model.sort_by_key(|hook| hook.1);
            (made, model)
        };
        let (mut main, main_model) = make(&main, "main");
        let (other, other_model) = make(&other, "other");

        let flow = main.call_until_stop(&mut ());
        let stop = main_model.iter().position(|h| h.0 == stopper);
        prop_assert_eq!(flow.is_break(), stop.is_some());
        let calls = stop.map_or(main_model.len(), |at| at + 1);
        prop_assert_eq!(called.take().len(), calls);

        let mut merged = main_model.clone();
        let mut conflict = false;
        for (name, priority, references) in &other_model {
            match merged.iter_mut().find(|there| there.0 == *name) {
                None => merged.push((*name, *priority, *references)),
                Some(there) if there.1 == *priority => there.2 += 1,
                Some(_) => conflict = true,
            }
        }
        merged.sort_by_key(|hook| hook.1);
        prop_assert_eq!(main.append(other).is_err(), conflict);
        let list = |hooks: &HookList<_>| {
            hooks.iter().map(|h| (h.id, h.priority, h.references)).collect::<Vec<_>>()
        };
        let expect = |model: &[(usize, Priority, u32)]| {
            model.iter().map(|h| (ids[h.0], h.1, h.2)).collect::<Vec<_>>()
        };
        prop_assert_eq!(list(&main), expect(&merged));

        main.remove_all(other_model.iter().map(|h| ids[h.0]));
        for (name, _, _) in &other_model {
            merged.iter_mut().filter(|there| there.0 == *name).for_each(|there| there.2 -= 1);
        }
        merged.retain(|hook| hook.2 > 0);
        prop_assert_eq!(list(&main), expect(&merged));
    }
}
