//! Reading events allocates no memory once every event type has been read.
//!
//! A program of its own, since it replaces the global allocator.
//!
//! There is only one test, because allocations are counted for the whole process.

use std::path::{Path, PathBuf};

use ltt_read::FieldInfo;
use ltt_read::schema::{EventType, FieldClass, FieldKind, Scope};
use ltt_read::{Merge, StrValue, Timestamp, Visitor, open_all};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// A visitor that uses every value.
#[derive(Default)]
struct Sum(u64);

impl Visitor for Sum {
    fn uint(&mut self, _: &FieldInfo, value: u64) {
        self.0 = self.0.wrapping_add(value);
    }

    fn sint(&mut self, _: &FieldInfo, value: i64) {
        self.0 = self.0.wrapping_add(value as u64);
    }

    fn float(&mut self, _: &FieldInfo, value: f64) {
        self.0 ^= value.to_bits();
    }

    fn string(&mut self, _: &FieldInfo, value: StrValue<'_>) {
        self.0 = self.0.wrapping_add(value.bytes.len() as u64);
    }
}

fn bundled() -> impl Iterator<Item = PathBuf> {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces");
    ["kernel", "ust", "ust-ctf2"].into_iter().map(move |name| traces.join(name))
}

/// Returns `true` if a field contains an array with compound elements, whose visit copies
/// the slots.
fn has_compound_elements(class: &FieldClass) -> bool {
    match &class.kind {
        FieldKind::Array(array) => !matches!(
            array.element.kind,
            FieldKind::Integer(..) | FieldKind::Float(..) | FieldKind::Bool(..)
        ),
        FieldKind::Struct(s) => s.members.iter().any(|m| has_compound_elements(&m.class)),
        FieldKind::Variant(v) => v.options.iter().any(|o| has_compound_elements(&o.class)),
        FieldKind::Option(o) => has_compound_elements(&o.class),
        _ => false,
    }
}

fn is_flat(event_type: &EventType) -> bool {
    let scopes = [&event_type.specific_context, &event_type.payload];
    !scopes.into_iter().flatten().any(|class| has_compound_elements(class))
}

/// Reads all events. Returns their number, the sum of their values, and the number of
/// heap allocations meanwhile.
fn walk(merge: &mut Merge, scopes: &[Scope]) -> (u64, u64, u64) {
    merge.seek(Timestamp::MIN);
    let before = dhat::HeapStats::get().total_blocks;
    let (mut events, mut sum) = (0, Sum::default());
    while let Some(event) = merge.next() {
        if is_flat(event.event_type()) {
            scopes.iter().for_each(|scope| event.visit(*scope, &mut sum));
        }
        events += 1;
    }
    (events, sum.0, dhat::HeapStats::get().total_blocks - before)
}

#[test]
fn reading_an_event_allocates_nothing() {
    let _profiler = dhat::Profiler::builder().testing().build();
    let body = [Scope::PacketContext, Scope::CommonContext, Scope::SpecificContext, Scope::Payload];
    for path in bundled() {
        let traces = open_all(&path).unwrap();
        let mut merge = Merge::new(&traces);
        let (events, sum, _) = walk(&mut merge, &body);
        assert!(events > 400 && sum != 0, "{events} events in {}", path.display());
        assert_eq!(walk(&mut merge, &[]), (events, 0, 0), "ordered walk of {}", path.display());
        assert_eq!(walk(&mut merge, &body), (events, sum, 0), "all fields of {}", path.display());
    }
}
