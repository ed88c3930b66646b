//! The tests of this crate, in one program, since each program is linked on its own.

#[path = "../../../ltt-read/tests/support/arriving.rs"]
mod arriving;
#[cfg(feature = "analyses")]
mod counters;
mod format_reader;
#[cfg(feature = "analyses")]
#[path = "../../../ltt-read/tests/support/ftrace_file.rs"]
#[allow(dead_code)] // the tests of this crate use a part
mod ftrace_file;
mod naive_history;
#[path = "../../../ltt-read/tests/support/packed.rs"]
mod packed;
#[path = "../support/mod.rs"]
mod support;

#[cfg(feature = "filter")]
mod auto_traits;
#[cfg(feature = "analyses")]
mod call_stacks;
#[cfg(feature = "symbols")]
mod call_stacks_ftrace;
#[cfg(feature = "analyses")]
mod call_stacks_references;
#[cfg(feature = "analyses")]
mod call_texts;
#[cfg(all(feature = "analyses", feature = "symbols"))]
mod errors;
#[cfg(feature = "filter")]
mod filter_words;
#[cfg(feature = "analyses")]
mod growth_refused;
#[cfg(feature = "analyses")]
mod heap;
mod history_damage;
mod history_format;
mod history_golden;
mod history_intervals;
mod history_model;
mod history_writers;
#[cfg(feature = "analyses")]
mod kernel_authority;
#[cfg(feature = "checkpoint-files")]
mod kernel_checkpoint_files;
#[cfg(feature = "kernel")]
mod kernel_checkpoints;
#[cfg(all(feature = "checkpoint-files", feature = "filter"))]
mod kernel_cpu_numbers;
mod kernel_growing;
#[cfg(feature = "kernel")]
mod kernel_history;
mod kernel_history_errors;
#[cfg(feature = "kernel")]
mod kernel_history_grown;
#[cfg(feature = "kernel")]
mod kernel_history_of_these_traces;
#[cfg(feature = "kernel")]
mod kernel_legacy;
#[cfg(feature = "kernel")]
mod kernel_losses;
#[cfg(feature = "kernel")]
mod kernel_memory_maps;
#[cfg(feature = "kernel")]
mod kernel_oracle;
#[cfg(feature = "analyses")]
mod kernel_recordings;
#[cfg(feature = "kernel")]
mod kernel_since_4_14;
mod kernel_state_dumps;
#[cfg(feature = "kernel")]
mod kernel_statistics;
#[cfg(feature = "kernel")]
mod kernel_statistics_counters;
#[cfg(feature = "kernel")]
mod kernel_statistics_sampled;
#[cfg(feature = "kernel")]
mod kernel_statistics_times;
#[cfg(feature = "kernel")]
mod kernel_statistics_windows;
#[cfg(feature = "analyses")]
mod kernel_thread_names;
#[cfg(feature = "analyses")]
mod latency_divisions;
#[cfg(feature = "analyses")]
mod latency_model;
#[cfg(feature = "analyses")]
mod latency_periods;
#[cfg(feature = "analyses")]
mod latency_reference;
#[cfg(feature = "analyses")]
mod markers;
#[cfg(feature = "analyses")]
mod not_ended;
#[cfg(feature = "analyses")]
mod period_values;
#[cfg(all(feature = "checkpoint-files", feature = "analyses"))]
mod saved_states;
#[cfg(feature = "analyses")]
mod slices;
#[cfg(feature = "analyses")]
mod spans;
#[cfg(feature = "analyses")]
mod spans_of_recordings;
#[cfg(feature = "symbols")]
mod stack_samples;
#[cfg(feature = "filter")]
mod state_filter;
#[cfg(feature = "symbols")]
mod symbols;
mod tree_model;
#[cfg(feature = "analyses")]
mod usage;
#[cfg(feature = "analyses")]
mod waits_properties;
#[cfg(feature = "analyses")]
mod waits_references;
