"""The evidence file: an edit, a verdict against its own figures, and a foreign signature do not pass."""

from __future__ import annotations

import copy

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.evidence import body_digest, problems, sealed
from pytest_skillevo.core.verdict import Goal, PairedCase, Rules
from pytest_skillevo.gate.signing import new_keys, sign_if_keyed, signature_problems


def pairs(after, n=30):
    return [PairedCase(f"c{i}", False, (0.9, 0.9), after).to_json() for i in range(n)]


def body(after=(0.9, 0.9), verdict="ACCEPT", **more):
    skill = {
        "name": "demo",
        "verdict": verdict,
        "merge": True,
        "pairs": pairs(after),
        "reruns": {},
        "files": {"t.py": "d"},
    }
    return {
        "rules": Rules(goal=Goal.no_worse, repeats=2).to_json(),
        "skills": [skill],
        "accepted": None,
        "simulated": False,
        "allow_simulated": False,
        "passed": True,
        **more,
    }


def test_a_whole_file_that_passed_has_no_problem():
    assert problems(sealed(body())) == []
    assert problems(sealed({**body(), "skills": [], "rules": None})) == []


def test_every_edit_is_told():
    document = sealed(body())
    document["skills"][0]["pairs"][0]["after"] = [0.1, 0.1]
    assert problems(document) == ["the file was edited: its digest does not fit what it says"]


def test_a_verdict_that_does_not_follow_from_the_runs_is_told_though_the_digest_fits():
    assert problems(sealed(body(after=(0.2, 0.2)))) == ["demo: ACCEPT does not follow from its runs, which give REJECT"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"passed": False}, "the gate did not pass"),
        ({"simulated": True}, "the simulated model ran"),
    ],
)
def test_what_does_not_fit_together_is_told(change, told):
    assert any(told in problem for problem in problems(sealed(body(**change))))


def test_inconclusive_needs_a_person():
    few = {
        "name": "demo",
        "verdict": "INCONCLUSIVE",
        "merge": True,
        "pairs": pairs((0.9, 0.9), 5),
        "reruns": {},
        "files": {"t.py": "d"},
    }
    assert problems(sealed(body(skills=[few])))
    assert problems(sealed(body(skills=[few], accepted={"by": "ann", "reason": "I read it"}))) == []


@pytest.mark.parametrize("document", [None, [], {}, {"format": "skillevo-evidence", "version": 2}, "x"])
def test_other_files_are_refused(document):
    assert problems(document)


@pytest.mark.parametrize("missing", ["skills", "rules", "accepted", "passed", "simulated"])
def test_a_file_that_lacks_a_part_is_not_whole(missing):
    reduced = body()
    del reduced[missing]
    assert "not whole" in problems(sealed(reduced))[0]


def test_a_signature_shows_who_wrote_the_file():
    pytest.importorskip("cryptography")
    (private, public), (_, other) = new_keys(), new_keys()
    document = sign_if_keyed(sealed(body()), {"SKILLEVO_SIGNING_KEY": private})
    assert problems(document) == []
    assert signature_problems(document, public) == []
    assert signature_problems(document, None) == []
    assert signature_problems(document, other) == ["the file is signed with another key than the one given"]
    unsigned = sign_if_keyed(sealed(body()), {})
    assert unsigned["signature"] is None
    assert signature_problems(unsigned, public) == ["the file is not signed"]


def test_a_signature_cannot_be_moved_to_another_file():
    pytest.importorskip("cryptography")
    private, public = new_keys()
    signed = sign_if_keyed(sealed(body()), {"SKILLEVO_SIGNING_KEY": private})
    forged = sealed(body(accepted={"by": "eve", "reason": "trust me"}))
    forged["signature"] = copy.deepcopy(signed["signature"])
    assert signature_problems(forged, public) == ["the signature does not fit the file"]
    assert body_digest(forged) == forged["digest"]


@pytest.mark.parametrize("key", ["x", "AAAA", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"])
def test_a_key_that_is_none_is_refused_without_showing_it(key):
    pytest.importorskip("cryptography")
    with pytest.raises(ConfigError) as refused:
        sign_if_keyed(sealed(body()), {"SKILLEVO_SIGNING_KEY": key})
    assert key not in str(refused.value)
