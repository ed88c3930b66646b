#!/usr/bin/env python3
"""Reports import cycles between the top-level modules of a crate.

Usage: module_cycles.py CRATE_DIRECTORY…

A top-level module is a file in `src`, together with the folder of the same name. An import is
a path that starts with `crate::`, or with enough `super::` to reach the crate's root. Unit
tests are not counted. Types that the crate's root re-exports count as imports of the module
that defines them. The exit status is 1 if there is a cycle.
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


def targets(text, depth, modules, reexports):
    """Yields the top-level modules that a file's paths lead to."""
    prefixes = ["crate::"] + (["super::" * depth] if depth else [])
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


def graph(crate):
    """Returns the imports of each top-level module: {module: {other: [file, …]}}."""
    source = crate / "src"
    files = [path for path in source.rglob("*.rs") if not re.search(r"tests?(/|\.rs$)", str(path.relative_to(source)))]
    of = {path: path.relative_to(source).parts[0].removesuffix(".rs") for path in files}
    modules = set(of.values()) - {"lib"}
    root = TESTS.sub("", COMMENT.sub("", (source / "lib.rs").read_text()))
    reexports = {}
    for module, tree in REEXPORT.findall(root):
        if module in modules:
            reexports.update({name: module for name in names_in(tree)})
    edges = {module: {} for module in modules}
    for path in files:
        module = of[path]
        if module == "lib":
            continue
        depth = len(path.relative_to(source).parts) - (path.name == "mod.rs")
        text = TESTS.sub("", COMMENT.sub("", path.read_text()))
        for target in targets(text, depth, modules, reexports):
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
