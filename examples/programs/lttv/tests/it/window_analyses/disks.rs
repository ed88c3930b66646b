//! Disks.

use std::collections::BTreeMap;

use super::*;

/// Returns the figures of each disk in a window, by name: issued, completed, bytes read, bytes
/// written, busy time, and the time of all requests in the disk.
fn disks(window: (i64, i64)) -> BTreeMap<String, [i64; 6]> {
    const WRITE: i64 = 1;
    const READ: i64 = 4;
    let mut in_flight: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    let mut disks: BTreeMap<String, [i64; 6]> = BTreeMap::new();
    let name = |dev: i64| format!("{},{}", dev >> 20, dev & 0xf_ffff);
    let mut advance = |disks: &mut BTreeMap<String, [i64; 6]>, dev: i64, time: i64, change: i64| {
        let (requests, since) = in_flight.entry(dev).or_insert((0, time));
        let passed = part((*since, time), window);
        let of = disks.entry(name(dev)).or_default();
        of[4] += if *requests > 0 { passed } else { 0 };
        of[5] += passed * *requests;
        (*requests, *since) = ((*requests + change).max(0), time);
    };
    for line in lines().iter().filter(|line| line.name.starts_with("block_rq_")) {
        let dev = line.number("dev");
        let is_in = (window.0..=window.1).contains(&line.time);
        let is_complete = line.name == "block_rq_complete";
        // The end of a write that flushes the cache: its data has been completed before.
        if is_complete && line.number("nr_sector") == 0 && line.number("rwbs") & (WRITE | READ) != 0
        {
            continue;
        }
        advance(&mut disks, dev, line.time, if is_complete { -1 } else { 1 });
        if !is_in {
            continue;
        }
        let of = disks.entry(name(dev)).or_default();
        of[usize::from(is_complete)] += 1;
        let bytes = line.number("nr_sector") * 512;
        match line.number("rwbs") {
            kind if is_complete && kind & (WRITE | 2) == WRITE => of[3] += bytes,
            kind if is_complete && kind & (READ | WRITE | 2) == READ => of[2] += bytes,
            _ => {}
        }
    }
    let all: Vec<i64> = lines()
        .iter()
        .filter(|line| line.name.starts_with("block_rq_"))
        .map(|line| line.number("dev"))
        .collect();
    all.into_iter().for_each(|dev| advance(&mut disks, dev, super::all().1, 0));
    disks
}

fn disks_of(row: &Value, window: (i64, i64)) -> [i64; 6] {
    let queue = row["queue"].as_f64().unwrap() * (window.1 - window.0) as f64;
    let keys = ["issued", "completed", "bytes_read", "bytes_written", "busy_ns"];
    let mut all = [0; 6];
    keys.iter().zip(&mut all).for_each(|(key, of)| *of = ns(row, key));
    all[5] = queue.round() as i64;
    all
}

#[test]
fn disk_counts_what_is_open_at_the_borders() {
    let mut busy = 0;
    for window in windows(25).into_iter().chain([all()]) {
        let found = json::<DiskArgs>(disk::run, &["--timerange", &range(window)]);
        let expected = disks(window);
        for row in rows(&found, "disks") {
            let name = row["disk"].as_str().unwrap();
            let expected = expected.get(name).copied().unwrap_or_default();
            assert_eq!(disks_of(row, window), expected, "{name} in {window:?}");
            busy += usize::from(expected[4] > 0);
        }
        let seen = |of: &String| rows(&found, "disks").iter().any(|row| row["disk"] == **of);
        assert!(expected.iter().all(|(name, of)| *of == [0; 6] || seen(name)), "{window:?}");
    }
    assert!(busy > 5, "{busy}");
}

#[test]
fn disks_are_chosen_by_name_or_number() {
    let found = json::<DiskArgs>(disk::run, &[]);
    let row = &rows(&found, "disks")[0];
    let name = row["name"].as_str().unwrap();
    let number = row["disk"].as_str().unwrap().replace(',', ":");
    let (start, last) = name.split_at(name.len() - 1);
    let pattern = format!("{start}[{last}]");
    for of in [name, &number, &pattern] {
        let chosen = json::<DiskArgs>(disk::run, &["--name", of]);
        assert_eq!(rows(&chosen, "disks"), std::slice::from_ref(row));
    }
    let error = output::<DiskArgs>(disk::run, &["--name", "none", KERNEL]).unwrap_err();
    assert_eq!(error.to_string(), "no disk in the traces is none");
}
