//! Printing of events.

use std::cell::Cell;
use std::fmt::Write;
use std::io;
use std::rc::Rc;

use lttv_common::report::Usage;
use lttv_common::text::clock_text::{ClockStyle, ClockText};
use lttv_common::text::output::Reader;
use lttv_common::text_dump::json::Json;
use lttv_common::text_dump::lttv::Lttv;
use lttv_common::text_dump::options::{Contexts, LineOptions};
use lttv_common::text_dump::{EventText, StateAt};
use lttv_context::Subscription;
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionSpec};
use lttv_hooks::{Flow, Priority};

use super::{Host, at_end};

/// The module `textDump`.
#[derive(Debug)]
pub(super) struct TextDump;

impl Module<Host> for TextDump {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "textDump",
            summary: "Print events, one per line",
            description: "Prints the events that pass the filter, in LTTV's form: \
                          channel.event: seconds.nanoseconds (trace/tracefile), context \
                          { field = value }. Before the context, --process adds the process that \
                          runs after the event, which lines of LTTng 0.x traces always contain: \
                          pid, thread group, name, brand, parent, function and mode. With --json, \
                          prints one JSON object: the events in its list `events`, in the form of \
                          lttv dump --format json, and the results of other modules.",
            requires: &["batchAnalysis", "print"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let flag = OptionSpec::flag;
        vec![
            flag("noevent", "Print no events, only results").short('n'),
            flag("process", "Print the process that runs, for all kernel traces"),
            flag("process-state", "Like --process, and print the status of the process").short('r'),
            flag("no-field-names", "Print values of fields without their names"),
        ]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let silent = host.options.is_set("noevent")?;
        let options = LineOptions {
            field_names: !host.options.is_set("no-field-names")?,
            contexts: Contexts::All,
            process: host.options.is_set("process")? || host.options.is_set("process-state")?,
            process_state: host.options.is_set("process-state")?,
        };
        let work = &mut host.data;
        let traces = work.batch.context.traceset().traces();
        let clock = ClockText::new(ClockStyle::Seconds, work.zone.clone());
        let mut format: Box<dyn EventText> = match work.style.is_json() {
            true => Box::new(Json::new(traces)),
            false => Box::new(Lttv::with(traces, clock, false, options)),
        };
        let is_list = work.style.is_json() && !silent;
        if work.style.is_json() {
            if options != LineOptions::default() {
                let wrong = "--json has no use for --process, --process-state, --no-field-names";
                return Err(Usage::new(wrong).into());
            }
            work.lists_events = is_list;
        } else {
            let mut output = work.output.borrow_mut();
            write!(output.buffer(), "Trace set contains {} traces\n\n", traces.len())?;
        }
        if is_list {
            work.output.borrow_mut().buffer().append(b"{\"events\": [\n");
        }
        let mut is_first = true;
        let failure = Rc::new(Cell::new(None));
        if !silent {
            let (output, failed) = (Rc::clone(&work.output), Rc::clone(&failure));
            let kernel = format.wants_state().then(|| work.kernel());
            work.on_chosen(Subscription::to_every_event(), move |call| {
                let state = kernel.and_then(|kernel| StateAt::of(&call.extensions[kernel], call));
                let mut output = output.borrow_mut();
                if is_list && !std::mem::take(&mut is_first) {
                    output.buffer().push(b',');
                }
                format.event(&call.event, state, output.buffer());
                match output.spill() {
                    Ok(Reader::There) => Flow::Continue(()),
                    Ok(Reader::Gone) => Flow::Break(()),
                    Err(error) => {
                        failed.set(Some(error));
                        Flow::Break(())
                    }
                }
            });
        }
        at_end(host, Priority::FIRST, move |host| -> io::Result<()> {
            if let Some(error) = failure.take() {
                return Err(error);
            }
            let end: &[u8] = match (host.data.style.is_json(), is_list) {
                (false, _) => b"End trace set\n",
                (true, true) => b"]",
                (true, false) => b"",
            };
            host.data.output.borrow_mut().buffer().append(end);
            Ok(())
        });
        Ok(())
    }
}
