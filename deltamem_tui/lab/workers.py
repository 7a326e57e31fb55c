"""Games in worker processes, one game each at a time.

Simulators keep one game a process, print as they like and may crash. A worker whose simulator
fails is killed with all that it started, and the next question starts another.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from deltamem_tui.errors import DeltaMemError, GameError
from deltamem_tui.lab.environment import Game, GameInfo, Observation, Start, environment_named
from deltamem_tui.text import one_line
from deltamem_tui.typed import decoder_of

T = TypeVar("T")

_GRACE = 3.0  # seconds for an idle worker to end by itself


class Workers:
    """Worker processes with one environment each; any number of threads may ask for games.

    Attributes:
        environment: The environment in this process, its simulator not loaded.
    """

    def __init__(
        self, spec: str, count: int = 1, *, games: Path | None = None, patience: float = 600.0
    ) -> None:
        self.environment = environment_named(spec, games=games)
        self._all = [_Worker(spec, games, patience) for _ in range(count)]
        self._free: queue.LifoQueue[_Worker] = queue.LifoQueue()
        for each in self._all:
            self._free.put(each)

    def __enter__(self) -> Workers:
        """Start no process before it is asked."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all workers; threads that still play get a `GameError`."""
        for each in self._all:
            each.close()

    def games(self, split: str) -> list[GameInfo]:
        """Return the games of a split, in the environment's order."""
        with self._worker() as worker:
            return worker.ask(list[GameInfo], "games", split)

    @contextmanager
    def playing(self, info: GameInfo) -> Iterator[Game]:
        """Load a game in a worker that is this thread's until the block ends."""
        with self._worker() as worker:
            worker.ask(type(None), "load", info)
            yield worker

    @contextmanager
    def _worker(self) -> Iterator[_Worker]:
        worker = self._free.get()
        try:
            yield worker
        finally:
            self._free.put(worker)


class _Worker:
    """A process, started when it is first asked and again after it failed."""

    def __init__(self, spec: str, games: Path | None, patience: float) -> None:
        self._arguments, self._patience = (spec, games), patience
        self._pool: ProcessPoolExecutor | None = None
        self._pid = 0
        self._closed = self._busy = False
        self._lock = threading.Lock()

    def start(self) -> Start:
        """Begin the loaded game."""
        return self.ask(Start, "start")

    def step(self, action: str) -> Observation:
        """Take an action in it."""
        return self.ask(Observation, "step", action)

    def ask(self, kind: type[T], act: str, *arguments: object) -> T:
        """Put a question to the worker, and wait for the answer."""
        self._busy = True
        try:
            answer = self._started().submit(_answer, act, *arguments)
            return decoder_of(kind).decode(answer.result(self._patience))
        except DeltaMemError:
            raise
        except msgspec.MsgspecError as error:
            why = one_line(str(error), 200)
            raise GameError(f"the environment breaks its protocol: {why}") from error
        except TimeoutError as error:
            raise self._failed(f"no answer within {self._patience:g} s") from error
        except BrokenExecutor as error:
            raise self._failed("its process ended") from error
        except (Exception, SystemExit) as error:  # whatever a simulator raises
            raise self._failed(one_line(f"{type(error).__name__}: {error}", 200)) from error
        except KeyboardInterrupt:  # its answer would be taken for the next one's
            self._kill()
            raise
        finally:
            self._busy = False

    def close(self) -> None:
        """End the process, at once if it is busy, and start no other."""
        with self._lock:
            self._closed = True
        self._kill(0.0 if self._busy else _GRACE)

    def _started(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._closed:
                raise GameError("the games were ended")
            if self._pool is None:
                spawn = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(1, spawn, _open, self._arguments)
                self._pid = self._pool.submit(os.getpid).result(self._patience)
            return self._pool

    def _failed(self, why: str) -> GameError:
        self._kill()
        if self._closed:
            return GameError("the games were ended")
        hint = "leave the game out, or see whether the simulator runs by itself"
        return GameError(f"the simulator failed: {why}", hint=hint)

    def _kill(self, grace: float = 0.0) -> None:
        """Kill the process with all that it started, a Java for instance."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        pool.shutdown(wait=False, cancel_futures=True)
        for each in multiprocessing.active_children():
            if each.pid == self._pid and grace:
                each.join(grace)
        with suppress(ProcessLookupError, PermissionError):
            if self._pid:
                os.killpg(self._pid, signal.SIGKILL)
        pool.shutdown()


# In the worker

_here: dict[str, Any] = {}


def _open(spec: str, games: Path | None) -> None:
    os.setsid()  # an interrupt does not reach it; what it starts is killed with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _here.update(spec=spec, games=games)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.killpg(0, signal.SIGKILL)


def _answer(act: str, *arguments: Any) -> bytes:
    """Ask the environment, or the loaded game; JSON, since what it says is checked."""
    if "environment" not in _here:
        _here["environment"] = environment_named(_here["spec"], games=_here["games"])
    if act == "load" and _here.get("info") != arguments[0]:
        _here["game"] = _here["info"] = None  # its memory is free before the next takes some
        _here["game"] = _here["environment"].load(*arguments)
        _here["info"] = arguments[0]
    if act == "load":
        return b"null"
    asked = _here["environment"] if act == "games" else _here["game"]
    found = getattr(asked, act)(*arguments)
    return msgspec.json.encode(list(found) if act == "games" else found)
