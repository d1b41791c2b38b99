"""The faults that ``make mutate`` plants can be planted."""

import yaml
from support import REPOSITORY


def test_every_fault_has_its_place_and_its_tests() -> None:
    faults = yaml.safe_load((REPOSITORY / "tools" / "faults.yaml").read_text())
    wrong = []
    for fault in faults:
        source = (REPOSITORY / "src" / "reelbench" / fault["file"]).read_text()
        tests = [REPOSITORY / name.partition("::")[0] for name in fault["tests"]]
        if source.count(fault["old"]) != 1 or fault["old"] == fault["new"]:
            wrong.append(
                f"{fault['file']}: {fault['old']!r} stands there {source.count(fault['old'])} times"
            )
        wrong += [f"{test} is not there" for test in tests if not test.is_file()]
    assert wrong == []
    assert len(faults) >= 50
