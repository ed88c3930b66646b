//! Modules: their order compared with all possible orders, and their starts and stops.

use std::collections::BTreeSet;

use lttv_context::framework::{
    Failure, Module, ModuleError, ModuleInfo, Modules, OptionError, OptionSpec, Options,
};
use proptest::collection::vec;
use proptest::prelude::*;

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[derive(Debug, Default)]
struct Log {
    lines: Vec<String>,
    /// The module that fails to start.
    fails: Option<&'static str>,
}

struct Part {
    name: &'static str,
    requires: &'static [&'static str],
}

impl Module<Log> for Part {
    fn info(&self) -> ModuleInfo {
        let Part { name, requires } = *self;
        ModuleInfo { name, summary: "", description: "", requires }
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![OptionSpec::flag(self.name, "")]
    }

    fn init(&mut self, log: &mut Log) -> Result<(), Failure> {
        if log.fails == Some(self.name) {
            return Err("no".into());
        }
        log.lines.push(format!("+{}", self.name));
        Ok(())
    }

    fn destroy(&mut self, log: &mut Log) {
        log.lines.push(format!("-{}", self.name));
    }
}

/// Creates modules that require those whose numbers are listed. Number 6 does not exist.
fn modules(requires: &[Vec<usize>]) -> Modules<Log> {
    let mut modules = Modules::new();
    for (name, requires) in NAMES.into_iter().zip(requires) {
        let required = requires.iter().map(|&n| NAMES.get(n).copied().unwrap_or("missing"));
        // A module's description is static text, so the test leaks a little memory.
        let requires = Vec::leak(required.collect());
        modules.add(Part { name, requires }).unwrap();
    }
    modules
}

/// Computes the modules that `wanted` need, including themselves, in numerical order, by
/// repetition until nothing is added.
fn closure(requires: &[Vec<usize>], wanted: &[usize]) -> Vec<usize> {
    let mut needed: BTreeSet<usize> = wanted.iter().copied().collect();
    loop {
        let more: Vec<usize> =
            needed.iter().filter_map(|&n| requires.get(n)).flatten().copied().collect();
        let before = needed.len();
        needed.extend(more);
        if needed.len() == before {
            return needed.into_iter().collect();
        }
    }
}

/// Returns `true` if some order of `needed` satisfies all requirements, by trying each order.
fn has_order(requires: &[Vec<usize>], needed: &[usize], done: &mut Vec<usize>) -> bool {
    needed.len() == done.len()
        || needed.iter().any(|&next| {
            let ready = !done.contains(&next) && requires[next].iter().all(|n| done.contains(n));
            if !ready {
                return false;
            }
            done.push(next);
            let found = has_order(requires, needed, done);
            done.pop();
            found
        })
}

fn requirements() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let rarely_missing = prop_oneof![30 => 0..NAMES.len(), 1 => Just(NAMES.len())];
    vec(vec(rarely_missing, 0..3), NAMES.len())
}

fn number(name: &str) -> usize {
    NAMES.iter().position(|n| *n == name).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn order_matches_brute_force(requires in requirements(), wanted in vec(0..NAMES.len(), 0..4)) {
        let needed = closure(&requires, &wanted);
        let missing = needed.contains(&NAMES.len());
        let possible = !missing && has_order(&requires, &needed, &mut Vec::new());
        match modules(&requires).order(wanted.iter().map(|&n| NAMES[n])) {
            Ok(order) => {
                prop_assert!(possible);
                let order: Vec<usize> = order.iter().map(|info| number(info.name)).collect();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                prop_assert_eq!(&sorted, &needed, "all that is needed, each once");
                for (at, module) in order.iter().enumerate() {
                    prop_assert!(requires[*module].iter().all(|n| order[..at].contains(n)));
                }
            }
            Err(ModuleError::Missing { module, required }) => {
                prop_assert!(missing && required == "missing");
                prop_assert!(requires[number(&module)].contains(&NAMES.len()));
            }
            Err(ModuleError::Cycle(modules)) => {
                prop_assert!(!possible && modules.len() >= 2);
                prop_assert_eq!(modules.first(), modules.last());
                for pair in modules.windows(2) {
                    prop_assert!(requires[number(&pair[0])].contains(&number(&pair[1])));
                }
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    /// Started modules are stopped in reverse order, and a failure stops only those that the call
    /// started.
    #[test]
    fn starts_and_stops_balance(
        requires in requirements(),
        calls in vec(vec(0..NAMES.len(), 0..3), 0..4),
        fails in prop::option::of(prop::sample::select(&NAMES[..])),
    ) {
        let mut modules = modules(&requires);
        let mut log = Log { lines: Vec::new(), fails };
        let mut running: Vec<&str> = Vec::new();
        for wanted in &calls {
            let names: Vec<&str> = wanted.iter().map(|&n| NAMES[n]).collect();
            let order = modules.order(names.iter().copied());
            let new: Vec<&str> = match &order {
                Ok(order) => order.iter().map(|i| i.name).filter(|n| !running.contains(n)).collect(),
                Err(_) => Vec::new(),
            };
            log.lines.clear();
            let result = modules.init(names, &mut log);
            let starts = new.iter().take_while(|name| Some(**name) != fails);
            let mut expected: Vec<String> = starts.clone().map(|n| format!("+{n}")).collect();
            match (&order, new.iter().any(|name| Some(*name) == fails)) {
                (Err(_), _) => prop_assert!(result.is_err()),
                (Ok(_), true) => {
                    let failed = matches!(
                        &result,
                        Err(ModuleError::Init { module, .. }) if Some(module.as_str()) == fails
                    );
                    prop_assert!(failed, "{:?}", result);
                    let ends: Vec<_> = starts.map(|n| format!("-{n}")).collect();
                    expected.extend(ends.into_iter().rev());
                }
                (Ok(_), false) => {
                    prop_assert!(result.is_ok());
                    running.extend(new);
                }
            }
            prop_assert_eq!(&log.lines, &expected);
            let started: Vec<&str> = modules.started().map(|info| info.name).collect();
            prop_assert_eq!(&started, &running);
        }
        log.lines.clear();
        modules.destroy(&mut log);
        let expected: Vec<String> = running.iter().rev().map(|name| format!("-{name}")).collect();
        prop_assert_eq!(&log.lines, &expected);
        log.lines.clear();
        modules.destroy(&mut log);
        prop_assert!(log.lines.is_empty());
    }
}

/// Computes which modules have to be started: those in use and all that they require.
fn needed(requires: &[Vec<usize>], uses: &[u64]) -> BTreeSet<usize> {
    let used: Vec<usize> = (0..uses.len()).filter(|&n| uses[n] > 0).collect();
    closure(requires, &used).into_iter().collect()
}

proptest! {
    #[test]
    fn modules_stay_until_their_last_user_is_released(
        edges in vec((0..NAMES.len(), 0..NAMES.len()), 0..10),
        // Each step starts or releases a module.
        steps in vec((any::<bool>(), 0..NAMES.len()), 0..30),
    ) {
        // Modules require only those of smaller numbers, so there are no cycles.
        let mut requires = vec![Vec::new(); NAMES.len()];
        for (a, b) in edges.into_iter().filter(|(a, b)| a != b) {
            requires[a.max(b)].push(a.min(b));
        }
        let mut modules = modules(&requires);
        let mut uses = [0u64; NAMES.len()];
        let mut log = Log::default();
        for (starts, number) in steps {
            let before: Vec<usize> = modules.started().map(|info| self::number(info.name)).collect();
            log.lines.clear();
            if starts {
                uses[number] += 1;
                modules.init([NAMES[number]], &mut log).unwrap();
            } else {
                let result = modules.release(NAMES[number], &mut log);
                if uses[number] == 0 {
                    prop_assert!(matches!(result, Err(ModuleError::NotInUse(name)) if name == NAMES[number]));
                    prop_assert!(log.lines.is_empty());
                } else {
                    prop_assert!(result.is_ok());
                    uses[number] -= 1;
                }
            }
            let needed = needed(&requires, &uses);
            let started: Vec<usize> = modules.started().map(|info| self::number(info.name)).collect();
            prop_assert_eq!(started.iter().copied().collect::<BTreeSet<_>>(), needed.clone());
            // The last one started stops first.
            let gone = before.iter().rev().filter(|n| !needed.contains(n));
            let mut lines: Vec<String> = gone.map(|n| format!("-{}", NAMES[*n])).collect();
            let new = started.iter().filter(|n| !before.contains(n));
            lines.extend(new.map(|n| format!("+{}", NAMES[*n])));
            prop_assert_eq!(&log.lines, &lines);
            // What a module requires was started before it.
            for (at, n) in started.iter().enumerate() {
                prop_assert!(requires[*n].iter().all(|r| started[..at].contains(r)));
            }
        }
        modules.destroy(&mut log);
        for name in NAMES {
            prop_assert!(matches!(modules.release(name, &mut log), Err(ModuleError::NotInUse(_))));
        }
    }
}

#[test]
fn a_failed_start_adds_no_use() {
    let mut modules = modules(&[vec![], vec![0], vec![], vec![], vec![], vec![]]);
    let mut log = Log { fails: Some("b"), ..Log::default() };
    assert!(modules.init(["a", "b"], &mut log).is_err());
    assert!(matches!(modules.release("a", &mut log), Err(ModuleError::NotInUse(_))));
    assert!(matches!(modules.release("x", &mut log), Err(ModuleError::Unknown(_))));
}

#[test]
fn errors_name_the_modules() {
    let circle = modules(&[vec![1], vec![2], vec![3], vec![1], vec![6], vec![5]]);
    let message = |name| circle.order([name]).unwrap_err().to_string();
    assert_eq!(message("a"), "modules require each other in a cycle: b → c → d → b");
    assert_eq!(message("e"), "module `e` requires unknown module `missing`");
    assert_eq!(message("f"), "modules require each other in a cycle: f → f");
    assert_eq!(message("g"), "unknown module `g`");
    let mut twice = modules(&vec![vec![]; 6]);
    let error = twice.add(Part { name: "a", requires: &[] }).unwrap_err();
    assert_eq!(error.to_string(), "duplicate module `a`");
}

#[test]
fn long_chains_do_not_recurse() {
    const LENGTH: usize = 100_000;
    let names: Vec<&'static str> = (0..LENGTH).map(|n| &*n.to_string().leak()).collect();
    let mut modules = Modules::new();
    for (at, name) in names.iter().enumerate() {
        let requires: &'static [&'static str] = match names.get(at + 1) {
            Some(next) => vec![*next].leak(),
            None => &[],
        };
        modules.add(Part { name, requires }).unwrap();
    }
    let order = modules.order(["0"]).unwrap();
    assert!(order.iter().map(|info| info.name).eq(names.iter().rev().copied()));
}

#[test]
fn options_of_all_modules_are_declared() {
    let modules = modules(&vec![vec![]; 3]);
    let mut options = Options::new();
    modules.declare_options(&mut options).unwrap();
    assert!(options.specs().map(|spec| &*spec.name).eq(["a", "b", "c"]));
    assert_eq!(options.module("b"), Some("b"));
    let again = modules.declare_options(&mut options).unwrap_err();
    assert!(matches!(again, OptionError::Duplicate { .. }));
}
