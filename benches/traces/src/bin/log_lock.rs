//! The program of the story of a lock: three threads answer requests and write lines to a log, whose lock a fourth one
//! holds while it waits for the disk. `.ci/machine` records it for `examples/stories/log-lock`.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope, sleep};
use std::time::{Duration, Instant};

/// The time that the program runs.
const LENGTH: Duration = Duration::from_millis(450);

/// The time between two requests of a thread.
const REQUESTS: Duration = Duration::from_millis(5);

/// The time between two writes to the disk.
const SYNCS: Duration = Duration::from_millis(120);

/// The threads that answer requests.
const ANSWERING: [&str; 3] = ["request-1", "request-2", "request-3"];

fn main() -> io::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "requests.log".into());
    let log = Mutex::new(File::create(Path::new(&path))?);
    let begin = Instant::now();
    let until_end = |step: Duration, act: &dyn Fn(&mut File) -> io::Result<()>| {
        while begin.elapsed() < LENGTH {
            sleep(step);
            // The others end as well if one has failed.
            act(&mut log.lock().unwrap_or_else(PoisonError::into_inner))?;
        }
        Ok(())
    };
    let answer = |file: &mut File| file.write_all(b"a request was answered\n");
    scope(|scope| {
        let mut threads = Vec::new();
        for name in ANSWERING {
            let thread = Builder::new().name(name.to_owned());
            threads.push(thread.spawn_scoped(scope, || until_end(REQUESTS, &answer))?);
        }
        let thread = Builder::new().name("log-sync".to_owned());
        threads.push(thread.spawn_scoped(scope, || until_end(SYNCS, &|file| file.sync_data()))?);
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}
