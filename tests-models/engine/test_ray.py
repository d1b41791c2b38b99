"""Jobs on a real Ray cluster of two nodes: the same results, whatever dies."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from errands import attempts, begun, done, mark, mark_again, mark_and_die, mark_elsewhere, node
from jobs import double, eat, environment, fail, hang, make_a_lock
from support import is_gone, wait_until

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.base.workers import GIGABYTE
from reelbench.engine.base import Job, JobResult
from reelbench.engine.cluster import RayEngine
from reelbench.engine.local import LocalEngine

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))  # the benchmark's cluster is ours

from ray_nodes import Node, cluster, processes_of  # noqa: E402

DRIVER = """
import sys
from pathlib import Path
from errands import mark
from reelbench.base.durable import open_durable
from reelbench.engine.base import Job
from reelbench.engine.cluster import RayEngine

address, folder, most = sys.argv[1:]
with open_durable(Path(folder) / "results.sqlite", "CREATE TABLE IF NOT EXISTS results (name, result)") as rows:
    have = {name for (name,) in rows.execute("SELECT name FROM results")}
    names = [f"{n}" for n in range(14) if f"{n}" not in have]
    jobs = [Job(n, mark, (folder, n, 0.3), family="marks" if int(n) % 2 else "") for n in names]
    engine = RayEngine(address)
    for number, one in enumerate(engine.run(jobs, 60), 1):
        rows.execute("INSERT INTO results VALUES (?, ?)", (one.job.name, one.result))
        rows.commit()
        print(one.job.name, flush=True)
        if number == int(most):
            input()  # until it is killed
    engine.close()
    print(sorted(rows.execute("SELECT name, result FROM results")))
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with cluster(2) as (address, _):
        yield address


@pytest.fixture(scope="module")
def shared(address: str) -> Iterator[RayEngine]:
    engine = RayEngine(address, memory=2 * GIGABYTE)
    yield engine
    engine.close()


def told(results: Iterator[JobResult]) -> list[tuple[str, object, str, str]]:
    return sorted(
        (one.job.name, one.result, f"{type(one.error).__name__}: {one.error}", one.lost)
        for one in results
    )


def test_the_same_as_on_this_machine_alone(shared: RayEngine) -> None:
    jobs = [
        *(Job(f"task {n}", double, (n,)) for n in range(8)),
        *(Job(f"model {n}", double, (n,), family="a" if n < 4 else "b") for n in range(8)),
        Job("raises", fail, ("on purpose",)),
        Job("raises, with a model", fail, ("on purpose",), family="a"),
        Job("eats", eat, ()),
        Job("returns what cannot be sent", make_a_lock, ()),
        Job("threads", environment, ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")),
    ]
    local = LocalEngine(2, memory=2 * GIGABYTE)
    here = told(local.run(jobs, 60))
    local.close()
    assert told(shared.run(jobs, 60)) == here
    assert here[0] == ("eats", None, "NoneType: None", "needs over 2 GB of memory")


@pytest.mark.parametrize("family", ["", "a"])
def test_jobs_that_are_added_on_the_way_are_run(shared: RayEngine, family: str) -> None:
    jobs = [Job("1", double, (1,), family=family)]
    found = {}
    for one in shared.run(jobs, 60):
        found[one.job.name] = one.result
        if one.result < 10:
            jobs.append(Job(f"{one.result}", double, (one.result,), family=family))
    assert found == {"1": 2, "2": 4, "4": 8, "8": 16}


@pytest.mark.parametrize("family", ["", "a"])
def test_both_nodes_work(shared: RayEngine, family: str) -> None:
    jobs = [Job(f"{n}", node, (0.3,), family=family) for n in range(8)]
    assert len({one.result for one in shared.run(jobs, 60)}) == 2


def test_what_hangs_or_crashes_costs_itself(shared: RayEngine, tmp_path: Path) -> None:
    jobs = [
        Job("hangs", hang, ()),
        Job("hangs, with a model", hang, (), family="a"),
        Job("crashes", mark_and_die, (str(tmp_path), signal.SIGSEGV)),
        Job("wants a card", double, (1,), gpus=1),
        Job("wants many cores", double, (1,), cpus=64),
        Job("cannot be sent", double, (threading.Lock(),)),
        *(Job(f"{n}", double, (n,), family="a" * (n % 2)) for n in range(6)),
    ]
    found = {one.job.name: one for one in shared.run(jobs, 3)}
    assert len(found) == len(jobs)
    assert {name: one.lost for name, one in found.items() if one.lost} == {
        "hangs": "took over 3 s",
        "hangs, with a model": "took over 3 s",
        "crashes": "crashed (SIGSEGV), 3 times",
        "wants a card": "asks for 1 GPU, more than any machine of the cluster has",
    }
    assert attempts(tmp_path) == 3
    assert "cannot be sent to the Ray cluster" in str(found["cannot be sent"].error)
    assert found["wants many cores"].result == 2, "it gets the whole of the largest machine"
    assert [found[f"{n}"].result for n in range(6)] == [0, 2, 4, 6, 8, 10]


def test_a_model_is_loaded_once_and_leaves_room_for_others(shared: RayEngine) -> None:
    def run(*families: str) -> dict[str, set[int]]:
        """Which processes each family was in: two jobs of each, on two nodes of one core."""
        jobs = [Job(f"{n}", os.getpid, (), family=family) for family in families for n in range(6)]
        found: dict[str, set[int]] = {}
        for one in shared.run(jobs, 60):
            found.setdefault(one.job.family, set()).add(one.result)
        return found

    first = run("x", "y", "z")
    assert all(len(processes) <= 2 for processes in first.values()), "one for each core"
    assert not first["x"] & first["y"], "one family at a time"
    assert run("z")["z"] <= first["z"], "it stays loaded for the next run"
    assert run("", "x").keys() == {"", "x"}, "what holds no model has its turn"


def test_many_small_jobs(shared: RayEngine) -> None:
    found = [one.result for one in shared.run([Job(f"{n}", double, (n,)) for n in range(500)], 60)]
    assert sorted(found) == [2 * n for n in range(500)]


def test_few_are_under_way_at_a_time(shared: RayEngine, tmp_path: Path) -> None:
    results = shared.run([Job(f"{n}", mark, (str(tmp_path), f"{n}")) for n in range(100)], 60)
    for _ in range(3):
        next(results)
    time.sleep(1)  # nobody takes results, so none but those that were sent are done
    count = attempts(tmp_path)
    results.close()
    assert 3 <= count <= 16


@pytest.mark.parametrize("family", ["", "a"])
def test_closing_the_iterator_ends_what_is_under_way(
    shared: RayEngine, tmp_path: Path, family: str
) -> None:
    list(shared.run([Job("warm", node, (0.3,), family=family) for _ in range(8)], 60))
    slow = Job("slow", mark, (str(tmp_path), "slow", 50), family=family)
    results = shared.run([Job("quick", double, (1,), family=family), slow], 60)
    assert next(results).result == 2
    wait_until(lambda: begun(tmp_path))
    results.close()
    wait_until(lambda: is_gone(begun(tmp_path)["slow"][0]))
    assert [one.result for one in shared.run([Job("after", double, (4,))], 60)] == [8]


@pytest.mark.parametrize("family", ["", "a"])
@pytest.mark.parametrize("whose", ["ours", "Ray's"])
def test_a_killed_worker_costs_no_job(
    shared: RayEngine, tmp_path: Path, family: str, whose: str
) -> None:
    folder = str(tmp_path)
    jobs = [Job(f"{n}", mark, (folder, f"{n}"), family=family) for n in range(5)]
    jobs.append(Job("killed", mark_again, (folder, "killed"), family=family))

    def kill() -> None:
        wait_until(lambda: "killed" in begun(tmp_path))
        os.kill(begun(tmp_path)["killed"][whose == "Ray's"], signal.SIGKILL)

    with disturbed_by(kill):
        results = list(shared.run(jobs, 60))
    same_as_undisturbed(results, jobs, tmp_path)


@pytest.mark.parametrize("family", ["", "a"])
def test_a_killed_node_costs_no_job(
    shared: RayEngine, address: str, tmp_path: Path, family: str, capfd: pytest.CaptureFixture[str]
) -> None:
    third = Node(address)

    def job(number: int) -> Job:
        arguments = str(tmp_path), f"{number}", third.process.pid
        return Job(f"{number}", mark_elsewhere, arguments, family=family)

    def works() -> bool:
        return third.process.pid in nodes(tmp_path)

    def kill() -> None:
        wait_until(works)
        third.kill()

    jobs, results = [job(number) for number in range(8)], []
    try:
        with disturbed_by(kill) as disturber:
            for one in shared.run(jobs, 60):
                results.append(one)
                if disturber.is_alive() and not works():  # until the new node has its share
                    jobs.append(job(len(jobs)))
        same_as_undisturbed(results, jobs, tmp_path)
        assert capfd.readouterr() == ("", ""), "Ray is quiet"
    finally:
        third.kill()


def nodes(folder: Path) -> set[int]:
    """Return the nodes that jobs were begun on and may be running."""
    found = set()
    for _, parent in begun(folder).values():
        with suppress(ProcessLookupError):
            found.add(os.getsid(parent))
    return found


@contextmanager
def disturbed_by(disturb: Callable[[], None]) -> Iterator[threading.Thread]:
    """Run the body while a thread disturbs it."""
    disturber = threading.Thread(target=disturb, daemon=True)
    disturber.start()
    yield disturber
    disturber.join()


def same_as_undisturbed(results: list[JobResult], jobs: list[Job], folder: Path) -> None:
    names = sorted(job.name for job in jobs)
    expected = [(name, name.upper(), "NoneType: None", "") for name in names]
    assert told(iter(results)) == expected, "each is told once, and right"
    assert done(folder) == names, "what was finished is not done again"
    assert attempts(folder) > len(jobs), "one was disturbed and begun again"


def test_a_killed_driver_goes_on(address: str, tmp_path: Path, shared: RayEngine) -> None:
    list(shared.run([Job("warm", double, (1,))], 60))  # and so no holder keeps a core from it
    command = [sys.executable, "-c", DRIVER, address, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [*command, "5"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout
        finished = [first.stdout.readline().strip() for _ in range(5)]
        first.kill()
    workers = [worker for worker, _ in begun(tmp_path).values()]
    wait_until(lambda: all(map(is_gone, workers)))  # they end with it, wherever they are
    second = subprocess.run(
        [*command, "14"], env=environment, capture_output=True, text=True, check=True
    )
    *now, everything = second.stdout.splitlines()
    assert everything == str(sorted((f"{n}", f"{n}") for n in range(14)))
    assert sorted(finished + now) == sorted(f"{n}" for n in range(14)), "each is told once"
    assert [name for name in done(tmp_path) if name in finished] == sorted(finished), "once each"
    assert second.stderr == "", "Ray is quiet"


@pytest.mark.parametrize("end", ["closed", "killed"])
def test_a_cluster_of_its_own_leaves_nothing(end: str) -> None:
    program = (
        "import os\nfrom reelbench.engine.base import Job\n"
        "from reelbench.engine.cluster import RayEngine\n"
        "engine = RayEngine()\n"
        "(done,) = engine.run([Job('who', os.getpid, ())], 60)\n"
        "print(done.result, engine._folder.name, flush=True)\n"
        "input()\nengine.close()\nprint('closed', flush=True)\ninput()\n"
    )
    environment = {name: value for name, value in os.environ.items() if "RAY_" not in name}
    driver = subprocess.Popen(
        [sys.executable, "-c", program], env=environment, text=True, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with driver:
        assert driver.stdin
        assert driver.stdout
        assert driver.stderr
        worker, folder = driver.stdout.readline().split()
        assert len(processes_of(driver.pid)) > 3
        if end == "closed":
            driver.stdin.write("\n")
            driver.stdin.flush()
            assert driver.stdout.readline() == "closed\n"
            wait_until(lambda: processes_of(driver.pid) == [driver.pid])
            assert not Path(folder).exists()
            assert not is_gone(driver.pid)
        driver.kill()
        driver.wait()
        wait_until(lambda: is_gone(int(worker)))
        for process in processes_of(driver.pid):  # which would be gone within a minute
            with suppress(FileNotFoundError, ProcessLookupError):  # or is gone already
                words = Path(f"/proc/{process}/cmdline").read_text()
                assert not words or "ray::" in words  # nothing is left of a zombie's words
                os.kill(process, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
        assert driver.stderr.read() == "", "Ray is quiet"


def test_an_address_where_nothing_is() -> None:
    program = (
        "from reelbench.engine.cluster import RayEngine\n"
        "from reelbench.base.errors import ReelbenchError\n"
        "try: RayEngine('127.0.0.1:1')\nexcept ReelbenchError as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout.startswith("No Ray cluster could be reached at 127.0.0.1:1")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ReelbenchError, match=re.escape(install_command("ray"))):
        RayEngine()
