"""What every format of output is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from quantshift.answers.conditions import Condition
from quantshift.answers.show.answer import AbstractAnswer


@dataclass(frozen=True)
class Circumstances:
    """How an answer came about, for outputs that say so.

    conditions: those that the caller checks. provenance: such as the command and the seed, each
    with its name.
    """

    conditions: tuple[Condition, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()


class AbstractOutput(ABC):
    """A format that any answer can be written in.

    name: of the option, without dashes, and of the argument. noun: what the file is called in
    messages. endings: of file names, the usual one first. help: of the option.
    """

    name: ClassVar[str]
    noun: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]
    help: ClassVar[str]

    def __init_subclass__(cls) -> None:
        missing = [name for name in AbstractOutput.__annotations__ if not getattr(cls, name, None)]
        if missing:
            raise TypeError(f"{cls.__name__} does not declare its {', '.join(missing)}")
        super().__init_subclass__()

    @abstractmethod
    def render(self, answer: AbstractAnswer, circumstances: Circumstances) -> str:
        """The content of the file."""

    @abstractmethod
    def is_ours(self, path: Path) -> bool:
        """Whether this file was written by quantshift, so that a newer one may replace it."""
