"""Opening of traces in another process."""

from __future__ import annotations

import os

from ._lttv import Trace, open


def reopen(
    paths: list[str | os.PathLike[str]],
    sync: bool,
    clock_offset: dict[str, str],
    clock_transform: str | os.PathLike[str] | None,
    access: str,
) -> Trace:
    """Opens traces with the arguments of a pickled `Trace`."""
    return open(
        *paths,
        sync=sync,
        clock_offset=clock_offset,
        clock_transform=clock_transform,
        access=access,  # type: ignore[arg-type]
    )
