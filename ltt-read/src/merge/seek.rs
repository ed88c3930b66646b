//! Seeking a time in several tracefiles, interleaved.

use smallvec::SmallVec;

use crate::base::time::Timestamp;
use crate::cursor::Cursor;
use crate::layout::record_skipper::skip_interleaved;
use crate::report::Error;

/// The number of tracefiles that are searched together. Larger groups are not faster.
const GROUP_SIZE: usize = 4;

type Group<'c> = SmallVec<[&'c mut Cursor; GROUP_SIZE]>;

/// Seeks the position before the first event of each tracefile whose timestamp is `time`
/// or later, skipping damaged packets. Calls `damage` with their errors.
pub(crate) fn seek_all<'c>(
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
                cursor.seek_after_damage(time, &mut damage);
            }
        }
        if group.len() == GROUP_SIZE {
            search_group(&mut group, time, &mut damage);
        }
    }
    search_group(&mut group, time, &mut damage);
}

/// Seeks the event in the current packet of each cursor, interleaved.
fn search_group(group: &mut Group<'_>, time: Timestamp, damage: &mut impl FnMut(Error)) {
    while !group.is_empty() {
        // A cursor without a skipper searches its whole packet alone, and so does the
        // last one.
        let alone = match group.len() {
            1 => Some(0),
            _ => group.iter_mut().position(|cursor| cursor.skipper(time).is_none()),
        };
        let stopped = alone.unwrap_or_else(|| {
            let skippers = group.iter_mut().filter_map(|cursor| cursor.skipper(time));
            let mut skippers = skippers.collect::<SmallVec<[_; GROUP_SIZE]>>();
            let stopped = skip_interleaved(&mut skippers);
            let boundaries = skippers.iter().map(|skipper| skipper.at);
            let boundaries = boundaries.collect::<SmallVec<[_; GROUP_SIZE]>>();
            drop(skippers);
            let cursors = group.iter_mut().zip(boundaries);
            cursors.for_each(|(cursor, boundary)| cursor.set_boundary(boundary));
            stopped
        });
        let step = match alone {
            Some(_) => group[stopped].skip_to(time).map(|()| true),
            None => group[stopped].skip_one(time),
        };
        match step {
            Ok(false) => {}
            Ok(true) => _ = group.swap_remove(stopped),
            Err(error) => {
                damage(error);
                group.swap_remove(stopped).seek_after_damage(time, &mut *damage);
            }
        }
    }
}
