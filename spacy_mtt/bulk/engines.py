"""Where chunks are parsed: in this process, in others here, or on a cluster through Dask.

Dask and not Ray Data: it is pure Python, so that it installs wherever spaCy does, and a task of it is a function call.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

from .inputs import Chunk
from .work import Parsed, Task, parse_chunk

Map = Callable[[Iterable[Chunk]], Iterator[tuple[Chunk, Parsed]]]
AHEAD = 2  # chunks that wait at each worker: bounds what is in memory


class EngineError(RuntimeError):
    """Workers that cannot be had, or that were lost."""


@contextmanager
def here(task: Task) -> Iterator[Map]:
    """This process."""
    yield lambda chunks: ((chunk, parse_chunk(task, chunk)) for chunk in chunks)


@contextmanager
def processes(task: Task, count: int) -> Iterator[Map]:
    """Processes of this machine, spawned, so that they share nothing with this one."""
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            yield partial(_in_order, submit=partial(pool.submit, parse_chunk, task), ahead=AHEAD * count)
        except BrokenExecutor:
            raise EngineError(
                "a worker was killed (memory?); what was written is kept, run the command again"
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def dask(task: Task, count: int, scheduler: str | None) -> Iterator[Map]:
    """A Dask cluster at the address of its scheduler, or one of `count` workers on this machine.

    A chunk whose worker was lost goes to another one.
    """
    try:
        from distributed import Client, KilledWorker, LocalCluster
    except ImportError:
        raise EngineError('the engine dask needs a package: pip install "dask[distributed]"') from None
    with ExitStack() as stack:
        if scheduler is None:
            scheduler = stack.enter_context(LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None))
        try:
            client = stack.enter_context(Client(scheduler, timeout="30s"))
        except (OSError, ValueError) as error:
            raise EngineError(f"no Dask scheduler at {scheduler}: {error}") from None
        ahead = AHEAD * max(1, len(client.scheduler_info()["workers"]))
        try:
            yield partial(_in_order, submit=partial(client.submit, parse_chunk, task, pure=False), ahead=ahead)
        except KilledWorker:
            raise EngineError("a chunk killed several workers (memory?); what was written is kept") from None


def _in_order(chunks: Iterable[Chunk], submit: Callable, ahead: int) -> Iterator[tuple[Chunk, Parsed]]:
    """Results in the order of chunks; so many are on their way at a time."""
    waiting: deque = deque()
    for chunk in chunks:
        waiting.append((chunk, submit(chunk)))
        if len(waiting) >= ahead:
            chunk, future = waiting.popleft()
            yield chunk, future.result()
    while waiting:
        chunk, future = waiting.popleft()
        yield chunk, future.result()
