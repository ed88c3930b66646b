//! Priority-ordered hook lists and by-event-id hook lists, merged when called.
//!
//! A *hook* is a function that is called with some call data. Hooks stand in
//! lists ordered by priority (0 first, 99 last); a second set of lists is
//! chosen by an event id, and both are merged when they are called. This
//! crate will know nothing of traces: it is generic over the call data.
//!
//! **Status:** the purpose is settled, the code has not been written yet.
