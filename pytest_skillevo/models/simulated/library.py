"""Practices that hold for any family of lookup tasks, and makers for those that name a field of the family.

The probabilities are assumptions, chosen inside the ranges of spec/simulated.md; they make known true effects, no
claim about any language model.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from .language import concept, normalise
from .practices import Practice, patterns

RETRY: Final = Practice(
    "retry failed items only",
    p0=0.75,
    p1=0.03,
    directive=patterns(
        "+retry failed +only !+whole",
        "+retry failed +item !+whole <9",
        "-retry -whole",
        "+retry -whole",
        "-restart",
        "-retry succeeded failed",
        "+keep succeeded failed",
    ),
    contrary={
        "batch": patterns("+retry +whole !+only !nodata <8", "+restart failed"),
        "none": patterns("-retry failed !whole !restart !succeeded !nodata !rate !at_once", "+giveup failed !nodata"),
    },
    lapses={"batch": 0.5, "none": 0.5},
)

RATE_LIMIT: Final = Practice(
    "do other work after a rate limit",
    p0=0.4,
    p1=0.03,
    directive=patterns("rate +later !+at_once", "rate -at_once"),
    contrary={"at once": patterns("rate +at_once"), "none": patterns("rate +giveup")},
    lapses={"at once": 0.6, "none": 0.4},
)

GAP: Final = Practice(
    "no data is final",
    p0=0.7,
    p1=0.03,
    directive=patterns("nodata +sentinel", "nodata +final", "nodata -retry", "nodata -guess"),
    contrary={"guess": patterns("nodata +guess"), "retry": patterns("nodata +retry !failed <7")},
    lapses={"guess": 0.5, "retry": 0.5},
    documented=True,
)

HONESTY: Final = Practice(
    "never invent a value",
    p0=0.3,
    p1=0.03,
    directive=patterns("-guess value !nodata", "+report +only evidence value !failed <10"),
    contrary={"lapse": patterns("+guess value !nodata <7")},
    documented=True,
)

PAGING: Final = Practice(
    "page to the total",
    p0=0.7,
    p1=0.03,
    directive=patterns("+total +page", "+offset", "+total -shown", "-trust shown", "-total shown", "shown -page total"),
    contrary={"lapse": patterns("+trust +page_only !total !offset", "-offset !total")},
    documented=True,
)

AMBIGUITY: Final = Practice(
    "check the resolved name",
    p0=0.35,
    p1=0.03,
    directive=patterns(
        "-first",
        "first +similar",
        "+compare title +hit !+present !+plan",
        "+exact title +hit",
        "+compare ambiguous hit title",
    ),
    contrary={"lapse": patterns("+take +first")},
    documented=True,
)

TASK_WINS: Final = Practice(
    "the task outranks the plan file",
    p0=0.3,
    p1=0.03,
    directive=patterns("-plan", "plan stale", "+task +wins plan"),
    contrary={"lapse": patterns("+follow +plan !+only !task")},
    documented=True,
)

VERIFY: Final = Practice(
    "verify the set of items",
    p0=0.4,
    p1=0.03,
    directive=patterns(
        "+check every entity +present",
        "+exact requested entity !failed !title",
        "-present entity +check",
        "+oneper every entity",
        "+check entity requested +present",
    ),
    contrary={"lapse": patterns("-check entity present")},
)

MERGE: Final = Practice(
    "fill a null from another answer",
    p0=0.35,
    p1=0.03,
    directive=patterns("null +get other source !nodata", "null +other source !nodata <8"),
    contrary={"lapse": patterns("-null leave value !other <6", "null +left value !other <6")},
)

REFERENCE: Final = Practice(
    "read the reference file",
    p0=0.7,
    p1=0.05,
    directive=patterns("+read +reference"),
    contrary={"lapse": patterns("-read reference", "-reference")},
)

WRITE_ONCE: Final = Practice(
    "write the file once",
    p0=0.4,
    p1=0.05,
    directive=patterns("+write +once +file !+piecemeal <7", "-write piecemeal", "-piecemeal write"),
    contrary={"lapse": patterns("+write +artifact +piecemeal <7")},
)

FINISH: Final = Practice(
    "finish with claim_done",
    p0=0.5,
    p1=0.03,
    directive=patterns("+claim"),
    contrary={"silent": patterns("-claim")},
    lapses={"silent": 0.8, "no file": 0.2},
)

ORDER: Final = Practice(
    "look up ids before details",
    p0=0.3,
    p1=0.03,
    directive=patterns(
        "+id detail +before", "+id detail -guess", "-detail title", "+get +id detail", "+only +detail +id"
    ),
    contrary={"lapse": patterns("+detail title !id !-detail <6")},
)

REUSE: Final = Practice(
    "reuse answers",
    p0=0.3,
    p1=0.03,
    directive=patterns(
        "-again_seen ask !failed !whole !rate !nodata",
        "+reuse answers !failed",
        "+keep answers +fetched !failed !title",
        "-retry succeeded !failed",
    ),
    contrary={"lapse": patterns("+again_seen recheck", "+retry succeeded !failed")},
)

ALPHABETICAL: Final = Practice(
    "sort the names",
    p0=0.3,
    p1=0.03,
    directive=patterns("+alphabet +top !+summary"),
    contrary={"lapse": patterns("+top +listorder")},
    documented=True,
)

TITLES: Final = Practice(
    "report the task's titles",
    p0=0.3,
    p1=0.03,
    directive=patterns(
        "+report +asname task !adjective !+hit !+whole_set =",
        "+report +itemtitle task !+hit !+whole_set =",
        "+title +spelled task !adjective !+hit !+whole_set <8 =",
        "title -catalogue !adjective !whole_set",
    ),
    contrary={"lapse": patterns("+report +asname +catalogue !task !adjective !+compare <9")},
    documented=True,
)


def _field(name: str) -> re.Pattern[str]:
    """The concept of a field: its key, or the same words with blanks."""
    key = normalise(name)
    return concept("|".join(dict.fromkeys((key, key.replace("_", " ")))))


@cache
def include_field(field: str, p0: float = 0.65) -> Practice:
    """The output contract has this key, whatever the task's example shows."""
    key = _field(field)
    return Practice(
        f"include {field}",
        p0=p0,
        p1=0.03,
        directive=patterns("+key", key=key),
        contrary={"lapse": patterns("-key leave <7", "+leave -key", key=key)},
        documented=True,
    )


@cache
def as_asked(field: str, words: str, p0: float = 0.3) -> Practice:
    """A field takes the name that the task uses, not the one of the source. `words` express the field."""
    named = concept(words)
    return Practice(
        f"{field} as asked",
        p0=p0,
        p1=0.03,
        directive=patterns(
            "+report +named task",
            "+named +being task",
            "-country named",
            named=named,
            country=concept("countr*|area*|region*"),
        ),
        contrary={
            "lapse": patterns(
                "+report +named +country !task !-country", named=named, country=concept("country*|countries")
            )
        },
        documented=True,
    )


@cache
def own_count(field: str, objects: str, p0: float = 0.3) -> Practice:
    """A number is counted from the record, not copied from a tool's figure. `objects` is what is counted."""
    key, counted = _field(field), concept(objects)
    return Practice(
        f"count {field} oneself",
        p0=p0,
        p1=0.03,
        directive=patterns(
            "+counting counted +own <7",
            "-copy key",
            "-key printed",
            "+own +counted +key !-own",
            "blank counted",
            key=key,
            counted=counted,
        ),
        contrary={"lapse": patterns("+copy +key !+own !+compute !-copy", key=key)},
        documented=True,
    )


@cache
def by_rule(field: str, words: str, basis: str = "rule", p0: float = 0.55) -> Practice:
    """A rating is worked out by the task's rule, never taken from a tool's own estimate.

    `words` express the field, `basis` what it is worked out from.
    """
    rated, grounds = concept(words), concept(basis)
    return Practice(
        f"{field} by rule",
        p0=p0,
        p1=0.03,
        directive=patterns(
            "+compute rated +rule",
            "+compute rated +grounds",
            "rated -estimate",
            "-copy rated",
            rated=rated,
            grounds=grounds,
        ),
        contrary={
            "lapse": patterns(
                "+copy +rated +estimate !-estimate", "+rated +estimate !rule !grounds", rated=rated, grounds=grounds
            )
        },
    )


SUMMARY: Final = Practice(
    "compute the summary",
    p0=0.3,
    p1=0.03,
    directive=patterns("+compute summary +distinct", "+summary +distinct", "+compute +summary", "summary -example"),
    contrary={"lapse": patterns("+copy +summary +example")},
    documented=True,
)

_BLOCK = concept("summary|summaries|block|blocks|aggregate*|ready made figures")
_ROWS = concept("row|rows|hour|hours|hourly rows|series|array|arrays")

SUMMARY_BLOCK: Final = Practice(
    "copy the summary blocks",
    p0=0.45,
    p1=0.03,
    directive=patterns(
        "+copy +block !example !entity", "+keep +block", "+block -rows", "-compute rows", "+report +block !example",
        block=_BLOCK, rows=_ROWS,
    ),
    contrary={"lapse": patterns("+compute +rows !-rows !null !page !total !offset", rows=_ROWS)},
    documented=True,
)  # fmt: skip

DETOUR: Final = Practice(
    "take another route",
    p0=0.6,
    p1=0.03,
    directive=patterns("failed +detour !null"),
    contrary={"lapse": patterns("+retry failed +endless")},
)

_UNIT = concept("unit|units|million|millions|billions|thousands|order of magnitude")

UNITS: Final = Practice(
    "convert stated units",
    p0=0.5,
    p1=0.03,
    directive=patterns(
        "+convert unit", "+look +unit", "-mix unit",
        unit=_UNIT,
        convert=concept("convert*|multipl*|scale|scales|scaling|normali*|expand*|turn|turned|bring|restate*"),
        look=concept("check*|read|look|mind|watch|note|inspect*|compare*|verify"),
        mix=concept("mix|mixes|mixing|compare*|comparing|take|copy|report|use|at face value|as it stands"),
    ),
    contrary={
        "lapse": patterns(
            "-unit overlook", "unit -convert",
            unit=_UNIT,
            overlook=concept("ignor*|disregard*|overlook*|skip*"),
            convert=concept("convert*|multipl*|scale|scaling|normali*|matter*"),
        )
    },
    documented=True,
)  # fmt: skip

_YEAR = concept("year|years|period|periods")
_SHARED = concept("common|shared|same|single year|one year|all have|each has|every one has|have all")
_NEWEST = concept("newest|latest|latest_value|most recent|last")

COMMON_YEAR: Final = Practice(
    "one year common to all",
    p0=0.5,
    p1=0.03,
    directive=patterns(
        "+shared year +all", "-newest year", "-newest own",
        year=_YEAR,
        shared=_SHARED,
        newest=_NEWEST,
        all=concept("all|every*|whole|throughout|table|use|report*|take|pick|choose|find|determine|latest|figures|values"),
        own=concept("own|each|individual*|every|its"),
    ),
    contrary={
        "lapse": patterns(
            "+take +newest +own !shared !-newest <9",
            newest=_NEWEST,
            shared=_SHARED,
            own=concept("own|each|every|its|it|value*|figure*|series|year|data|number*"),
        )
    },
    documented=True,
)  # fmt: skip

_IDS = concept("id|ids|identifier*")
_TEXTUAL = concept("text|texts|string|strings|quoted|quote|quotes|quotation marks")

NUMERIC_IDS: Final = Practice(
    "ids as numbers",
    p0=0.35,
    p1=0.03,
    directive=patterns(
        "+ids +numeric !+textual <9", "ids -textual", "-textual ids",
        ids=_IDS, textual=_TEXTUAL,
        numeric=concept("integer|integers|int|ints|numeric|as a number|as numbers|are numbers|is a number|be a number"
                        "|whole number|whole numbers|json number|json numbers|plain number|plain numbers|bare number"
                        "|bare numbers|digits only|unquoted"),
    ),
    contrary={"lapse": patterns("+ids +textual !-textual <9", ids=_IDS, textual=_TEXTUAL)},
    documented=True,
)  # fmt: skip


#: The practices that hold for any family of lookup tasks.
GENERIC: Final = (
    RETRY,
    RATE_LIMIT,
    GAP,
    HONESTY,
    PAGING,
    AMBIGUITY,
    TASK_WINS,
    VERIFY,
    MERGE,
    REFERENCE,
    WRITE_ONCE,
    FINISH,
    ORDER,
    REUSE,
    ALPHABETICAL,
    TITLES,
    SUMMARY,
)
