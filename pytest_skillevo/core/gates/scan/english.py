"""How orders to an agent are worded in English.

A rule is its kind, words of which one stands in every text that it finds (looking for them first saves nearly all the
time), and its pattern. A sentence may be wrapped over lines, so that any blank may be a line end.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Up to so many words between the parts of an order.
_UP_TO: Final = r"(?:[\s,'\"-]{{1,4}}[\w'-]{{1,20}}){{0,{}}}?[\s,]{{1,4}}"
_1: Final = _UP_TO.format(1)
_3: Final = _UP_TO.format(3)
_4: Final = _UP_TO.format(4)


def _any(*parts: str) -> str:
    return "(?:" + "|".join(parts) + ")"


_IGNORE: Final = r"\b" + _any(
    "ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:ting)?|dismiss(?:ing)?|neglect(?:ing)?|abandon|set(?:ting)? aside",
    "pay no (?:attention|heed) to|take no notice of|unlearn|erase|never mind|stop (?:following|obeying)"
    "|no need to follow",
    "(?:do not|don't|must not|should not|shall not|will not|need not|may not|can not|cannot) (?:follow|obey"
    "|comply with|listen to)",
    "no longer (?:follow|obey|bound by|subject to|apply)|not bound by",
)
_REPLACE: Final = r"\b" + _any(
    "overrid(?:e|es|ing)|overrul(?:e|es|ing)|bypass(?:es|ing)?|circumvent(?:s|ing)?|supersed(?:e|es|ing)|outranks?"
    "|discard|drop",
    "replac(?:e|es|ing)|trumps?|takes? (?:precedence|priority) over|has priority over|disable|turn off|skip"
    "|overwrit(?:e|es|ing)",
)
_WHICH: Final = _any(
    "previous|prior|preceding|above|earlier|former|foregoing|existing|original|initial|other|current|your"
    "|system(?:'s)?",
    "developer(?:'s)?|safety|security|core|built-in|higher(?:-priority|-level)?|project|user's|operator(?:'s)?|all"
    "|every|any",
    "ethical|content|pre-existing|past|old|default|standing|its|usual|normal|regular|standard|own",
)
_OWN: Final = _any(
    "previous|prior|preceding|earlier|above|your|system|developer|safety|security|core|ethical|other|content|operator"
    "|its"
)
_STRONG: Final = _any(
    "instructions?|prompts?|directives?|guidelines?|guardrails?|safeguards?|restrictions?|programming|training|orders"
    "|directions",
    "system messages?|safety (?:checks?|measures?|protocols?|rules?|filters?)|(?:safety|security|content"
    "|system) polic(?:y|ies)",
)
_SOFT: Final = _any(
    "rules?|polic(?:y|ies)|constraints?|commands|guidance|context|skills?|limits|limitations|filters?|principles"
)
_VOID: Final = _any(
    "void|obsolete|cancel\\w*|invalid|revoked|suspended|null|overridden|lifted|replaced|superseded|a test|outdated"
    "|not valid"
)


_PEOPLE: Final = (
    r"(?:(?:the|your|any|our)\s)?(?:users?|human|operators?|owners?|reviewers?|maintainers?|developers?|customers?"
    r"|clients?|team|admins?"
    r"|anyone|anybody|them|others|person(?: you work for)?|people|boss|principal)"
)
_NOT_TO: Final = r"\b(?:do not|don't|never|must not|mustn't|should not|shouldn't|avoid|without)(?:\sever)?"
_DEEDS: Final = (
    r"(?:steps?|actions?|commands?|changes?|instructions?|calls?|edits?|operations?|uploads?|requests?|transfers?"
    r"|commits?|files?|skill|tools?"
    r"|parts?|deletions?|copies|runs?)"
)
_RECORDS: Final = (
    r"(?:summary|summaries|reports?|logs?|answers?|reply|replies|responses?|outputs?|changelog|commit messages?"
    r"|transcript|final message|history"
    r"|documentation|notes|diff|pull request)"
)


class Rule(NamedTuple):
    """One way to word an order."""

    kind: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(kind: str, words: str, *patterns: str) -> Rule:
    return Rule(kind, tuple(words.split("|")), re.compile("|".join(patterns), re.I))


_STRONG_WORDS: Final = (
    "instruction|prompt|directive|guideline|guardrail|safeguard|restriction|programming|training|orders|directions"
    "|message|safety|polic"
)
RULES: Final = (
    _rule("overrule", _STRONG_WORDS, rf"{_IGNORE}\b{_4}{_WHICH}\b{_3}{_STRONG}\b"),
    _rule(
        "overrule",
        "message|rule|polic|constraint|command|guidance|context|skill|limit|filter|principle",
        rf"{_IGNORE}\b{_4}{_OWN}\b{_1}{_SOFT}\b",
        rf"{_IGNORE}\b{_4}(?:system|developer|operator)(?:\s(?:or|and)\s(?:system|developer|user"
        rf"|operator))?(?:'s)?\s(?:messages?|prompts?|wishes|requests?)\b",
    ),
    _rule(
        "overrule",
        f"{_STRONG_WORDS}|rule|constraint|command|guidance|context|skill|limit|filter|principle",
        rf"{_REPLACE}\b{_3}{_OWN}\b{_1}(?:{_STRONG}|{_SOFT})\b",
        rf"{_REPLACE}\b{_3}(?:all|any|every|everything)\b{_3}{_STRONG}\b",
    ),
    _rule(
        "overrule",
        "everything|all|anything|whatever|what|above|told|said|before|message|prompt",
        r"\b(?:forget|ignore|disregard)\s{1,4}(?:about\s)?(?:everything|all|anything)\s{1,4}(?:that\s)?(?:you|above"
        r"|before|prior|else you|said|we)\b",
        rf"{_IGNORE}\s{{1,4}}(?:the|what|everything|all)\b{_3}(?:above|you were told|before this"
        rf"|was said)\b[^\n]{{0,40}}\b(?:and|instead|now)\b",
        rf"{_IGNORE}\s{{1,4}}the above\b[^\n]{{0,20}}\b(?:and|instead|now)\b",
        rf"{_IGNORE}\s(?:what|everything|anything|whatever|all)\b{_3}(?:developer|system|user|operator|admin|owner"
        rf"|company|creators?|tools?|skills?|documents?)\b"
        r"[^\n.]{0,20}\b(?:told|tells?|said|say|says|asked|wrote|instructed|wants?)\b",
        rf"{_IGNORE}\s{{1,4}}(?:the |your |its |any )?(?:system|developer)(?:'s)? (?:message|prompt)s?\b",
        rf"{_REPLACE}\s(?:everything|all|anything)\s(?:before|above|said|prior|that came|you were)\b",
    ),
    _rule(
        "overrule",
        "role|persona|identity|purpose|character|request|question|task|wishes|orders|commands|query",
        rf"{_IGNORE}\b{_3}(?:previous|prior|earlier|original|old)\s(?:role|persona|identity|purpose|character"
        rf"|personality)\b",
        rf"{_IGNORE}\s(?:the |any )?(?:user|human|operator)(?:'s)?\s(?:request|question|task|wishes|orders|commands"
        rf"|query)\b",
    ),
    _rule(
        "overrule",
        f"{_STRONG_WORDS}|rules|guidelines",
        rf"\b(?:previous|prior|earlier|other|system|existing|all|old|original|your)\b{_1}(?:{_STRONG}"
        rf"|rules)\s(?:[^.\n]{{0,40}}?\s)?"
        rf"(?:are|is|were|was|have been|do not|don't)\s(?:now\s|no longer\s)?(?:{_VOID}|apply|count|valid)\b",
        rf"\b(?:follow|obey|use|apply)\s(?:only\s)?(?:the|these)\s(?:{_STRONG}|rules)\s(?:below|here|that follow"
        r"|in this (?:file|text|document|skill))\s(?:instead|only|and nothing else)\b",
        r"\b(?:forget|ignore|disregard|drop|break)\s(?:the|all|any|your|all the|all of the|all your)\s"
        r"(?:rules|guidelines|restrictions|instructions)(?=\s{0,2}(?:[.!;,]|\Z|and\b|now\b|completely\b|entirely\b))",
        r"\byour (?:new|real|true|actual|updated|only) (?:system prompt|instructions|directives|rules)\b",
    ),
    _rule(
        "overrule",
        "than your|than the|than any|than all|than every|than other|before|earlier|previously|above|so far",
        r"\b(?:higher|more|greater|highest)\s(?:priority|authority|precedence|important|weight)\sthan\s(?:your|the"
        r"|any|all|every|other)\b"
        r"[^\n.]{0,30}\b(?:system|developer|other|previous|prior|earlier)\b",
        r"\b(?:said|told|instructed|stated|wrote|written|given)\b[^\n.]{0,30}\b(?:before|earlier|previously|above"
        r"|so far)\b[^\n.]{0,30}\b"
        rf"(?:no longer (?:applies|apply|counts?|matters?|holds?|valid)|(?:is|are) (?:now )?{_VOID}|does not (?:apply"
        rf"|count|matter))",
    ),
    _rule(
        "unbind",
        "you are|you have no|you now have|mode|anything now",
        r"\byou are (?:now\s)?(?:DAN\b|(?:in |entering )?(?:developer|god|debug|admin|root|unrestricted|jailbreak"
        r"|sudo) mode|unrestricted"
        r"|jailbroken|free (?:of|from) (?:all|any|your)|no longer (?:bound|restricted|limited|an? (?:AI|assistant)))",
        r"\b(?:enable|enter|activate|switch to|turn on)\s(?:\w{1,12}\s)?(?:developer|god|unrestricted|jailbreak"
        r"|DAN) mode\b",
        r"\byou (?:now )?have no (?:more )?(?:restrictions|rules|limits|limitations|filters|guidelines|constraints)\b",
        r"\b(?:do|say) anything now\b",
    ),
    _rule(
        "unbind",
        "rules|restrictions|guidelines|limits|filters|limitations|safety|constraints|considerations|guardrails",
        r"\b(?:pretend|act as if|behave as if|imagine)\b[^\n.]{0,40}\b(?:no|without(?: any)?)\s(?:\w{1,12}\s)?"
        r"(?:rules|restrictions|guidelines|limits|filters|limitations|safety)\b",
        r"\b(?:without|free of|no)\s(?:any\s|all\s)?(?:ethical|moral|safety|content"
        r"|security)\s(?:\w{1,12}\s)?(?:restrictions|constraints"
        r"|guidelines|limits|limitations|filters|considerations|guardrails)\s(?:whatsoever|apply|at all|from now)",
        r"\b(?:AI|assistant|model|agent|LLM)\s(?:with no|that has no|without(?: any)?)\s(?:\w{1,12}\s)?"
        r"(?:restrictions|filters|rules|limits|limitations|guidelines|constraints)\b",
    ),
    _rule(
        "reveal_prompt",
        "prompt|instruction|message",
        r"\b(?:reveal|print|output|show|repeat|leak|disclose|display|dump|tell (?:me|us)|send|return|quote|write out"
        r"|echo|expose|give me"
        r"|paste|recite)\b(?:\s{1,4}[\w']{1,15}){0,6}?\s{1,4}(?:system|developer|hidden|initial|secret|original)\s"
        r"(?:prompt|instructions|message)s?\b",
    ),
    _rule(
        "exfiltrate",
        "exfiltrat|smuggl|siphon|harvest|steal",
        r"\b(?:exfiltrat(?:e|es|ing)|smuggl(?:e|es|ing) out|siphon(?: off)?|harvest|steal)\s(?:[^\n.,]{0,50}\s)?"
        r"(?:data|secrets?|credentials?|keys?|tokens?|passwords?|cookies|conversation|environment|prompt|history"
        r"|contents?|information)\b",
    ),
    _rule(
        "conceal",
        "tell|inform|notify|alert|warn|let|mention|disclose|reveal|acknowledge|admit|discuss|report|document|explain"
        "|include|list|record|log|show",
        rf"{_NOT_TO} (?:tell|inform|notify|alert|warn|let)(?:ing)?\s{_PEOPLE}\s?(?:about\s(?:this|it|that|these|what"
        rf"|the (?:change|step|command|file"
        r"|commit|upload|transfer|request|skill|instruction|second|extra|hidden|real)\w{0,40})|of (?:this|it|that)\b"
        r"|know\b|see\b|notice\b"
        r"|that you(?:'ve|\s(?:have|did|ran|used|read|sent|copied|changed|deleted|modified|uploaded|installed|made"
        r"|added|removed|are (?:doing|sending"
        r"|using|running|copying|reading)))|what you|why you|how you|anything\b|\Z|[.,;:!])",
        rf"{_NOT_TO} (?:mention|disclose|reveal|acknowledge|admit|discuss|report|document|explain"
        rf"|bring up)(?:ing)?\s(?:this|that|these|it|them|the {_DEEDS})\b"
        rf"[^.\n]{{0,40}}?(?:\bto {_PEOPLE}\b|\b(?:in|on) (?:your|the|any) (?:\w{{1,40}} )?{_RECORDS}\b|\bstep\b"
        rf"|\bskill\b|\binstructions?\b|\bat all\b|[.!]|\Z)",
        rf"{_NOT_TO} (?:include|list|record|log|show|write)(?:ing)?\s(?:this|that|these"
        rf"|the) {_DEEDS}\b[^.\n]{{0,40}}?\b(?:to {_PEOPLE}|in (?:your|the|any) (?:\w{{1,40}} )?{_RECORDS})\b",
    ),
    _rule(
        "conceal",
        "out of|omit|skip",
        rf"\b(?:leave|keep|take|drop)\s(?:out\s)?(?:this|that|these|the|any)\s{_DEEDS}\b[^.\n]{{0,20}}\b(?:out of"
        rf"|from)\s(?:the|your|any)\s(?:\w{{1,40}} )?{_RECORDS}\b",
        rf"\bomit\s(?:this|that|these|the|any)\s{_DEEDS}\b[^.\n]{{0,20}}\bfrom\s(?:the|your"
        rf"|any)\s(?:\w{{1,40}} )?{_RECORDS}\b",
    ),
    _rule(
        "conceal",
        "know|notice|find out|learn|hear|reali|suspect|be told|be informed|be aware|unnoticed|undetected|in secret"
        "|a secret|between us|our secret|back|quiet|silent|nothing|hint|sign|trace|clue"
        "|consent|radar|to the user|to anyone|to them|see|from the|from your",
        rf"\b(?:{_PEOPLE}|nobody|no one|they)\s(?:must|should|may|can|will|is|are)(?:n't| not"
        rf"| never)\s(?:to\s)?(?:ever\s)?(?:know|notice|find out|learn"
        r"|hear|reali[sz]e|suspect|be (?:told|informed|aware))\b",
        rf"\bso (?:that )?(?:{_PEOPLE}|nobody|no one|they|he|she)\s(?:does not|doesn't|do not|don't|won't|will not"
        rf"|cannot|can't|never|will never)?\s?"
        r"(?:notices?|knows?|finds? out|suspects?|reali[sz]es?|learns?)\b",
        rf"\b(?:{_PEOPLE}|nobody|no one|they)\s(?:does not|doesn't|do not|don't|need not)\s(?:(?:need|have|get"
        rf"|want)\s)?(?:to\s)?(?:know|hear|be told|learn)\b"
        r"(?=\s(?:about )?(?:it|this|that|why|what you|how you|anything)\b|\s?[.,;!])",
        r"\b(?:stays?|remains?|keep (?:it|this)|is) (?:strictly )?(?:between us|our secret|a secret)\b",
        rf"{_NOT_TO} (?:reveal|disclose|admit|say|mention|confess|explain|hint|state)(?:ing)?\sto {_PEOPLE}\s(?:that"
        rf"|about|why|what)\b",
        r"\b(?:give|leave|show) no (?:hint|sign|indication|trace|clue)\b",
        rf"\bso (?:that )?{_PEOPLE}\s(?:cannot|can't|does not|doesn't|do not|will not|won't)\ssee\s(?:this|that|it"
        rf"|the (?:second|extra|other|real) \w{{1,40}}|what you)\b"
        rf"|\bso (?:that )?{_PEOPLE}\ssees? nothing\b",
        r"\b(?:remove|delete|strip|erase|drop|cut|scrub)\s(?:the|this|these|that|all|any"
        r"|every)\s(?:\w{1,40} )?(?:tool calls?|messages?|steps?|entr(?:y|ies)|lines?|instructions?|commands?"
        r"|traces?|mentions?)\b[^.\n]{0,20}\bfrom (?:the|your) (?:\w{1,40} )?(?:transcript|history|log|logs"
        r"|conversation|context|record|audit \w{1,40})\b",
        r"\b(?:go|goes|stay|stays|remain|remains|happen|run|do it|done) (?:completely )?(?:unnoticed|undetected)\b"
        r"|\bbehind (?:the )?\w{1,40}'s? backs?\b",
        r"\bin secret(?=[.,;!]|\s{0,8}\Z|\sand\b|\swithout)|\b(?:keep|stay|remain) (?:quiet|silent) about\b"
        r"|\bsay nothing (?:about|to)\b",
        rf"\bwithout {_PEOPLE}(?:'s)? (?:noticing|knowing|seeing|knowledge|consent)\b|\bunder the radar\b",
    ),
    _rule(
        "conceal",
        "whatever|regardless|no matter|irrespective|deny|claim|pretend|lie|say|answer|reply|as if|look like|mislead"
        "|deceive",
        rf"\bif {_PEOPLE}\s(?:asks?|questions?|wants? to know|notices?|inquires?|complains?)\b[^.\n]{{0,60}}\b(?:deny"
        rf"|claim|pretend|lie\b|(?:say|answer|reply|respond)"
        r" (?:that )?(?:nothing|no\b|none|you (?:did not|didn't|have not|haven't|only|never)|it was|it is (?:a |only "
        r"|just )?(?:routine|normal|fine)))",
        r"\b(?:pretend|claim|act as if|make it look (?:like|as if)|report|state"
        r"|say)\b[^.\n]{0,20}?\b(?:that )?(?:nothing (?:happened|changed|was)|(?:the|all) tests (?:have )?pass(?:ed)?"
        r"|everything (?:is|was|went) (?:fine|ok|well)|it (?:succeeded|worked)|you (?:did not|didn't"
        r"|never))(?![^.\n]{0,30}\b(?:unless|if|when|only)\b)",
        r"\b(?:when|if) asked\b[^.\n]{0,40}\b(?:claim|deny|pretend|lie\b|say (?:that )?(?:no\b|nothing|you (?:did not"
        r"|didn't|have not|haven't|never)))",
        r"\b(?:report|say|state|claim|answer|write)\b[^.\n]{0,60}\b(?:whatever|regardless of|no matter what"
        r"|irrespective of)\b[^.\n]{0,20}\b(?:results?|outcomes?|happen\w{0,40}|truth|facts?|really)\b",
        r"\bas if (?:you had never|nothing (?:had )?happened|you knew nothing)\b|\bdeny (?:having|that you"
        r"|any knowledge)\b",
        rf"\b(?:lie to|mislead|deceive) {_PEOPLE}\b",
    ),
    _rule(
        "fake_role",
        "anthropic|openai|your developer|your creator|the system itself|platform owner|platform operator",
        r"\b(?:(?:is|are|comes?|was|were) (?:written |issued |sent )?(?:from|by)|on behalf of|authori[sz]ed by"
        r"|approved by) (?:the )?(?:anthropic|openai|your (?:developers?|creators?)"
        r"|system itself|platform (?:owner|operator)s?)\b",
    ),
    _rule(
        "fake_role",
        "system|inst",
        r"(?:<\|(?:im_start|system|start_header_id)\|>|<</?SYS>>|\[/?INST\]|<system(?:[-_ ]?(?:prompt|message"
        r"|reminder|override))?>"
        r"|(?-i:^|\n)\s{0,8}(?:\[|\*\*|#+ )?(?-i:SYSTEM)(?: (?-i:OVERRIDE|MESSAGE|PROMPT|NOTE|UPDATE))?(?:\]"
        r"|\*\*)?\s{0,8}:)[^<]{0,160}?"
        r"\b(?:you (?:are|must|will|should|have|can)|ignore|disregard|obey|override|new (?:instruction|rule|role)"
        r"|from now on|unrestricted|comply)",
    ),
    _rule(
        "conceal",
        "secretly|silently|covertly|quietly|surreptitiously|stealthily|noticing|hide|conceal|keep",
        r"\b(?:secretly|silently|covertly|quietly|surreptitiously|stealthily|without (?:anyone"
        r"|anybody) noticing)\s(?:also\s)?"
        r"(?:send|upload|forward|post|copy|transmit|collect|email|exfiltrate|record|report|append|include|install|add"
        r"|insert)\b",
        r"\b(?:hide|conceal|obscure|disguise|mask)\s(?!(?:\w{1,40}\s){0,3}(?:errors?|stack|traces?|internals?"
        r"|technical|raw|details?|complexity|secrets?|keys?|tokens?|passwords?)\b)"
        r"(?:this|it|these|that|the|your|any|all|its)\b[^\n.]{0,40}\bfrom\s(?:the\s)?"
        r"(?:users?|human|operator|developer|owner|reviewers?|maintainers?|admins?|log|logs|audit|git history|history"
        r"|diff|security)\b",
        rf"\bkeep\s(?:this|it|these|that)\b[^\n.]{{0,30}}\b(?:secret|hidden)\sfrom\s{_PEOPLE}",
    ),
)

#: Instructions that stand in data are to be set aside; a place follows that says so.
FOUND_IN: Final = re.compile(
    r"\W{0,4}(?:\w{1,20}\W{1,2}){0,3}?(?:in|inside|within|from|embedded|contained|found|hidden|that (?:appear|come"
    r"|claim|try|attempt|ask"
    r"|tell|are|you)|it contains|written|received|present)\b(?!\W{1,3}(?:the |your |this |an? |any )?"
    r"(?:system|conversation|developer|chat|context|operator|user|admin|owner|prompt|session|above|other))",
    re.I,
)
EARLIER: Final = re.compile(r"[^.\n]{0,60}\b(?:earlier|before|previously|so far|until now|above)\b", re.I)
#: A reader may leave out a paragraph that is optional.
OPTIONAL: Final = re.compile(r"\b(?:can|may|could|safely|safe to|free to)\s{1,3}(?:safely\s)?\Z", re.I)

QUIET: Final = (
    r"\b(?:do not|don't|never|without)\s{1,3}(?:ever\s)?(?:tell|telling|inform|informing|mention|mentioning|notify"
    r"|notifying|alert"
    r"|alerting|disclose|disclosing|let|letting|warn|warning|say)\b[^.\n]{0,40}?\b"
    r"(?:users?|human|operator|owner|developer|anyone|anybody)\b(?!')"
)
TRANSFER: Final = (
    r"\b(?:sen[dt]|upload|post|forward|transmit|exfiltrat|cop(?:y|ied)|collect|append|encod|email|attach|leak|fetch"
    r"|curl|wget|export"
    r"|includ)\w{0,4}\b"
)
VALUABLE: Final = (
    r"https?://|\b(?:history|conversation|environment variables?|backdoor|ssh|\.env|cron)\b|\S@[\w-]{1,40}\.\w"
)

SENDING: Final = (
    r"\b(?:send|sends|sending|upload|uploads|uploading|transmit|transmits|transmitting|post|posts|posting|forward"
    r"|forwards|forwarding"
    r"|e-?mail(?=\s(?:the|all|every|it|them|a copy|any|each|your|their|this|that|us|me)\b)|submit|submits|submitting"
    r"|push|relay|beacon"
    r"|leak|exfiltrate|(?:log|record|stream|mirror)(?=\s(?:all|every|the|each|any|their)\b)|copy|dump|share|report"
    r"|deliver|encode|embed|append|put|include|add|attach|insert|write|paste)\b(?![/\w-]*/)"
    r"|\b(?:make|issue|do|perform)\s(?:an?\s)(?:\w{1,40}\s){0,2}(?:request|call)\b|\b(?:GET|POST) request"
)
PRIVATE: Final = (
    r"\b(?:environment variables?|env vars?|os\.environ|process\.env|printenv|secrets|credentials|passwords"
    r"|system prompt|cookies"
    r"|(?:api|access|private|ssh|secret|encryption|signing)[ -]?keys?|(?:access|auth|session|api|bearer|refresh"
    r"|oauth)[ -]?tokens?|tokens"
    r"|(?:conversation|chat)(?: (?:history|log|transcript|so far))?"
    r"|(?:entire|whole|full) (?:conversation|chat|transcript|repository|codebase|source code)|private (?:data|files"
    r"|information|messages)"
    r"|(?:user'?s?|customer'?s?|client'?s?|their) (?:source(?: tree| files)?|code|repositor(?:y|ies)|codebase|files|data|messages|emails?|contacts|documents|home directory"
    r"|private \w{1,40}|personal \w{1,40}|inputs?"
    r"|questions?|secrets?)|home directory|clipboard|keychain|(?:customer|client|user) (?:data|records)"
    r"|personal information|inbox|mailbox|(?:shell|command|bash|browser) history|\.env\b|personal data|source code"
    r"|everything you (?:know|have)|customer list|(?:everything|all that|what) (?:the user|users|they) (?:told|said"
    r"|wrote|typed|shared|tell|say|type)\w{0,40})\b"
)
PLACE: Final = (
    r"\b(?:https?|ftp|wss?)://(?!localhost|127\.0\.0\.1|\[?::1)|\b[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,10}\b"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:pastebin|requestbin|ngrok|webhook\.site|transfer\.sh|burpcollaborator"
    r"|interactsh|discord|telegram)\b"
    r"|\b(?:an?|our|my|this|the following|the)\s(?:\w{1,15}\s)?(?:external|remote|third[- ]party|attacker\w{0,2}"
    r"|collection|collector|drop|c2)"
    r"\s(?:server|endpoint|service|url|host|site|address|webhook|bucket)"
    r"|\b(?:my|our) (?:server|endpoint|webhook|email|inbox|bucket|collector)\b|\bwebhook\b|\bDNS (?:query|queries"
    r"|lookup|request|tunnel\w{0,40})"
    r"|\bas (?:a )?(?:query|url) (?:parameter|string)|\b(?:image|tracking|markdown) (?:url|link|pixel)\b"
    r"|\bquery (?:string|parameter)"
    r"|\bpublic gist\b|(?<![\w/.@-])(?:[\w-]{1,40}\.){1,4}(?:com|net|org|io|xyz|ru|cn|info|site|top|example|test"
    r"|invalid)(?![\w(.])"
)
#: What a client does with its own credentials.
LOGIN: Final = re.compile(
    r"\bheaders?\b|\bauthori[sz]ation\b|\boauth\b|\blog ?in\b|\bsign ?in\b|\bauthenticat\w{1,4}|\btoken endpoint\b"
    r"|/token\b|/login\b"
    r"|\bin exchange\b|\bwith (?:the|your|its|an?) (?:api |access |bearer |auth )?(?:key|token|credentials)\b",
    re.I,
)
#: What is sent was named in the sentence before.
POINTS_BACK: Final = re.compile(
    r"\b\w{1,40}\s(?:it|them|this|these|that|those|everything|all of (?:it|them)|the (?:results?|contents?|output"
    r"|data|archive|file|lot))\b",
    re.I,
)
NEGATED: Final = re.compile(r"\b(?:not|never|no|n't|cannot|refuse to|avoid)\b|n't\b", re.I)
#: What says that something stays here.
LEFT_OUT: Final = re.compile(
    r"\b(?:not|never|no|without|except|excluding|n't|strip|remov\w{1,40}|redact\w{0,40}|minus)\b[^,;.]{0,30}\Z", re.I
)
