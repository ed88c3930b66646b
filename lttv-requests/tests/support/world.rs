//! Real requests created from those of the model, and a log of their calls.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{
    Bounds, EventCall, Handle, Level, ReadCall, Subscription, TracesetContext, TracesetPosition,
};
use lttv_hooks::{Flow, Priority};
use lttv_requests::{Control, EventsRequest, FinishReason, Owner, RequestId, Start};

use super::digest::{Digest, known};
use super::script::{Act, Begin, FilterModel, Hooks, ModelRequest, Submit};
use super::tracesets::Sample;

/// A call of a hook of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    BeforeRequest,
    BeforeChunk,
    BeforeTrace(usize),
    /// The number of the event, and whether it is the second hook for it.
    Event(usize, bool),
    AfterTrace(usize),
    AfterChunk,
    AfterRequest(FinishReason),
}

/// The payload with which hooks panic by their script.
pub(crate) struct Planned;

pub(crate) struct World {
    pub(crate) sample: Sample,
    pub(crate) times: Vec<Timestamp>,
    pub(crate) script: Vec<ModelRequest>,
    pub(crate) logs: RefCell<Vec<Vec<Entry>>>,
    pub(crate) ids: RefCell<Vec<Option<RequestId>>>,
    pub(crate) owners: Vec<Owner>,
    /// The positions before each event and at the end: as saved between reads, and in a
    /// hook.
    pub(crate) positions: Vec<(TracesetPosition, TracesetPosition)>,
    numbers: HashMap<(usize, usize, u32), usize>,
    /// The states before each event and at the end.
    digests: Vec<Digest>,
    digest: Option<Handle<Digest>>,
}

impl World {
    pub(crate) fn new(
        sample: Sample,
        script: Vec<ModelRequest>,
        digest: Option<Handle<Digest>>,
    ) -> Rc<Self> {
        let events = sample.events.iter().enumerate();
        let numbers = events.map(|(n, e)| ((e.trace, e.tracefile, e.number), n)).collect();
        let mut digests = vec![Digest::default()];
        for event in &sample.events {
            let mut next = digests.last().expect("one at least").clone();
            next.add(*event);
            digests.push(next);
        }
        Rc::new(World {
            times: sample.times(),
            positions: positions(&sample),
            logs: RefCell::new(vec![Vec::new(); script.len()]),
            ids: RefCell::new(vec![None; script.len()]),
            owners: (0..3).map(|_| Owner::unique()).collect(),
            sample,
            script,
            numbers,
            digests,
            digest,
        })
    }

    /// Returns the number of an event.
    fn number(&self, call: &EventCall<'_, '_>) -> usize {
        let event = known(call);
        let number = self.numbers[&(event.trace, event.tracefile, event.number)];
        assert_eq!(self.sample.events[number], event, "delivered at another time");
        number
    }

    fn log(&self, request: usize, entry: Entry) {
        self.logs.borrow_mut()[request].push(entry);
    }

    /// Creates the request of a number in the script.
    pub(crate) fn request(self: &Rc<Self>, request: usize) -> EventsRequest<'static> {
        let model = &self.script[request];
        let mut made = EventsRequest::new(self.owners[model.owner]).urgency(model.urgency);
        made = match model.start {
            Begin::First => made.starting_at(Start::Begin),
            Begin::Time(_) if self.times.is_empty() => made,
            Begin::Time(index) => made.starting_at(*index.get(&self.times)),
            Begin::Event(index, by_hook) => {
                let (between, in_hook) = &self.positions[index.index(self.positions.len())];
                made.starting_at(if by_hook { in_hook } else { between })
            }
        };
        if !model.uses_state {
            made = made.without_state();
        }
        if let Some(time) = model.end_time(&self.times) {
            made = made.until(time);
        }
        if let Some(event) = model.end_event(&self.sample) {
            made = made.until_position(&self.positions[event].0);
        }
        if let Some(most) = model.most {
            made = made.max_events(most);
        }
        if let Some(most) = model.most_matches {
            made = made.max_matches(most);
        }
        if let Some(trace) = model.trace(&self.sample) {
            made = made.in_trace(TraceIndex(trace));
        }
        if let FilterModel::Even = model.filter {
            made = made.filter(|call: &EventCall<'_, '_>| known(call).number.is_multiple_of(2));
        }
        if let Some(sieve) = model.sieve(&self.sample, &self.times) {
            made = made.filter(sieve);
        }
        made = self.add_event_hooks(made, request);
        self.add_level_hooks(made, request)
    }

    fn add_event_hooks(
        self: &Rc<Self>,
        made: EventsRequest<'static>,
        request: usize,
    ) -> EventsRequest<'static> {
        let hooks = self.script[request].hooks;
        let world = self.clone();
        let first = move |call: &mut EventCall<'_, 'static>, control: &Control<'static>| {
            world.on_event(request, call, control)
        };
        let made = match hooks {
            Hooks::Dynamic => made.on_event("dyn*", first),
            Hooks::All | Hooks::Both => made.on_every_event(first),
        };
        if hooks != Hooks::Both {
            return made;
        }
        let world = self.clone();
        let last = Priority::new(80).expect("a priority");
        made.on_event(Subscription::to("dynamic").priority(last), move |call, _| {
            let number = world.number(call);
            world.log(request, Entry::Event(number, true));
        })
    }

    fn on_event(
        self: &Rc<Self>,
        request: usize,
        call: &mut EventCall<'_, 'static>,
        control: &Control<'static>,
    ) -> Flow {
        let number = self.number(call);
        if let Some(digest) = self.digest.filter(|_| self.script[request].uses_state) {
            assert_eq!(call.extensions[digest], self.digests[number + 1], "at event {number}");
        }
        let is_event = |entry: &&Entry| matches!(entry, Entry::Event(_, false));
        let calls = self.logs.borrow()[request].iter().filter(is_event).count() as u64;
        self.log(request, Entry::Event(number, false));
        let mut flow = ControlFlow::Continue(());
        let mut panics = false;
        for act in self.script[request].acts_at(calls) {
            match act {
                Act::Stop => control.stop(),
                Act::Yield => flow = ControlFlow::Break(()),
                Act::Cancel(index) => {
                    if let Some(id) = *index.get(&self.ids.borrow()) {
                        control.cancel(id);
                    }
                }
                Act::CancelOwner(owner) => control.cancel_owner(self.owners[owner]),
                Act::Panic => panics = true,
            }
        }
        for (other, model) in self.script.iter().enumerate() {
            if let Submit::By(by, at) = model.submit
                && (by.index(self.script.len()), at) == (request, calls)
            {
                self.submit_from(other, control);
            }
        }
        if panics {
            std::panic::panic_any(Planned);
        }
        flow
    }

    fn submit_from(self: &Rc<Self>, request: usize, control: &Control<'static>) {
        let id = control.submit(self.request(request)).expect("a valid request");
        self.ids.borrow_mut()[request] = Some(id);
    }

    fn add_level_hooks(
        self: &Rc<Self>,
        made: EventsRequest<'static>,
        request: usize,
    ) -> EventsRequest<'static> {
        let note = |entry: fn(usize) -> Entry| {
            let world = self.clone();
            move |call: &mut ReadCall<'_, 'static>, _: &Control<'static>| {
                world.log(request, entry(call.trace.map_or(0, |trace| trace.index().0)));
            }
        };
        let (world, at_end) = (self.clone(), self.clone());
        made.before_request(move |call, control| world.before(request, call, control))
            .before_chunk(Level::Traceset, note(|_| Entry::BeforeChunk))
            .before_chunk(Level::Trace, note(Entry::BeforeTrace))
            .after_chunk(Level::Trace, note(Entry::AfterTrace))
            .after_chunk(Level::Traceset, note(|_| Entry::AfterChunk))
            .after_request(move |_, control, reason| at_end.after(request, control, reason))
    }

    fn before(
        self: &Rc<Self>,
        request: usize,
        call: &mut ReadCall<'_, 'static>,
        control: &Control<'static>,
    ) {
        self.log(request, Entry::BeforeRequest);
        assert_eq!(control.request(), self.ids.borrow()[request]);
        if let Some(digest) = self.digest.filter(|_| self.script[request].uses_state) {
            let first = self.script[request].first(&self.sample, &self.times);
            assert_eq!(call.extensions[digest], self.digests[first], "before event {first}");
        }
        for (other, model) in self.script.iter().enumerate() {
            if let Submit::ByBefore(by) = model.submit
                && by.index(self.script.len()) == request
                && other != request
            {
                self.submit_from(other, control);
            }
        }
    }
}

impl World {
    fn after(self: &Rc<Self>, request: usize, control: &Control<'static>, reason: FinishReason) {
        self.log(request, Entry::AfterRequest(reason));
        for (other, model) in self.script.iter().enumerate() {
            if let Submit::ByAfter(by) = model.submit
                && by.index(self.script.len()) == request
                && other != request
            {
                self.submit_from(other, control);
            }
        }
    }
}

/// Returns the positions before each event and at the end: saved between reads, and in
/// hooks.
fn positions(sample: &Sample) -> Vec<(TracesetPosition, TracesetPosition)> {
    let in_hooks = RefCell::new(Vec::new());
    let mut context = TracesetContext::new(&sample.traceset);
    context.on_event(Subscription::to_every_event(), |call| {
        in_hooks.borrow_mut().push(call.position());
    });
    let mut positions = Vec::new();
    for _ in &sample.events {
        positions.push(context.position());
        let read = context.read(&Bounds::all().events(1)).expect("bounds without a position");
        assert_eq!(read.events, 1);
    }
    positions.push(context.position());
    let end = TracesetPosition::end(&sample.traceset);
    let in_hooks = in_hooks.take().into_iter().chain([end]);
    positions.into_iter().zip(in_hooks).collect()
}
