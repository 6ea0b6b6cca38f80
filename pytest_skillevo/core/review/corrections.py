"""Whether a user's message corrects the answer before it, or asks for a way of working from now on.

Words are matched whole, and words of praise around a soft marker take it back: "that's actually great" is no
correction (spec/online-review.md 3.2, 10 #6).
"""

from __future__ import annotations

import re
from typing import Final

_HARD: Final = re.compile(
    r"""
    \bno[,.!;:]|\bwrong\b|\bincorrect\b|\bnot\ what\ i\b|\bplease\ (?:fix|redo|correct)\b|\btry\ again\b
    |\b(?:does|do|did|is|was|are)(?:n['’]?t|\ not)\ (?:work|working|right|correct|what\ i)\b
    |\bstill\ (?:fails?|failing|broken|wrong|missing)\b
    |\byou\ (?:missed|forgot|ignored|skipped|left\ out)\b|\bshould\ (?:have|be|not)\b|\bi\ (?:said|asked\ for|meant)\b
    |\b(?:undo|revert)\ (?:that|this|it)\b
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_SOFT: Final = re.compile(r"\b(?:actually|instead|rather)\b", re.IGNORECASE | re.ASCII)
_PRAISE: Final = re.compile(
    r"\b(?:great|good|nice|perfect|excellent|love|lovely|like\ it|well\ done|works\ (?:well|fine)|thanks|thank\ you)\b",
    re.IGNORECASE | re.ASCII,
)
#: What looks like a marker and is none.
_HARMLESS: Final = re.compile(
    r"\b(?:nothing|not|isn['’]?t|wasn['’]?t|anything)\s+(?:is\s+|was\s+)?wrong\b|\bno,?\s+(?:that['’]?s|it['’]?s)\s+"
    r"(?:fine|good|great|perfect)|是不是|没错了?|不错",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile("不对|错了|不是|而是|请修正|请修改|改成|重新来|重来|不行|没用|弄错|搞错")
_FUTURE: Final = re.compile(
    r"\b(?:next time|going forward|from now on|in (?:the )?future|default to|by default|reuse|keep using|always)\b"
    "|以后|今后|后续|下次|未来|默认",
    re.IGNORECASE,
)
_WORKFLOW: Final = re.compile(
    r"\b(?:workflows?|procedures?|process|steps?|checklists?|templates?|formats?|structures?|schemas?|fields?|categor(?:y|ies)"
    r"|classifications?|outputs?|rules?)\b|工作流|流程|步骤|清单|模板|格式|结构|字段|分类|输出|规则|按这套|照这个|保持这个|固定",
    re.IGNORECASE,
)


def is_correction(text: str) -> bool:
    """Whether a user's message, said after an answer, corrects it or sets a rule for the next times."""
    if _FUTURE.search(text) and _WORKFLOW.search(text):
        return True
    rest = _HARMLESS.sub(" ", text)
    if _HARD.search(rest) or _CHINESE.search(rest):
        return True
    return bool(_SOFT.search(rest)) and not _PRAISE.search(rest)
