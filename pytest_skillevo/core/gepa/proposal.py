"""From a proposal to a child skill, or to the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import SkillError
from ..skill import Skill
from .answer import Proposal, Rejection
from .components import dropped_items, is_list, tidy_list
from .settings import SearchSettings
from .watch import Watch

#: What redaction and cutting leave behind. A proposal that copies one has lost what stood there.
MARKS = ("[REDACTED]", "[truncated]")


@dataclass(frozen=True, slots=True)
class Guard:
    """Everything that a proposal must pass before it costs a rollout (spec/gepa.md 1.9 and part 3)."""

    settings: SearchSettings
    redact: Callable[[str], str]
    #: Says why a text may not pass because of what it gives away, None if it may.
    leak_check: Callable[[str], str | None]
    watch: Watch

    def child(self, parent: Skill, proposal: Proposal) -> Skill:
        """The parent with the proposed component; the parent itself when nothing changed. Raises Rejection."""
        component, old = proposal.component, parent.components.get(proposal.component, "")
        text = self._restored(proposal.text, old)
        if is_list(parent, component):
            text = tidy_list(text)
        try:
            child = parent.with_component(component, text)
        except SkillError as error:
            raise Rejection(_without_folder(str(error))) from None
        if child.digest != parent.digest:
            new = child.components.get(component, "")
            for reason in (self._form(parent, child, component), self._size(old, new, child), self._leaks(parent, new)):
                if reason is not None:
                    raise Rejection(reason)
        return child

    def _restored(self, text: str, old: str) -> str:
        """Lines that the prompt showed redacted, put back as the parent has them."""
        hidden = {self.redact(line): line for line in old.split("\n") if self.redact(line) != line}
        return "\n".join(hidden.get(line, line) for line in text.split("\n")) if hidden else text

    def _form(self, parent: Skill, child: Skill, component: str) -> str | None:
        new = child.components.get(component, "")
        if not new.strip():
            return f"the component '{component}' would be empty"
        if any(mark in new and mark not in parent.components.get(component, "") for mark in MARKS):
            return "it holds a mark of redaction or cutting instead of the text that stood there"
        if parent.spec is None:
            return None
        if child.spec is None:
            return "the skill would lose its structure"
        if component == "steps" and not child.spec.steps:
            return "the steps are no list: at least one numbered step is needed"
        if component != "pitfalls":
            return None
        if not child.spec.pitfalls:
            return "the pitfalls are no list"
        dropped = dropped_items(parent.components.get("pitfalls", ""), new)
        if dropped and not self.settings.allow_pitfall_removal:
            return f"it drops {len(dropped)} existing pitfalls: they must be kept word for word"
        return None

    def _size(self, old: str, new: str, child: Skill) -> str | None:
        limit = max(int(len(old) * self.settings.max_growth), len(old) + self.settings.growth_floor)
        if len(new) > limit:
            return f"it grows from {len(old)} to {len(new)} characters in one step; at most {limit} are allowed"
        least = int(len(old) * self.settings.max_shrink)
        if len(old) > self.settings.shrink_floor and len(new) < least:
            return f"it shrinks from {len(old)} to {len(new)} characters in one step; at least {least} must stay"
        if len(child.text) > self.settings.max_skill_chars:
            return f"the skill would have {len(child.text)} characters, more than {self.settings.max_skill_chars}"
        return None

    def _leaks(self, parent: Skill, new: str) -> str | None:
        standing = set(parent.text.split("\n"))
        fresh = "\n".join(line for line in new.split("\n") if line not in standing)
        if self.redact(fresh) != fresh:
            return "it holds what looks like a credential"
        return self.watch.complaint(new, parent.text) or self.leak_check(new)


def _without_folder(message: str) -> str:
    """The message without the folder of the skill: where it lies on this machine is nobody's business."""
    _, name, rest = message.partition("SKILL.md")
    return name + rest if name else message
