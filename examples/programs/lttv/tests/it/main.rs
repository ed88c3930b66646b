//! The tests of the program, in one program, since each program is linked on its own.

#[path = "../../../../../ltt-read/tests/support/daemon.rs"]
mod daemon;
#[path = "support/lossy.rs"]
mod lossy;
#[path = "../../../../../ltt-read/tests/support/quarters.rs"]
mod quarters;
#[path = "../../../../../ltt-read/tests/support/relay.rs"]
mod relay;
#[path = "../../../../../ltt-read/tests/support/scripted.rs"]
mod scripted;
mod support;

mod agreement;
mod analysis_threads;
mod archives;
mod calls;
mod chart;
mod compare;
mod conformance;
mod convert;
mod convert_anonymise;
mod convert_damage;
mod convert_faults;
mod convert_perfetto;
mod convert_perfetto_threads;
mod convert_recordings;
mod convert_shared;
mod convert_windows;
mod counters;
mod critical_path;
mod ctf2_rules;
mod dump;
mod dump_threads;
mod extensions;
mod flame;
mod forms_of_tables;
mod history;
mod info;
mod json_schemas;
mod latency_by;
mod legacy;
mod legacy_statistics;
mod live;
mod losses;
mod lttv_analyses;
mod lttv_counts;
mod lttv_fields;
mod lttv_legacy;
mod notes;
mod opening;
mod periods;
mod program;
mod programs;
mod record;
mod run_driver;
mod spans;
mod standard_input;
mod state;
mod statistics;
mod stats;
mod synchronize;
mod synchronize_tracers;
mod tasks;
mod threads_end;
mod usage;
mod user_docs;
mod why;
mod window_analyses;
