//! Waiting requests, in the order in which they will be served.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use lttv_context::TracesetPosition;

use crate::identity::{Owner, RequestId};
use crate::request::Urgency;
use crate::request::request_start::RequestStart;
use crate::scheduler::active_request::ActiveRequest;

/// The requests that receive no events at the moment, because they have not started or
/// other requests come first.
///
/// Before each stretch, the scheduler looks up the first request, the requests at the
/// current position, and the next request after it. The time of each lookup grows with
/// the logarithm of the number of requests.
#[derive(Default)]
pub(crate) struct Waiting<'h> {
    requests: BTreeMap<RequestId, Box<ActiveRequest<'h>>>,
    /// The positions at which requests wait, by urgency. No set is empty.
    levels: Levels,
    /// The positions at which requests without state wait.
    plain: Levels,
    owners: BTreeSet<(Owner, RequestId)>,
}

type Levels = BTreeMap<Urgency, BTreeSet<Place>>;

/// A position at which a request waits. Places are ordered by position, and by id at
/// equal positions.
#[derive(Debug)]
struct Place {
    start: RequestStart,
    id: RequestId,
}

impl<'h> Waiting<'h> {
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Adds a request at its position.
    pub(crate) fn insert(&mut self, request: Box<ActiveRequest<'h>>) {
        let place = || Place { start: request.start.clone(), id: request.id };
        self.levels.entry(request.urgency).or_default().insert(place());
        if !request.uses_state {
            self.plain.entry(request.urgency).or_default().insert(place());
        }
        self.owners.insert((request.owner, request.id));
        self.requests.insert(request.id, request);
    }

    /// Adds a request at its position, if there is one.
    pub(crate) fn extend(&mut self, request: Option<Box<ActiveRequest<'h>>>) {
        if let Some(request) = request {
            self.insert(request);
        }
    }

    /// Returns the ids of all requests, in the order of submission.
    pub(crate) fn ids(&self) -> Vec<RequestId> {
        self.requests.keys().copied().collect()
    }

    /// Removes the requests whose start is given as this goal, in the order of submission.
    pub(crate) fn take_at(&mut self, goal: &RequestStart) -> Vec<Box<ActiveRequest<'h>>> {
        let mut ids = self.identical(goal);
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }

    /// Returns the requests whose start is given as this goal.
    fn identical(&self, goal: &RequestStart) -> Vec<RequestId> {
        let first = Place { start: goal.clone(), id: RequestId::FIRST };
        let mut found = Vec::new();
        for level in self.levels.values() {
            let there = level.range(&first..).take_while(|place| place.start.is_identical(goal));
            found.extend(there.map(|place| place.id));
        }
        found
    }

    /// Removes a request.
    pub(crate) fn remove(&mut self, id: RequestId) -> Option<Box<ActiveRequest<'h>>> {
        let request = self.requests.remove(&id)?;
        self.owners.remove(&(request.owner, id));
        let place = Place { start: request.start.clone(), id };
        for levels in [&mut self.levels, &mut self.plain] {
            if let Some(level) = levels.get_mut(&request.urgency) {
                level.remove(&place);
                if level.is_empty() {
                    levels.remove(&request.urgency);
                }
            }
        }
        Some(request)
    }

    pub(crate) fn get(&self, id: RequestId) -> Option<&ActiveRequest<'h>> {
        self.requests.get(&id).map(|request| &**request)
    }

    /// Iterates over all requests, in the order of submission.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ActiveRequest<'h>> {
        self.requests.values().map(|request| &**request)
    }

    /// Returns the requests of an owner, in the order of submission.
    pub(crate) fn of_owner(&self, owner: Owner) -> Vec<RequestId> {
        let all = (owner, RequestId::FIRST)..=(owner, RequestId::LAST);
        self.owners.range(all).map(|(_, id)| *id).collect()
    }

    /// Returns the highest urgency, and the first position at which a request of that
    /// urgency waits.
    pub(crate) fn first(&self) -> Option<(Urgency, &RequestStart)> {
        let (urgency, level) = self.levels.last_key_value()?;
        Some((*urgency, &level.first()?.start))
    }

    /// Returns the first position at which a request without state waits, of an urgency.
    pub(crate) fn first_without_state(&self, urgency: Urgency) -> Option<&RequestStart> {
        Some(&self.plain.get(&urgency)?.first()?.start)
    }

    fn levels(&self, with_state: bool) -> &Levels {
        if with_state { &self.levels } else { &self.plain }
    }

    /// Returns the requests of at least an urgency that wait at a position, all of them or those without
    /// state, in the order of submission.
    pub(crate) fn at(
        &self,
        here: &TracesetPosition,
        min_urgency: Urgency,
        with_state: bool,
    ) -> Vec<RequestId> {
        let last = Place { start: RequestStart::Position(here.clone()), id: RequestId::LAST };
        let mut found = Vec::new();
        for level in self.levels(with_state).range(min_urgency..).map(|(_, level)| level) {
            // A place between a time and the position that the time leads to is at that
            // position, too.
            let before = level.range(..=&last).rev();
            found.extend(before.take_while(|place| place.start.is_at(here)).map(|place| place.id));
        }
        found.sort_unstable();
        found
    }

    /// Returns the position of the next request of at least an urgency, of all or of those without state,
    /// that is reached by reading from a position.
    pub(crate) fn next_after(
        &self,
        here: &TracesetPosition,
        min_urgency: Urgency,
        with_state: bool,
    ) -> Option<&RequestStart> {
        let here = Place { start: RequestStart::Position(here.clone()), id: RequestId::LAST };
        let after = (Bound::Excluded(&here), Bound::Unbounded);
        let levels = self.levels(with_state).range(min_urgency..).map(|(_, level)| level);
        levels.filter_map(|level| level.range(after).next()).min().map(|place| &place.start)
    }

    /// Returns whether a request waits at a position, and its start is given as a
    /// position.
    pub(crate) fn contains_position(&self, position: &TracesetPosition) -> bool {
        let first = Place { start: RequestStart::Position(position.clone()), id: RequestId::FIRST };
        let is_there = |place: &Place| place.start.is_identical(&first.start);
        self.levels.values().any(|level| level.range(&first..).next().is_some_and(is_there))
    }

    /// Moves all requests that wait at a goal to the position that the goal has led to.
    pub(crate) fn set_position(&mut self, goal: &RequestStart, here: &TracesetPosition) {
        for id in self.identical(goal) {
            if let Some(mut request) = self.remove(id) {
                request.start = RequestStart::Position(here.clone());
                self.insert(request);
            }
        }
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.start.order(&other.start).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Place {}
