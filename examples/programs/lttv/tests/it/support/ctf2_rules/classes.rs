//! The rules of field classes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::ScopeRoles;
use super::object::{Checked, Object};

type Aliases = BTreeMap<String, Value>;
type Ranges = Vec<(i128, i128)>;

/// The field class of a scope, with its aliases resolved.
#[derive(Clone)]
pub(crate) struct Root {
    class: Value,
    has_timestamp: bool,
}

/// The field classes of all scopes of an event, in decoding order.
#[derive(Clone, Default)]
pub(crate) struct Scopes(pub(crate) [Option<Root>; 6]);

const SCOPES: [&str; 6] = [
    "packet-header",
    "packet-context",
    "event-record-header",
    "event-record-common-context",
    "event-record-specific-context",
    "event-record-payload",
];

impl Root {
    /// Checks a field class by itself. With roles, it is that of a scope.
    pub(crate) fn new(
        class: &Value,
        aliases: &Aliases,
        roles: Option<&ScopeRoles>,
    ) -> Checked<Root> {
        let class = resolved(class, aliases)?;
        let mut checker = Checker { roles, has_timestamp: false };
        let kind = checker.class(&class)?;
        if roles.is_some() && kind != "structure" {
            return Err("the field class of a scope is no structure".to_owned());
        }
        if let Some(first) = class["member-classes"].as_array().and_then(|members| members.get(1..))
        {
            let is_magic = |member: &Value| has_role(&member["field-class"], "packet-magic-number");
            if first.iter().any(is_magic) {
                return Err("the magic number is not the first member".to_owned());
            }
        }
        Ok(Root { class, has_timestamp: checker.has_timestamp })
    }

    pub(crate) fn has_timestamp(&self) -> bool {
        self.has_timestamp
    }
}

/// Returns a class with the classes of all aliases in place of their names.
fn resolved(class: &Value, aliases: &Aliases) -> Checked<Value> {
    if let Value::String(name) = class {
        let class = aliases.get(name).ok_or_else(|| format!("no alias {name} before"))?;
        return resolved(class, aliases);
    }
    let mut class = class.clone();
    for part in ["field-class", "element-field-class"] {
        if let Some(inner) = class.get_mut(part) {
            *inner = resolved(inner, aliases)?;
        }
    }
    for parts in ["member-classes", "options"] {
        let Some(Value::Array(parts)) = class.get_mut(parts) else { continue };
        for part in parts {
            if let Some(inner) = part.get_mut("field-class") {
                *inner = resolved(inner, aliases)?;
            }
        }
    }
    Ok(class)
}

fn has_role(class: &Value, role: &str) -> bool {
    class["roles"].as_array().is_some_and(|roles| roles.iter().any(|known| known == role))
}

struct Checker<'r> {
    roles: Option<&'r ScopeRoles>,
    has_timestamp: bool,
}

impl Checker<'_> {
    /// Checks a class, and returns its type.
    fn class<'v>(&mut self, class: &'v Value) -> Checked<&'v str> {
        let object = Object::new(class)?;
        object.common()?;
        let kind = object.text("type")?;
        self.of_kind(&object, kind).map_err(|what| format!("{kind}: {what}"))?;
        Ok(kind)
    }

    fn of_kind(&mut self, object: &Object<'_>, kind: &str) -> Checked<()> {
        const FIXED: [&str; 5] = ["type", "length", "byte-order", "bit-order", "alignment"];
        const INTEGER: [&str; 3] = ["preferred-display-base", "mappings", "roles"];
        let (is_signed, is_fixed) = (kind.contains("-signed-"), kind.starts_with("fixed-length"));
        let is_integer = kind.ends_with("signed-integer");
        let known: &[&str] = match kind {
            "fixed-length-bit-map" => &["flags"],
            "fixed-length-unsigned-integer" | "variable-length-unsigned-integer" => &INTEGER,
            "fixed-length-signed-integer" | "variable-length-signed-integer" => &INTEGER[..2],
            "fixed-length-bit-array"
            | "fixed-length-boolean"
            | "fixed-length-floating-point-number" => &[],
            "null-terminated-string" => &["encoding"],
            "static-length-string" => &["length", "encoding"],
            "dynamic-length-string" => &["length-field-location", "encoding"],
            "static-length-blob" => &["length", "media-type", "roles"],
            "dynamic-length-blob" => &["length-field-location", "media-type"],
            "structure" => &["member-classes", "minimum-alignment"],
            "static-length-array" => &["element-field-class", "length", "minimum-alignment"],
            "dynamic-length-array" => {
                &["element-field-class", "length-field-location", "minimum-alignment"]
            }
            "optional" => &["field-class", "selector-field-location", "selector-field-ranges"],
            "variant" => &["options", "selector-field-location"],
            _ => return Err("unknown type".to_owned()),
        };
        object.only(&[if is_fixed { &FIXED[..] } else { &["type"] }, known].concat())?;
        object.alignment("alignment")?;
        object.alignment("minimum-alignment")?;
        let encodings = ["utf-8", "utf-16be", "utf-16le", "utf-32be", "utf-32le"];
        object.one_of("encoding", &encodings)?;
        object.optional_text("media-type")?;
        let length = object.unsigned("length")?;
        if is_fixed {
            fixed(object, kind, length)?;
        }
        if kind.starts_with("static-length") && length.is_none() {
            return Err("length: missing".to_owned());
        }
        if kind.starts_with("dynamic-length") {
            location(object.required("length-field-location")?)?;
        }
        if is_integer {
            let base = object.unsigned("preferred-display-base")?;
            if base.is_some_and(|base| ![2, 8, 10, 16].contains(&base)) {
                return Err("preferred-display-base: not 2, 8, 10 or 16".to_owned());
            }
            named_ranges(object, "mappings", is_signed)?;
        }
        if kind == "fixed-length-bit-map" {
            object.required("flags")?;
            named_ranges(object, "flags", false)?;
        }
        self.roles_of(object, kind, length)?;
        match kind {
            "structure" => self.members(object),
            "static-length-array" | "dynamic-length-array" => {
                self.class(object.required("element-field-class")?).map(drop)
            }
            "optional" => {
                location(object.required("selector-field-location")?)?;
                let ranges = object.get("selector-field-ranges");
                ranges.map(|ranges| range_set(ranges, true)).transpose()?;
                self.class(object.required("field-class")?).map(drop)
            }
            "variant" => self.options(object),
            _ => Ok(()),
        }
    }

    fn roles_of(&mut self, object: &Object<'_>, kind: &str, length: Option<u64>) -> Checked<()> {
        for role in object.array("roles")?.unwrap_or_default() {
            let role = role.as_str().ok_or("roles: no text")?;
            // The class of an alias has the rules of the scopes that use it.
            let is_known = self.roles.is_none_or(|roles| roles.0.contains(&role));
            let fits = match role {
                "metadata-stream-uuid" => kind == "static-length-blob" && length == Some(16),
                "packet-magic-number" => {
                    kind == "fixed-length-unsigned-integer" && length == Some(32)
                }
                _ => kind.ends_with("-unsigned-integer"),
            };
            if !is_known || !fits {
                return Err(format!("the role {role} is not for this field"));
            }
            self.has_timestamp |= role.ends_with("default-clock-timestamp");
        }
        Ok(())
    }

    fn members(&mut self, object: &Object<'_>) -> Checked<()> {
        let mut names = BTreeSet::new();
        for member in object.array("member-classes")?.unwrap_or_default() {
            let member = Object::new(member)?;
            member.common()?;
            member.only(&["name", "field-class"])?;
            let name = member.text("name")?;
            let class = self.class(member.required("field-class")?);
            class.map_err(|what| format!("{name}: {what}"))?;
            if !names.insert(name) {
                return Err(format!("two members {name}"));
            }
        }
        Ok(())
    }

    fn options(&mut self, object: &Object<'_>) -> Checked<()> {
        location(object.required("selector-field-location")?)?;
        let options = object.array("options")?.filter(|options| !options.is_empty());
        let (mut names, mut all) = (BTreeSet::new(), Ranges::new());
        for option in options.ok_or("options: none")? {
            let option = Object::new(option)?;
            option.common()?;
            option.only(&["name", "field-class", "selector-field-ranges"])?;
            if let Some(name) = option.optional_text("name")?
                && !names.insert(name)
            {
                return Err(format!("two options {name}"));
            }
            self.class(option.required("field-class")?)?;
            let ranges = range_set(option.required("selector-field-ranges")?, true)?;
            let meets = |(low, high): &(i128, i128)| all.iter().any(|(l, h)| low <= h && l <= high);
            if ranges.iter().any(meets) {
                return Err("ranges of options overlap".to_owned());
            }
            all.extend(ranges);
        }
        Ok(())
    }
}

fn fixed(object: &Object<'_>, kind: &str, length: Option<u64>) -> Checked<()> {
    let length = length.filter(|bits| *bits > 0).ok_or("length: an integer above 0")?;
    let is_float = kind == "fixed-length-floating-point-number";
    if is_float && ![16, 32, 64].contains(&length) && !(length >= 128 && length.is_multiple_of(32))
    {
        return Err(format!("length: {length}"));
    }
    object.one_of("bit-order", &["first-to-last", "last-to-first"])?;
    match object.one_of("byte-order", &["big-endian", "little-endian"])? {
        Some(_) => Ok(()),
        None => Err("byte-order: missing".to_owned()),
    }
}

fn named_ranges(object: &Object<'_>, property: &str, is_signed: bool) -> Checked<()> {
    let Some(all) = object.get(property) else { return Ok(()) };
    let all = all.as_object().filter(|all| !all.is_empty());
    let mut all = all.ok_or_else(|| format!("{property}: no object with entries"))?.values();
    all.try_for_each(|ranges| range_set(ranges, is_signed).map(drop))
}

fn range_set(value: &Value, is_signed: bool) -> Checked<Ranges> {
    let bound = |value: &Value| {
        let number = value.as_u64().map(i128::from).or(value.as_i64().map(i128::from));
        number.filter(|number| is_signed || *number >= 0)
    };
    let range = |range: &Value| match range.as_array().map(Vec::as_slice) {
        Some([low, high]) => bound(low).zip(bound(high)).filter(|(low, high)| low <= high),
        _ => None,
    };
    let ranges = value.as_array().filter(|ranges| !ranges.is_empty());
    let ranges = ranges.and_then(|ranges| ranges.iter().map(range).collect());
    ranges.ok_or_else(|| format!("no set of ranges: {value}"))
}

/// Checks a field location by itself.
fn location(value: &Value) -> Checked<()> {
    let object = Object::new(value)?;
    object.only(&["origin", "path"])?;
    let origin = object.one_of("origin", &SCOPES)?;
    let path = object.array("path")?.filter(|path| path.last().is_some_and(Value::is_string));
    let steps = path.ok_or("path: the last step is no name")?;
    let fits = |step: &Value| step.is_string() || step.is_null() && origin.is_none();
    match steps.iter().all(fits) {
        true => Ok(()),
        false => Err("path: a step is no name".to_owned()),
    }
}

impl Scopes {
    /// Checks that all locations with an origin lead to a field that can be a length or selector.
    pub(crate) fn check(&self) -> Checked<()> {
        self.0.iter().flatten().try_for_each(|root| self.within(&root.class))
    }

    fn within(&self, class: &Value) -> Checked<()> {
        let ranges = class.get("selector-field-ranges").or(class["options"].get(0));
        for (property, is_selector) in
            [("length-field-location", false), ("selector-field-location", true)]
        {
            let Some(location) = class.get(property) else { continue };
            let path: Vec<_> = location["path"].as_array().into_iter().flatten().collect();
            let Some(origin) = location["origin"].as_str() else { continue };
            let scope =
                SCOPES.iter().position(|scope| *scope == origin).and_then(|n| self.0[n].as_ref());
            let found = scope.and_then(|root| find(&root.class, &path));
            let kind = found.and_then(|class| class["type"].as_str()).unwrap_or("nothing");
            let fits = match (is_selector, ranges) {
                (false, _) => kind.ends_with("-unsigned-integer"),
                (true, Some(_)) => kind.ends_with("signed-integer"),
                (true, None) => kind == "fixed-length-boolean",
            };
            if !fits {
                return Err(format!("{property}: {origin}, {path:?}: leads to {kind}"));
            }
        }
        let parts =
            ["member-classes", "options"].iter().filter_map(|parts| class[*parts].as_array());
        let mut inner = parts.flatten().map(|part| &part["field-class"]);
        inner.try_for_each(|class| self.within(class))?;
        let inner =
            ["field-class", "element-field-class"].iter().filter_map(|part| class.get(*part));
        inner.into_iter().try_for_each(|class| self.within(class))
    }
}

/// Returns the class at a path within a structure; elements of arrays, options and the contents of
/// variants on the way need no step.
fn find<'v>(class: &'v Value, path: &[&Value]) -> Option<&'v Value> {
    match class["type"].as_str()? {
        "structure" => {
            let (first, rest) = path.split_first()?;
            let mut members = class["member-classes"].as_array()?.iter();
            find(&members.find(|member| member["name"] == **first)?["field-class"], rest)
        }
        "static-length-array" | "dynamic-length-array" => find(&class["element-field-class"], path),
        "optional" => find(&class["field-class"], path),
        "variant" => {
            let options = class["options"].as_array()?;
            options.iter().find_map(|option| find(&option["field-class"], path))
        }
        _ => path.is_empty().then_some(class),
    }
}
