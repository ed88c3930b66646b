//! Requests that wait, in the order in which they will be served.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use lttv_context::TracesetPosition;

use crate::cut::Cut;
use crate::identity::{Owner, RequestId};
use crate::served::Served;
use crate::urgency::Urgency;

/// Requests that get no events for now, as they have not begun or others come first.
///
/// For each stretch that a scheduler reads it looks up which request comes first, which
/// are here, and which is next. The time of that grows with the logarithm of their
/// number.
#[derive(Default)]
pub(crate) struct Waiting<'h> {
    requests: BTreeMap<RequestId, Box<Served<'h>>>,
    /// Where they wait, by urgency. No level is empty.
    levels: BTreeMap<Urgency, BTreeSet<Place>>,
    owners: BTreeSet<(Owner, RequestId)>,
}

/// Where a request waits. The order is that of the cuts, and that of submission for
/// equal ones.
#[derive(Debug)]
struct Place {
    cut: Cut,
    request: RequestId,
}

impl<'h> Waiting<'h> {
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Adds a request at its cut.
    pub(crate) fn insert(&mut self, served: Box<Served<'h>>) {
        let place = Place { cut: served.cut.clone(), request: served.id };
        self.levels.entry(served.urgency).or_default().insert(place);
        self.owners.insert((served.owner, served.id));
        self.requests.insert(served.id, served);
    }

    /// Takes a request out.
    pub(crate) fn remove(&mut self, request: RequestId) -> Option<Box<Served<'h>>> {
        let served = self.requests.remove(&request)?;
        self.owners.remove(&(served.owner, request));
        if let Some(level) = self.levels.get_mut(&served.urgency) {
            level.remove(&Place { cut: served.cut.clone(), request });
            if level.is_empty() {
                self.levels.remove(&served.urgency);
            }
        }
        Some(served)
    }

    pub(crate) fn get(&self, request: RequestId) -> Option<&Served<'h>> {
        self.requests.get(&request).map(|served| &**served)
    }

    /// All, in the order of submission.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Served<'h>> {
        self.requests.values().map(|served| &**served)
    }

    /// Those of an owner, in the order of submission.
    pub(crate) fn of_owner(&self, owner: Owner) -> Vec<RequestId> {
        let all = (owner, RequestId::FIRST)..=(owner, RequestId::LAST);
        self.owners.range(all).map(|(_, request)| *request).collect()
    }

    /// How urgent the most urgent is, and where the first of these waits.
    pub(crate) fn first(&self) -> Option<(Urgency, &Cut)> {
        let (urgency, level) = self.levels.last_key_value()?;
        Some((*urgency, &level.first()?.cut))
    }

    /// Those of an urgency at least that wait here, in the order of submission.
    pub(crate) fn at(&self, here: &TracesetPosition, least: Urgency) -> Vec<RequestId> {
        let last = Place { cut: Cut::Position(here.clone()), request: RequestId::LAST };
        let mut found = Vec::new();
        for level in self.levels.range(least..).map(|(_, level)| level) {
            // What lies between a time and the position that it leads to is that position.
            let before = level.range(..=&last).rev();
            found.extend(before.take_while(|place| place.cut.is_at(here)).map(|p| p.request));
        }
        found.sort_unstable();
        found
    }

    /// Where the next of an urgency at least waits that is reached by reading on.
    pub(crate) fn next_after(&self, here: &TracesetPosition, least: Urgency) -> Option<&Cut> {
        let here = Place { cut: Cut::Position(here.clone()), request: RequestId::LAST };
        let behind = (Bound::Excluded(&here), Bound::Unbounded);
        let levels = self.levels.range(least..).map(|(_, level)| level);
        levels.filter_map(|level| level.range(behind).next()).min().map(|place| &place.cut)
    }

    /// Whether a request waits at a position, and says so by a position.
    pub(crate) fn has_one_at(&self, position: &TracesetPosition) -> bool {
        let first = Place { cut: Cut::Position(position.clone()), request: RequestId::FIRST };
        let is_there = |place: &Place| place.cut.is_same(&first.cut);
        self.levels.values().any(|level| level.range(&first..).next().is_some_and(is_there))
    }

    /// Has all that wait at a goal wait at a position: it is where the goal led to.
    pub(crate) fn arrive(&mut self, goal: &Cut, here: &TracesetPosition) {
        let first = Place { cut: goal.clone(), request: RequestId::FIRST };
        let mut arrived = Vec::new();
        for level in self.levels.values() {
            let there = level.range(&first..).take_while(|place| place.cut.is_same(goal));
            arrived.extend(there.map(|place| place.request));
        }
        for request in arrived {
            if let Some(mut served) = self.remove(request) {
                served.cut = Cut::Position(here.clone());
                self.insert(served);
            }
        }
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cut.order(&other.cut).then(self.request.cmp(&other.request))
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
