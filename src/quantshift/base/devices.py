"""Where PyTorch computes, and with how many threads (the extra `neural`)."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from quantshift.errors import UserError

AUTO = "auto"


def torch_device(name: str) -> torch.device:
    """The device of this name; "auto": CUDA where there is one."""
    if name == AUTO:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.zeros(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"device={name!r} cannot be used: {reason}; give cpu") from error


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch computes in one thread, so that sums do not depend on the number of processors."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
