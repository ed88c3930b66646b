#!/usr/bin/env python3
"""Reports import cycles between the modules of a crate.

Usage: module_cycles.py CRATE_DIRECTORY…

A module is a file in `src`, together with the folder of the same name. The folder of a subject
that is spread over several levels is no module: those directly in it are. An import is a path
that starts with `crate::`, or with enough `super::` to reach the crate's root or such a folder.
Unit tests are not counted. Types that the root or such a folder re-exports count as imports of
the module that defines them. The exit status is 1 if there is a cycle.
"""

import pathlib
import re
import sys

COMMENT = re.compile(r"//[^\n]*")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*?^\}", re.S | re.M)
REEXPORT = re.compile(r"^\s*pub(?:\([^)]*\))? use (?:self::|crate::)?(\w+)::(.*?);", re.S | re.M)


# Folders of subjects whose modules are on several levels.
SUBJECTS = {"legacy"}


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


def graph(crate):
    """Returns the imports of each module: {module: {other: [file, …]}}."""
    source = crate / "src"
    files = [path for path in source.rglob("*.rs") if not re.search(r"tests?(/|\.rs$)", str(path.relative_to(source)))]
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
    failed = False
    for crate in map(pathlib.Path, sys.argv[1:]):
        edges = graph(crate)
        cycles = components(edges)
        print(f"{crate}: {len(edges)} modules, {sum(map(len, edges.values()))} imports, {len(cycles)} cycles")
        for cycle in cycles:
            failed = True
            for module in sorted(cycle):
                for other, files in sorted(edges[module].items()):
                    if other in cycle:
                        print(f"  {module} -> {other}: {', '.join(sorted(files))}")
    sys.exit(failed)


main()
