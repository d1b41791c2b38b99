"""The linter: what a careful editor would look for in a benchmark, ours or anyone's."""

from reelbench.lint.findings import Finding, LintReport, Severity
from reelbench.lint.fix import fix
from reelbench.lint.lint import lint_benchmark

__all__ = ["Finding", "LintReport", "Severity", "fix", "lint_benchmark"]
