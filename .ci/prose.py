#!/usr/bin/env python3
"""Refuses patterns in doc comments that make them hard to read.

Usage: prose.py DIRECTORY…

Looks at all Rust files below the directories. A doc comment must not open with a question
word, a bare pronoun or a reference to another item ("The same", "As …"), since a reader meets
each item alone. Words for persons must not stand for the caller. The exit status is 1 if
anything is refused.
"""

import pathlib
import re
import sys

OPENER = re.compile(
    r"(What|Which|Where|Whether|When|How|Why|Whose|Who|Of|That|Those|So|The same|As|Like|"
    r"It|They|This one|None but|Nothing but|Only to)\b"
)
WORDS = re.compile(r"\b(whoever|nobody|somebody|someone|anybody|whom)\b", re.I)
PLAIN = {
    re.compile(r"\b(asked for|give[ns]? back|giving back)\b", re.I): "requested, released",
    re.compile(r"\b(that|which) (are|is|were|was) kept\.$", re.I): "stored",
}
DOC = re.compile(r"\s*//[/!] ?(.*)")


def faults(path):
    """Yields the line numbers, faults and texts of a file."""
    in_doc = in_code = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        doc = DOC.match(line)
        if not doc:
            in_doc = in_code = False
            continue
        text = doc[1]
        if text.startswith("```"):
            in_code = not in_code
        if not in_doc and (opener := OPENER.match(text)):
            yield number, f"opens with \"{opener[0]}\"", text
        if not in_code and (word := WORDS.search(text)):
            yield number, f"says \"{word[0]}\"", text
        for pattern, term in PLAIN.items() if not in_code else ():
            if word := pattern.search(text):
                yield number, f"says \"{word[0]}\" (a term: {term})", text
        in_doc = True


def main():
    count = 0
    for root in sys.argv[1:]:
        for path in sorted(pathlib.Path(root).rglob("*.rs")):
            if "target" in path.parts:
                continue
            for number, fault, text in faults(path):
                print(f"{path}:{number}: {fault}: {text}")
                count += 1
    print(f"prose: {count} doc comments refused")
    sys.exit(count > 0)


main()
