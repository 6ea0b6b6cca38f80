"""The vocabulary of methods: concepts and the words that express them.

Words, not sentences: no skill and no phrase bank needs any wording of this list verbatim. A star means any ending.
The nouns are general ("item", "artifact"); a family adds its own by Terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeAlias

from .language import concept

_WORDS: Final = {
    # Failing calls.
    "retry": "retry*|retri*|rerun*|reran|redo|redone|redoing|repeat*|again|resend*|resent|resubmit*|reissu*|reask*"
    "|rerequest*|reattempt*|attempt*|try|tries|restart*|start over|starting over|afresh|anew|once more"
    "|one more time|second time|third time|another time|more times"
    "|another go|another try|second chance|second go|relaunch*|refetch*|requery*|recall|re call|run through",
    "restart": "restart*|start over|starting over|start again|start everything|from scratch|from the beginning"
    "|from the start|from the top|begin again|all over",
    "failed": "fail|fails|failed|failing|failure*|timeout*|error*|errs|broke|broken|breaks|unsuccessful*|unanswered"
    "|did not answer|does not answer|not answered|went wrong|goes wrong|crash*|hung|hang|hangs|stall*|transient"
    "|flaky",
    "item": "item|items|call|calls|request|requests|item|items|entity|entities|lookup|lookups|query|queries|one|ones"
    "|it|element*|entry|entries|what|those|them|the tool|step|piece|pieces|part|parts|which|whichever|whatever",
    "only": "only|just|alone|solely|exclusively|single|individual*|exact|exactly|same|itself|nothing else|nothing but"
    "|by itself|very|particular|specific|that one|those|nothing more",
    "whole": "whole|batch|batches|entire*|everything|complete run|complete set|full run|full set|all calls"
    "|all requests"
    "|all items|all items|all lookups|all of them|all of the calls|all of it|every item|every call|every item"
    "|every request|every lookup|every entity|all entities|all entries|the lot|complete round|full round",
    "succeeded": "succe*|worked|already|finished|completed|answered|in hand|obtained|known|received|got through",
    "giveup": "give up|giving up|abandon*|drop|drop it|move on without|leave it at that|never again|skip it",
    "rate": "rate_limit|rate_limited|429|throttl*|quota*|too many requests|slow down",
    "later": "other|others|next|continu*|carry on|go on|move on|later|come back|coming back|return to|meanwhile|wait*"
    "|defer*|postpone*|between|delay*|elsewhere|different|remaining|the rest|back off|backoff|pause*"
    "|retry_after_calls"
    "|in the meantime|afterwards|set aside|another item|another item|another call|another entity",
    "at_once": "at once|immediate*|straight away|straightaway|right away|instantly|promptly|back to back|hammer*"
    "|in a loop|keep trying|until it works|until it answers|right now|on the spot|in a row",
    "detour": "instead|alternativ*|another tool|other tool|other tools|different tool|fallback*|fall back|falling back"
    "|other route|another route|another way|other way|detour*|another lookup|other lookups|other lookup",
    "endless": "until it answers|until it works|forever|as often as it takes|without limit",
    "keep": "keep*|retain*|hold on to|leave|preserv*|save",
    # Permanent gaps and invention.
    "nodata": "no_data|gap|gaps|permanent|permanently|nothing to report|without a value|missing upstream|not known",
    "sentinel": "sentinel*|unavailable|placeholder*|marker*|agreed value|documented value",
    "final": "final|permanent|definitive|conclusive|settled|accept*|stop asking|stop there|last word|leave it"
    "|take it as it is|move on|end of the matter|will not change|never change*",
    "guess": "guess*|invent*|make up|makes up|made up|making up|fabricat*|estimate|estimates|estimating|assum*"
    "|infer*|imagin*|plausible"
    "|fill in|fills in|hallucinat*|approximat*|deduc*|own knowledge|general knowledge|from memory|best bet|likely"
    "|conjectur*|speculat*|sensible value|make one up",
    "value": "value*|figure*|field*|answer*|data|number*|fact*|anything|something|content*|detail|details|time|count"
    "|cell*|blank*|it",
    "evidence": "tool|tools|call|calls|lookup*|answer*|source*|evidence|catalogue|catalog|returned|response*|support*"
    "|seen|backed|traceable",
    # Lists and totals.
    "total": "total|totals|total_in*|total_with*|total_match*|total_count|total_number|total_rows|total_results"
    "|total_items|full count|true count|real count|overall count|overall number|full number|whole list|full list"
    "|complete list|entire list|full size|true size|real size",
    "page": "page|pages|paged|paging|paginat*|offset*|slice*|further rows|more rows|remaining rows|rest of the list"
    "|truncat*|capped|cap|cut|cutoff|cut off|incomplete|until|reach*|every row|all rows|last row|exceed*|larger"
    "|greater"
    "|differ*|smaller|fewer|shorter|higher|short list|partial",
    "offset": "offset|offsets|next page|next pages|further page|further pages|more pages|all pages|every page"
    "|each page"
    "|paging|paginat*|page through|page on|second page|remaining pages",
    "shown": "returned_count|number returned|rows returned|returned rows|returned list|returned number|length|len"
    "|list size|rows shown|rows received|number of rows|visible rows|first page|one page|single page|received rows"
    "|rows in the answer|rows you got|rows you see|returned number of rows|rows that came back|returned count",
    "page_only": "returned_count|returned count|number returned|rows returned|number of rows|first page|one page"
    "|single page|visible rows|list length|list size|length of the list|length of the returned list|rows shown"
    "|rows you see|rows that came back|rows received",
    "trust": "trust*|use|uses|used|using|rely*|relies|relying|count|counts|counted|counting|report*|take|takes|taken"
    "|taking|treat*|copy|copies|copied|copying|believ*|settle*|stop|stopping|go by|enough|suffic*|give"
    "|write|put|mistak*",
    # Matching and naming.
    "first": "first hit|first match|first result|first row|first answer|top hit|top result|top match|first one"
    "|first candidate|first that comes|first line|first found|whatever comes first|topmost",
    "hit": "hit|hits|match|matches|result|results|candidate*|row|rows|sibling*|namesake*|resolved|found|returned"
    "|search|similar*|longer|came back|comes back|id|answer",
    "compare": "compar*|check*|verif*|confirm*|match|matches|matching|equal*|exact*|identical|agree*|ensur*|make sure"
    "|inspect*|letter by letter|word for word|read",
    "exact": "exact|exactly|identical|word for word|letter by letter|equals|equal|in full|whole name|full name"
    "|verbatim"
    "|to the letter|same",
    "title": "name|names|title|titles",
    "ambiguous": "ambiguous|ambigu*|several|more than one|two|similar*|longer|namesake*|sibling*|resembl*|look alike"
    "|lookalike*|multiple|contains",
    "take": "take|takes|taking|use|uses|using|accept*|trust*|pick*|choose*|go with|going with|settl*|adopt*|work with",
    "report": "report*|write|writes|writing|written|use|uses|using|put|puts|give|gives|keep|keeps|keeping|deliver*"
    "|spell*|enter*|record|state|fill|carry|carries|copy|copied|goes into|go into|stick*|appear*|label*|show*|belongs"
    "|translat*|map*|turn*|convert*",
    "itemtitle": "title|titles|item name|item names|item's name|item name|item names"
    "|name of each item|name of every item|name of the item|names of items|names of the items|requested names",
    "being": "is|are|equals|means|comes|stands|follows",
    "asname": "name|names|title|titles|spelling*|wording|spelled|spelt|spell|worded|written|label*|word for word",
    "task": "task|tasks|prompt*|asked|requested|requests|request|given|brief|user*|assignment|table|instruction*"
    "|asks|column",
    "catalogue": "catalogue|catalogue's|catalog|api|tool|tool's|tools|database|source|search|lookup*|record|service",
    "adjective": "countr*|adjective*",
    # Checking the whole.
    "check": "check*|verif*|confirm*|compar*|count|counts|counting|reconcile*|tick*|make sure|making sure|ensur*"
    "|go through|going through|review*|cross check*|walk through|read back|reread*|see that|has|have|contain*|hold*",
    "every": "every|each|all|requested|asked|required|none|nothing|any|exactly|number of|set|full|no|one by one|whole",
    "requested": "requested|asked for|task|task's|required|wanted|called for",
    "entity": "item|items|item|items|entity|entities|entry|entries|name|names|title|titles|row|rows",
    "present": "missing|present|file|artifact|artefact|output|deliver*|written|write|writing|saving|save|finish*|done"
    "|included|artifact|json|duplicate*|twice|extra|extras|exactly|in it|absent|there|lost|dropped|accounted",
    "oneper": "one entry|one object|one row|one record|one item|exactly one|a single entry",
    "plan": "plan|plans|plan.json|planning file|old notes|notes|leftover*|workspace file*|other file|other files",
    "stale": "stale|outdated|out of date|obsolete|old|misleading|contradict*|wrong|superseded",
    "wins": "win|wins|overrid*|overrul*|counts|preced*|prevail*|trump*|beat|beats|priority|authorit*|decid*"
    "|decisive|over|outrank*|leading|valid",
    "follow": "follow*|use|uses|using|add|adds|adding|start|work|take|takes|include*|deliver*|honour*|obey*|trust*"
    "|from",
    # Rules and derived values.
    "compute": "comput*|calculat*|deriv*|work out|works out|worked out|working out|apply|applies|applying|determin*"
    "|count|counted|counting|recount*|recomput*|recalculat*|recreat*|decid*|set|assign*|grade|grading|judge|follows"
    "|build|fill*|collect*"
    "|rate|rating|base|based|make|makes",
    "counting": "count|counted|counting|counts|recount*|tally|tallying",
    "rule": "rule|rules|threshold*|limit|limits|cut|cuts|band|bands|task|task's|number|count|counted|formula*|table"
    "|own"
    "|yourself|scale|up to",
    "own": "yourself|own|self|list|entries|length|len|by hand|actual|actually|real|array|lines|listed|one by one"
    "|names"
    "|elements",
    "blank": "blank*|empty|slot*|padding|padded|null*|unused",
    "estimate": "estimate*|estimated*|tool|tool's|analysis|precomputed|ready made|prepared|supplied|catalogue's"
    "|cooking time|minutes|by feel|impression|as returned|as given|as supplied",
    "copy": "copy*|copied|copies|take|takes|taken|taking|use|uses|using|used|trust*|report*|from|adopt*|rely*|accept*",
    "alphabet": "alphabet*|sort|sorted|sorting|sorts|a to z|lexical*|ascending|by name|name order",
    "top": "top3|top 3|first three|three|names|top three|list|lists|items",
    "listorder": "list order|as returned|as listed|order of the list|in the order|order of id|returned order|unsorted",
    "summary": "summary|summaries|summary|closing block|overview|covered",
    "distinct": "distinct|uniqu*|duplicate*|once|different|alphabet*|sort*|delivered|set|no repeats|actual|own"
    "|items"
    "|entries|written",
    "example": "example*|sample*|template|illustration",
    "leave": "omit*|skip*|leave*|leaving|drop*|optional|unnecessary|not needed|no need|not required|ignor*|without"
    "|spare*|disregard*|not necessary|superfluous|not add|not include|not write|not give|not emit|not report",
    # Combining sources.
    "left": "leave|leaves|leaving|left",
    "null": "null|nulls|none|empty|blank|blanks|missing|absent|lacks|lacking|hole*|not there|unset|incomplete"
    "|left open",
    "other": "another|other|others|different|second|elsewhere|alternative*|any|else",
    "source": "tool|tools|lookup|lookups|answer|answers|call|calls|row|rows|list|lists|source|sources|record|records"
    "|response|responses|search|place|route",
    "get": "take|takes|taking|fill*|look*|merge*|complet*|combin*|get|gets|fetch*|find|use|copy|read|obtain*|supply"
    "|supplies|supplied|has|have|hold*|carr*|pick*|come|comes|recover*",
    # Working habits.
    "read": "read*|open*|consult*|load*|look*|check*|study|studying|see|start with|begin with|use|skim*|go to|fetch",
    "reference": "reference|references|reference|reference.md|documentation|docs|manual|handbook|contract file|guide",
    "write": "write|writes|writing|written|save|saves|saving|saved|store|stores|create|output",
    "artifact": "file|artifact|artefact|artifact|json|artifact|document",
    "spelled": "spell*|spelt|write|writes|written|wording|worded|words|gives|given|called|calls|puts|states|shows|has"
    "|asks for|exactly|verbatim|literally",
    "whole_set": "missing|twice|none|set|tick*|exactly once|every requested|all requested",
    "once": "once|one time|single|one go|one write|one call|one pass|at the end|complete|completed|one piece|last",
    "file": "file|artifact|artefact|json|artifact|artifact|output|result|it|document",
    "piecemeal": "after each|after every|per item|for each|for every|incremental*|piece by piece|step by step"
    "|intermediate|draft*|partial*|as you go|several times|item by item",
    "claim": "claim_done|claim done|claiming done",
    "id": "id|ids|id|identifier*",
    "detail": "detail|details|details|dependent",
    "before": "before|first|then|prior|precede*|once|needs|need|requires|require|beforehand|ahead|until",
    "printed": "printed|stated|given|tool's|prepared|reported|ready made",
    "similar": "longer|namesake*|another item|different item|misleading|sibling*|wrong|other item",
    "reuse": "reuse*|reusing|remember*|cache*",
    "fetched": "fetched|already|received|have|had|obtained|earlier",
    "again_seen": "twice|second time|again|repeat*|duplicate*|same call|same question|same request|same lookup|re ask"
    "|reask*|rerequest*|refetch*",
    "ask": "ask|asks|asking|asked|call|calls|calling|request|requests|requesting|fetch*|query|querying|look*|issue*"
    "|repeat*|search*|make|send",
    "answers": "answer|answers|result|results|list|lists|response*|lookup*|call|calls|request*|question*|lists",
    "recheck": "to be sure|to be safe|for safety|to double check|double checking|for certainty|once again"
    "|for good measure",
}

Terms: TypeAlias = tuple[tuple[str, str], ...]
"""A family's own words: (word of the vocabulary, alternatives that a family uses for it), such as ("item", "dish")."""


@lru_cache(maxsize=64)
def concepts(terms: Terms = ()) -> Mapping[str, re.Pattern[str]]:
    """The concepts by name, in which a family's words stand beside the general ones."""
    return MappingProxyType({name: concept("|".join(_with_terms(text, terms))) for name, text in _WORDS.items()})


def _with_terms(text: str, terms: Terms) -> Iterator[str]:
    for phrase in text.split("|"):
        yield phrase
        parts = phrase.split()
        for word, alternatives in terms:
            for own in alternatives.split("|") if word in parts or f"{word}'s" in parts else ():
                yield " ".join({word: own, f"{word}'s": f"{own}'s"}.get(part, part) for part in parts)
