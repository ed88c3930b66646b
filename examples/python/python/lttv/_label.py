"""Numbers with names."""

from __future__ import annotations


class Label(int):
    """The number of an enumeration or bit map, with its labels or flags.

    It is equal to its number, and to each of its labels.

    >>> state = lttv.Label(1, ("TASK_INTERRUPTIBLE",))
    >>> state == 1, state == "TASK_INTERRUPTIBLE", state == "TASK_DEAD"
    (True, True, False)
    >>> str(state), state + 1
    ('TASK_INTERRUPTIBLE', 2)
    """

    labels: tuple[str, ...]

    def __new__(cls, value: int, labels: tuple[str, ...] = ()) -> Label:
        label = super().__new__(cls, value)
        label.labels = labels
        return label

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other in self.labels
        return int.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __str__(self) -> str:
        return "|".join(self.labels) if self.labels else int.__repr__(self)

    def __repr__(self) -> str:
        return f"Label({int(self)}, {self.labels!r})"

    def __reduce__(self) -> tuple[type[Label], tuple[int, tuple[str, ...]]]:
        return Label, (int(self), self.labels)
