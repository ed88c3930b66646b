//! Reading from and writing to disks over time.

use lttv_common::kernel_trace::DISK;

use super::work::Work;
use super::{Output, xy};
use crate::dataset::{Dataset, Disk};
use crate::error::Result;
use crate::protocol::models::{Answer, Axis, DataProvider, DataType, Entry, Header, Kind, Tree};
use crate::protocol::parameters::Parameters;
use crate::protocol::samples::Samples;

/// The chart of disk input and output.
#[derive(Debug)]
pub(super) struct Disks;

/// The number of entries of a disk: itself, reads, writes.
const ENTRIES: i64 = 3;
const NAMES: [&str; 2] = ["Read", "Write"];
const AXIS: Axis = Axis::new("Throughput", "B/s", DataType::BinaryNumber);

impl Output for Disks {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.eclipse.tracecompass.analysis.os.linux.core.inputoutput.DisksIODataProvider",
            name: "Disk I/O Activity",
            description: "Bytes of completed requests to disks, per second",
            kind: Kind::TreeTimeXy,
        }
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        dataset.kernel().is_some_and(|kernel| kernel.serves(&DISK))
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.range()?;
        let Some(disks) = dataset.disks() else {
            return work.json(&Answer::<Tree>::running(None));
        };
        let mut entries = Vec::new();
        for (number, disk) in disks.iter().enumerate() {
            let id = number as i64 * ENTRIES;
            entries.push(Entry { id, labels: vec![title(dataset, disk)], ..Entry::default() });
            entries.extend(NAMES.iter().zip(1..).map(|(name, at)| Entry {
                id: id + at,
                parent: Some(id),
                labels: vec![(*name).to_owned()],
                has_data: true,
                is_default: Some(true),
                ..Entry::default()
            }));
        }
        let headers = vec![Header::text("Disk", "Name and number of the disk")];
        work.json(&Answer::complete(Tree { headers, entries, expand: None }))
    }

    fn xy(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let samples = parameters.samples("nbTimes")?;
        let items = parameters.items()?;
        let disks = dataset.disks();
        let mut writer = xy::Writer::start(work, "Disk I/O Activity", &samples)?;
        for id in xy::unique(items) {
            let number = usize::try_from(id.div_euclid(ENTRIES)).ok();
            let disk = number.and_then(|number| disks?.get(number));
            let Some(disk) = disk else { continue };
            let (requests, style) = match id.rem_euclid(ENTRIES) {
                1 => (&disk.read, "read"),
                2 => (&disk.written, "write"),
                _ => continue,
            };
            let name = NAMES[id.rem_euclid(ENTRIES) as usize - 1];
            let name = format!("{}/{name}", title(dataset, disk));
            writer.series(id, &name, &throughput(requests, &samples), AXIS, style)?;
        }
        writer.end(disks.is_some())
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        work.json(&xy::styles([
            ("read", xy::style("Read", "#3f76a3", "area")),
            ("write", xy::style("Write", "#c46a2b", "area")),
        ]))
    }
}

fn title(dataset: &Dataset, disk: &Disk) -> String {
    let name = match disk.name.is_empty() {
        true => disk.number.to_string(),
        false => format!("{} ({})", disk.name, disk.number),
    };
    let group = dataset.group_of(disk.trace).filter(|_| dataset.groups().len() > 1);
    group.map_or(name.clone(), |group| format!("{}: {name}", group.name))
}

/// Returns the bytes per second from each sample to the next one. The last sample has the value of
/// the one before it.
fn throughput(requests: &[(i64, u64)], samples: &Samples) -> Vec<f64> {
    let before = |time: i64| {
        let count = requests.partition_point(|(at, _)| *at < time);
        count.checked_sub(1).map_or(0, |last| requests[last].1)
    };
    let times: Vec<i64> = samples.iter().collect();
    let mut all: Vec<f64> = times
        .windows(2)
        .map(|pair| {
            let bytes = before(pair[1]).saturating_sub(before(pair[0]));
            (bytes as f64 * 1e9 / (pair[1] - pair[0]).max(1) as f64).round()
        })
        .collect();
    all.push(all.last().copied().unwrap_or(0.0));
    all
}
