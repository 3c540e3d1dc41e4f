"""The jobs of treebanks, by joblib: on this machine, or on a cluster through Dask or Ray."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext

from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from benchmarks.koo2007.jobs import Job, Treebank
from benchmarks.koo2007.protocol import next_jobs
from benchmarks.koo2007.store import Store

BACKENDS = ("loky", "dask", "ray")


@contextmanager
def workers(backend: str, n_jobs: int, scheduler: str | None = None) -> Iterator[None]:
    """Within this, joblib has `n_jobs` workers; with a `scheduler` those of a Dask or Ray cluster that runs already.

    ValueError for another backend, for a scheduler that a backend has no use for, and if a package is missing.
    """
    if backend not in BACKENDS:
        raise ValueError(f"the backend is {backend!r}, but must be one of {', '.join(BACKENDS)}")
    if scheduler and backend == "loky":
        raise ValueError(f"the scheduler {scheduler} is of no use to the backend loky: choose dask or ray")
    with ExitStack() as stack:
        try:
            if backend == "dask":
                _start_dask(stack, n_jobs, scheduler)
            elif backend == "ray":
                _start_ray(stack, n_jobs, scheduler)
        except ModuleNotFoundError as error:
            raise ValueError(f"the backend {backend} needs the package {error.name}, which is not installed") from None
        stack.enter_context(parallel_config(backend, n_jobs=-1 if scheduler else n_jobs))
        yield


def _start_dask(stack: ExitStack, n_jobs: int, scheduler: str | None) -> None:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=n_jobs, threads_per_worker=1, dashboard_address=None) if not scheduler else None
    stack.enter_context(cluster or nullcontext())
    stack.enter_context(Client(cluster or scheduler))


def _start_ray(stack: ExitStack, n_jobs: int, scheduler: str | None) -> None:
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(**({"address": scheduler} if scheduler else {"num_cpus": n_jobs}))
    stack.callback(ray.shutdown)


class _WithBar(Parallel):
    """joblib's Parallel with a progress bar, whatever the backend."""

    def __init__(self, bar: tqdm, **options):
        super().__init__(**options)
        self._bar = bar

    def print_progress(self) -> None:
        self._bar.update(self.n_completed_tasks - self._bar.n)


def do(job: Job, store: Store) -> None:
    """Run a job and keep its result, unless another worker has it already."""
    if store.get(job) is None:
        start = time.process_time()
        result = job.run()
        store.put(job, result, time.process_time() - start)


def run(treebanks: Sequence[Treebank], store: Store, *, together: bool = False) -> Iterator[Sequence[Treebank]]:
    """Do what is left to do for treebanks, within `workers`; yields those of which all is done.

    together: plan all treebanks at once, so that many workers have enough to do; else one after the other.
    """
    for group in [treebanks] if together else [[treebank] for treebank in treebanks]:
        while jobs := [job for treebank in group for job in next_jobs(treebank, store.get)]:
            with tqdm(total=len(jobs), desc=", ".join(each.name for each in group), unit="job") as bar:
                _WithBar(bar)(delayed(do)(job, store) for job in jobs)
                bar.update(len(jobs) - bar.n)
        yield group
