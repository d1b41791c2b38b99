"""Jobs on this machine: each costs itself alone."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from errands import begun, done, mark
from jobs import die, double, eat, environment, fail, hang
from support import is_gone, wait_until

from reelbench.base import workers
from reelbench.base.workers import GIGABYTE
from reelbench.engine.base import Job, JobResult
from reelbench.engine.local import LocalEngine


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    engine = LocalEngine(2, memory=2 * GIGABYTE)
    yield engine
    engine.close()


def by_name(results: Iterator[JobResult]) -> dict[str, JobResult]:
    found = {}
    for result in results:
        assert result.job.name not in found, "a job is told once"
        found[result.job.name] = result
    return found


def test_every_job_is_told_once_with_its_result(engine: LocalEngine) -> None:
    found = by_name(engine.run([Job(f"{n}", double, (n,)) for n in range(50)], 30))
    assert {name: one.result for name, one in found.items()} == {f"{n}": 2 * n for n in range(50)}
    assert not any(one.error or one.lost for one in found.values())


def test_a_job_has_a_thread_for_each_core_that_it_reserves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    engine = LocalEngine(1)
    jobs = [Job(f"{cpus}", environment, ("OMP_NUM_THREADS",), cpus=cpus) for cpus in (0.5, 1, 2)]
    found = by_name(engine.run(jobs, 30))
    engine.close()
    most = str(min(2, workers.cores()))
    assert {name: one.result for name, one in found.items()} == {
        "0.5": ["1"], "1": ["1"], "2": [most]}  # fmt: skip


def test_nothing_to_do(engine: LocalEngine) -> None:
    assert list(engine.run([], 30)) == []


def test_what_raises_crashes_or_eats_costs_itself(engine: LocalEngine) -> None:
    good = [Job(f"good {n}", double, (n,)) for n in range(6)]
    bad = [
        Job("raises", fail, ("on purpose",)),
        Job("crashes", die, (signal.SIGSEGV,)),
        Job("is killed", die, (signal.SIGKILL,)),
        Job("leaves", os._exit, (7,)),
        Job("eats", eat, ()),
    ]
    found = by_name(engine.run([*bad, *good], 30))
    assert [found[job.name].result for job in good] == [0, 2, 4, 6, 8, 10]
    error = found["raises"].error
    assert isinstance(error, ValueError)
    assert str(error) == "on purpose"
    assert {job.name: found[job.name].lost for job in bad} == {
        "raises": "",
        "crashes": "crashed (SIGSEGV)",
        "is killed": "crashed (SIGKILL)",
        "leaves": "crashed (exit status 7)",
        "eats": "needs over 2 GB of memory",
    }


def test_the_others_do_not_wait_for_what_hangs(engine: LocalEngine) -> None:
    jobs = [Job("hangs", hang, ()), *(Job(f"{n}", double, (n,)) for n in range(20))]
    results = engine.run(jobs, 900)
    assert {next(results).job.name for _ in range(20)} == {f"{n}" for n in range(20)}
    results.close()


def test_what_hangs_is_ended_and_the_engine_goes_on(engine: LocalEngine) -> None:
    (one,) = engine.run([Job("hangs", hang, ())], 0.5)
    assert one.lost == "took over 0.5 s"
    (after,) = engine.run([Job("after", double, (4,))], 30)
    assert after.result == 8


def test_a_worker_that_someone_kills_costs_one_job(engine: LocalEngine, tmp_path: Path) -> None:
    folder = str(tmp_path)
    jobs = [
        Job("victim", mark, (folder, "victim", 60)),
        *(Job(f"{n}", mark, (folder, f"{n}", 0.05)) for n in range(12)),
    ]

    def kill() -> None:
        wait_until(lambda: "victim" in begun(tmp_path))
        os.kill(begun(tmp_path)["victim"][0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = by_name(engine.run(jobs, 90))
    killer.join()
    assert found.pop("victim").lost == "crashed (SIGKILL)"
    assert sorted(one.result for one in found.values()) == sorted(f"{n}" for n in range(12))
    assert done(tmp_path) == sorted(f"{n}" for n in range(12)), "none is done twice"


def test_results_come_while_others_are_at_work(engine: LocalEngine) -> None:
    results = engine.run([Job("slow", time.sleep, (600,)), Job("quick", double, (1,))], 900)
    assert next(results).job.name == "quick"
    results.close()


def test_closing_the_iterator_ends_what_is_under_way(engine: LocalEngine, tmp_path: Path) -> None:
    jobs = [
        Job("quick", double, (1,)),
        *(Job(f"{n}", mark, (str(tmp_path), f"{n}", 600)) for n in range(5)),
    ]
    results = engine.run(jobs, 900)
    assert next(results).job.name == "quick"
    wait_until(lambda: len(begun(tmp_path)) == 2)
    workers = [worker for worker, _ in begun(tmp_path).values()]
    results.close()  # and does not wait for what nobody wants any more
    wait_until(lambda: all(map(is_gone, workers)))
    assert len(begun(tmp_path)) == 2, "nothing else is begun"
    again = by_name(engine.run([Job("after", double, (4,))], 30))
    assert again["after"].result == 8, "the engine goes on"


def test_closing_the_engine_ends_its_workers() -> None:
    engine = LocalEngine(2)
    (found,) = engine.run([Job("who", os.getpid, ())], 30)
    assert not is_gone(found.result)
    engine.close()
    assert is_gone(found.result)


def test_jobs_that_are_added_on_the_way_are_run(engine: LocalEngine) -> None:
    jobs = [Job("1", double, (1,))]
    found = {}
    for one in engine.run(jobs, 30):
        found[one.job.name] = one.result
        if one.result < 100:
            jobs.append(Job(f"{one.result}", double, (one.result,)))
    assert list(found) == ["1", "2", "4", "8", "16", "32", "64"]


def test_a_process_keeps_to_its_family_while_there_is_such_a_job() -> None:
    engine = LocalEngine(1)
    jobs = [Job(f"{n}", double, (n,), family="ab"[n % 2]) for n in range(6)]
    try:
        assert [one.result for one in engine.run(jobs, 30)] == [0, 4, 8, 2, 6, 10]
    finally:
        engine.close()


def test_a_process_that_holds_much_is_replaced_for_another_family(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = LocalEngine(1)

    def process(family: str) -> int:
        (one,) = engine.run([Job("who", os.getpid, (), family=family)], 30)
        return int(one.result)

    try:
        first = process("a")
        assert process("b") == first, "little is kept"
        monkeypatch.setattr(workers, "_MOST_KEPT", 1)
        assert process("b") == first, "it is loaded for this family"
        assert process("a") != first
        assert is_gone(first)
    finally:
        engine.close()
