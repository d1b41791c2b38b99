"""The linter: checks of a benchmark, or of items in another format."""

from reelbench.lint.findings import Finding, LintReport, Severity
from reelbench.lint.fix import fix
from reelbench.lint.lint import lint_benchmark

__all__ = ["Finding", "LintReport", "Severity", "fix", "lint_benchmark"]
