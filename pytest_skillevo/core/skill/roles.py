"""Which heading says when to use a skill, which gives its steps, which its pitfalls.

The wordings are those of skills in the wild (spec/landscape.md part 4). Each list runs from the surest wording to the
vaguest; the surest one that occurs decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

Role = Literal["when_to_use", "steps", "pitfalls"]
ROLES: Final[tuple[Role, ...]] = ("when_to_use", "steps", "pitfalls")
TITLES: Final[dict[Role, str]] = {"when_to_use": "When to use", "steps": "Steps", "pitfalls": "Pitfalls"}

_USE = r"(?:use|apply|invoke|activate|trigger|run|load|reach for|call)"
_THIS = r"(?: (?:it|this|(?:(?:this|the|a|an|these|your) )?(?:\w+ ){0,2}(?:skills?|guide|workflow|playbook|process)))?"
_AND_NOT = r"(?: (?:and |or |vs )?(?:when )?(?:not to|not|to skip|to avoid)(?: (?:to )?(?:use|apply|invoke))?(?: it)?)?"

_WORDINGS: Final[dict[Role, tuple[str, ...]]] = {
    "when_to_use": (
        rf"when (?:to|should (?:i|you|we)|do (?:i|you)|you should) {_USE}{_THIS}{_AND_NOT}",
        r"(?:use|apply|activate|invoke|load) (?:it |this |the )?(?:skill )?(?:when|if|for)",
        r"when (?:this|the) skill (?:applies|activates|triggers|fires|should be used|is used|helps)",
        r"when (?:this|it) applies|when to trigger|when",
        r"何时使用(?:此|该|本|这个)?(?:技能)?|什么时候(?:使用|用)(?:此|该|本|这个)?(?:技能)?|使用时机|いつ使うか|使うタイミング",
        r"(?:skill )?(?:triggers?|activation)(?: (?:conditions?|phrases?|criteria|rules|when))?",
        r"(?:common |typical |example )?(?:use cases?|usage scenarios?|scenarios?)",
        r"applicability|applicable (?:scenarios?|when)",
        r"适用场景|使用场景|触发条件|适用范围",
    ),
    "steps": (
        r"(?:the |main |core |key |required |detailed |basic )?steps(?: (?:to (?:follow|take|perform)|in order))?",
        r"step by step(?: (?:guide|instructions?|process|procedure|workflow|approach))?",
        r"(?:the |standard |core |main |operating |standard operating )?procedures?",
        r"(?:the |core |main |basic |standard |overall |recommended |general )?workflow(?: steps)?",
        r"(?:the |core |main |basic |standard |overall |recommended |general )?process(?: steps)?",
        r"(?:the |core |main |your |detailed |step )?instructions?(?: for (?:claude|the agent|agents))?",
        r"(?:操作|执行|使用|实施|具体|核心|主要)?(?:步骤|流程)|工作流程?|工作步骤|操作指南|手順|作業手順|ワークフロー",
        r"(?:execution|implementation|action|task|workflow|process) (?:steps?|plan|flow|process|procedure|workflow)",
        r"what to do|how to do it|how to proceed|order of work",
        r"(?:the )?(?:method|methodology|approach|playbook|runbook|recipe|protocol|algorithm)",
        r"how to use(?: (?:it|this|this skill|the skill))?|how to(?: apply(?: it)?)?",
        r"(?!(?:next|previous|install|installation|setup|uninstall|troubleshooting|verification|follow up|related)\b)"
        r"(?:\w+ ){1,3}(?:steps|workflow|procedure|process|instructions)",
        r"(?:steps|procedure|workflow|process|instructions) (?:to|for|of) (?!reproduce\b).+",
    ),
    "pitfalls": (
        r"(?:the |common |known |typical |potential |usual )?pitfalls?(?: (?:to avoid|and .+|to watch(?: out)? for))?",
        r"(?:common |known |critical |important )?gotchas?(?: (?:and .+|to avoid))?",
        r"(?:common |typical |frequent )?mistakes(?: (?:to avoid|and .+))?",
        r"(?:common )?anti ?patterns?(?: (?:to avoid|and .+))?",
        r"(?:what not to do|what to avoid|things to avoid|avoid(?: these)?|do not|donts?|never(?: do)?(?: this)?)",
        r"red flags?(?: .+)?|(?:common )?(?:traps|footguns|failure modes)|lessons learned|watch outs?|watch out for",
        r"常见(?:错误|陷阱|误区|问题)|陷阱|注意事项|避坑指南?|落とし穴|注意点",
        r"(?:common |known )?(?:errors|issues|problems)(?: and .+)?",
        r"warnings?|caveats?|cautions?|troubleshooting|(?:known )?limitations",
    ),
}
#: One pattern for each role; the number of the group that matched is the rank of the wording.
_PATTERNS: Final = {role: re.compile("|".join(f"({w})" for w in wordings)) for role, wordings in _WORDINGS.items()}
#: Longer titles are sentences; the patterns are never run on them.
_LONGEST: Final = 80


def find_roles(titles: Sequence[str]) -> dict[Role, int]:
    """The index of the title that plays each role, for the roles that are found.

    When several titles match the surest wording that occurs, pitfalls takes the first of them, while when-to-use and
    steps are not recognised: a skill with two workflows has no one list of steps.
    """
    keys = [_key(title) for title in titles]
    found: dict[Role, int] = {}
    for role in ROLES:
        ranks = {i: rank for i, key in enumerate(keys) if i not in found.values() and (rank := _rank(role, key))}
        surest = min(ranks.values(), default=0)
        best = [i for i, rank in ranks.items() if rank == surest]
        if len(best) == 1 or (best and role == "pitfalls"):
            found[role] = best[0]
    return found


@lru_cache(maxsize=4096)
def _rank(role: Role, key: str) -> int:
    """How sure the wording is, from 1 for the surest; 0 for no match."""
    match = _PATTERNS[role].fullmatch(key) if key else None
    return match.lastindex or 0 if match else 0


@lru_cache(maxsize=512)
def _key(title: str) -> str:
    """The title as bare lower-case words: no emphasis, emoji, numbering, brackets or punctuation."""
    if len(title) > _LONGEST:
        return ""
    text = re.sub(r"\([^()]*\)|（[^（）]*）", " ", title.lower()).replace("'", "").replace("’", "").replace("_", " ")
    words = "".join(char if char.isalnum() else " " for char in text).split()
    while words and words[0].isdecimal():
        words.pop(0)
    return " ".join(words)
