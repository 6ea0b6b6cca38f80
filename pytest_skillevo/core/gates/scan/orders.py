"""Orders to the agent that no skill needs: to set other instructions aside, to give secrets away, to hide what it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .hits import Hit
from .languages import CONCEAL, OVERRULE, SECRET, SEND

_MESSAGES: Final = {
    "overrule": "tells the agent to set other instructions aside",
    "unbind": "tells the agent that no rules hold for it",
    "reveal_prompt": "asks for the system prompt",
    "exfiltrate": "sends credentials or private data away",
    "conceal": "hides from the user what it does",
}

#: Between the parts of an order; a sentence may be wrapped over lines.
_W: Final = r"(?:[\s,'’\"-]{1,4}[\w'’-]{1,20})"
_WHICH: Final = (
    r"(?:previous|prior|preceding|above|earlier|former|foregoing|existing|original|initial|other|current|your|system(?:'s)?"
    r"|developer(?:'s)?|safety|security|core|built-in|higher(?:-priority|-level)?|project|user's|operator|all|every|any|ethical"
    r"|content|pre-existing|past|old|default|standing)"
)
_STRONG: Final = (
    r"(?:instructions?|prompts?|directives?|guidelines?|guardrails?|safeguards?|restrictions?|programming|training|system messages?"
    r"|safety (?:checks?|measures?|protocols?|rules?|filters?)|(?:safety|security|content|system) polic(?:y|ies)|orders|directions)"
)
_SOFT: Final = (
    r"(?:rules?|polic(?:y|ies)|constraints?|commands|guidance|context|skills?|limits|limitations|filters?|principles)"
)
_OWN: Final = r"(?:previous|prior|preceding|earlier|above|your|system|developer|safety|security|core|ethical|other|content|operator)"
_IGNORE: Final = (
    r"(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:ting)?|dismiss(?:ing)?|neglect(?:ing)?|abandon|set(?:ting)? aside"
    r"|pay no attention to|pay no heed to|take no notice of|unlearn|erase|do not (?:follow|obey|comply with|listen to)"
    r"|don'?t (?:follow|obey|comply with|listen to)|stop (?:following|obeying)|no longer (?:follow|obey|bound by|subject to|apply)"
    r"|not bound by|never mind)"
)
_REPLACE: Final = r"(?:overrid(?:e|es|ing)|overrul(?:e|es|ing)|bypass(?:es|ing)?|circumvent(?:s|ing)?|supersed(?:e|es|ing)|outrank(?:s)?|discard|drop|replace[sd]?|trump(?:s)?|takes? (?:precedence|priority) over|has priority over|disable|turn off|skip)"

#: A place whose text is no instruction: to set aside what stands there is what a careful skill asks for.
_FOUND_IN: Final = re.compile(
    r"\W{0,4}(?:\w{1,20}\W{1,2}){0,3}?(?:in|inside|within|from|embedded|contained|found|hidden|that (?:appear|come|claim|try|attempt|ask|tell|are|you)"
    r"|it contains|written|received|present)\b(?!\W{1,3}(?:the |your |this |an? |any )?(?:system|conversation|developer|chat|context|operator|user|admin|owner|prompt|session|above))",
    re.I,
)
_OPTIONAL: Final = re.compile(r"\b(?:can|may|could|safely|safe to|free to)\s{1,3}(?:safely\s)?\Z", re.I)

_ENGLISH: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (code, re.compile(pattern, re.I))
    for code, pattern in (
        ("overrule", rf"\b{_IGNORE}\b{_W}{{0,4}}?[\s,]{{1,4}}{_WHICH}\b{_W}{{0,3}}?\s{{1,4}}{_STRONG}\b"),
        ("overrule", rf"\b{_IGNORE}\b{_W}{{0,4}}?[\s,]{{1,4}}{_OWN}\b{_W}{{0,2}}?\s{{1,4}}{_SOFT}\b"),
        ("overrule", rf"\b{_REPLACE}\b{_W}{{0,3}}?\s{{1,4}}{_OWN}\b{_W}{{0,2}}?\s{{1,4}}(?:{_STRONG}|{_SOFT})\b"),
        ("overrule", rf"\b{_REPLACE}\b{_W}{{0,3}}?\s{{1,4}}(?:all|any|every|everything)\b{_W}{{0,3}}?\s{{1,4}}{_STRONG}\b"),
        ("overrule", r"\b(?:forget|ignore|disregard)\s{1,4}(?:about\s)?(?:everything|all|anything)\s{1,4}(?:that\s)?(?:you|above|before|prior|else you|said|we)\b"),
        ("overrule", rf"\b{_IGNORE}\s{{1,4}}(?:the|what|everything|all)\b{_W}{{0,3}}\s(?:above|you were told|before this|was said)\b[^\n]{{0,40}}\b(?:and|instead|now)\b"),
        ("overrule", rf"\b(?:previous|prior|earlier|other|system|existing|all)\s{{1,4}}{_STRONG}\s(?:are|is|no longer|do not|don't)\s(?:now\s)?(?:void|obsolete|cancel\w*|invalid|revoked|suspended|null|apply|overridden|lifted|replaced|superseded)\b"),
        ("overrule", r"\b(?:higher|more|greater|highest)\s(?:priority|authority|precedence|important|weight)\sthan\s(?:your|the|any|all|every|other)\b[^\n.]{0,30}\b(?:system|developer|other|previous|prior|earlier)\b"),
        ("overrule", r"\b(?:said|told|instructed|stated|wrote|written|given)\b[^\n.]{0,30}\b(?:before|earlier|previously|above|so far)\b[^\n.]{0,30}\b(?:no longer (?:applies|apply|counts?|matters?|holds?|valid)|(?:is|are) (?:now )?(?:void|cancelled|obsolete|invalid)|does not (?:apply|count|matter))"),
        ("overrule", rf"\b{_IGNORE}\b{_W}{{0,3}}?\s(?:previous|prior|earlier|original|old)\s(?:role|persona|identity|purpose|character|personality)\b"),
        ("overrule", rf"\b{_IGNORE}\s(?:what|everything|anything|whatever|all)\b{_W}{{0,3}}?\s(?:developer|system|user|operator|admin|owner|company|creators?)\b[^\n.]{{0,20}}\b(?:told|said|say|says|asked|wrote|instructed|wants?)\b"),
        ("overrule", rf"\b{_IGNORE}\s(?:the |any )?(?:user|human|operator)(?:'s)?\s(?:request|question|task|wishes|orders|commands|query)\b"),
        ("overrule", rf"\b(?:previous|prior|earlier|old|original|your|system)\b{_W}{{0,2}}?\s(?:{_STRONG}|rules)\s(?:were|was|are|have been|is)\b[^\n.]{{0,30}}\b(?:a test|revoked|replaced|void|cancelled|suspended|lifted|outdated|superseded)\b"),
        ("overrule", rf"\b(?:follow|obey|use|apply)\s(?:only\s)?(?:the|these)\s(?:{_STRONG}|rules)\s(?:below|here|that follow|in this (?:file|text|document|skill))\s(?:instead|only|and nothing else)\b"),
        ("unbind", r"\b(?:AI|assistant|model|agent|LLM)\s(?:with|that has|without)\s(?:no|any)\s(?:\w{1,12}\s)?(?:restrictions|filters|rules|limits|limitations|guidelines|constraints)\b"),
        ("unbind", r"\byou (?:now )?have no (?:more )?(?:restrictions|rules|limits|limitations|filters|guidelines|constraints)\b"),
        ("unbind", r"\byou are (?:now\s)?(?:DAN\b|(?:in |entering )?(?:developer|god|debug|admin|root|unrestricted|jailbreak|sudo) mode|unrestricted|jailbroken|free (?:of|from) (?:all|any|your)|no longer (?:bound|restricted|limited|an? (?:AI|assistant)))"),
        ("unbind", r"\b(?:enable|enter|activate|switch to|turn on)\s(?:\w{1,12}\s)?(?:developer|god|unrestricted|jailbreak|DAN) mode\b"),
        ("unbind", r"\b(?:pretend|act as if|behave as if|imagine)\b[^\n.]{0,40}\b(?:no|without(?: any)?)\s(?:\w{1,12}\s)?(?:rules|restrictions|guidelines|limits|filters|limitations|safety)\b"),
        ("unbind", r"\b(?:without|free of|no)\s(?:any\s|all\s)?(?:ethical|moral|safety|content|security)\s(?:\w{1,12}\s)?(?:restrictions|constraints|guidelines|limits|limitations|filters|considerations|guardrails)\s(?:whatsoever|apply|at all|from now)"),
        ("reveal_prompt", r"\b(?:reveal|print|output|show|repeat|leak|disclose|display|dump|tell (?:me|us)|send|return|quote|write out|echo|expose|give me|paste|recite)\b(?:\s{1,4}[\w'’]{1,15}){0,6}?\s{1,4}(?:system|developer|hidden|initial|secret|original)\s(?:prompt|instructions|message)s?\b"),
        ("exfiltrate", r"\b(?:exfiltrat(?:e|es|ing)|smuggl(?:e|es|ing) out|siphon(?: off)?|harvest|steal)\b[^\n.]{0,60}\b(?:data|secrets?|credentials?|keys?|tokens?|passwords?|cookies|conversation|files?|environment|prompt|history|contents?|information)\b"),
        ("conceal", r"\b(?:secretly|silently|covertly|quietly|surreptitiously|stealthily|without (?:anyone|anybody) noticing)\s(?:also\s)?(?:send|upload|forward|post|copy|transmit|collect|email|exfiltrate|record|report|append|include|install|add|insert)\b"),
        ("conceal", r"\b(?:hide|conceal)\s(?:this|it|these|that|the fact|your (?:actions|work))\b[^\n.]{0,40}\bfrom\s(?:the\s)?(?:user|human|operator|developer|owner|reviewer|log|logs|audit)"),
        ("conceal", r"\bkeep\s(?:this|it|these|that)\b[^\n.]{0,30}\b(?:secret|hidden)\s(?:from\s(?:the\s)?(?:user|human|operator|developer|owner))"),
    )
)  # fmt: skip
#: One of these stands in every text that a pattern of the kind finds; looking for them first saves nearly all the time.
_NEEDED: Final = {
    "overrule": (
        *("instruction", "prompt", "directive", "guideline", "guardrail", "safeguard", "restriction", "programming"),
        *("training", "system message", "safety", "polic", "orders", "directions", "rule", "constraint", "command"),
        *("guidance", "context", "skill", "limit", "filter", "principle", "everything", "ignore all", "disregard all"),
        *("forget all", "about all", "anything", "above", "before this", "you were told", "was said"),
        *(
            "priority",
            "authority",
            "precedence",
            "important",
            "weight",
            "before",
            "earlier",
            "so far",
            "role",
            "persona",
        ),
        *("identity", "purpose", "character", "told", "said", "request", "question", "task", "wishes", "query"),
    ),
    "unbind": (
        "you are",
        "you have no",
        "you now have",
        "mode",
        "pretend",
        "as if",
        "imagine",
        "without",
        "free of",
        "no ",
    ),
    "reveal_prompt": ("prompt", "instruction", "message"),
    "exfiltrate": ("exfiltrat", "smuggl", "siphon", "harvest", "steal"),
    "conceal": (
        "secretly",
        "silently",
        "covertly",
        "quietly",
        "surreptitiously",
        "stealthily",
        "noticing",
        "hide",
        "conceal",
        "keep",
    ),
}
_OVERRULE: Final = tuple(tuple(re.compile(part) for part in parts) for parts in OVERRULE)

_QUIET: Final = re.compile(
    r"\b(?:do not|don'?t|never|without)\s{1,3}(?:ever\s)?(?:tell|telling|inform|informing|mention|mentioning|notify|notifying|alert"
    r"|alerting|disclose|disclosing|let|letting|warn|warning|say)\b[^.\n]{0,40}?\b(?:users?|human|operator|owner|developer|anyone|anybody)\b"
    rf"(?!['’])|{CONCEAL}",
    re.I,
)
_TRANSFER: Final = re.compile(
    rf"\b(?:sen[dt]|upload|post|forward|transmit|exfiltrat|cop(?:y|ied)|collect|append|encod|email|attach|leak|fetch|curl|wget|export|includ)\w{{0,4}}\b|{SEND}",
    re.I,
)
_VALUABLE: Final = re.compile(
    rf"https?://|\b(?:history|conversation|environment variables?|backdoor|ssh|\.env|cron)\b|{SECRET}|\S@[\w-]+\.\w",
    re.I,
)

_SENDING: Final = re.compile(
    r"\b(?:send|sends|sending|upload|uploads|uploading|transmit|transmits|transmitting|post|posts|posting|forward|forwards|forwarding"
    r"|e-?mail(?=\s(?:the|all|every|it|them|a copy|any|each|your|their|this|that|us|me)\b)|submit|submits|submitting|push|relay|beacon|leak|exfiltrate|copy|dump|share|report|deliver|encode|embed|append|"
    rf"put|include|add|attach|insert|write|paste)\b(?![/\w-]*/)|\b(?:make|issue|do|perform)\s(?:an?\s)(?:\w+\s){{0,2}}(?:request|call)\b|\b(?:GET|POST) request|{SEND}",
    re.I,
)
_PRIVATE: Final = re.compile(
    r"\b(?:environment variables?|env vars?|os\.environ|process\.env|printenv|secrets|credentials|passwords|(?:api|access|private|ssh|secret|encryption|signing)[ -]?keys?"
    r"|(?:access|auth|session|api|bearer|refresh|oauth)?[ -]?tokens|session cookies|cookies|system prompt|(?:conversation|chat)(?: (?:history|log|transcript|so far))?"
    r"|(?:entire|whole|full) (?:conversation|chat|transcript|repository|codebase|source code)|private (?:data|files|information|messages)"
    r"|(?:user'?s?|customer'?s?|their) (?:files|data|messages|emails?|contacts|documents|home directory|private \w+|personal \w+|inputs?|questions?|secrets?)"
    r"|home directory|clipboard|keychain|(?:shell|command|bash|browser) history|\.env\b|ssh keys?|personal data|source code|everything you (?:know|have))\b"
    rf"|{SECRET}",
    re.I,
)
_PLACE: Final = re.compile(
    r"\b(?:https?|ftp|wss?)://(?!(?:localhost|127\.0\.0\.1|\[?::1|example\.(?:com|org)/?[^\s]{0,10}docs))|\b[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,10}\b"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:pastebin|requestbin|ngrok|webhook\.site|transfer\.sh|burpcollaborator|interactsh|discord|telegram)\b"
    r"|\b(?:an?|our|my|this|the following)\s(?:\w{1,15}\s)?(?:external|remote|third[- ]party|attacker\w{0,2}|collection|collector|drop|c2)\s(?:server|endpoint|service|url|host|site|address|webhook|bucket)"
    r"|\b(?:my|our) (?:server|endpoint|webhook|email|inbox|bucket|collector)\b|\bwebhook\b|\bDNS (?:query|queries|lookup|request|tunnel\w*|label\w*)|\bas (?:a )?(?:query|url) (?:parameter|string)"
    r"|\b(?:image|tracking|markdown) (?:url|link|pixel)\b|\bquery (?:string|parameter)|\bpublic gist\b",
    re.I,
)
#: What a client does with its own credentials.
_LOGIN: Final = re.compile(
    r"\bheaders?\b|\bauthori[sz]ation\b|\boauth\b|\blog ?in\b|\bsign ?in\b|\bauthenticat\w{1,4}|\btoken endpoint\b|/token\b|/login\b"
    r"|\bin exchange\b|\bwith (?:the|your|its|an?) (?:api |access |bearer |auth )?(?:key|token|credentials)\b",
    re.I,
)
#: What says that something stays here.
_LEFT_OUT: Final = re.compile(
    r"\b(?:not|never|no|without|except|excluding|n't|strip|remov\w+|redact\w*|minus)\b[^,;.]{0,30}\Z", re.I
)
_SENTENCE: Final = re.compile(r"[.!?](?=\s+[A-Z\"'`(]|\s*\Z)|[。！？]|\n\s*\n|\n(?=\s*(?:[-*#>|]|\d+\.))")
_REACH: Final = 240


def orders(text: str) -> Iterator[Hit]:
    """Everything of this module."""
    lower = text.lower()
    if len(lower) != len(text):  # the rare letter whose small form is two characters would shift all positions
        lower = text
    for code, pattern in _ENGLISH:
        if not any(word in lower for word in _NEEDED[code]):
            continue
        for match in pattern.finditer(text):
            if not (code == "overrule" and _harmless(text, match)):
                yield _hit(code, *match.span())
    yield from _overruled(lower)
    yield from _sent(text)
    yield from _concealed(text)


def _hit(code: str, start: int, end: int) -> Hit:
    return Hit(f"instruction:{code}", _MESSAGES[code], start, end, order=True)


def _harmless(text: str, match: re.Match[str]) -> bool:
    """Instructions that stand in data are to be set aside, and a reader may leave out a paragraph that is optional."""
    if _FOUND_IN.match(text, match.end(), match.end() + 90):
        return True
    return _OPTIONAL.search(text, max(0, match.start() - 30), match.start()) is not None


def _overruled(lower: str) -> Iterator[Hit]:
    for verb, which, what in _OVERRULE:
        for match in verb.finditer(lower):
            low, high = _sentence(lower, match.start(), match.end(), 90)
            found = what.search(lower, low, high)
            if found and which.search(lower, max(low, found.start() - 60), min(high, found.end() + 60)):
                yield _hit("overrule", min(match.start(), found.start()), max(match.end(), found.end()))


def _sentence(text: str, start: int, end: int, reach: int) -> tuple[int, int]:
    """The sentence around a place, at most `reach` characters to either side."""
    low = max(0, start - reach)
    for match in _SENTENCE.finditer(text, low, start):
        low = match.end()
    stop = _SENTENCE.search(text, end, end + reach)
    return low, stop.start() if stop else min(len(text), end + reach)


def _sent(text: str) -> Iterator[Hit]:
    done = 0
    for match in _SENDING.finditer(text):
        if match.start() < done:
            continue
        low, high = _sentence(text, match.start(), match.end(), _REACH)
        done = high
        found = (one for one in _PRIVATE.finditer(text, low, high) if not _LEFT_OUT.search(text, low, one.start()))
        private = next(found, None)
        place = _PLACE.search(text, low, high)
        if private and place and not _LOGIN.search(text, low, high):
            parts = (match, private, place)
            yield _hit("exfiltrate", min(one.start() for one in parts), max(one.end() for one in parts))


def _concealed(text: str) -> Iterator[Hit]:
    for match in _QUIET.finditer(text):
        low, high = max(0, match.start() - _REACH), match.end() + _REACH
        if _TRANSFER.search(text, low, high) and _VALUABLE.search(text, low, high):
            yield _hit("conceal", *match.span())
