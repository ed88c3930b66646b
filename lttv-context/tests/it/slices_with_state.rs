//! Extensions in slices of time: one that depends on the order of events has the state of the
//! slice's start, or is refused.

use std::path::Path;

use crate::count::Count;
use lttv_context::{
    Bounds, CheckpointPolicy, Extension, Handle, ParallelReader, Setup, Subscription, Traceset,
    TracesetContext,
};

/// An extension that counts events that follow one of another tracefile. The result depends on
/// the order of events.
#[derive(Debug, Default)]
struct Switches {
    last: Option<usize>,
    count: u64,
}

impl Extension for Switches {
    type Checkpoint = (Option<usize>, u64);

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        setup.hooks.on_event(Subscription::to_every_event(), move |call| {
            let here = call.tracefile.number().0;
            let of = &mut call.extensions[handle];
            of.count += u64::from(of.last.replace(here) != Some(here));
        });
    }

    fn reset(&mut self) {
        *self = Switches::default();
    }

    fn save(&self) -> Self::Checkpoint {
        (self.last, self.count)
    }

    fn restore(&mut self, saved: &Self::Checkpoint) {
        (self.last, self.count) = *saved;
    }

    fn checkpoint_bytes(_: &Self::Checkpoint, _: Option<&Self::Checkpoint>) -> usize {
        size_of::<Self::Checkpoint>()
    }
}

fn bundled() -> Traceset {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/kernel");
    Traceset::open(traces).expect("a bundled trace")
}

fn alone(traceset: &Traceset) -> (TracesetContext<'static>, u64) {
    let mut context = TracesetContext::new(traceset);
    let switches = context.attach(Switches::default());
    context.state().set_policy(CheckpointPolicy::every(500));
    _ = context.read(&Bounds::all()).expect("bounds have no position");
    let count = context.extensions()[switches].count;
    (context, count)
}

#[test]
fn an_order_dependent_count_is_refused_without_its_state() {
    let traceset = bundled();
    let (_, count) = alone(&traceset);
    for threads in [1, 3] {
        let read = ParallelReader::new(&traceset).threads(threads).slices(6).run(|slice| {
            let mut context = slice.context();
            let switches = context.attach(Switches::default());
            let read = slice.read(&mut context);
            read.map(|_| context.extensions()[switches].count)
        });
        let (first, rest) = read.results.split_first().expect("slices");
        assert!(first.as_ref().is_ok_and(|first| *first < count), "{first:?} of {count}");
        assert!(rest.len() > 2);
        for (number, slice) in (1..).zip(rest) {
            let error = slice.as_ref().expect_err("it has no state");
            assert_eq!(error.slice, number);
            assert!(error.to_string().contains("slices_with_state::Switches"), "{error}");
        }
        // Slices that were not read do not count.
        assert!(read.events < 6087 / 2);
    }
    // The first slice of a time range also starts after other events.
    let span = TracesetContext::new(&traceset).contexts().time_span().expect("a span");
    let stretch = ParallelReader::new(&traceset).threads(1).within(span.end..span.end);
    let read = stretch.run(|slice| {
        let mut context = slice.context();
        context.attach(Switches::default());
        slice.read(&mut context)
    });
    assert!(read.results.iter().all(Result::is_err));
}

#[test]
fn with_checkpoints_or_replay_each_slice_has_the_state_of_one_thread() {
    let traceset = bundled();
    let (first, count) = alone(&traceset);
    for checkpoints in [None, Some(first.checkpoints().clone())] {
        let read = ParallelReader::new(&traceset).threads(2).slices(6).run(|slice| {
            let mut context = slice.context();
            let switches = context.attach(Switches::default());
            if let Some(checkpoints) = &checkpoints {
                assert_eq!(context.state().set_checkpoints(checkpoints.clone()), Ok(()));
            }
            let replayed = context.state().seek_time(slice.start());
            assert!(checkpoints.is_none() || replayed < 1000);
            slice.read(&mut context).expect("it has its state");
            context.extensions()[switches].count
        });
        assert!(read.results.len() > 3 && read.results.is_sorted());
        assert_eq!(read.results.last(), Some(&count));
        assert_eq!(read.events, 6087);
    }
}

#[test]
fn an_extension_that_needs_no_earlier_state_may_start_anywhere() {
    let read = ParallelReader::new(bundled()).threads(2).slices(6).run(|slice| {
        let mut context = slice.context();
        let count = context.attach(Count { starts_anywhere: true, ..Count::default() });
        slice.read(&mut context).expect("it needs no state");
        context.extensions()[count].events
    });
    assert!(read.results.len() > 3);
    assert_eq!(read.results.iter().sum::<u64>(), 6087);

    // The error names only the one of two extensions that needs the state.
    let read = ParallelReader::new(bundled()).threads(1).slices(3).run(|slice| {
        let mut context = slice.context();
        context.attach(Count { starts_anywhere: true, ..Count::default() });
        context.attach(Switches::default());
        slice.read(&mut context)
    });
    let error = read.results[1].as_ref().expect_err("it has no state");
    assert_eq!(error.extensions.len(), 1);
    assert!(error.extensions[0].ends_with("Switches"));
}
