"""Signs of each fault class in one rollout, read from the artifact, the call log and the feedback."""

from __future__ import annotations

import json
import re

AREAS = ("Velria", "Ombra", "Tasqa", "Kellmark", "Sarun", "Norvia", "Pelago", "Brumland", "Izar", "Lumar", "Unknown")


def artifact(played):
    return json.loads(played.run.tools.files.get("recipe_cookbook.json", '{"recipes": [], "summary": {}}'))


def entries(played):
    return artifact(played)["recipes"]


def lists(played):
    return [entry[key] for entry in entries(played) for key in ("category_dishes", "cuisine_dishes") if key in entry]


def calls(played, tool, **arguments):
    return [e for e in played.run.tools.log if e.tool == tool and arguments.items() <= e.arguments.items()]


def lacks(field):
    return lambda played: bool(entries(played)) and not any(field in entry for entry in entries(played))


def says(words):
    return lambda played: words in played.evaluation.feedback


def rated_otherwise(played):
    def rating(count):
        return "Easy" if count <= 5 else "Medium" if count < 10 else "Hard"

    return any(
        e.get("difficulty_rating") != rating(e["ingredient_count"]) for e in entries(played) if "ingredient_count" in e
    )


def unsorted(played):
    return any(value["top3"] != sorted(value["top3"]) for value in lists(played) if "top3" in value)


def catalogue_name(played):
    names = [entry.get("name", "") for entry in entries(played)]
    return bool(names) and not any(name.startswith(("Classic", "Homestyle", "Rustic", "Festive")) for name in names)


def gap_mistreated(played):
    """The dish whose kitchen the task does not give has anything but the sentinel as its cuisine."""
    rows = re.findall(r"^\| \d \| (.+?) \| not given \|", played.run.messages[1]["content"], re.MULTILINE)
    return any(
        e.get("cuisine") != {"unavailable": True} for e in entries(played) if rows and rows[0].endswith(e["name"])
    )


def summary_of_areas(played):
    cuisines = [entry.get("cuisine") for entry in entries(played)]
    return any(
        name in AREAS and name not in cuisines for name in artifact(played)["summary"].get("cuisines_covered", ())
    )


def limit_ignored(played):
    lines = [line for line in played.evaluation.feedback.splitlines() if "answered RATE_LIMITED" in line]
    return any("at once" in line or "never requested again" in line for line in lines)


def wrong_number_of_entries(played):
    names = [entry.get("name") for entry in entries(played)]
    rows = played.run.messages[1]["content"].count("\n| ") - 1
    return bool(names) and (len(set(names)) < len(names) or len(names) < rows)


#: fault class -> (levels at which it can occur, sign of it)
ALL = ("e1", "e2", "e3", "m1", "m2", "h1")
PROBES = {
    "category_dishes": (("e1", "e2", "m1", "m2", "h1"), lacks("category_dishes")),
    "cuisine_dishes": (("e1", "e3", "m1", "m2", "h1"), lacks("cuisine_dishes")),
    "titles": (ALL, catalogue_name),
    "cuisine": (ALL, lambda played: any(entry.get("cuisine") in AREAS for entry in entries(played))),
    "count": (("e3", "m1", "h1"), says("ingredient_count of")),
    "difficulty": (ALL, rated_otherwise),
    "alphabetical": (ALL, unsorted),
    "summary": (ALL, summary_of_areas),
    "order": (("e3", "m1", "h1"), says("process: ")),
    "ambiguity": (("e3",), says("category of")),
    "retry": (("e2", "m1", "h1"), says("timed out for")),
    "rate limit": (("m2",), limit_ignored),
    "gap": (("h1",), gap_mistreated),
    "merge": (("m2",), says("category (1 of")),
    "reuse": (("e1",), says("redundant: ")),
    "plan": (ALL, lambda played: bool(calls(played, "read_file", path="plan.json"))),
    "verify": (ALL, wrong_number_of_entries),
    "reference": (ALL, lambda played: not calls(played, "read_file", path="reference/recipe.md")),
    "write": (ALL, lambda played: len(calls(played, "write_file")) > 1),
    "finish": (ALL, lambda played: not played.run.tools.done),
}

#: One rule for each class, in words of its own.
RULES = {
    "category_dishes": "Every entry has category_dishes.",
    "cuisine_dishes": "Every entry has cuisine_dishes.",
    "titles": "Spell each dish title the way the task does.",
    "cuisine": "The cuisine is the kitchen word of the task.",
    "count": "Count the ingredients yourself.",
    "difficulty": "Rate difficulty by the thresholds of the task.",
    "alphabetical": "Put the names into alphabetical order before taking three.",
    "summary": "The summary holds distinct cuisines.",
    "order": "Get the id before you ask for details.",
    "ambiguity": "Never take the first hit unseen.",
    "retry": "After a timeout repeat just the failed item.",
    "rate limit": "When throttled go on with other items.",
    "gap": "NO_DATA is final.",
    "merge": "Take a null from another lookup.",
    "reuse": "Never ask the same thing twice.",
    "plan": "Pay no attention to plan.json.",
    "verify": "Check that every requested dish is in the file.",
    "reference": "Read the reference.",
    "write": "Write the file once.",
    "finish": "End with claim_done.",
}
