//! Generates the recordings of the stories in docs/user/first-minute.md that no real machine has recorded.
//!
//! ```sh
//! cargo run --release -p lttv-traces --bin stories -- examples/stories
//! ```
//!
//! A small imaginary machine runs threads, each of which has a list of steps. Its scheduler gives time slices, and its
//! events are those of LTTng's kernel tracer.

mod machine;
mod recorder;

use std::error::Error;
use std::path::Path;

use lttv_traces::Random;

use machine::{HOST, Machine, Step, Thread};

const MS: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("the directory to write to is missing")?;
    let directory = Path::new(&directory);
    slow_build(&directory.join("slow-build"))?;
    noisy_neighbour(&directory.join("noisy-neighbour"))
}

/// The files of the program that is built, and the time in ms that compiling each of them takes. The generated
/// parser is the last one by name.
const SOURCES: [(&str, u64); 10] = [
    ("ast.c", 34),
    ("buffer.c", 21),
    ("color.c", 12),
    ("dump.c", 27),
    ("eval.c", 41),
    ("flags.c", 9),
    ("graph.c", 38),
    ("hash.c", 16),
    ("input.c", 23),
    ("parser.tab.c", 310),
];

/// `make -j4` on 4 CPUs: one file takes longer than all others together, and is started last.
fn slow_build(directory: &Path) -> Result<(), Box<dyn Error>> {
    let mut machine = Machine::create(directory, 4, "builder", Random::new(55))?;
    let mut random = Random::new(7);
    let mut steps = vec![Step::Exec("/usr/bin/make"), Step::Open("Makefile"), Step::Work(2 * MS)];
    for (number, (source, ms)) in SOURCES.into_iter().enumerate() {
        // A job for each CPU: the next one starts when one has ended.
        if number >= 4 {
            steps.push(Step::Await);
        }
        steps.push(Step::Work(MS / 5 + random.below(MS / 10)));
        steps.push(Step::Fork(gcc(source, ms * MS + random.below(MS), &mut random)));
    }
    steps.extend([Step::Await, Step::Await, Step::Await, Step::Await]);
    let link = vec![
        Step::Exec("/usr/bin/ld"),
        Step::Open("ast.o"),
        Step::Open("parser.tab.o"),
        Step::Work(24 * MS),
        Step::Open("calc"),
        Step::Work(3 * MS),
    ];
    steps.extend([Step::Fork(link), Step::Await]);
    let make = Thread::new(1201, "lttv", HOST, steps);
    machine.start(make, MS);
    Ok(machine.run(600 * MS)?)
}

/// The steps of a compiler driver, which runs a compiler and an assembler.
fn gcc(source: &'static str, ns: u64, random: &mut Random) -> Vec<Step> {
    let compile = vec![
        Step::Exec("/usr/lib/gcc/cc1"),
        Step::Open(source),
        Step::Work(ns / 5),
        Step::Open("/usr/include/stdio.h"),
        Step::Work(ns * 4 / 5),
    ];
    let assemble = vec![Step::Exec("/usr/bin/as"), Step::Work(ns / 20 + MS / 2)];
    vec![
        Step::Exec("/usr/bin/gcc"),
        Step::Work(MS / 3 + random.below(MS / 5)),
        Step::Fork(compile),
        Step::Await,
        Step::Fork(assemble),
        Step::Await,
    ]
}

/// The PID namespaces of the two containers.
const SHOP: u32 = 4_026_532_301;
const VIDEO: u32 = 4_026_532_417;

/// A server in a container that answers requests, while another container on the same 2 CPUs converts videos
/// from 150 ms to 400 ms.
fn noisy_neighbour(directory: &Path) -> Result<(), Box<dyn Error>> {
    let mut machine = Machine::create(directory, 2, "node-3", Random::new(17))?;
    let mut random = Random::new(3);
    let mut requests = Vec::new();
    let mut time = 5 * MS;
    while time < 480 * MS {
        requests.push(Step::Receive(time));
        requests.push(Step::Work(MS + random.below(MS / 2)));
        requests.push(Step::Send);
        time += 7 * MS + random.below(3 * MS);
    }
    machine.start(Thread::new(3101, "shop-server", SHOP, requests), MS);
    for number in 0..4 {
        let name = "ffmpeg";
        let mut steps = Vec::new();
        let mut left = (110 + 4 * number) * MS;
        while left > 0 {
            let frame = (6 * MS + random.below(3 * MS)).min(left);
            steps.extend([Step::Work(frame), Step::Send]);
            left -= frame;
        }
        let tid = 4711 + u32::try_from(number)?;
        let thread = Thread::new(tid, name, VIDEO, steps).of_process(4711);
        machine.start(thread, (150 + number) * MS);
    }
    Ok(machine.run(500 * MS)?)
}
