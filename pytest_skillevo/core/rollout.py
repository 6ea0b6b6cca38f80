"""The recorder behind the `rollout` fixture: what a test says of one run becomes one Evaluation or one clear error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from .errors import EvaluationError, ExperimentInterrupted
from .records import Evaluation, Usage, check_usage, merge_usage
from .skill import Skill

#: Beyond these a figure is a mistake, and sums of it would be no numbers any more.
HEAVIEST = 1e9
MOST_TOKENS = 10**12
MOST_MONEY = Decimal(10**9)


class Rollout:
    """Collects the evaluation of one run of one case.

    A test either records once (`record`), or checks (`check`), or only asserts; see the table in design.md. `seed` is
    the seed that both arms of a comparison share, `repeat` counts from 0.
    """

    def __init__(self, case: str, seed: int, repeat: int = 0) -> None:
        self.case = case
        self.seed = seed
        self.repeat = repeat
        self._recorded: Evaluation | None = None
        self._checks: list[tuple[str, bool, float]] = []
        self._usage: dict[str, Usage] = {}
        self._sessions: list[Mapping[str, Any]] = []
        self._breaches: list[str] = []
        #: The first misuse; kept, so that a test cannot swallow it.
        self.misuse: EvaluationError | None = None
        #: Why the experiment must stop; kept for the same reason.
        self.interrupted: ExperimentInterrupted | None = None

    def record(
        self,
        evaluation: Evaluation | None = None,
        *,
        score: float | None = None,
        passed: bool | None = None,
        feedback: str = "",
        objectives: Mapping[str, float] | None = None,
        trace: Any = None,
    ) -> None:
        """Record the evaluation of this run: an Evaluation, or its parts. Once only, and never beside `check`."""
        given = evaluation is not None
        if evaluation is None:
            if score is None:
                self._refuse("rollout.record() needs an Evaluation or score=...")
            try:
                evaluation = Evaluation(score, passed, feedback, objectives or {}, trace)
            except EvaluationError as error:
                self._refuse(str(error))
        if not isinstance(evaluation, Evaluation):
            kind = type(evaluation).__name__
            self._refuse(
                f"rollout.record() takes an Evaluation, not {kind}; for a plain score write rollout.record(score=...)"
            )
        if given and (
            passed is not None or feedback or objectives is not None or trace is not None or score is not None
        ):
            self._refuse("rollout.record() takes either an Evaluation or score=... and its companions, not both")
        if self._recorded is not None:
            self._refuse("rollout.record() was called twice; one run has one evaluation")
        if self._checks:
            self._refuse("rollout.record() and rollout.check() cannot both be used in one test")
        self._recorded = evaluation

    def check(self, label: str, holds: object, *, weight: float = 1.0) -> bool:
        """Add one weighted yes/no check; the score is the weighted share that holds. Returns whether it holds."""
        if self._recorded is not None:
            self._refuse("rollout.record() and rollout.check() cannot both be used in one test")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < HEAVIEST:
            self._refuse(f"the weight of check {label!r} must be a positive number below {HEAVIEST:g}")
        self._checks.append((str(label), bool(holds), float(weight)))
        return bool(holds)

    def breach(self, what: str) -> None:
        """Say that the agent broke the rules of its run, such as writing where it must not: the score is 0 then."""
        self._breaches.append(str(what))

    def attest(self, skill: Skill, *, digest: str | None = None, text: str | None = None) -> None:
        """Compare the skill that the agent really saw, by the digest of its folder or the text of its SKILL.md.

        An arm that saw another version than the one on trial would prove nothing: that is an error, not a score.
        """
        if (digest is None) == (text is None):
            self._refuse("rollout.attest() takes digest=... or text=...")
        if (digest is not None and digest != skill.digest) or (text is not None and text != skill.text):
            self._refuse(
                f"the agent saw another version of {skill.name} than the one on trial ({skill.digest[:12]}): a skill "
                "of that name is installed elsewhere, or the agent keeps one"
            )

    def usage(
        self,
        role: str = "agent",
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        usd: Decimal | str | int | None = None,
    ) -> None:
        """Add usage measured by an agent of one's own. What is not given is unknown. Money is Decimal, never float."""
        for name, value in (("input_tokens", input_tokens), ("output_tokens", output_tokens)):
            whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_TOKENS
            if value is not None and not whole:
                self._refuse(f"rollout.usage({name}=...) takes a whole number of at least 0 and below {MOST_TOKENS:g}")
        money = None if usd is None else self._money(usd)
        self.add_usage(role, Usage(input_tokens, output_tokens, None, None, money))

    def add_usage(self, role: str, usage: Usage) -> None:
        """Add a Usage record, as the built-in agent does."""
        try:
            check_usage(role, usage)
        except EvaluationError as error:
            self._refuse(str(error))
        self._usage = merge_usage(self._usage, {role: usage})

    def add_session(self, session: Mapping[str, Any]) -> None:
        """Keep one agent conversation with this run, for people and for the models that reflect and review.

        JSON-able, with `prompt`, `answer`, `messages` and `skills_loaded`.
        """
        if not isinstance(session, Mapping):
            self._refuse(f"rollout.add_session() takes a mapping, not {type(session).__name__}")
        self._sessions.append(session)

    @property
    def breaches(self) -> tuple[str, ...]:
        """What the agent did against the rules, in order."""
        return tuple(self._breaches)

    @property
    def failed_checks(self) -> tuple[str, ...]:
        """Labels of the checks that do not hold, in order."""
        return tuple(label for label, holds, _ in self._checks if not holds)

    def evaluation(self, failure: str | None) -> Evaluation:
        """The evaluation of the finished run; `failure` is the text of a failed assert, None if the test passed.

        Raises the first EvaluationError that the test provoked.
        """
        if self.misuse is not None:
            raise self.misuse
        found = self._evaluation(failure)
        if not self._breaches:
            return found
        feedback = "\n".join(part for part in (*self._breaches, found.feedback) if part)
        return replace(found, score=0.0, passed=False, feedback=feedback)

    def _evaluation(self, failure: str | None) -> Evaluation:
        recorded = self._recorded
        if recorded is not None:
            usage = merge_usage(recorded.usage, self._usage)
            passed = False if failure is not None else recorded.passed
            feedback = "\n".join(part for part in (recorded.feedback, failure) if part)
            trace = self._trace(recorded.trace)
            return Evaluation(recorded.score, passed, feedback, recorded.objectives, trace, usage)
        trace = self._trace(None)
        if self._checks and failure is None:
            total = sum(weight for _, _, weight in self._checks)
            score = sum(weight for _, holds, weight in self._checks if holds) / total
            feedback = "\n".join(f"check failed: {label}" for label in self.failed_checks)
            return Evaluation(min(score, 1.0), not self.failed_checks, feedback, {}, trace, self._usage)
        failed = [f"check failed: {label}" for label in self.failed_checks]
        if failure is None:
            return Evaluation(1.0, True, "", {}, trace, self._usage)
        return Evaluation(0.0, False, "\n".join([*failed, failure]), {}, trace, self._usage)

    def _trace(self, recorded: Any) -> Any:
        """What the test recorded; beside agent conversations also the first prompt and the last answer as texts."""
        if not self._sessions:
            return recorded
        prompt, answer = self._sessions[0].get("prompt"), self._sessions[-1].get("answer")
        return {"input": prompt, "output": answer, "recorded": recorded, "sessions": self._sessions}

    def _money(self, usd: Decimal | str | int) -> Decimal:
        if isinstance(usd, float | bool):
            self._refuse(f"rollout.usage(usd=...) takes Decimal, text or int, not {usd!r}: floats lose cents")
        try:
            money = Decimal(usd)
        except (InvalidOperation, TypeError, ValueError):
            self._refuse(f"rollout.usage(usd=...) is not an amount of money: {usd!r}")
        if not money.is_finite() or not 0 <= money < MOST_MONEY:
            self._refuse(f"rollout.usage(usd=...) must be at least 0 and below {MOST_MONEY}")
        return money

    def _refuse(self, problem: str) -> NoReturn:
        error = EvaluationError(f"{self.case}: {problem}")
        if self.misuse is None:
            self.misuse = error
        raise error
