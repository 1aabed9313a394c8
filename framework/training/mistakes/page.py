"""Page: findings of `fit(doctor=True)` and `model.fast_check`, printed as one page."""

from html import escape
from textwrap import wrap
from typing import NamedTuple

WIDTH = 88


class Finding(NamedTuple):
    """One line of a `Page`: what was checked, the result, and whether it is good."""

    subject: str
    text: str
    good: bool


class Page:
    """The report of a check: a title and its findings, printed as a table.

    Attributes:
        title: a line about the model and the data.
        findings: a list of `Finding`: `subject`, `text` and `good`.
        ok: whether every finding is good.

    Example:
        >>> page = Page("model 'net'")
        >>> page.add("inputs", "8 features", True)
        >>> print(page)
        model 'net': no mistake found
          ok  inputs     8 features
    """

    def __init__(self, title):
        self.title, self.findings = title, []

    def add(self, subject, text, good=True):
        """Add a finding."""
        self.findings.append(Finding(subject, text, good))

    def add_all(self, subject, messages, otherwise):
        """Add a bad finding for each message; without messages, the good finding `otherwise`."""
        for message in messages:
            self.add(subject, message, False)
        if not messages and otherwise:
            self.add(subject, otherwise)

    @property
    def ok(self):
        return all(finding.good for finding in self.findings)

    def _heading(self):
        bad = sum(not finding.good for finding in self.findings)
        return f"{self.title}: {bad or 'no'} mistake{'s' * (bad > 1)} found"

    def __str__(self):
        lines = [self._heading()]
        for subject, text, good in self.findings:
            first, *others = wrap(text, WIDTH - 18, break_long_words=False) or [""]
            lines.append(f"  {'ok' if good else '!!'}  {subject:<10} {first}")
            lines += [f"{'':17}{line}" for line in others]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{'ok' if good else '<b>!!</b>'}</td><td>{escape(subject)}</td>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for subject, text, good in self.findings
        )
        return f"<p>{escape(self._heading())}</p><table>{rows}</table>"
