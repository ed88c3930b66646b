#!/usr/bin/env python3
"""Reports import cycles between the modules of a crate.

Usage: module_cycles.py [--all] CRATE_DIRECTORY…

A module is a file in `src`, together with the folder of the same name. The folder of a subject
that is spread over several levels is no module: those directly in it are. An import is a path
that starts with `crate::`, or with enough `super::` to reach the crate's root or such a folder.
Unit tests are not counted. Types that the root or such a folder re-exports count as imports of
the module that defines them. With --all, the modules in each folder are compared in the same
way; what `mod.rs` has is not counted. The exit status is 1 if there is a cycle.
"""

import pathlib
import re
import sys

COMMENT = re.compile(r"//[^\n]*")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*?^\}", re.S | re.M)
REEXPORT = re.compile(r"^\s*pub(?:\([^)]*\))? use (?:self::|crate::)?(\w+)::(.*?);", re.S | re.M)

# Folders of subjects whose modules are on several levels.
SUBJECTS = {"ftrace", "legacy", "perf"}


def names_in(tree):
    """Returns the names that a `use` tree ends in."""
    return re.findall(r"(\w+)\s*(?:,|\}|$)", tree)


def group(text):
    """Returns the parts between the commas of a group, which starts with its brace."""
    parts, level, part = [], 0, ""
    for char in text:
        level += (char == "{") - (char == "}")
        if level == 0 or level == 1 and char == ",":
            parts.append(part)
            part = ""
            if level == 0:
                break
        elif level > 1 or char != "{":
            part += char
    return [part.strip() for part in parts if part.strip()]


def paths(tree, length):
    """Yields the first `length` names of each path of a `use` tree or of another path."""
    if tree.startswith("{"):
        for part in group(tree):
            yield from paths(part, length)
        return
    name = re.match(r"\w*", tree)[0]
    after = tree[len(name):]
    if length > 1 and after.startswith("::"):
        for rest in paths(after[2:], length - 1):
            yield (name, *rest)
    else:
        yield (name,)


def imported(text, depth, subject):
    """Yields the first two names of the paths in a file, counted from the crate's root."""
    prefixes = [("crate::", ())] + ([("super::" * depth, ())] if depth else [])
    if subject and depth > 1:
        prefixes.append(("super::" * (depth - 1), (subject,)))
    for prefix, outer in prefixes:
        for start in re.finditer(r"(?<![\w:])" + prefix, text):
            for path in paths(text[start.end():], 2 - len(outer)):
                yield (*outer, *path)


def module_of(parts):
    """Returns the module of a file, given the parts of its path in `src`."""
    if parts[0] in SUBJECTS and len(parts) > 1:
        return f"{parts[0]}/{parts[1].removesuffix('.rs')}".removesuffix("/mod")
    return parts[0].removesuffix(".rs")


def reexports(path, modules, prefix=""):
    """Returns the modules of the names that a file re-exports."""
    text = TESTS.sub("", COMMENT.sub("", path.read_text()))
    return {
        name: prefix + module
        for module, tree in REEXPORT.findall(text)
        if prefix + module in modules
        for name in names_in(tree)
    }


def files_of(source, folder):
    """Returns the files in a folder that are no tests."""
    is_test = re.compile(r"tests?(/|\.rs$)")
    return [path for path in folder.rglob("*.rs") if not is_test.search(str(path.relative_to(source)))]


def graph_of_folder(source, folder):
    """Returns the imports of each module in a folder, but for those of its `mod.rs`."""
    files = files_of(source, folder)
    of = {path: path.relative_to(folder).parts[0].removesuffix(".rs") for path in files}
    modules = set(of.values()) - {"mod"}
    absolute = "crate::" + "".join(f"{name}::" for name in folder.relative_to(source).parts)
    edges = {module: {} for module in modules}
    for path in (path for path in files if of[path] in modules):
        depth = len(path.relative_to(folder).parts) - (path.name == "mod.rs")
        text = TESTS.sub("", COMMENT.sub("", path.read_text()))
        for prefix in [absolute, "super::" * depth]:
            for start in re.finditer(r"(?<![\w:])" + prefix, text):
                for (target,) in paths(text[start.end():], 1):
                    if target in modules - {of[path]}:
                        edges[of[path]].setdefault(target, set()).add(str(path.relative_to(source)))
    return edges


def graph(source):
    """Returns the imports of each module: {module: {other: [file, …]}}."""
    files = files_of(source, source)
    of = {path: module_of(path.relative_to(source).parts) for path in files}
    modules = set(of.values()) - {"lib"}
    of_root = reexports(source / "lib.rs", modules)
    of_subject = {
        subject: reexports(source / subject / "mod.rs", modules, f"{subject}/")
        for subject in SUBJECTS & modules
    }
    edges = {module: {} for module in modules}
    for path in files:
        module = of[path]
        if module == "lib":
            continue
        parts = path.relative_to(source).parts
        text = TESTS.sub("", COMMENT.sub("", path.read_text()))
        subject = parts[0] if parts[0] in of_subject else None
        for first, *second in imported(text, len(parts) - (path.name == "mod.rs"), subject):
            found = {first if first in modules else of_root.get(first)}
            if first in of_subject:
                name, names = "".join(second), of_subject[first]
                inner = f"{first}/{name}"
                # The folder as a whole is all that it re-exports.
                found = {inner} if inner in modules else {names[name]} if name in names else set(names.values())
            for target in found - {module, None}:
                edges[module].setdefault(target, set()).add(str(path.relative_to(source)))
    return edges


def components(edges):
    """Returns the strongly connected components of more than one module (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in edges[module]:
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            component = set()
            while module not in component:
                component.add(stack.pop())
            if len(component) > 1:
                found.append(component)

    for module in sorted(edges):
        if module not in index:
            visit(module)
    return found


def main():
    crates = [argument for argument in sys.argv[1:] if argument != "--all"]
    failed = False
    for crate in map(pathlib.Path, crates):
        source = crate / "src"
        graphs = [graph(source)]
        if len(crates) < len(sys.argv) - 1:
            folders = sorted(path for path in source.rglob("*") if path.is_dir())
            graphs += [graph_of_folder(source, folder) for folder in folders]
        cycles = [(edges, cycle) for edges in graphs for cycle in components(edges)]
        imports = sum(len(others) for edges in graphs for others in edges.values())
        print(f"{crate}: {sum(map(len, graphs))} modules, {imports} imports, {len(cycles)} cycles")
        for edges, cycle in cycles:
            failed = True
            for module in sorted(cycle):
                for other, files in sorted(edges[module].items()):
                    if other in cycle:
                        print(f"  {module} -> {other}: {', '.join(sorted(files))}")
    sys.exit(failed)


main()
