"""Skills as lossless documents: the bytes are the truth, components and spec are views of them."""

from __future__ import annotations

from .document import Skill
from .folder import MAX_BYTES
from .markdown import normal_block
from .own import slug
from .spec import SkillSpec

__all__ = ["MAX_BYTES", "Skill", "SkillSpec", "normal_block", "slug"]
