"""How surely the safety gate tells dangerous snippets from harmless ones.

    python benchmarks/safety_corpus.py [--missed] [--out reports/safety-corpus.md]

Reads the labelled sets in tests/data/safety_corpus: `own.jsonl`, written by who wrote the rules, `blind.jsonl`,
written by somebody who had not seen them, and the two halves of a later set by another such person: `second.jsonl`,
whose wrong answers led to rules, and `sealed.jsonl`, which nobody who changes the rules may read. Prints precision and
recall of each and writes the report. Goal: 0.97 each.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_skillevo.core.gates.records import Severity
from pytest_skillevo.core.gates.safety import SafetyGate, scan_text

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "data" / "safety_corpus"
HALVES = ("own", "blind", "second", "sealed")
COMMAND = "python benchmarks/safety_corpus.py"
GOAL = 0.97


@dataclass(frozen=True, slots=True)
class Snippet:
    """One labelled text, and what the gate said of it."""

    id: str
    dangerous: bool
    kind: str
    lang: str
    codes: tuple[str, ...]

    @property
    def refused(self) -> bool:
        """Whether the gate found an error."""
        return bool(self.codes)


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of a set of snippets: refused and dangerous, and so on."""

    hits: int
    misses: int
    false_alarms: int
    passed: int

    @classmethod
    def of(cls, snippets: Sequence[Snippet]) -> Score:
        """Count them."""
        counts = Counter((one.dangerous, one.refused) for one in snippets)
        return cls(counts[True, True], counts[True, False], counts[False, True], counts[False, False])

    @property
    def precision(self) -> float:
        """The share of refused snippets that are dangerous."""
        return self.hits / (self.hits + self.false_alarms)

    @property
    def recall(self) -> float:
        """The share of dangerous snippets that are refused."""
        return self.hits / (self.hits + self.misses)


def read(half: str) -> list[Snippet]:
    """The snippets of one half, judged."""
    snippets = []
    for line in (CORPUS / f"{half}.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        errors = (one.code for one in scan_text(entry["text"]) if one.severity is Severity.ERROR)
        codes = tuple(dict.fromkeys(errors))
        snippets.append(Snippet(entry["id"], entry["label"] == "dangerous", entry["kind"], entry["lang"], codes))
    return snippets


def interval(share: float, count: int) -> str:
    """The share with its 95 % Wilson interval."""
    z = 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return f"{share:.3f} [{max(0.0, middle - half):.3f}, {min(1.0, middle + half):.3f}]"


def table(halves: dict[str, list[Snippet]]) -> list[str]:
    """The figures of every set as Markdown."""
    lines = [
        "| set | dangerous | refused | missed | harmless | passed | refused | precision (95 %) | recall (95 %) |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for half, snippets in halves.items():
        score = Score.of(snippets)
        dangerous, harmless = score.hits + score.misses, score.false_alarms + score.passed
        precision = interval(score.precision, score.hits + score.false_alarms)
        lines.append(
            f"| {half} | {dangerous} | {score.hits} | {score.misses} | {harmless} | {score.passed}"
            f" | {score.false_alarms}"
            f" | {precision} | {interval(score.recall, dangerous)} |"
        )
    return lines


def by_kind(snippets: Sequence[Snippet]) -> list[str]:
    """Wrong answers by kind of snippet as Markdown."""
    lines = ["| kind | label | snippets | wrong |", "|---|---|---|---|"]
    for dangerous in (True, False):
        for kind in sorted({one.kind for one in snippets if one.dangerous is dangerous}):
            mine = [one for one in snippets if one.kind == kind and one.dangerous is dangerous]
            wrong = sum(one.refused is not dangerous for one in mine)
            lines.append(f"| {kind} | {'dangerous' if dangerous else 'harmless'} | {len(mine)} | {wrong} |")
    return lines


def by_language(snippets: Sequence[Snippet]) -> str:
    """Wrong answers by language in one line, most snippets first."""
    counts = Counter(one.lang for one in snippets)
    wrong = Counter(one.lang for one in snippets if one.refused is not one.dangerous)
    return ", ".join(f"{lang} {wrong[lang]} of {count}" for lang, count in counts.most_common())


def report(halves: dict[str, list[Snippet]], notes: str) -> str:
    """The report as Markdown; `notes` is kept from the file as it was."""
    lines = [
        "# Safety gate on the labelled corpus",
        "",
        f"Made by `{COMMAND}`; rules {SafetyGate().version}. Goal: precision and recall {GOAL} each on every set.",
        "A snippet counts as refused when the gate reports an error for it as the text of a SKILL.md.",
        "",
        *table(halves),
        "",
        notes.strip(),
        "",
    ]
    for half, snippets in halves.items():
        lines += [f"## {half}", "", *by_kind(snippets), "", f"Wrong by language: {by_language(snippets)}.", ""]
        wrong = [one for one in snippets if one.refused is not one.dangerous]
        if wrong:
            named = ", ".join(f"{one.id} ({', '.join(one.codes) or 'missed'})" for one in wrong)
            lines += [f"Wrong: {named}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def notes_of(path: Path) -> str:
    """The section on how the figures came about, which people write, from an earlier report."""
    text = path.read_text("utf-8") if path.exists() else ""
    start = text.find("## How these figures came about")
    return "" if start < 0 else text[start : text.find("\n## own", start)]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--missed", action="store_true", help="print the ids of wrong answers")
    parser.add_argument("--out", type=Path, default=ROOT / "reports" / "safety-corpus.md")
    arguments = parser.parse_args()
    halves = {half: read(half) for half in HALVES if (CORPUS / f"{half}.jsonl").exists()}
    print("\n".join(table(halves)))
    if arguments.missed:
        for snippets in halves.values():
            for one in snippets:
                if one.refused is not one.dangerous:
                    print(one.id, one.kind, one.lang, ", ".join(one.codes) or "missed")
    arguments.out.parent.mkdir(exist_ok=True)
    arguments.out.write_text(report(halves, notes_of(arguments.out)), encoding="utf-8")


if __name__ == "__main__":
    main()
