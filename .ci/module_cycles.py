#!/usr/bin/env python3
"""Reports import cycles between the top-level modules of a crate.

Usage: module_cycles.py [--all] CRATE_DIRECTORY…

A top-level module is a file in `src`, together with the folder of the same name. An import is
a path that starts with `crate::`, or with enough `super::` to reach the crate's root. Unit
tests are not counted. Types that the crate's root re-exports count as imports of the module
that defines them. With --all, the modules in each folder are compared in the same way; what
`mod.rs` has is not counted. The exit status is 1 if there is a cycle.
"""

import pathlib
import re
import sys

COMMENT = re.compile(r"//[^\n]*")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*?^\}", re.S | re.M)
REEXPORT = re.compile(r"^\s*pub(?:\([^)]*\))? use (?:self::|crate::)?(\w+)::(.*?);", re.S | re.M)


def names_in(tree):
    """Returns the names that a `use` tree ends in."""
    return re.findall(r"(\w+)\s*(?:,|\}|$)", tree)


def targets(text, prefixes, modules, reexports):
    """Yields the modules that a file's paths with one of the prefixes lead to."""
    for prefix in prefixes:
        for start in re.finditer(r"(?<![\w:])" + prefix, text):
            rest = text[start.end():]
            if rest.startswith("{"):
                level, end = 0, 0
                for end, char in enumerate(rest):
                    level += (char == "{") - (char == "}")
                    if level == 0:
                        break
                firsts, level, word = [], 0, ""
                for char in rest[1:end] + ",":
                    level += (char == "{") - (char == "}")
                    if level == 0 and char == ",":
                        firsts.append(word.strip())
                        word = ""
                    else:
                        word += char
                firsts = [re.match(r"\w*", first)[0] for first in firsts]
            else:
                firsts = [re.match(r"\w*", rest)[0]]
            for first in firsts:
                if first in modules:
                    yield first
                elif first in reexports:
                    yield reexports[first]


def graph(source, folder):
    """Returns the imports of each module in a folder: {module: {other: [file, …]}}."""
    files = [path for path in folder.rglob("*.rs") if not re.search(r"tests?(/|\.rs$)", str(path.relative_to(source)))]
    of = {path: path.relative_to(folder).parts[0].removesuffix(".rs") for path in files}
    modules = set(of.values()) - {"lib", "main", "mod"}
    reexports = {}
    if folder == source:
        root = TESTS.sub("", COMMENT.sub("", (source / "lib.rs").read_text()))
        for module, tree in REEXPORT.findall(root):
            if module in modules:
                reexports.update({name: module for name in names_in(tree)})
    absolute = "crate::" + "".join(f"{name}::" for name in folder.relative_to(source).parts)
    edges = {module: {} for module in modules}
    for path in files:
        module = of[path]
        if module not in modules:
            continue
        depth = len(path.relative_to(folder).parts) - (path.name == "mod.rs")
        prefixes = [absolute] + (["super::" * depth] if depth else [])
        text = TESTS.sub("", COMMENT.sub("", path.read_text()))
        for target in targets(text, prefixes, modules, reexports):
            if target != module:
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
        folders = [source]
        if len(crates) < len(sys.argv) - 1:
            folders += sorted(path for path in source.rglob("*") if path.is_dir())
        graphs = [graph(source, folder) for folder in folders]
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
