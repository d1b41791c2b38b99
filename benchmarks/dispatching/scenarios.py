"""Work for a simulated cluster, what goes wrong there, and whether anything was lost."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dispatching.simulated_ray import Load, Machine, Shape, SimulatedRay, Trouble
from reelbench.base.seeds import rng_for
from reelbench.engine.base import Job, JobResult
from reelbench.engine.dispatch import Dispatch

LIMIT = 3600.0  # seconds of a job
ATTEMPTS = 3  # that a job is promised at most
_MEDIAN, _SPREAD = 10.0, 0.7  # seconds of a job: log-normal

_NONE = Trouble()


@dataclass(frozen=True)
class Scenario:
    """A cluster, its jobs, and its troubles."""

    name: str
    machines: int = 1000
    cpus: float = 8.0
    gpu_machines: int = 0  # with one GPU each
    jobs: int = 100_000
    families: tuple[str, ...] = ("",)
    gpu_families: tuple[str, ...] = ()  # which ask for one GPU
    trouble: Trouble = _NONE
    deaths_per_hour: float = 0.0  # of each machine, which is back after five minutes
    rack: tuple[float, int] | None = None  # when so many machines die at once, for eight minutes
    sick: int = 0  # machines on which everything crashes
    kills: int = 0  # jobs that end their worker
    crashes: int = 0  # jobs that end their own process
    appended: bool = False  # one in ten jobs is followed by another, of the next family
    late_cards: bool = False  # those that ask for a GPU are all appended
    seed: int = 0


@dataclass
class Outcome:
    """What came of a scenario."""

    scenario: Scenario
    jobs: list[Job]
    ray: SimulatedRay
    results: list[JobResult] = field(default_factory=list)
    cpu_seconds: float = 0.0  # of the dispatcher, real ones
    when: list[float] = field(default_factory=list)  # each result came, virtual seconds

    @property
    def seconds(self) -> float:
        """Return the virtual time from the first call to the last result."""
        return self.when[-1] if self.when else 0.0

    def offered(self, until: float) -> float:
        """Return the core seconds of machines that were up."""
        return sum(cpus * max(0.0, until - moment) for moment, cpus in self.ray.offered)

    def busy_share(self, until: float) -> float:
        """Return the share of the core seconds of machines that were up in which a job ran."""
        busy = sum(cpus * max(0.0, until - moment) for moment, cpus in self.ray.busy)
        return busy / self.offered(until)

    def perfect_seconds(self) -> float:
        """Return the time of a schedule that knows everything and wastes nothing."""
        longest = max((load_of(job).seconds for job in self.jobs), default=0.0)
        if self.scenario.gpu_machines:
            on_gpus = sum(load_of(job).seconds for job in self.jobs if job.gpus)
            longest = max(longest, on_gpus / self.scenario.gpu_machines)
        moment = 0.0
        while self.offered(moment) < self.ray.useful:
            moment += max(0.1, self.seconds / 2000)
        return max(moment, longest)


def work(load: Load) -> str:
    """Return what a simulated job comes to."""
    return f"{load.name} is done"


def load_of(job: Job) -> Load:
    """Return what a job costs."""
    return next(one for one in job.args if isinstance(one, Load))


def simulate(scenario: Scenario, dispatcher: Callable[..., Any] = Dispatch) -> Outcome:
    """Run a scenario with the dispatcher."""
    shapes = [
        Shape(scenario.cpus, 1.0 if number < scenario.gpu_machines else 0.0)
        for number in range(scenario.machines)
    ]
    ray = SimulatedRay(shapes, scenario.seed, scenario.trouble)
    plan_deaths(scenario, ray)
    rng_for(scenario.seed, "sick").shuffle(order := list(ray.machines))
    for machine in order[: scenario.sick]:
        machine.crashes_all = True
    jobs = list(planned_jobs(scenario))
    outcome = Outcome(scenario, jobs, ray)
    began, cpu_began = time.perf_counter(), time.process_time()
    for result in dispatcher(ray, jobs, LIMIT, 2**30, [], ray.clock).results():
        outcome.results.append(result)
        outcome.when.append(ray.clock.time)
        if scenario.appended and (next_job := followed_by(scenario, result.job)):
            jobs.append(next_job)
    # By the clock, other programs' work would count; asking for CPU time at each call costs more
    # than what is measured. So the clock gives the share, and the CPU time the sum.
    share = 1 - ray.clock.simulating / (time.perf_counter() - began)
    outcome.cpu_seconds = share * (time.process_time() - cpu_began)
    return outcome


def planned_jobs(scenario: Scenario) -> Iterator[Job]:
    """Yield the jobs, those that end badly spread among them."""
    rng = rng_for(scenario.seed, "jobs")
    bad = rng.sample(range(scenario.jobs), scenario.kills + scenario.crashes)
    ends = dict.fromkeys(bad[: scenario.kills], "kills")
    ends |= dict.fromkeys(bad[scenario.kills :], "crashes")
    families = scenario.families + scenario.gpu_families * (not scenario.late_cards)
    for number in range(scenario.jobs):
        family = families[number % len(families)]
        seconds = _MEDIAN * rng.lognormvariate(0, _SPREAD)
        load = Load(f"{number}", seconds, ends.get(number, "done"))
        gpus = 1.0 if family in scenario.gpu_families else 0.0
        yield Job(load.name, work, (load,), family, gpus=gpus)


def followed_by(scenario: Scenario, job: Job) -> Job | None:
    """Return the job that is learnt of when another is done."""
    if not job.name.isdigit() or int(job.name) % 10:
        return None
    families = scenario.families * (not scenario.late_cards) + scenario.gpu_families
    family = families[(int(job.name) // 10) % len(families)]
    gpus = 1.0 if family in scenario.gpu_families else 0.0
    load = Load(f"after {job.name}", load_of(job).seconds)
    return Job(load.name, work, (load,), family, gpus=gpus)


def plan_deaths(scenario: Scenario, ray: SimulatedRay) -> None:
    """Let machines die and come back, some alone, a rack at once."""

    def plan(machine: Machine, moment: float, away: float) -> None:
        notice = rng_for(scenario.seed, "notice", machine.number, moment).uniform(
            *scenario.trouble.notice_seconds
        )
        ray.clock.after(moment, lambda: ray.fail(machine, notice))
        ray.clock.after(moment + away, lambda: ray.recover(machine))

    for machine in ray.machines[:-1]:  # one stays up: without any, a run ends after a minute
        rng = rng_for(scenario.seed, "deaths", machine.number)
        moment = 0.0
        while scenario.deaths_per_hour and moment < 7200:
            moment += rng.expovariate(scenario.deaths_per_hour / 3600)
            plan(machine, moment, 300)
            moment += 300
    if scenario.rack:
        moment, count = scenario.rack
        for machine in ray.machines[:-1][:count]:
            plan(machine, moment, 480)


def broken_promises(outcome: Outcome) -> list[str]:
    """Return every promise of the dispatcher that was not kept, as sentences."""
    given = Counter(job.name for job in outcome.jobs)
    back = Counter(result.job.name for result in outcome.results)
    broken = [f"{name}: no result" for name in given - back]
    broken += [f"{name}: a result too many" for name in back - given]
    for result in outcome.results:
        load, tries = load_of(result.job), outcome.ray.attempts[result.job.name]
        if tries > ATTEMPTS:
            broken.append(f"{load.name}: begun {tries} times")
        if result.lost:
            if tries < ATTEMPTS and not result.lost.startswith("took over"):
                broken.append(f"{load.name}: given up after {tries} attempts: {result.lost}")
        elif result.error or result.result != work(load):
            broken.append(f"{load.name}: {result.error or result.result}")
    return broken
