"""The dispatcher on a simulated cluster: whatever dies, each job has one result, and soon.

The cluster is the benchmark's (benchmarks/dispatching): the dispatching code is the real one.
"""

import dataclasses
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reelbench.base.errors import ReelbenchError
from reelbench.engine.base import Job
from reelbench.engine.dispatch import Dispatch

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from dispatching.scenarios import (
    Outcome,
    Scenario,
    broken_promises,
    load_of,
    simulate,
    work,
)
from dispatching.simulated_ray import Load, Shape, SimulatedRay, Trouble

SMALL = Scenario("small", machines=6, cpus=4, jobs=150, families=("a", "b"))


def lost(outcome: Outcome) -> dict[str, str]:
    return {one.job.name: one.lost for one in outcome.results if one.lost}


@settings(max_examples=30, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(
    seed=st.integers(0, 2**32),
    families=st.sampled_from([("",), ("a",), ("", "a", "b")]),
    cards=st.integers(0, 3),
    deaths=st.sampled_from([0.0, 6.0, 20.0]),
    rack=st.none() | st.tuples(st.floats(0, 60), st.integers(1, 6)),
    sick=st.integers(0, 1),
    bad=st.integers(0, 4),
)
def test_each_job_has_one_result_whatever_dies(
    seed: int,
    families: tuple[str, ...],
    cards: int,
    deaths: float,
    rack: tuple[float, int] | None,
    sick: int,
    bad: int,
) -> None:
    outcome = simulate(
        dataclasses.replace(
            SMALL,
            seed=seed,
            families=families,
            gpu_machines=cards,
            gpu_families=("card",) if cards else (),
            trouble=Trouble(slow_share=0.01, lost_loading=0.02, load_seconds=2),
            deaths_per_hour=deaths,
            rack=rack,
            sick=sick,
            kills=bad,
            crashes=bad,
            appended=True,
        )
    )
    assert broken_promises(outcome) == []
    bad_jobs = {job.name for job in outcome.jobs if load_of(job).end != "done"}
    assert bad_jobs <= set(lost(outcome))


def test_machines_are_busy_while_there_is_enough_to_do() -> None:
    outcome = simulate(dataclasses.replace(SMALL, jobs=1000))
    assert outcome.busy_share(outcome.when[900]) > 0.9


def test_one_machine_where_everything_crashes_costs_no_job() -> None:
    for families in (("",), ("a", "b")):
        outcome = simulate(dataclasses.replace(SMALL, jobs=400, families=families, sick=1))
        assert lost(outcome) == {}
        assert broken_promises(outcome) == []
    assert sum(outcome.ray.attempts.values()) < 550, "it takes few of the jobs"


def test_actors_that_die_while_they_start_cost_no_job() -> None:
    trouble = Trouble(notice_seconds=(0.1, 0.1))
    outcome = simulate(dataclasses.replace(SMALL, rack=(2.0, 5), trouble=trouble))
    assert lost(outcome) == {}
    assert broken_promises(outcome) == []


def test_jobs_whose_workers_never_start_are_given_up_with_the_reason() -> None:
    ray = SimulatedRay([Shape(4, 0)] * 2, 0, Trouble())

    def refuse(machine: int) -> None:
        for holding in list(ray.machines[machine].holders):
            ray.end(holding, ray.exceptions.RayActorError("died"))
        ray.clock.after(1, lambda: refuse(machine))

    refuse(0)
    refuse(1)
    jobs = [Job(f"{n}", work, (Load(f"{n}", 1.0),), "a") for n in range(30)]
    results = list(Dispatch(ray, jobs, 60, 2**30, [], ray.clock).results())
    assert {one.lost for one in results} == {"lost its worker; no worker came up in 60 s"}
    assert len(results) == len(jobs)
    assert ray.clock.time < 90


def test_cards_are_not_kept_waiting_by_jobs_that_need_none() -> None:
    outcome = simulate(dataclasses.replace(SMALL, jobs=400, gpu_machines=2, gpu_families=("card",)))
    assert outcome.seconds < 1.15 * outcome.perfect_seconds()


def test_cards_do_not_wait_until_all_jobs_that_came_before_are_done() -> None:
    outcome = simulate(
        dataclasses.replace(
            SMALL, jobs=600, gpu_machines=2, gpu_families=("card",), appended=True, late_cards=True
        )
    )
    first = next(
        when for when, one in zip(outcome.when, outcome.results, strict=True) if one.job.gpus
    )
    assert first < outcome.seconds / 4
    assert broken_promises(outcome) == []


def test_cards_may_be_away_for_minutes() -> None:
    trouble = Trouble(notice_seconds=(1, 1))
    scenario = dataclasses.replace(SMALL, gpu_machines=1, gpu_families=("card",), rack=(20.0, 1))
    outcome = simulate(dataclasses.replace(scenario, trouble=trouble))
    assert lost(outcome) == {}
    assert outcome.seconds > 480, "it waits for them"


def test_cards_that_do_not_come_back_are_waited_for_ten_minutes() -> None:
    ray = SimulatedRay([Shape(4, 1), Shape(4, 0)], 0, Trouble())
    ray.clock.after(20, lambda: ray.fail(ray.machines[0], 1))
    jobs = [Job(f"{n}", work, (Load(f"{n}", 10.0),), "card", gpus=1) for n in range(6)]
    results = list(Dispatch(ray, jobs, 60, 2**30, [], ray.clock).results())
    gone = [one.lost for one in results if one.lost]
    assert set(gone) == {"asks for 1 GPU, more than any machine of the cluster has"}
    assert len(gone) == 5
    assert 600 < ray.clock.time < 640


def test_no_job_is_given_to_idle_actors_of_a_machine_that_is_gone() -> None:
    ray = SimulatedRay([Shape(4, 0)] * 4, 0, Trouble())
    jobs = [Job(f"{n}", work, (Load(f"{n}", 30.0 if n else 100.0),), "a") for n in range(16)]
    for machine in ray.machines[1:]:  # whose actors have been idle for a while
        ray.clock.after(60, lambda machine=machine: ray.fail(machine, 0.5))
    results = []
    for one in Dispatch(ray, jobs, 600, 2**30, [], ray.clock).results():
        results.append(one)
        if one.job.name == "0":
            jobs += [Job(f"late {n}", work, (Load(f"late {n}", 1.0),), "a") for n in range(20)]
    assert len(results) == len(jobs)
    assert not any(one.lost for one in results)
    assert set(ray.attempts.values()) == {1}


def test_without_machines_it_waits_a_minute_and_gives_up() -> None:
    ray = SimulatedRay([], 0, Trouble())
    dispatch = Dispatch(ray, [Job("1", work, (Load("1", 1.0),))], 60, 2**30, [], ray.clock)
    with pytest.raises(ReelbenchError, match="has had no CPUs for 60 s"):
        list(dispatch.results())
    assert 60 < ray.clock.time < 65


def test_nobody_takes_results_so_little_more_is_begun() -> None:
    ray = SimulatedRay([Shape(4, 0)], 0, Trouble())
    jobs = [Job(f"{n}", work, (Load(f"{n}", 1.0),)) for n in range(100)]
    results = Dispatch(ray, jobs, 60, 2**30, [], ray.clock).results()
    next(results)
    assert sum(ray.attempts.values()) <= 9


def test_what_a_job_costs_the_dispatcher_does_not_grow_with_the_cluster() -> None:
    assert steps(machines=40) < 1.5 * steps(machines=5)


def steps(machines: int) -> float:
    """Return how many lines of the dispatcher are run for a job."""
    count = 0

    def trace(frame, event, _):  # type: ignore[no-untyped-def]
        nonlocal count
        if "reelbench/engine" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        outcome = simulate(dataclasses.replace(SMALL, machines=machines, jobs=40 * machines))
    finally:
        sys.settrace(before)
    return count / len(outcome.jobs)
