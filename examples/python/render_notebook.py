"""Runs the notebook of this folder, and renders it into docs/user/python-notebook.md.

Usage: render_notebook.py, in the root of the repository, where lttv, pandas and pyarrow are installed.
"""

import ast
import contextlib
import io
import json
import pathlib

NOTEBOOK = pathlib.Path("examples/python/notebook.ipynb")
PAGE = pathlib.Path("docs/user/python-notebook.md")


def run(source: str, names: dict[str, object]) -> list[tuple[str, str]]:
    """Returns each statement with what an interpreter would print."""
    results = []
    for statement in ast.parse(source).body:
        text = ast.get_source_segment(source, statement) or ""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(ast.Interactive([statement]), "notebook", "single"), names)
        results.append((text, out.getvalue()))
    return results


def main() -> None:
    notebook = json.loads(NOTEBOOK.read_text())
    names: dict[str, object] = {}
    page = []
    for number, cell in enumerate(notebook["cells"], 1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            page.append(source)
            continue
        results = run(source, names)
        lines = []
        for text, out in results:
            first, *rest = text.splitlines()
            lines += [f">>> {first}", *(f"... {line}".rstrip() for line in rest), *out.splitlines()]
        page.append("```python\n" + "\n".join(lines) + "\n\n```")
        printed = "".join(out for _, out in results)
        text = {"text/plain": printed.rstrip("\n").splitlines(keepends=True)}
        output = {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": text}
        cell["execution_count"] = number
        cell["outputs"] = [output] if printed else []
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text("\n\n".join(page) + "\n")


if __name__ == "__main__":
    main()
