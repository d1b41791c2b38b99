"""The dispatcher on a thousand machines: how busy they are, and that nothing is lost.

The dispatching code is the real one; Ray and its workers are simulated, in virtual time
(benchmarks/dispatching). Jobs take log-normal times (median 10 s, mean 12.8 s); a model takes 5 s
to load. A perfect schedule knows all times and all deaths, and moves jobs for nothing; it ends no
earlier than the longest job.

Run: python benchmarks/dispatch.py [--machines 1000] [--jobs 100000] [--only NAME] [--picture SVG]
"""

import argparse
import dataclasses
from collections import Counter
from pathlib import Path

from dispatching.picture import draw
from dispatching.scenarios import Outcome, Scenario, broken_promises, simulate
from dispatching.simulated_ray import Trouble

OPERATORS = tuple(f"operator {number}" for number in range(12))
LOADING = Trouble(load_seconds=5)
SLOW = Trouble(load_seconds=5, slow_share=0.01)
ALL = Trouble(load_seconds=5, slow_share=0.01, lost_loading=0.01)
SCENARIOS = [
    Scenario("tasks"),
    Scenario("models", families=OPERATORS, trouble=LOADING),
    Scenario("gpus", families=OPERATORS, gpu_machines=500, gpu_families=("card",), trouble=LOADING),
    Scenario(
        "late gpus", families=OPERATORS, gpu_machines=500, gpu_families=("card",), trouble=LOADING,
        appended=True, late_cards=True,
    ),
    Scenario("slow", families=OPERATORS, trouble=SLOW),
    Scenario("deaths", families=OPERATORS, trouble=LOADING, deaths_per_hour=1, rack=(60, 40)),
    Scenario("rack at start", families=OPERATORS, trouble=LOADING, rack=(2, 40)),
    Scenario("sick", families=OPERATORS, trouble=LOADING, sick=3),
    Scenario("sick tasks", sick=3),
    Scenario(
        "all", families=("", *OPERATORS), gpu_machines=500, gpu_families=("card",), trouble=ALL,
        deaths_per_hour=1, rack=(60, 40), sick=3, kills=20, crashes=20, appended=True,
    ),
]  # fmt: skip
HEAD = "scenario          jobs   time perfect   busy  to 95%   lost  attempts broken  us/job"


def main() -> None:
    """Simulate, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machines", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--picture", type=Path, help="an SVG of busy cores over time")
    options = parser.parse_args()
    print(HEAD)
    for scenario in SCENARIOS:
        if not options.only or scenario.name in options.only:
            outcome = simulate(scaled(scenario, options.machines, options.jobs))
            print(row(outcome), flush=True)
            for reason, count in reasons(outcome).most_common(3):
                print(f"    {count} lost: {reason}")
            if options.picture:
                options.picture.write_text(draw(outcome))


def scaled(scenario: Scenario, machines: int, jobs: int) -> Scenario:
    """Return a scenario for another number of machines and jobs."""
    factor = machines / scenario.machines
    rack = scenario.rack and (scenario.rack[0], max(1, round(scenario.rack[1] * factor)))
    return dataclasses.replace(
        scenario,
        machines=machines,
        jobs=jobs,
        gpu_machines=round(scenario.gpu_machines * factor),
        rack=rack,
    )


def row(outcome: Outcome) -> str:
    """Return the line of a scenario."""
    until = outcome.when[int(len(outcome.when) * 0.95)]
    lost = sum(bool(result.lost) for result in outcome.results)
    broken = broken_promises(outcome)
    return (
        f"{outcome.scenario.name:14} {len(outcome.jobs):7} {outcome.seconds:6.0f} "
        f"{outcome.perfect_seconds():7.0f} {outcome.busy_share(outcome.seconds):6.1%} "
        f"{outcome.busy_share(until):7.1%} {lost:6} {max(outcome.ray.attempts.values()):9} "
        f"{len(broken):6} {outcome.cpu_seconds / len(outcome.jobs) * 1e6:7.0f}"
    )


def reasons(outcome: Outcome) -> Counter[str]:
    """Return why jobs were lost."""
    return Counter(result.lost for result in outcome.results if result.lost)


if __name__ == "__main__":
    main()
