//! The places of tracefiles in a merge that leaves out some of them, compared with lists of their
//! events.

use std::sync::Arc;

#[path = "../../tests/support/config.rs"]
mod config;
#[allow(dead_code)] // This test uses a part of it.
#[path = "../../tests/support/timeline.rs"]
mod timeline;

use super::{Decision, Merge};
use crate::cursor::Position;
use crate::event::Event;
use crate::trace::{Trace, TracefileIndex, TracefileNumber};
use config::cases;
use proptest::prelude::*;
use proptest::sample::Index;
use timeline::{Timeline, timeline};

#[derive(Debug, Clone)]
enum Step {
    /// Reads the next event.
    Next,
    /// Reads up to an event with a multiple of this number, skipping others.
    NextOf(u32),
    Unread,
    /// Leaves out tracefiles, by number.
    Retain(Vec<bool>),
    SeekTime(Index),
    SeekTimeInAll(Index),
    /// Seeks saved positions, of the first tracefiles only.
    SeekPositions(Index, usize),
}

fn number(event: &Event<'_>) -> u32 {
    event.field("number").and_then(|value| value.as_u64()).expect("a number") as u32
}

/// The events of each tracefile, and how many of them have been passed.
struct Model {
    events: Vec<Vec<u32>>,
    passed: Vec<usize>,
    is_left_out: Vec<bool>,
}

impl Model {
    fn new(timeline: &Timeline) -> Self {
        let of_stream = |stream| timeline.events(stream).iter().map(|e| e.number).collect();
        let events: Vec<Vec<u32>> = (0..timeline.streams.len()).map(of_stream).collect();
        let (passed, is_left_out) = (vec![0; events.len()], vec![false; events.len()]);
        Model { events, passed, is_left_out }
    }

    /// Notes that an event was delivered.
    fn deliver(&mut self, number: u32) -> Result<(), TestCaseError> {
        let stream = self.events.iter().position(|events| events.contains(&number));
        let stream = stream.expect("an event of the trace");
        prop_assert!(!self.is_left_out[stream], "{} is left out", stream);
        self.passed[stream] = self.place(stream, number) + 1;
        Ok(())
    }

    fn place(&self, stream: usize, number: u32) -> usize {
        self.events[stream].iter().position(|event| *event == number).expect("of the stream")
    }
}

/// Counts the events that a cursor passes before a position.
fn passed(trace: &Arc<Trace>, stream: usize, position: Position, all: usize) -> usize {
    let mut cursor = trace.cursor(TracefileIndex(stream));
    cursor.seek(position).expect("a position of this tracefile");
    let mut rest = 0;
    while cursor.next().expect("a sound trace").is_some() {
        rest += 1;
    }
    all - rest
}

fn check(timeline: &Timeline, steps: &[Step]) -> Result<(), TestCaseError> {
    let trace = timeline.in_memory(timeline.data());
    let mut merge = Merge::new(std::slice::from_ref(&trace));
    let mut model = Model::new(timeline);
    let times = timeline.interesting_times();
    let streams = model.events.len();
    let mut saved = vec![(merge.positions(), model.passed.clone())];
    // The place before the current event in its tracefile.
    let mut current: Option<usize> = None;
    for step in steps {
        let mut skips = false;
        match step {
            Step::Next => {
                let next = merge.next().map(|event| number(&event));
                let has_more =
                    |s: usize| !model.is_left_out[s] && model.passed[s] < model.events[s].len();
                prop_assert_eq!(next.is_some(), (0..streams).any(has_more));
                next.map(|next| model.deliver(next)).transpose()?;
                current = merge.current_tracefile().map(|stream| stream.0);
            }
            Step::NextOf(of) => {
                let wanted = |event: &Event<'_>| match number(event).is_multiple_of(*of) {
                    true => Decision::Take,
                    false => Decision::Leave,
                };
                let next = merge.next_taken(wanted).map(|event| number(&event));
                next.map(|next| model.deliver(next)).transpose()?;
                current = merge.current_tracefile().map(|stream| stream.0);
                skips = true;
            }
            Step::Unread => {
                merge.unread();
                if let Some(stream) = current.take() {
                    model.passed[stream] -= 1;
                }
            }
            Step::Retain(retained) => {
                let is_retained = |n: usize| retained.get(n).copied().unwrap_or(true);
                merge.retain_tracefiles(|TracefileNumber(n)| is_retained(n));
                current = None;
                for (stream, is_left_out) in model.is_left_out.iter_mut().enumerate() {
                    *is_left_out |= !is_retained(stream);
                }
            }
            Step::SeekTime(time) | Step::SeekTimeInAll(time) => {
                if times.is_empty() {
                    continue;
                }
                let time = *time.get(&times);
                if matches!(step, Step::SeekTime(_)) {
                    merge.seek(time);
                } else {
                    merge.seek_in_all(time);
                    model.is_left_out.fill(false);
                }
                current = None;
                for stream in (0..streams).filter(|stream| !model.is_left_out[*stream]) {
                    let rest = timeline.events_from(stream, time).len();
                    model.passed[stream] = model.events[stream].len() - rest;
                }
            }
            Step::SeekPositions(index, most) => {
                let (positions, places) = index.get(&saved);
                let most = (*most).min(positions.len());
                current = None;
                merge.seek_positions(&positions[..most]);
                model.passed[..most].copy_from_slice(&places[..most]);
                model.is_left_out.fill(false);
            }
        }
        let positions = merge.positions_after();
        prop_assert_eq!(positions.len(), streams);
        for (stream, position) in positions.iter().enumerate() {
            let found = passed(&trace, stream, *position, model.events[stream].len());
            if skips && !model.is_left_out[stream] {
                // Events that do not pass may have been skipped.
                prop_assert!(found >= model.passed[stream], "{} after {:?}", stream, step);
                model.passed[stream] = found;
            } else {
                prop_assert_eq!(found, model.passed[stream], "{} after {:?}", stream, step);
            }
        }
        saved.push((positions, model.passed.clone()));
    }
    Ok(())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Next),
        2 => (1..4u32).prop_map(Step::NextOf),
        1 => Just(Step::Unread),
        2 => prop::collection::vec(any::<bool>(), 0..4).prop_map(Step::Retain),
        1 => any::<Index>().prop_map(Step::SeekTime),
        1 => any::<Index>().prop_map(Step::SeekTimeInAll),
        2 => (any::<Index>(), 0..5usize).prop_map(|(saved, most)| Step::SeekPositions(saved, most)),
    ]
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn left_out_tracefiles_keep_their_places(
        timeline in timeline(false),
        steps in prop::collection::vec(step(), 1..30),
    ) {
        check(&timeline, &steps)?;
    }
}
