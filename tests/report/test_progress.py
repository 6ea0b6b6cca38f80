"""Progress: a line that is rewritten on a terminal, whole lines everywhere else, and never a flood."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.report.progress import Progress, ProgressLines
from pytest_skillevo.report.text import columns


class Screen:
    """A clock that the test moves, and a terminal that keeps what was written."""

    def __init__(self):
        self.now = 100.0
        self.written = []

    def clock(self):
        return self.now

    @property
    def text(self):
        return "".join(self.written)

    def lines(self):
        """What a terminal shows: a carriage return overwrites, and blanks cover what was there."""
        shown, row, column = [""], 0, 0
        for char in self.text:
            if char == "\n":
                shown.append("")
                row, column = row + 1, 0
            elif char == "\r":
                column = 0
            else:
                shown[row] = shown[row][:column] + char + shown[row][column + 1 :]
                column += 1
        return [line.rstrip() for line in shown]


@pytest.fixture
def screen():
    return Screen()


def printer(screen, *, live, width=80) -> ProgressLines:
    return ProgressLines(screen.written.append, screen.clock, live=live, width=width)


def status(progress: Progress, **parts):
    figures = {
        "iteration": 7,
        "iterations": 21,
        "pool": 4,
        "best": 0.91,
        "seed_score": 0.79,
        "rollouts": 186,
        "budget": 800,
        "tokens": 1_204_000,
    }
    progress.search(**{**figures, **parts})


def whole_run(progress: Progress, screen: Screen):
    progress.stage("search", total=640)
    status(progress, iteration=0, pool=1, best=0.79, rollouts=12, tokens=90_000)
    screen.now += 4
    progress.proposal(
        iteration=6,
        component="pitfalls",
        parent="c0",
        verdict="rejected: no improvement",
        minibatch_parent=2.4,
        minibatch_child=2.4,
    )
    screen.now += 20
    progress.retry("test_recipe.py::test_recipe[e1-02]", attempt=1, attempts=3, reason="provider: 503\nretry later")
    progress.proposal(
        iteration=7,
        component="steps",
        parent="c3",
        verdict="accepted",
        minibatch_parent=2.1,
        minibatch_child=2.55,
        validation=0.91,
    )
    status(progress)
    screen.now += 30
    status(progress, iteration=8)
    progress.stage("confirmation", total=252)
    screen.now += 40
    progress.rollouts(126, tokens=2_000_000)
    progress.critical("suites/recipe/test_recipe.py::test_recipe[h1-07]", repeats=5)
    progress.stage("replay", total=120)
    progress.round(1, 3, groups=["evolution", "optimized", "baseline"], root_seed=11)
    progress.rollouts(40)
    progress.finish()


def test_a_ci_log_gets_whole_lines_and_nothing_is_ever_rewritten(screen, snapshot):
    whole_run(printer(screen, live=False), screen)
    assert "\r" not in screen.text
    assert "\x1b" not in screen.text
    assert screen.text == snapshot


def test_a_terminal_ends_up_with_the_same_events_and_the_last_status_of_each_stage(screen, snapshot):
    whole_run(printer(screen, live=True), screen)
    assert "\n".join(screen.lines()) == snapshot
    assert screen.text.endswith("\n")


def test_on_a_terminal_the_live_line_stays_below_the_events(screen):
    progress = printer(screen, live=True)
    progress.stage("search")
    status(progress)
    progress.proposal(iteration=1, component=None, parent="c0", verdict="accepted")
    first, second = screen.lines()
    assert first.startswith("  1  ")
    assert second.startswith("search  7/21")


def test_the_live_line_is_drawn_at_most_ten_times_a_second(screen):
    progress = printer(screen, live=True)
    progress.stage("search")
    for rollouts in range(1000):
        screen.now += 0.001
        status(progress, rollouts=rollouts)
    assert len(screen.written) <= 11


def test_a_ci_log_gets_a_status_at_most_every_half_minute_and_the_last_one_always(screen):
    progress = printer(screen, live=False)
    progress.stage("search")
    for rollouts in range(1, 601):
        screen.now += 0.1
        status(progress, rollouts=rollouts)
    progress.finish()
    told = [line for line in screen.text.splitlines() if "rollouts" in line]
    assert len(told) <= 3
    assert "rollouts 600/800" in told[-1]


def test_a_wide_terminal_shows_every_part_and_a_narrow_one_drops_the_least_useful(screen):
    wide, narrow = printer(screen, live=True, width=120), printer(screen, live=True, width=60)
    for progress in (wide, narrow):
        progress.stage("search")
    screen.now += 20
    status(wide)
    assert screen.lines()[-1] == (
        "search        iteration 7/21   pool 4   best 0.91 (+0.12)   rollouts 186/800   tokens 1.2M   left about 0:40"
    )
    screen.written.clear()
    status(narrow)
    assert screen.lines()[-1] == "search  7/21  best 0.91 (+0.12)  rollouts 186/800"


def test_time_left_is_not_guessed_from_too_little(screen):
    progress = printer(screen, live=True, width=120)
    progress.stage("search")
    screen.now += 1
    status(progress)
    assert "left about" not in screen.text
    screen.now += 60
    status(progress, iteration=0, rollouts=1)
    assert "left about" not in screen.text


@pytest.mark.parametrize(("done", "told"), [(190, "19.0/s"), (7, "42.0/min"), (0, "/")])
def test_the_rate_is_of_this_stage_alone(screen, done, told):
    progress = printer(screen, live=True, width=140)
    progress.stage("search")
    status(progress, rollouts=500)
    screen.now += 10
    status(progress, rollouts=500 + done)
    last = screen.lines()[-1]
    assert told in last
    assert ("/s" in last or "/min" in last) == (done > 0)


def test_unknown_figures_are_unknown(screen):
    progress = printer(screen, live=True, width=120)
    progress.stage("search")
    status(progress, best=None, seed_score=None, tokens=None, budget=None)
    assert screen.lines()[-1] == (
        "search        iteration 7/21   pool 4   best unknown   rollouts 186   tokens unknown"
    )


def test_a_flood_of_retries_is_told_three_times_and_then_counted(screen):
    progress = printer(screen, live=False, width=120)
    progress.stage("confirmation", total=200)
    for attempt in range(100):
        progress.retry(f"case-{attempt}", attempt=1, attempts=3, reason="rate limit")
    progress.rollouts(50)
    progress.finish()
    assert screen.text.count("rate limit") == 3
    assert "further retries are only counted" in screen.text
    assert "retried 100" in screen.text


def test_a_long_case_id_keeps_its_end(screen):
    printer(screen, live=False).critical("suites/" + "deep/" * 30 + "test_recipe.py::test_recipe[h1-07]", repeats=5)
    assert screen.text.rstrip().endswith("test_recipe.py::test_recipe[h1-07]")
    assert columns(screen.text.rstrip()) <= 80


@settings(deadline=None)
@given(st.text(st.characters(codec=None), max_size=120) | st.just("::error::x"), st.booleans(), st.integers(40, 120))
def test_hostile_text_never_controls_the_terminal_or_the_runner(text, live, width):
    screen = Screen()
    progress = printer(screen, live=live, width=width)
    progress.stage("search")
    status(progress)
    progress.proposal(iteration=1, component=text, parent=text, verdict=text, minibatch_parent=1, minibatch_child=2)
    progress.critical(text, repeats=5)
    progress.retry(text, attempt=1, attempts=3, reason="::stop-commands::" + text)
    progress.round(1, 3, groups=[text], root_seed=1)
    progress.stage(text)
    progress.rollouts(3)
    progress.finish()
    shown = screen.text if live else screen.text.replace("\n", "")
    assert all(char in "\r\n" or char.isprintable() for char in shown)
    for line in screen.lines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert len(line) <= width


def test_the_time_left_is_that_of_whatever_is_used_up_first(screen):
    progress = printer(screen, live=True, width=120)
    progress.stage("search", total=800)
    screen.now += 10
    status(progress, iteration=1, rollouts=80)
    assert "left about 1:30" in screen.written[-1]
    screen.now += 10
    status(progress, iteration=2, rollouts=160, spent=0.5)
    assert "left about 0:20" in screen.written[-1]
