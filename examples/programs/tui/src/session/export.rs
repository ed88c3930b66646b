//! The export of events from a tab.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use lttv_state::filter::KernelFilters;

use crate::model::event_export::{EventExport, EventFormat, ExportError};
use crate::session::Session;

impl Session {
    /// Starts to write the events of the time window that pass all filters to a file. Another
    /// export that is not complete is cancelled.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn export_events(
        &mut self,
        filters: Vec<Rc<KernelFilters>>,
        format: EventFormat,
        path: PathBuf,
    ) -> Result<(), ExportError> {
        self.stop_export();
        let (kernel, window) = (self.kernel, self.tab.window());
        let scheduler = &mut self.scheduler;
        self.export = Some(EventExport::start(scheduler, kernel, window, filters, format, path)?);
        Ok(())
    }

    /// Cancels the export. Returns `false` if there is none.
    pub(crate) fn stop_export(&mut self) -> bool {
        let Some(export) = self.export.take() else { return false };
        self.message = Some(format!("stopped: {} is not written", export.path().display()));
        export.cancel(&mut self.scheduler);
        true
    }

    /// Returns a line about the progress of the export; `None` if there is none.
    pub fn export_progress(&self) -> Option<String> {
        let export = self.export.as_ref()?;
        let (events, part) = export.progress(&self.scheduler)?;
        let (percent, path) = (part * 100.0, export.path().display());
        Some(format!("writing {path}: {percent:.0} %, {events} events (Esc stops)"))
    }

    /// Returns the path of the export that is not complete, if there is one.
    pub(crate) fn export_path(&self) -> Option<&Path> {
        self.export.as_ref().map(EventExport::path)
    }

    /// Finishes the export when all events are written.
    pub(super) fn take_export_result(&mut self) {
        let Some(export) = self.export.as_ref() else { return };
        let Some(result) = export.finish(&mut self.scheduler) else { return };
        let Some(export) = self.export.take() else { return };
        let path = export.path().display();
        self.message = Some(match result {
            Ok(1) => format!("written: {path} (1 event)"),
            Ok(events) => format!("written: {path} ({events} events)"),
            Err(error) => format!("not written: {path}: {}", ltt_read::ErrorChain(&error)),
        });
    }
}
