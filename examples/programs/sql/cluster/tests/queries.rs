//! Queries of a cluster of processes, compared with those of one process.

#[path = "../../arrow/tests/common/mod.rs"]
mod common;
mod processes;
#[path = "../../query/tests/queries/mod.rs"]
mod queries;

use std::fs;

use common::generated::{self, Shape};
use lttv_cluster::{Client, Counts};
use lttv_sql::{SessionOptions, TraceSession};
use processes::{Cluster, ask, open, open_all, session, session_of};
use queries::{Query, found, of_seed, rows, shapes};
use tokio::runtime::Runtime;

#[test]
fn each_slice_is_read_once() {
    let cluster = Cluster::start(2);
    let session = session(&common::bundled("kernel"), 8);
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let client = Client::connect(&cluster.scheduler(), &session).await.expect("a client");
        // More slices than there are threads, and a table that is read twice.
        for (query, slices, answer) in [
            ("select count(*) from events", 8, "6087"),
            ("select count(*) from sched_switch", 8, "497"),
            (
                "select sum(n) from (select name, count(*) as n from events group by name) as a",
                8,
                "6087",
            ),
            (
                "select count(*) from (select ts from events union all select ts from events) as a",
                16,
                "12174",
            ),
            (
                "select count(*) from sched_switch a join sched_switch b \
                 on a.ts = b.ts and a.cpu = b.cpu",
                16,
                "497",
            ),
            ("select count(*) from errors", 1, "0"),
        ] {
            let (batches, counts) = ask(&client, query).await.expect("an answer");
            assert_eq!(found(&batches), [[answer]], "{query}");
            assert_eq!(counts, Counts { slices, errors: 0, notices: 0 }, "{query}");
        }
        // A limit ends reads early.
        let query = "select count(*) from (select ts from events order by ts limit 100) as a";
        let (batches, counts) = ask(&client, query).await.expect("an answer");
        assert_eq!(found(&batches), [["100"]]);
        assert!((1..=8).contains(&counts.slices), "{counts:?}");
        for nothing in [
            "select ts from events order by ts limit 0",
            "select ts, name from events where cpu = 1 and cpu = 2",
            "select a.ts from sched_switch a join sched_wakeup b on a.ts = b.ts where a.ts < 5",
            "select ts from events where ts > 7 and ts < 5",
        ] {
            let (batches, _) = ask(&client, nothing).await.expect("an answer");
            assert!(found(&batches).is_empty(), "{nothing}");
        }
    });
}

#[test]
fn two_hundred_queries() {
    let cluster = Cluster::start(2);
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a directory");
    let (mut asked, mut with_rows) = (0, 0);
    for (seed, shape) in shapes() {
        let path = folder.path().join(seed.to_string());
        generated::write(&path, seed, shape);
        let queries = of_seed(seed, &rows(&open(&path)));
        let session = session(&path, 5);
        runtime.block_on(async {
            let client = Client::connect(&cluster.scheduler(), &session).await.expect("a client");
            for Query { sql, expected } in &queries {
                let answer = ask(&client, sql).await;
                let (batches, _) = answer.unwrap_or_else(|error| panic!("{sql}: {error}"));
                assert_eq!(&found(&batches), expected, "{sql}");
                with_rows += usize::from(!expected.is_empty());
            }
        });
        asked += queries.len();
    }
    assert!(asked == 200 && with_rows > 100, "{asked} queries, {with_rows} with rows");
}

#[test]
fn the_questions_of_the_page_have_the_same_answers() {
    let cluster = Cluster::start(2);
    let runtime = Runtime::new().expect("a runtime");
    let page = fs::read_to_string(common::root().join("docs/sql.md")).expect("a page");
    let questions = page.split("```sql\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let mut asked = 0;
    for (question, _) in questions {
        // A question about other traces than the bundled one of the kernel names them in its first line.
        let named = question.strip_prefix("-- ").and_then(|rest| rest.split_once('\n'));
        let (names, query) = named.unwrap_or(("kernel", question));
        let paths: Vec<_> = names.split_whitespace().map(common::bundled).collect();
        let divided = session_of(&paths, 6);
        let whole = TraceSession::new(open_all(&paths), SessionOptions::default());
        let whole = whole.expect("a session");
        runtime.block_on(async {
            let client = Client::connect(&cluster.scheduler(), &divided).await.expect("a client");
            let expected = whole.sql(query).await.expect("a plan").collect().await.expect("rows");
            let answer = ask(&client, query).await;
            let (batches, counts) = answer.unwrap_or_else(|error| panic!("{query}: {error}"));
            assert_eq!(sorted(found(&batches)), sorted(found(&expected)), "{query}");
            assert_eq!((counts.errors, counts.notices), (0, 0), "{query}");
        });
        asked += 1;
    }
    assert!(asked >= 20, "{asked}");
}

/// Sorts rows, since a query without an order may give them in any.
fn sorted(mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    rows.sort();
    rows
}

#[test]
fn damage_is_told() {
    let cluster = Cluster::start(2);
    let folder = tempfile::tempdir().expect("a directory");
    let shape = Shape { goes_back: false, is_damaged: true, events: 400 };
    generated::write(folder.path(), 3, shape);
    let session = session(folder.path(), 8);
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let client = Client::connect(&cluster.scheduler(), &session).await.expect("a client");
        let (_, counts) = ask(&client, "select count(*) from events").await.expect("an answer");
        assert!(counts.errors > 0, "{counts:?}");
        let (batches, counts) = ask(&client, "select * from errors").await.expect("an answer");
        assert!(counts.errors > 0 && counts.errors as usize == found(&batches).len());
    });
}

#[test]
fn other_traces_are_refused() {
    let cluster = Cluster::start(2);
    let folder = tempfile::tempdir().expect("a directory");
    let shape = Shape { goes_back: false, is_damaged: false, events: 400 };
    generated::write(folder.path(), 3, shape);
    let session = session(folder.path(), 8);
    // The cluster finds another trace at the same place, as another machine may.
    generated::write(folder.path(), 4, shape);
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let client = Client::connect(&cluster.scheduler(), &session).await.expect("a client");
        let error = ask(&client, "select count(*) from events").await.expect_err("other traces");
        assert!(error.to_string().contains("other traces"), "{error}");
    });
}
