//! The death of processes during queries.

#[path = "../../arrow/tests/common/mod.rs"]
mod common;
mod processes;

use std::thread;
use std::time::{Duration, Instant};

use common::generated::Numbers;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::record_batch::RecordBatch;
use lttv_cluster::{Client, ClientError};
use processes::{Cluster, ask, ask_with_repeats, session};
use tokio::runtime::Runtime;

/// A query of seconds with several stages, all of which need what others have left on executors.
const QUERY: &str = "
    select count(*), cast(sum(n * rest) as bigint) from (
        select a.name, (a.ts / 1000 + b.ts) % 7 as rest, count(*) as n
        from events a cross join (select ts from sched_switch where cpu < 5) b
        group by a.name, (a.ts / 1000 + b.ts) % 7) as groups";

fn numbers(batches: &[RecordBatch]) -> Vec<i64> {
    let numbers = batches.iter().flat_map(RecordBatch::columns);
    numbers.map(|column| column.as_primitive::<Int64Type>().value(0)).collect()
}

#[test]
fn killed_executors_never_make_a_wrong_answer() {
    let mut cluster = Cluster::start(2);
    let session = session(&common::bundled("kernel"), 8);
    let runtime = Runtime::new().expect("a runtime");
    let client = runtime.block_on(Client::connect(&cluster.scheduler(), &session));
    let client = client.expect("a client");
    let (batches, counts) = runtime.block_on(ask(&client, QUERY)).expect("an answer");
    let expected = numbers(&batches);
    assert_eq!((expected.len(), counts.slices), (2, 16));
    let begin = Instant::now();
    runtime.block_on(ask(&client, QUERY)).expect("an answer");
    let usual = begin.elapsed();
    let (mut times, mut right, mut during, mut repeated) = (Numbers(1), 0, 0, 0);
    for round in 0..20 {
        let delay = usual.mul_f64(times.below(100) as f64 / 100.0);
        let (answer, is_over) = thread::scope(|scope| {
            let query = scope.spawn(|| runtime.block_on(ask_with_repeats(&client, QUERY)));
            thread::sleep(delay);
            let is_over = query.is_finished();
            cluster.kill_executor(round % 2);
            (query.join().expect("a thread"), is_over)
        });
        during += usize::from(!is_over);
        match answer {
            Ok((batches, counts, repeats)) => {
                assert_eq!(numbers(&batches), expected, "killed after {delay:?}");
                assert_eq!(counts.slices, 16, "killed after {delay:?}, repeated {repeats} times");
                right += 1;
                repeated += usize::from(repeats > 0);
            }
            Err(error @ (ClientError::Lost | ClientError::Failed(_))) => {
                println!("killed after {delay:?}: {error}");
            }
            Err(error) => panic!("killed after {delay:?}: {error}"),
        }
        cluster.restart_executors(&[round % 2]);
    }
    println!(
        "{right} of 20 answers are right, the others are errors; {during} killed during the query, \
         {repeated} repeated"
    );
    assert!(during >= 10 && repeated >= 5, "{right} right, {during} during, {repeated} repeated");
    // Only an executor that ends while its rows are fetched costs an answer.
    assert!(right >= 18, "{right} of 20 answers");
    let (batches, _) = runtime.block_on(ask(&client, QUERY)).expect("an answer");
    assert_eq!(numbers(&batches), expected);
}

#[test]
fn without_executors_a_query_fails() {
    let mut cluster = Cluster::start(2);
    let session = session(&common::bundled("kernel"), 8);
    let runtime = Runtime::new().expect("a runtime");
    let client = runtime.block_on(Client::connect(&cluster.scheduler(), &session));
    let client = client.expect("a client");
    let begin = Instant::now();
    let answer = thread::scope(|scope| {
        let query = scope.spawn(|| runtime.block_on(ask(&client, QUERY)));
        thread::sleep(Duration::from_millis(300));
        cluster.kill_executor(0);
        cluster.kill_executor(1);
        query.join().expect("a thread")
    });
    let error = answer.expect_err("no executor is left");
    assert!(matches!(error, ClientError::NoExecutors(_)), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}: {error}", begin.elapsed());
    // A query that starts without executors does not wait for ever either.
    let begin = Instant::now();
    let error = runtime.block_on(ask(&client, QUERY)).expect_err("no executor is left");
    assert!(matches!(error, ClientError::NoExecutors(_)), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}: {error}", begin.elapsed());
    cluster.restart_executors(&[0, 1]);
    runtime.block_on(ask(&client, QUERY)).expect("an answer");
}

#[test]
fn a_killed_scheduler_is_told_at_once() {
    let mut cluster = Cluster::start(2);
    let session = session(&common::bundled("kernel"), 8);
    let runtime = Runtime::new().expect("a runtime");
    let client = runtime.block_on(Client::connect(&cluster.scheduler(), &session));
    let client = client.expect("a client");
    let (batches, _) = runtime.block_on(ask(&client, QUERY)).expect("an answer");
    let expected = numbers(&batches);
    let (answer, killed) = thread::scope(|scope| {
        let query = scope.spawn(|| runtime.block_on(ask(&client, QUERY)));
        thread::sleep(Duration::from_millis(300));
        cluster.kill_scheduler();
        let killed = Instant::now();
        (query.join().expect("a thread"), killed)
    });
    let error = answer.expect_err("the scheduler is dead");
    assert!(killed.elapsed() < Duration::from_secs(3), "{:?}", killed.elapsed());
    assert!(matches!(error, ClientError::Ended(_)), "{error}");
    let error = runtime.block_on(Client::connect(&cluster.scheduler(), &session));
    assert!(matches!(error, Err(ClientError::Unreachable { .. })), "{error:?}");
    cluster.restart_scheduler();
    // The executors have registered by themselves, and the old client works.
    let (batches, _) = runtime.block_on(ask(&client, QUERY)).expect("an answer");
    assert_eq!(numbers(&batches), expected);
}
