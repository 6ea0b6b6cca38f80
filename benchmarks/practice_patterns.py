"""How well the simulated model's patterns read sentences of an author who has seen neither patterns nor phrase bank.

    python benchmarks/practice_patterns.py [--write reports/practice-patterns.md] [--misses]

The sentences are in tests/data/practice_sentences_blind.json, ten paraphrases and ten near misses per practice of the
recipe family. The patterns are not tuned on them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pytest_skillevo.families.registry import find_family, load_behaviour
from pytest_skillevo.models.simulated.conduct import Conduct
from pytest_skillevo.models.simulated.practices import Stance, read_statements, stance
from pytest_skillevo.models.simulated.worker import LookupBehaviour

ROOT = Path(__file__).parents[1]
SENTENCES = ROOT / "tests" / "data" / "practice_sentences_blind.json"
#: Names of the blind file -> names of the family's practices, where they differ.
ALIASES = {
    "difficulty by rule": "difficulty_rating by rule",
    "count ingredients oneself": "count ingredient_count oneself",
    "cuisines_covered": "compute the summary",
}
PROMPT = "# Recipe cookbook: 3 dishes x 3 lookups"


def stated(text: str, name: str, conduct: Conduct) -> bool:
    """Whether a skill with just this sentence under Steps states the practice."""
    practice = next(practice for practice in conduct.switches if practice.name == name)
    document = f"---\nname: s\ndescription: d\n---\n\n# S\n\n## Steps\n\n1. {text}\n"
    return stance(read_statements(document, conduct.switches, conduct.terms), practice, PROMPT)[0] is Stance.STATED


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path)
    parser.add_argument("--misses", action="store_true", help="list the sentences that were read wrongly")
    options = parser.parse_args()
    sentences = json.loads(SENTENCES.read_text(encoding="utf-8"))
    behaviour = load_behaviour(find_family("recipe", ROOT / "suites" / "recipe"))
    assert isinstance(behaviour, LookupBehaviour)
    conduct = behaviour.conduct
    rows, recalled, hits, total = [], 0, 0, 0
    for name, texts in sentences.items():
        own = ALIASES.get(name, name)
        found = [text for text in texts["paraphrases"] if stated(text, own, conduct)]
        wrong = [text for text in texts["near_misses"] if stated(text, own, conduct)]
        recalled, hits, total = recalled + len(found), hits + len(wrong), total + len(texts["paraphrases"])
        rows.append(
            f"| {name} | {len(found)} of {len(texts['paraphrases'])} | {len(wrong)} of {len(texts['near_misses'])} |"
        )
        if options.misses:
            for text in texts["paraphrases"]:
                if text not in found:
                    print(f"missed [{name}]: {text}")
            for text in wrong:
                print(f"false  [{name}]: {text}")
    lines = [
        "# How the simulated model reads sentences it has never seen",
        "",
        "Made by `python benchmarks/practice_patterns.py`. The author of the sentences saw neither the patterns nor",
        "the phrase bank, and the patterns are not tuned on them. A sentence counts as read when a skill that holds",
        "nothing else states the practice.",
        "",
        f"Recall {recalled} of {total} paraphrases ({recalled / total:.0%}), false hits {hits} of {total} near misses",
        f"({hits / total:.0%}).",
        "",
        "| practice | paraphrases read | near misses taken for it |",
        "|---|---|---|",
        *rows,
    ]
    text = "\n".join(lines) + "\n"
    if options.write is None:
        print(text, end="")
    else:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
