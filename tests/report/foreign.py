"""Text as a hostile model, test or skill would write it, and reports full of it."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

FOREIGN = st.one_of(
    st.text(st.characters(codec=None), max_size=300),
    st.sampled_from(
        [
            "::error file=x::pwned",
            "\n::stop-commands::x",
            " \u3000::add-mask::a",
            "##[error]pwned",
            "\x1b[2J\x1b[H\x07",
            "\r::warning::x",
            "\u202eevil",
            "\u2028::error::x",
            "寿" * 200,
            "e\u0301" * 300,
            "x" * 5000,
            "- \n+ \n@@ -1 +1 @@\n+::error::x",
        ]
    ),
)


def poisoned(report, draw):
    """The report with every text that a model, a test or a case may have written replaced."""
    report["skill"]["name"] = draw()
    report["skill"]["diff"] = f"--- a\n+++ b\n@@ -1,9 +1,9 @@\n-{draw()}\n+{draw()}\n{draw()}"
    report["skill"]["changed"] = [{"component": draw(), "added": 1, "removed": 0}] * 3
    report["decision"]["reason"] = draw() or "x"
    report["decision"]["notes"] = [draw(), draw()]
    report["experiment"]["partial"] = draw()
    report["experiment"]["command"] = draw()
    report["model"]["name"] = draw()
    report["dataset"]["left_out"] = [{"case": draw(), "why": draw()}] * 2
    report["warnings"] = [draw(), draw()]
    if report["replay"] is not None:
        report["replay"]["sentence"] = draw() or "x"
    if report["search"] is not None:
        report["search"]["stop_reason"] = draw()
        for event in report["search"]["events"]:
            event["verdict"] = draw()
    if report["confirmation"] is not None:
        for case in report["confirmation"]["cases"]:
            case["case"] = draw()
        for finding, verdict in zip(
            report["confirmation"]["criticals"],
            itertools.cycle(["worse", "missing", "flagged, held on rerun"]),
            strict=False,
        ):
            finding["case_id"], finding["verdict"] = draw(), verdict
    return report
