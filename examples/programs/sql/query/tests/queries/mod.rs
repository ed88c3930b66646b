//! Random queries over generated traces, with their answers.

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use ltt_read::Merge;
use lttv_context::Traceset;

use crate::common::generated::{Numbers, Shape};

/// The shapes of the generated traces, with their seeds: in order and not, sound and damaged.
pub(crate) fn shapes() -> impl Iterator<Item = (u64, Shape)> {
    (0..8).map(|seed| {
        let shape = Shape { goes_back: seed % 2 == 1, is_damaged: seed % 4 > 1, events: 400 };
        (seed, shape)
    })
}

/// Returns the random queries of a seed.
pub(crate) fn of_seed(seed: u64, all: &[Row]) -> Vec<Query> {
    let mut numbers = Numbers(seed * 1000 + 17);
    (0..25).map(|_| Query::random(&mut numbers, all)).collect()
}

/// An event of the generated traces.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    ts: i64,
    number: i64,
    small: i64,
    cpu: i64,
    name: &'static str,
    text: Option<String>,
}

/// Reads all events with a plain merge.
pub(crate) fn rows(traceset: &Traceset) -> Vec<Row> {
    let mut events = Merge::new(traceset.traces());
    let mut rows = Vec::new();
    while let Some(event) = events.next() {
        let integer = |name| event.field(name).and_then(|value| value.as_i64()).expect("a number");
        let text =
            event.field("text").and_then(|text| Some(text.as_str()?.to_str_lossy().into_owned()));
        rows.push(Row {
            ts: event.timestamp().expect("a time").as_ns(),
            number: integer("number"),
            small: integer("small"),
            cpu: event.tracefile().cpu().expect("a CPU").into(),
            name: if event.event_type().name() == "even" { "even" } else { "odd" },
            text,
        });
    }
    rows
}

/// A comparison of a column with a constant.
#[derive(Debug, Clone)]
enum Test {
    Number(&'static str, &'static str, i64),
    In(&'static str, Vec<i64>),
    Between(&'static str, i64, i64),
    Text(&'static str, String),
    Either(Box<Test>, Box<Test>),
    Not(Box<Test>),
}

impl Test {
    fn random(numbers: &mut Numbers, rows: &[Row], table: &str, depth: u32) -> Test {
        let row = &rows[numbers.below(rows.len() as u64) as usize];
        let column = ["ts", "number", "small", "cpu"][numbers.below(4) as usize];
        let value = row.number_of(column) + numbers.below(3) as i64 - 1;
        match numbers.below(if depth > 0 { 8 } else { 5 }) {
            0..3 => {
                let op = ["=", "<>", "<", "<=", ">", ">="][numbers.below(6) as usize];
                Test::Number(column, op, value)
            }
            3 => Test::In(column, vec![value, value + 2, 7]),
            4 if table == "even" => Test::Text(
                ["=", "<>"][numbers.below(2) as usize],
                ["", "a", "é", "a longer text than twelve bytes"][numbers.below(4) as usize]
                    .to_owned(),
            ),
            4 => Test::Between(column, value, value + 100),
            5 | 6 => {
                let part =
                    |numbers: &mut Numbers| Box::new(Test::random(numbers, rows, table, depth - 1));
                Test::Either(part(numbers), part(numbers))
            }
            _ => Test::Not(Box::new(Test::random(numbers, rows, table, depth - 1))),
        }
    }

    fn sql(&self, prefix: &str) -> String {
        match self {
            Test::Number(column, op, value) => format!("{prefix}{column} {op} {value}"),
            Test::In(column, values) => {
                let values: Vec<_> = values.iter().map(i64::to_string).collect();
                format!("{prefix}{column} in ({})", values.join(", "))
            }
            Test::Between(column, low, high) => {
                format!("{prefix}{column} between {low} and {high}")
            }
            Test::Text(op, text) => format!("{prefix}text {op} '{text}'"),
            Test::Either(a, b) => format!("({} or {})", a.sql(prefix), b.sql(prefix)),
            Test::Not(of) => format!("not ({})", of.sql(prefix)),
        }
    }

    fn holds(&self, row: &Row) -> bool {
        match self {
            Test::Number(column, op, value) => compare(&row.number_of(column), op, value),
            Test::In(column, values) => values.contains(&row.number_of(column)),
            Test::Between(column, low, high) => (*low..=*high).contains(&row.number_of(column)),
            Test::Text(op, text) => compare(row.text.as_ref().expect("a text"), op, text),
            Test::Either(a, b) => a.holds(row) || b.holds(row),
            Test::Not(of) => !of.holds(row),
        }
    }
}

impl Row {
    fn number_of(&self, column: &str) -> i64 {
        match column {
            "ts" => self.ts,
            "number" => self.number,
            "small" => self.small,
            _ => self.cpu,
        }
    }
}

fn compare<T: PartialOrd>(a: &T, op: &str, b: &T) -> bool {
    match op {
        "=" => a == b,
        "<>" => a != b,
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        _ => a >= b,
    }
}

/// A query, and the rows that it has to find, each as texts.
pub(crate) struct Query {
    pub(crate) sql: String,
    pub(crate) expected: Vec<Vec<String>>,
}

fn texts<T: ToString, const N: usize>(values: [T; N]) -> Vec<String> {
    values.iter().map(T::to_string).collect()
}

impl Query {
    pub(crate) fn random(numbers: &mut Numbers, all: &[Row]) -> Query {
        let table = ["even", "odd"][numbers.below(2) as usize];
        let of =
            |table: &str| all.iter().filter(|row| row.name == table).cloned().collect::<Vec<_>>();
        let rows = of(table);
        let tests: Vec<Test> =
            (0..1 + numbers.below(3)).map(|_| Test::random(numbers, &rows, table, 2)).collect();
        let condition =
            |prefix| tests.iter().map(|test| test.sql(prefix)).collect::<Vec<_>>().join(" and ");
        let holds = |row: &&Row| tests.iter().all(|test| test.holds(row));
        let chosen: Vec<Row> = rows.iter().filter(holds).cloned().collect();
        let limit = numbers.below(20) as usize;
        match numbers.below(6) {
            0 => {
                let mut sorted = chosen;
                sorted.sort_by_key(|row| (row.ts, row.number));
                let expected = sorted.iter().take(limit).map(|row| texts([row.ts, row.number]));
                Query {
                    sql: format!(
                        "select ts, number from {table} where {} order by ts, number limit {limit}",
                        condition("")
                    ),
                    expected: expected.collect(),
                }
            }
            1 => {
                let mut groups: Vec<i64> =
                    chosen.iter().map(|row| row.small.rem_euclid(4)).collect();
                groups.sort_unstable();
                groups.dedup();
                let group = |key: &i64| {
                    let of = chosen.iter().filter(|row| row.small.rem_euclid(4) == *key);
                    let sum: i64 = of.clone().map(|row| row.number).sum();
                    let least = of.clone().map(|row| row.ts).min().unwrap_or(0);
                    let most = of.clone().map(|row| row.small).max().unwrap_or(0);
                    texts([*key, of.count() as i64, sum, least, most])
                };
                Query {
                    sql: format!(
                        "select (small + 128) % 4 as k, count(*), cast(sum(number) as bigint), min(ts), \
                         max(small) from {table} where {} group by (small + 128) % 4 order by k",
                        condition("")
                    ),
                    expected: groups.iter().map(group).collect(),
                }
            }
            2 => {
                let other = of(if table == "even" { "odd" } else { "even" });
                let pairs = chosen.iter().flat_map(|a| {
                    other
                        .iter()
                        .filter(|b| a.cpu == b.cpu && a.small == b.small)
                        .map(move |b| (a, b))
                });
                let (mut count, mut sum) = (0, 0);
                pairs.for_each(|(a, b)| (count, sum) = (count + 1, sum + a.number * 3 - b.number));
                let b = if table == "even" { "odd" } else { "even" };
                Query {
                    sql: format!(
                        "select count(*), coalesce(cast(sum(cast(a.number as bigint) * 3 - b.number) as \
                         bigint), 0) from {table} a join {b} b on a.cpu = b.cpu and a.small = b.small \
                         where {}",
                        condition("a.")
                    ),
                    expected: vec![texts([count, sum])],
                }
            }
            3 => {
                let mut sorted = chosen;
                sorted.sort_by_key(|row| (row.cpu, row.ts, row.number));
                let mut gaps: Vec<(i64, String)> = Vec::new();
                for (at, row) in sorted.iter().enumerate() {
                    let before = at.checked_sub(1).map(|at| &sorted[at]);
                    let gap =
                        before.filter(|before| before.cpu == row.cpu).map(|of| row.ts - of.ts);
                    gaps.push((row.number, gap.map_or(String::new(), |gap| gap.to_string())));
                }
                gaps.sort();
                let expected =
                    gaps.into_iter().take(limit).map(|(number, gap)| vec![number.to_string(), gap]);
                Query {
                    sql: format!(
                        "select number, ts - lag(ts) over (partition by cpu order by ts, number) \
                         from {table} where {} order by number limit {limit}",
                        condition("")
                    ),
                    expected: expected.collect(),
                }
            }
            4 => {
                let mut counts: Vec<(&str, i64, i64)> = Vec::new();
                let (low, high) = (rows[0].ts, rows[rows.len() / 2].ts);
                for row in all.iter().filter(|row| row.ts >= low && row.ts < high && row.cpu != 1) {
                    match counts.iter_mut().find(|(name, ..)| *name == row.name) {
                        Some((_, count, _)) => *count += 1,
                        None => counts.push((row.name, 1, row.cpu)),
                    }
                }
                counts.sort_unstable();
                let expected = counts
                    .iter()
                    .map(|(name, count, _)| vec![(*name).to_owned(), count.to_string()]);
                Query {
                    sql: format!(
                        "select name, count(*) from events where ts >= {low} and ts < {high} and \
                         cpu <> 1 group by name order by name"
                    ),
                    expected: expected.collect(),
                }
            }
            _ => Query {
                sql: format!(
                    "select count(*) from (select number from {table} where {} limit {limit}) q",
                    condition("")
                ),
                expected: vec![texts([chosen.len().min(limit)])],
            },
        }
    }
}

/// Returns rows as texts.
pub(crate) fn found(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let options = FormatOptions::default();
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options).expect("texts"))
            .collect();
        for row in 0..batch.num_rows() {
            rows.push(columns.iter().map(|column| column.value(row).to_string()).collect());
        }
    }
    rows
}
