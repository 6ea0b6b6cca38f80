"""What somebody outside hands in, and the checks that it must pass before anything is looked up.

The order of the checks is part of the interface (spec/online-revisions.md 17): the first that fails is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .errors import SkillError, StoreError
from .revisions import Action
from .scopes import NO_SCOPE, Scope
from .skill import Skill, SkillSpec
from .skill.spec import bullet_list, numbered_list

#: How far a difference of decimal scores may be off.
_NOISE: Final = 1e-9


class SubmissionRefused(StoreError):
    """A submission that was not stored. `code` is a stable name for the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"the submission was refused: {message}")
        self.code = code


@dataclass(frozen=True, slots=True)
class SubmissionEvidence:
    """What the submitter measured. Scores lie in [0, 1]; `case_count` 0 means that nobody counted."""

    baseline_score: float
    candidate_score: float
    #: candidate_score - baseline_score.
    delta: float
    case_count: int = 0
    objectives: Mapping[str, float] = field(default_factory=dict)
    experiment_id: str = ""
    dataset_id: str = ""
    dataset_version: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON object; zero is a score, blank texts are left out."""
        given = {
            "baseline_score": self.baseline_score,
            "candidate_score": self.candidate_score,
            "delta": self.delta,
            "case_count": self.case_count,
        }
        texts = {
            "experiment_id": self.experiment_id,
            "dataset_id": self.dataset_id,
            "dataset_version": self.dataset_version,
        }
        return given | {"objectives": dict(self.objectives)} | {key: text for key, text in texts.items() if text}


@dataclass(frozen=True, slots=True)
class Submission:
    """A version of a skill from outside: a whole skill, or what a structured one says."""

    content: Skill | SkillSpec | None
    #: create or update; blank is update.
    action: str = ""
    #: Id of the revision that it was evaluated against; blank is what is active now. None for a new skill.
    parent: str = ""
    evidence: SubmissionEvidence | None = None
    #: Who evaluated it, for the record.
    source: str = ""
    scope: Scope = NO_SCOPE

    @property
    def name(self) -> str:
        """The name of the skill that it is about."""
        return "" if self.content is None else self.content.name.strip()


def check(submission: Submission) -> Action:
    """The action of a submission whose form is right. Raises SubmissionRefused."""
    _check_content(submission.content)
    wanted = submission.action.strip().lower() or Action.UPDATE.value
    if wanted not in (Action.CREATE.value, Action.UPDATE.value):
        raise SubmissionRefused("unsupported_action", f"the action {submission.action!r} is neither create nor update.")
    action = Action(wanted)
    if action is Action.CREATE and submission.parent.strip():
        raise SubmissionRefused("create_with_parent", "a new skill has no parent; leave it out, or make it an update.")
    if submission.evidence is not None:
        _check_evidence(submission.evidence)
    return action


def _check_content(content: Skill | SkillSpec | None) -> None:
    if content is None or (isinstance(content, Skill) and not content.exists):
        raise SubmissionRefused("missing_spec", "it holds no skill.")
    spec = content if isinstance(content, SkillSpec) else content.spec
    if not content.name.strip():
        raise SubmissionRefused("spec_name_required", "the skill's name is blank.")
    if not content.description.strip():
        raise SubmissionRefused("spec_description_required", "the skill's description is blank.")
    if spec is None:
        if isinstance(content, Skill) and not content.body.strip():
            raise SubmissionRefused("body_required", "there is nothing below the frontmatter.")
        return
    if not spec.when_to_use.strip():
        raise SubmissionRefused("spec_when_to_use_required", "the skill does not say when to use it.")
    if not spec.steps:
        raise SubmissionRefused("spec_steps_required", "the skill has no steps.")
    blank = next((number for number, step in enumerate(spec.steps, 1) if not step.strip()), None)
    if blank is not None:
        raise SubmissionRefused("spec_step_blank", f"step {blank} is blank.")


def _check_evidence(evidence: SubmissionEvidence) -> None:
    before, after, delta = evidence.baseline_score, evidence.candidate_score, evidence.delta
    for code, name, value, low in (
        ("evidence_baseline", "baseline_score", before, 0),
        ("evidence_candidate", "candidate_score", after, 0),
        ("evidence_delta", "delta", delta, -1),
    ):
        if not (_is_number(value) and low <= value <= 1):
            raise SubmissionRefused(code, f"{name} must be a number from {low} to 1, not {value!r}.")
    if abs(delta - (after - before)) > _NOISE:
        raise SubmissionRefused(
            "evidence_delta_mismatch", f"delta {delta!r} is not candidate_score {after!r} - baseline_score {before!r}."
        )
    if not isinstance(evidence.case_count, int) or isinstance(evidence.case_count, bool) or evidence.case_count < 0:
        raise SubmissionRefused(
            "evidence_case_count", f"case_count must be a whole number from 0, not {evidence.case_count!r}."
        )
    for name, value in evidence.objectives.items():
        if not _is_number(value):
            raise SubmissionRefused("evidence_objective", f"objective {name!r} must be a number, not {value!r}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def updated(parent: Skill, content: Skill | SkillSpec) -> Skill:
    """The new version: the whole skill as it is, or the parent with what the spec says in its components.

    Raises SubmissionRefused when the parent has no such components, and when one cannot hold its text.
    """
    if isinstance(content, Skill):
        return content
    if parent.spec is None:
        raise SubmissionRefused(
            "target_not_structured", f"the skill {parent.name!r} has no when-to-use and steps; hand in the whole skill."
        )
    texts = {
        "description": content.description,
        "when_to_use": content.when_to_use,
        "steps": numbered_list(content.steps),
        "pitfalls": bullet_list(content.pitfalls),
    }
    lists = {"steps": parent.spec.steps == content.steps, "pitfalls": parent.spec.pitfalls == content.pitfalls}
    try:
        for name, text in texts.items():
            # A list that says the same keeps its layout.
            if not lists.get(name, False):
                parent = parent.with_component(name, text)
    except SkillError as error:
        raise SubmissionRefused("unfit_text", str(error)) from None
    return parent
