//! The notations of times, for the help of programs.

/// The notations of times, for the help of programs: those of
/// [`Environment`](lttv_filter::Environment).
pub const HELP: &str = "\
Times:
  YYYY-MM-DD [hh:mm[:ss[.NANO]]]   a date and time (local, unless --utc)
  hh:mm[:ss[.NANO]]                the time of day, which must be one time of the traces
  [-]SEC.NANO                      seconds since the origin of the clock, within the traces
  [-]NUMBER                        seconds or nanoseconds, whichever is within the traces
  5s, 12ms                         since the origin of the clock, within the traces or not
  +TIME, -TIME                     after the first, before the last event: +1.5, +20ms, -1s
A Z or an offset such as +01:00 after a date or a time of day replaces the time zone. Units are
ns, us, ms, s, min and h. As the end of a window, +TIME is after its begin, unless that has a + too.";
