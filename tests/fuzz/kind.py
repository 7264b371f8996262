"""What a kind of files is: how they are made, changed and read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quantshift.errors import DataError
from tests.fuzz.mutations import mutations_of

Mutate = Callable[[Path, np.random.Generator], Path]
"""Changes a file, and gives the path of the file that is there instead."""


@dataclass(frozen=True)
class Kind:
    """A kind of files.

    make: writes them into a folder. answer: what is read of a file or folder in it or, if they are
    read together, of that folder as a whole; a UserError is a refusal.
    mutate: changes one of them; others: files beside them that are left alone. ours: whether the
    same answer is the only one. share: how many mutations it gets, in comparison with others.
    quick: whether making and reading it is fast enough for the quick tests.
    """

    name: str
    make: Callable[[Path], None]
    answer: Callable[[Path], Any]
    ours: bool = True
    mutate: Mutate | None = None
    others: Sequence[str] = ()
    together: bool = False
    share: float = 1.0
    quick: bool = True

    def files(self, folder: Path) -> list[Path]:
        """The files that are changed."""
        return sorted(
            path for path in folder.rglob("*") if path.is_file() and path.name not in self.others
        )

    def unit(self, folder: Path, path: Path) -> Path:
        """What is read of the folder if a file in it was changed."""
        return folder if self.together else folder / path.relative_to(folder).parts[0]

    def change(self, path: Path, rng: np.random.Generator) -> Path:
        """Change a file in place."""
        if self.mutate is not None:
            return self.mutate(path, rng)
        content = path.read_bytes()
        mutations = mutations_of(path.name)
        path.write_bytes(mutations[int(rng.integers(len(mutations)))](content, rng))
        return path


def said(problems: Sequence[object]) -> None:
    """What a reader says of damage, which is as good as a refusal."""
    if problems:
        raise DataError(str(problems[0]))
