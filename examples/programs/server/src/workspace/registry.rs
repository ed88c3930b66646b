//! The lists of traces and experiments.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use lttv_common::clocks::Corrections;
use lttv_common::report::Report;
use lttv_context::Traceset;
use uuid::Uuid;

use super::overlap::overlapping;
use super::trace::OpenTrace;
use super::{FileMemory, Roots, WorkspaceError, names};
use crate::dataset::{Dataset, DatasetOptions, ToldFaults};
use crate::protocol::models;

/// The greatest number of open traces.
const MOST_TRACES: usize = 1000;
/// The greatest number of experiments.
const MOST_EXPERIMENTS: usize = 100;

/// The greatest number of faults whose texts are in the model of an experiment.
const MOST_TEXTS: usize = 100;

/// All open traces and experiments.
#[derive(Debug)]
pub struct Workspace {
    roots: Roots,
    corrections: Corrections,
    options: DatasetOptions,
    memory: FileMemory,
    lists: RwLock<Lists>,
    /// Held while an experiment is created: opening may read the traces.
    creating: Mutex<()>,
}

#[derive(Debug, Default)]
struct Lists {
    traces: Vec<Arc<OpenTrace>>,
    experiments: Vec<Arc<Experiment>>,
    /// The datasets of experiments, which experiments of the same traces share.
    datasets: Vec<(Vec<PathBuf>, Weak<Dataset>)>,
}

/// Traces that are shown together.
#[derive(Debug)]
pub struct Experiment {
    /// The id, computed from the name.
    pub uuid: Uuid,
    /// The name, chosen by the client.
    pub name: String,
    /// The traces, in the order of the client.
    pub traces: Vec<Arc<OpenTrace>>,
    /// The data of the traces.
    pub dataset: Arc<Dataset>,
    /// The bookmarks of clients.
    pub bookmarks: Mutex<Vec<models::Bookmark>>,
}

impl Experiment {
    /// Returns the model.
    pub fn model(&self) -> models::Experiment {
        let progress = self.dataset.progress();
        let indexing = match progress.is_complete {
            true => models::Indexing::Completed,
            false => models::Indexing::Running,
        };
        let traces = self.traces.iter().zip(&progress.groups).map(|(trace, group)| models::Trace {
            start: group.start,
            end: group.end,
            events: group.events,
            indexing,
            properties: trace.properties(),
            ..trace.closed()
        });
        let traces: Vec<_> = traces.collect();
        models::Experiment {
            uuid: self.uuid.to_string(),
            name: self.name.clone(),
            start: traces.iter().map(|trace| trace.start).min().unwrap_or(0),
            end: traces.iter().map(|trace| trace.end).max().unwrap_or(0),
            events: traces.iter().map(|trace| trace.events).sum(),
            indexing,
            traces,
            faults: self.faults(),
        }
    }

    /// Returns the model of what could not be read, or only in part. Paths are given as from the directories
    /// of traces, of which clients may not know where they are.
    fn faults(&self) -> models::Faults {
        let ToldFaults { errors, errors_omitted, warnings, warnings_omitted, losses } =
            self.dataset.faults();
        let count = |texts: &[String], omitted| texts.len() as u64 + omitted;
        let counts = [count(&errors, errors_omitted), count(&warnings, warnings_omitted)];
        let texts = losses.into_iter().chain(errors).chain(warnings).take(MOST_TEXTS);
        let texts = texts.map(|text| {
            self.traces.iter().fold(text, |text, trace| match trace.path.parent() {
                Some(parent) => text.replace(&format!("{}/", parent.display()), ""),
                None => text,
            })
        });
        models::Faults { errors: counts[0], warnings: counts[1], texts: texts.collect() }
    }

    fn uses(&self, trace: &OpenTrace) -> bool {
        self.traces.iter().any(|of| of.uuid == trace.uuid)
    }
}

impl Workspace {
    /// Creates a workspace without traces. Traces may be opened below the roots, and their clocks
    /// are corrected.
    pub fn new(roots: Roots, corrections: Corrections, options: DatasetOptions) -> Self {
        let (lists, creating) = (RwLock::default(), Mutex::default());
        let memory = FileMemory::new(FileMemory::USUAL << 20);
        Workspace { roots, corrections, options, memory, lists, creating }
    }

    /// Sets the memory for the files of traces.
    #[must_use]
    pub fn file_memory(self, memory: FileMemory) -> Self {
        Workspace { memory, ..self }
    }

    fn read<T>(&self, run: impl FnOnce(&Lists) -> T) -> T {
        run(&self.lists.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, run: impl FnOnce(&mut Lists) -> T) -> T {
        run(&mut self.lists.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens a trace, or returns the open one with this path and name.
    ///
    /// # Errors
    ///
    /// If the path may not be opened or is no trace, or if another trace in the same directory
    /// has the name.
    pub fn open_trace(
        &self,
        named: &str,
        name: Option<&str>,
    ) -> Result<models::Trace, WorkspaceError> {
        let path = self.roots.resolve(named)?;
        let default = super::trace::default_name(&path);
        let name = name.filter(|name| !name.is_empty()).unwrap_or(&default);
        let uuid = names::of_trace(&path, name);
        if let Ok(trace) = self.trace(uuid) {
            return Ok(self.model_of(&trace));
        }
        let same_place = |of: &OpenTrace| of.path != path && of.path.parent() == path.parent();
        let taken = self.read(|lists| {
            let mut traces = lists.traces.iter();
            traces.find(|of| of.name == name && same_place(of)).cloned()
        });
        if let Some(taken) = taken {
            return Err(WorkspaceError::TraceExists(self.model_of(&taken).into()));
        }
        let trace = Arc::new(OpenTrace::open(named, path, Some(name), &self.memory)?);
        self.write(|lists| {
            if lists.traces.len() >= MOST_TRACES {
                return Err(WorkspaceError::TooMany);
            }
            // Another request may have opened it.
            if !lists.traces.iter().any(|of| of.uuid == trace.uuid) {
                lists.traces.push(Arc::clone(&trace));
            }
            Ok(trace.closed())
        })
    }

    /// Returns the paths of the traces at and below that of an open one, in groups of those that were recorded at the
    /// same time.
    ///
    /// # Errors
    ///
    /// If it is not open.
    pub fn parts_of(&self, uuid: &str) -> Result<Vec<Vec<PathBuf>>, WorkspaceError> {
        let trace = self.trace(parse(uuid).ok_or(WorkspaceError::NoSuchTrace)?)?;
        let path = |number: usize| trace.traces.get(number).map(|of| of.path().to_owned());
        let groups = overlapping(&trace.spans()).into_iter();
        Ok(groups.map(|group| group.into_iter().filter_map(path).collect()).collect())
    }

    /// Returns the models of all traces.
    pub fn traces(&self) -> Vec<models::Trace> {
        let traces = self.read(|lists| lists.traces.clone());
        traces.iter().map(|trace| self.model_of(trace)).collect()
    }

    /// Returns the model of a trace, with the values of an experiment that uses it.
    fn model_of(&self, trace: &OpenTrace) -> models::Trace {
        let experiments = self.read(|lists| lists.experiments.clone());
        let using = experiments.iter().find(|experiment| experiment.uses(trace));
        let uuid = trace.uuid.to_string();
        let of = using.and_then(|of| of.model().traces.into_iter().find(|of| of.uuid == uuid));
        of.unwrap_or_else(|| trace.closed())
    }

    fn trace(&self, uuid: Uuid) -> Result<Arc<OpenTrace>, WorkspaceError> {
        let trace = self.read(|lists| lists.traces.iter().find(|of| of.uuid == uuid).cloned());
        trace.ok_or(WorkspaceError::NoSuchTrace)
    }

    /// Returns the model of a trace by its id.
    ///
    /// # Errors
    ///
    /// If it is not open.
    pub fn trace_model(&self, uuid: &str) -> Result<models::Trace, WorkspaceError> {
        Ok(self.model_of(&*self.trace(parse(uuid).ok_or(WorkspaceError::NoSuchTrace)?)?))
    }

    /// Closes a trace, and returns its model. Its files stay.
    ///
    /// # Errors
    ///
    /// If it is not open, or an experiment uses it.
    pub fn close_trace(&self, uuid: &str) -> Result<models::Trace, WorkspaceError> {
        let trace = self.trace(parse(uuid).ok_or(WorkspaceError::NoSuchTrace)?)?;
        let is_used = self.write(|lists| {
            let is_used = lists.experiments.iter().any(|experiment| experiment.uses(&trace));
            if !is_used {
                lists.traces.retain(|of| of.uuid != trace.uuid);
            }
            is_used
        });
        match is_used {
            true => Err(WorkspaceError::TraceInUse(self.model_of(&trace).into())),
            false => Ok(trace.closed()),
        }
    }

    /// Creates an experiment, or returns the one with this name and these traces.
    ///
    /// # Errors
    ///
    /// If a trace is not open, the clocks cannot be corrected, or an experiment of other traces
    /// has the name.
    pub fn create_experiment(
        &self,
        name: &str,
        traces: &[&str],
    ) -> Result<Arc<Experiment>, WorkspaceError> {
        let _creating = self.creating.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |uuid: &&str| self.trace(parse(uuid).ok_or(WorkspaceError::NoSuchTrace)?);
        let mut traces: Vec<Arc<OpenTrace>> = traces.iter().map(find).collect::<Result<_, _>>()?;
        let mut seen = Vec::new();
        traces.retain(|trace| {
            !seen.contains(&trace.uuid) && {
                seen.push(trace.uuid);
                true
            }
        });
        let uuid = names::of_experiment(name);
        if let Ok(known) = self.experiment_of(uuid) {
            let is_same =
                known.traces.len() == traces.len() && traces.iter().all(|trace| known.uses(trace));
            return match is_same {
                true => Ok(known),
                false => Err(WorkspaceError::ExperimentExists(known.model().into())),
            };
        }
        let dataset = self.dataset(&traces)?;
        let bookmarks = Mutex::default();
        let experiment =
            Arc::new(Experiment { uuid, name: name.to_owned(), traces, dataset, bookmarks });
        self.write(|lists| {
            if lists.experiments.len() >= MOST_EXPERIMENTS {
                return Err(WorkspaceError::TooMany);
            }
            lists.experiments.push(Arc::clone(&experiment));
            Ok(experiment)
        })
    }

    /// Returns the dataset of some traces: that of another experiment, or a new one.
    fn dataset(&self, traces: &[Arc<OpenTrace>]) -> Result<Arc<Dataset>, WorkspaceError> {
        let paths: Vec<PathBuf> = traces.iter().map(|trace| trace.path.clone()).collect();
        let known = self.write(|lists| {
            lists.datasets.retain(|(_, dataset)| dataset.strong_count() > 0);
            let known = lists.datasets.iter().find(|(of, _)| *of == paths);
            known.and_then(|(_, dataset)| dataset.upgrade())
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let all = traces.iter().flat_map(|trace| trace.traces.iter().cloned());
        let traceset = Traceset::from(all.collect::<Vec<_>>());
        let report = Report::new("lttv-server");
        let corrected = self.corrections.corrected(traceset, &report);
        let corrected = corrected
            .map_err(|error| WorkspaceError::Clocks(ltt_read::ErrorChain(&error).to_string()))?;
        let groups = traces.iter().map(|trace| (trace.name.clone(), trace.traces.len()));
        let opening = traces.iter().map(|trace| trace.faults.clone());
        let dataset = Dataset::open(corrected.traceset, groups, opening, &self.options);
        self.write(|lists| lists.datasets.push((paths, Arc::downgrade(&dataset))));
        Ok(dataset)
    }

    /// Returns all experiments.
    pub fn experiments(&self) -> Vec<Arc<Experiment>> {
        self.read(|lists| lists.experiments.clone())
    }

    fn experiment_of(&self, uuid: Uuid) -> Result<Arc<Experiment>, WorkspaceError> {
        let find = |lists: &Lists| lists.experiments.iter().find(|of| of.uuid == uuid).cloned();
        self.read(find).ok_or(WorkspaceError::NoSuchExperiment)
    }

    /// Returns an experiment by its id.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn experiment(&self, uuid: &str) -> Result<Arc<Experiment>, WorkspaceError> {
        self.experiment_of(parse(uuid).ok_or(WorkspaceError::NoSuchExperiment)?)
    }

    /// Removes an experiment, and returns its last model.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn remove_experiment(&self, uuid: &str) -> Result<models::Experiment, WorkspaceError> {
        let experiment = self.experiment(uuid)?;
        self.write(|lists| lists.experiments.retain(|of| of.uuid != experiment.uuid));
        Ok(experiment.model())
    }
}

fn parse(uuid: &str) -> Option<Uuid> {
    Uuid::parse_str(uuid).ok()
}
