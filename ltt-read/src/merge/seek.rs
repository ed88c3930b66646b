//! Going to a time in several tracefiles.

use smallvec::SmallVec;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::layout::header::skip::skip_together;
use crate::time::Timestamp;

/// How many tracefiles are searched together: more do not gain more.
const TOGETHER: usize = 4;

type Group<'c> = SmallVec<[&'c mut Cursor; TOGETHER]>;

/// Goes before the first event of each tracefile whose timestamp is `time` or later,
/// leaving damaged packets out.
pub(crate) fn reach_all<'c>(
    cursors: impl Iterator<Item = &'c mut Cursor>,
    time: Timestamp,
    mut damage: impl FnMut(Error),
) {
    let mut group = Group::new();
    for cursor in cursors {
        match cursor.seek_packet(time) {
            Ok(true) => {}
            Ok(false) => group.push(cursor),
            Err(error) => {
                damage(error);
                cursor.reach_behind(time, &mut damage);
            }
        }
        if group.len() == TOGETHER {
            search_together(&mut group, time, &mut damage);
        }
    }
    search_together(&mut group, time, &mut damage);
}

/// Goes on to that event in the packets that they are in.
fn search_together(group: &mut Group<'_>, time: Timestamp, damage: &mut impl FnMut(Error)) {
    while !group.is_empty() {
        // One that takes no turns goes all the way; so does the last.
        let alone = match group.len() {
            1 => Some(0),
            _ => group.iter_mut().position(|cursor| cursor.lane(time).is_none()),
        };
        let stopped = alone.unwrap_or_else(|| {
            let lanes = group.iter_mut().filter_map(|cursor| cursor.lane(time));
            let mut lanes = lanes.collect::<SmallVec<[_; TOGETHER]>>();
            let stopped = skip_together(&mut lanes);
            let places = lanes.iter().map(|lane| lane.place);
            let places = places.collect::<SmallVec<[_; TOGETHER]>>();
            drop(lanes);
            group.iter_mut().zip(places).for_each(|(cursor, place)| cursor.go(place));
            stopped
        });
        let step = match alone {
            Some(_) => group[stopped].skip_to(time).map(|()| true),
            None => group[stopped].pass(time),
        };
        match step {
            Ok(false) => {}
            Ok(true) => _ = group.swap_remove(stopped),
            Err(error) => {
                damage(error);
                group.swap_remove(stopped).reach_behind(time, &mut *damage);
            }
        }
    }
}
