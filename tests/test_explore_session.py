"""A session of the page: every message, wrong messages, undo, exports, and the ranking that the selector gives."""

import json
import random
import shlex
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from fiedler import KNN, SpectralSelector, SSelect, TableWarning
from fiedler.cli import main
from fiedler.explore import Origin, Session
from fiedler.explore.exports import READING
from fiedler.explore.session import HANDLERS, SessionFile
from fiedler.explore.state import positions
from fiedler.plots.placing import place_graph
from fiedler.problem import Problem


def table(n=30, m=6, seed=0):
    """Three groups in the first columns, noise in the others."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % 3
    X = rng.normal(size=(n, m))
    X[:, : m // 2] += 4 * rng.normal(size=(3, m // 2))[groups]
    return X, groups


def ask(session, kind, **fields):
    """A reply that is no error, and that JSON can carry."""
    reply = session.handle({"type": kind, **fields})
    assert reply["type"] != "error", reply
    assert json.loads(json.dumps(reply, allow_nan=False)) is not None
    return reply


def order(reply):
    return reply["ranking"]["order"]


def without_history(state):
    ranking = {name: value for name, value in state["ranking"].items() if name not in ("moved", "seconds")}
    left_out = ("undo", "redo", "revision", "version", "ranking")
    return {name: value for name, value in state.items() if name not in left_out} | {"ranking": ranking}


# -------------------------------------------------------------------- rankings are those of the selector


@pytest.mark.parametrize("method", ["subset", "constraint"])
def test_a_pair_gives_the_ranking_of_the_selector(method):
    X, _ = table()
    session = Session(X, method="subset", n_features=3)
    ask(session, "pair", rows=[3, 0], link="must")
    state = ask(session, "pair", rows=[1, 5], link="cannot")
    state = ask(session, "set", method=method)
    fitted = SpectralSelector(method, n_features_to_select=3).fit(X, must_link=[[0, 3]], cannot_link=[[1, 5]])
    assert order(state) == fitted.order_.tolist()
    assert state["ranking"]["n_selected"] == 3
    assert np.array_equal(session.selector.order_, fitted.order_)
    assert session.pairs["must_link"].tolist() == [[0, 3]]
    assert session.pairs["cannot_link"].tolist() == [[1, 5]]


@pytest.mark.parametrize("method", ["subset", "sselect", "fisher", "relieff[n_neighbors=3]"])
def test_labels_give_the_ranking_of_the_selector(method):
    X, groups = table()
    session = Session(X, n_features=3)
    y = np.full(len(X), -1)
    for label in range(3):
        rows = np.flatnonzero(groups == label)[:4]
        y[rows] = label
        state = ask(session, "label", rows=rows.tolist(), label=str(label))
    state = ask(session, "set", method=method)
    fitted = SpectralSelector(method, n_features_to_select=3).fit(X, y)
    assert order(state) == fitted.order_.tolist()
    assert session.labels == {int(row): str(y[row]) for row in np.flatnonzero(y >= 0)}
    assert state["labels"]["names"] == ["0", "1", "2"]


def test_lambda_gives_the_scores_of_the_selector():
    X, groups = table(60, 12)
    few = np.where(np.arange(60) < 15, groups, -1)
    session = Session(X, few, method="sselect", n_features=4)
    for lam in (0.0, 0.05, 0.3, 0.55, 1.0):
        state = ask(session, "set", lam=lam)
        fitted = SpectralSelector(SSelect(lam=lam), n_features_to_select=4).fit(X, few)
        assert order(state) == fitted.order_.tolist()
        np.testing.assert_allclose(session.ranked.scores, fitted.scores_, rtol=1e-13)
    state = ask(session, "set", n_neighbors=4)
    fitted = SpectralSelector(SSelect(KNN(4), lam=1.0), n_features_to_select=4).fit(X, few)
    assert order(state) == fitted.order_.tolist()
    assert state["knobs"] == {"lam": 1.0, "n_neighbors": 4}


def test_given_labels_and_pairs_are_kept_and_can_be_changed():
    X, groups = table()
    y = np.array(["a", "b", "c"], dtype=object)[groups]
    y[10:] = None
    session = Session(X, y, must_link=[[0, 3]], cannot_link=[[0, 1]], method="fisher", n_features=2)
    assert order(session.state()) == SpectralSelector("fisher", n_features_to_select=2).fit(X, y).order_.tolist()
    state = ask(session, "label", rows=[0, 11], label="b")
    y[[0, 11]] = "b"
    assert order(state) == SpectralSelector("fisher", n_features_to_select=2).fit(X, y).order_.tolist()
    assert state["labels"]["own"] == [0, 11]
    state = ask(session, "label", rows=[0], label=None)
    assert 0 not in session.labels
    state = ask(session, "pair", rows=[1, 0], link="must")  # the later answer about a pair counts
    assert [0, 1, "must", 2] in state["pairs"]


def test_real_targets():
    X, _ = table()
    y = np.where(np.arange(30) < 12, X[:, 0] + 0.5, np.nan)
    session = Session(X, y, method="correlation", n_features=2)
    assert session.state()["labels"]["kind"] == "target"
    state = ask(session, "label", rows=[20], label="1.25")
    y[20] = 1.25
    assert order(state) == SpectralSelector("correlation", n_features_to_select=2).fit(X, y).order_.tolist()
    assert "correlation" in ask(session, "feature", feature=0)["groups"]
    wrong = session.handle({"type": "label", "rows": [21], "label": "blue"})
    assert wrong["type"] == "error"
    assert "number" in wrong["message"]


def test_pinned_features_come_first_and_banned_ones_are_left_out():
    X, _ = table()
    session = Session(X, method="subset", n_features=2)
    state = ask(session, "pin", feature=5)
    assert order(state)[0] == 5
    assert session.selector.support_[5]
    assert session.selector.n_features_ == 2
    state = ask(session, "ban", feature=order(state)[1])
    banned = state["banned"][0]
    assert order(state)[-1] == banned
    kept = np.setdiff1d(np.arange(6), banned)
    include = kept.tolist().index(5)
    fitted = SpectralSelector("subset", n_features_to_select=2, include=include).fit(X[:, kept])
    assert order(state)[:5] == kept[fitted.order_].tolist()
    for method in ("sselect", "variance"):
        ask(session, "label", rows=[0, 3], label="a")
        ask(session, "label", rows=[1, 4], label="b")
        state = ask(session, "set", method=method)
        y = np.full(30, None)
        y[[0, 3]], y[[1, 4]] = "a", "b"
        fitted = SpectralSelector(method, n_features_to_select=2, include=include).fit(X[:, kept], y)
        assert order(state)[:5] == kept[fitted.order_].tolist()
    assert session.selector.transform(X).shape == (30, 2)
    state = ask(session, "free", feature=banned)
    assert state["banned"] == []
    for feature in range(5):
        ask(session, "ban", feature=feature)
    last = session.handle({"type": "ban", "feature": 5})
    assert last["type"] == "error"
    assert "not banned" in last["message"]


def test_a_method_that_cannot_use_the_answers_says_so_and_recovers():
    X, _ = table()
    session = Session(X, n_features=2)
    state = ask(session, "set", method="fisher")
    assert "requires y" in state["ranking"]["trouble"]
    assert order(state) == []
    ask(session, "label", rows=[0, 3], label="a")
    state = ask(session, "label", rows=[1, 4], label="b")
    assert state["ranking"]["trouble"] is None
    assert len(order(state)) == 6
    notes = ask(session, "pair", rows=[7, 8], link="must")["ranking"]["notes"]
    assert any("reads no pairs" in note for note in notes)


def test_answers_that_are_not_read_are_told():
    session = Session(table()[0], n_features=2)
    state = ask(session, "pair", rows=[0, 3], link="must")
    assert "pairs of both kinds" in state["ranking"]["notes"][0]
    assert ask(session, "pair", rows=[0, 1], link="cannot")["ranking"]["notes"] == []
    ask(session, "label", rows=[0, 3], label="a")
    state = ask(session, "label", rows=[1, 4], label="b")
    assert state["ranking"]["notes"] == []  # the labels say what the pairs say
    state = ask(session, "pair", rows=[7, 8], link="cannot")
    assert "does not use the pairs" in state["ranking"]["notes"][0]
    fresh = Session(table()[0], n_features=2)
    ask(fresh, "label", rows=[0], label="a")
    assert "two labels of one class" in ask(fresh, "label", rows=[1], label="b")["ranking"]["notes"][0]


@pytest.mark.parametrize("method", ["subset", "sselect", "variance"])
def test_a_feature_tells_why_it_is_selected_or_what_beats_it(method):
    X, groups = table()
    names = ["one", "two", "three", "four", "five", "six"]
    session = Session(X, groups, feature_names=names, method=method, n_features=2)
    state = ask(session, "ban", feature=1)
    fitted = SpectralSelector(method, n_features_to_select=2).fit(np.delete(X, 1, axis=1), groups)
    kept = [0, 2, 3, 4, 5]
    explained = fitted.explain(np.delete(X, 1, axis=1), groups)
    for feature in kept:
        why = ask(session, "feature", feature=feature)["why"]
        for at, j in enumerate(kept):
            why = why.replace(names[j], f"x{at}")
        assert why == explained.why(kept.index(feature))
    assert ask(session, "feature", feature=1)["why"] is None
    assert state["banned"] == [1]


@pytest.mark.parametrize("kind", ["dense", "sparse", "frame"])
def test_kinds_of_tables(kind):
    pd = pytest.importorskip("pandas", reason="needs the extra 'frames'")
    X, _ = table()
    given = {"dense": X, "sparse": sp.csr_array(np.where(X > 0, X, 0.0))}.get(kind)
    given = pd.DataFrame(X, columns=list("uvwxyz")) if given is None else given
    session = Session(given, n_features=2)
    for message in ("open", "methods", "stability"):
        ask(session, message)
    assert len(ask(session, "row", row=4)["values"]) == 2
    copied = ask(session, "feature", feature=1)
    assert len(copied["values"]) == 30
    assert sum(copied["groups"]["all"]) == 30
    assert session.feature_names == (list("uvwxyz") if kind == "frame" else [f"x{j}" for j in range(6)])


def test_copies_of_a_feature_are_named_with_their_correlation():
    X, _ = table()
    X = np.column_stack([X, -X[:, 0] + 0.01 * X[:, 3], np.ones(30)])
    for values in (X, sp.csr_array(X)):
        found = ask(Session(values, n_features=2), "feature", feature=0)["copies"]
        assert found[0]["feature"] == 6
        assert found[0]["r"] == pytest.approx(np.corrcoef(X[:, 0], X[:, 6])[0, 1], abs=1e-3)
        assert ask(Session(values, n_features=2), "feature", feature=7)["copies"] == []


@pytest.mark.filterwarnings("ignore::fiedler.errors.TableWarning")
def test_categories_and_missing_values():
    pd = pytest.importorskip("pandas", reason="needs the extra 'frames'")
    X, groups = table(45, 4)
    X[::7, 1] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.array(["red", "green", "blue"])[groups])
    y = np.where(np.arange(45) < 20, groups, -1)
    session = Session(frame, y, n_features=2)
    assert order(session.state()) == SpectralSelector("subset", n_features_to_select=2).fit(frame, y).order_.tolist()
    assert session.feature_names == ["a", "b", "c", "d", "colour"]
    assert len(set(ask(session, "feature", feature=4)["values"])) == 3
    assert ask(session, "feature", feature=1)["values"][7] is None
    for message in ("open", "methods", "stability", "curves"):
        ask(session, message)
    ask(session, "layout", of="chosen")
    ask(session, "row", row=7)
    state = ask(session, "ban", feature=0)
    kept = ["b", "c", "d", "colour"]
    fitted = SpectralSelector("subset", n_features_to_select=2).fit(frame[kept], y)
    assert order(state)[:4] == [1 + j for j in fitted.order_]


def test_what_the_first_labels_need_is_built_before_they_are_given():
    X, groups = table()
    session = Session(X, n_features=2)
    before = session.state()
    built = len(session.live.problem.built(object))
    session.live.warm_up(session.settings)
    assert len(session.live.problem.built(object)) > built
    assert session.state() == before
    y = np.where(np.arange(30) < 9, groups, -1)
    ask(session, "label", rows=[i for i in range(9) if groups[i] == 0], label="0")
    ask(session, "label", rows=[i for i in range(9) if groups[i] == 1], label="1")
    warmed = len(session.live.problem.built(object))
    state = ask(session, "label", rows=[i for i in range(9) if groups[i] == 2], label="2")
    assert len(session.live.problem.built(object)) == warmed
    assert order(state) == SpectralSelector("subset", n_features_to_select=2).fit(X, y).order_.tolist()
    for method in ("sselect", "constraint", "variance"):
        Session(X, method=method).live.warm_up(Session(X, method=method).settings)  # nothing to build is no error


# -------------------------------------------------------------------- undo


def random_message(rng, n, m):
    kind = rng.choice(["pair", "pair", "label", "label", "pin", "ban", "free", "remove", "undo", "undo", "redo"])
    if kind == "pair":
        return {"type": kind, "rows": rng.sample(range(n), 2), "link": rng.choice(["must", "cannot"])}
    if kind == "label":
        rows = rng.sample(range(n), rng.randint(1, 3))
        return {"type": kind, "rows": rows, "label": rng.choice(["a", "b", "c", None])}
    if kind in ("pin", "ban", "free"):
        return {"type": kind, "feature": rng.randrange(m)}
    return {"type": kind, "answer": rng.randrange(4)} if kind == "remove" else {"type": kind}


def test_random_steps_with_undo_equal_a_fresh_session_with_the_remaining_answers():
    """400 sequences; the methods read pairs, labels, labels or pairs, or sum terms that are kept."""
    X, _ = table(9, 4, seed=3)
    methods = ["constraint[variant=1]", "fisher", "sselect", "subset"]
    y = np.array(["a", "b", "c", "", "", "", "", "", ""], dtype=object)
    given = {"y": y, "must_link": [[0, 3]], "cannot_link": [[0, 1]], "n_features": 2}
    fresh = {method: Session(X, method=method, **given) for method in methods}
    rankings = 0
    for seed in range(400):
        rng = random.Random(seed)
        method = methods[seed % 4]
        session = Session(X, method=method, **given)
        for _ in range(rng.randint(1, 6)):
            session.handle(random_message(rng, 9, 4))
        other = fresh[method]
        other.restore(session.saved())
        assert without_history(session.state()) == without_history(other.state()), seed
        rankings += session.ranked.trouble is None
    assert rankings > 300  # otherwise the test compares refusals


def test_undo_and_redo_walk_through_all_states():
    X, _ = table()
    session = Session(X, n_features=2)
    states = [without_history(session.state())]
    for message in (
        {"type": "pair", "rows": [0, 3], "link": "must"},
        {"type": "label", "rows": [1, 4], "label": "b"},
        {"type": "label", "rows": [4, 5], "label": "c"},
        {"type": "ban", "feature": 1},
        {"type": "remove", "answer": 0},
        {"type": "clear"},
    ):
        states.append(without_history(session.handle(message)))
    for before in states[-2::-1]:
        assert without_history(ask(session, "undo")) == before
    assert session.handle({"type": "undo"})["message"] == "there is nothing to undo."
    for after in states[1:]:
        assert without_history(ask(session, "redo")) == after
    ask(session, "undo")
    ask(session, "pin", feature=0)
    assert session.handle({"type": "redo"})["type"] == "error"


def test_changes_since_the_last_step_are_told():
    X, groups = table()
    session = Session(X, groups, method="variance", n_features=2)
    before = order(session.state())
    state = ask(session, "set", method="fisher")
    assert state["ranking"]["moved"] == [before.index(j) - at for at, j in enumerate(order(state))]


# -------------------------------------------------------------------- wrong messages


WRONG = [
    None,
    [],
    "open",
    {},
    {"type": None},
    {"type": "rm -rf"},
    {"type": ["open"]},
    {"type": "open", "more": 1},
    {"type": "pair"},
    {"type": "pair", "rows": [0, 1]},
    {"type": "pair", "rows": [0, 0], "link": "must"},
    {"type": "pair", "rows": [0, 1, 2], "link": "must"},
    {"type": "pair", "rows": [0, 30], "link": "must"},
    {"type": "pair", "rows": [-1, 3], "link": "must"},
    {"type": "pair", "rows": [True, 3], "link": "must"},
    {"type": "pair", "rows": [1.0, 3], "link": "must"},
    {"type": "pair", "rows": "01", "link": "must"},
    {"type": "pair", "rows": [0, 1], "link": "maybe"},
    {"type": "label", "rows": [], "label": "a"},
    {"type": "label", "rows": [0], "label": ""},
    {"type": "label", "rows": [0], "label": "  "},
    {"type": "label", "rows": [0], "label": 3},
    {"type": "label", "rows": [0], "label": "a\nb"},
    {"type": "label", "rows": [0], "label": "a" * 201},
    {"type": "label", "rows": [0], "label": "NA"},
    {"type": "label", "rows": [0], "label": "nan"},
    {"type": "label", "rows": {"0": 1}, "label": "a"},
    {"type": "pin", "feature": 6},
    {"type": "pin", "feature": "x0"},
    {"type": "ban", "feature": None},
    {"type": "free", "feature": -1},
    {"type": "remove", "answer": 0},
    {"type": "remove", "answer": "0"},
    {"type": "undo"},
    {"type": "redo"},
    {"type": "set"},
    {"type": "set", "method": "nonsense"},
    {"type": "set", "method": 3},
    {"type": "set", "method": "__import__('os').system('true')"},
    {"type": "set", "lam": 2},
    {"type": "set", "lam": float("nan")},
    {"type": "set", "lam": "0.1"},
    {"type": "set", "n_neighbors": 0},
    {"type": "set", "n_neighbors": 30},
    {"type": "set", "n_features": 0},
    {"type": "set", "n_features": 7},
    {"type": "set", "n_features": True},
    {"type": "set", "speed": 1},
    {"type": "close"},
    {"type": "feature", "feature": 99},
    {"type": "row", "row": 99},
    {"type": "row", "row": [0]},
    {"type": "layout", "of": "some"},
    {"type": "ask", "about": "life"},
    {"type": "snapshot", "slot": "C"},
    {"type": "export", "what": "/etc/passwd"},
    {"type": "final_status"},
    {"type": "final_cancel"},
]


def test_wrong_messages_are_answered_and_change_nothing():
    session = Session(table()[0], n_features=2)
    before, saved = session.state(), session.saved()
    for message in WRONG:
        reply = session.handle(message)
        assert reply["type"] == "error", message
        assert reply["message"].endswith((".", "?")), reply
        assert len(reply["message"]) > 15
    assert session.state() == before
    assert session.saved() == saved


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 40) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
FIELDS = sorted({field for fields, _ in HANDLERS.values() for field in fields} - {"*"})
FIELDS += ["method", "lam", "n_neighbors", "n_features"]
# What starts a thread, or takes long, is not called at random.
KINDS = sorted(set(HANDLERS) - {"final", "export", "stability", "curves"})


@cache
def another():
    """A session that every example continues from its file."""
    return Session(table(8, 3)[0], n_features=2, method="variance")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=2))))
def test_no_message_breaks_a_session(messages):
    session = Session(table(8, 3)[0], n_features=2, method="variance")
    for kind, fields in messages:
        wanted = HANDLERS[kind][0]
        fitting = {name: value for name, value in fields.items() if name in wanted or "*" in wanted}
        for message in ({"type": kind, **fields}, {"type": kind, **fitting}):
            reply = session.handle(message)
            json.dumps(reply, allow_nan=False)
            assert reply["type"] == "error" or reply["type"] in {"state", *HANDLERS}
    other = another()
    other.restore(json.loads(json.dumps(session.saved(), allow_nan=False)))
    assert without_history(other.state()) == without_history(session.state())


def test_every_message_is_tested_above_or_below():
    """A new type of message needs a test; this one fails until its name stands in this file."""
    text = Path(__file__).read_text(encoding="utf-8")
    assert [kind for kind in HANDLERS if f'"{kind}"' not in text] == []


def test_the_id_of_a_message_is_returned():
    session = Session(table()[0], n_features=2)
    assert session.handle({"type": "state", "id": 7})["id"] == 7
    assert session.handle({"type": "nothing", "id": "q"})["id"] == "q"
    assert "id" not in session.handle({"type": "state", "id": [1]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image": (2, 2)}, "image=2x2 has 4 pixels, but X has 6 features"),
        ({"feature_names": ["a"]}, "feature_names has 1 names"),
        ({"row_ids": ["a"]}, "row_ids has 1 names"),
        ({"n_features": 9}, "n_features must be"),
        ({"most_rows": 1}, "most_rows"),
        ({"scale": "none"}, "scale must be one of"),
        ({"method": SSelect(KNN(bandwidth=None)) * 1.0, "n_features": 0}, "n_features must be"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        Session(table()[0], **options)


# -------------------------------------------------------------------- what follows from answers


def test_contradictions_name_their_answers():
    session = Session(table()[0], n_features=2)
    ask(session, "pair", rows=[0, 3], link="must")
    ask(session, "pair", rows=[3, 6], link="must")
    state = ask(session, "pair", rows=[0, 6], link="cannot")
    (found,) = state["contradictions"]
    assert found["rows"] == (0, 6)
    assert found["answers"] == (2,)
    assert state["ranking"]["trouble"] is None
    ask(session, "undo")
    ask(session, "label", rows=[0], label="a")
    state = ask(session, "label", rows=[6], label="b")
    assert "'a' and 'b'" in state["contradictions"][0]["text"]
    ask(session, "label", rows=[6], label="a")
    state = ask(session, "pair", rows=[0, 9], link="cannot")
    assert state["contradictions"] == []
    state = ask(session, "label", rows=[9], label="a")
    assert "both have the label 'a'" in state["contradictions"][0]["text"]


def test_pairs_close_into_classes():
    X, _ = table()
    session = Session(X, n_features=2)
    ask(session, "pair", rows=[0, 3], link="must")
    ask(session, "pair", rows=[1, 4], link="must")
    assert session.state()["closure"] == []
    state = ask(session, "pair", rows=[0, 4], link="cannot")
    assert state["closure"] == [{"label": "group 1", "rows": [0, 3]}, {"label": "group 2", "rows": [1, 4]}]
    state = ask(session, "close")
    assert session.labels == {0: "group 1", 1: "group 2", 3: "group 1", 4: "group 2"}
    assert state["closure"] == []
    ask(session, "undo")
    assert session.labels == {}
    ask(session, "label", rows=[3], label="old")
    ask(session, "close")
    assert session.labels == {0: "old", 1: "group 1", 3: "old", 4: "group 1"}


def test_rows_are_asked_in_a_random_order_that_stays_the_same():
    X, _ = table(40, 5)
    session, asked = Session(X, n_features=2), []
    ask(session, "label", rows=[3], label="class 0")
    while rows := ask(session, "ask", about="row")["rows"]:
        assert ask(session, "ask", about="row")["rows"] == rows, "a question does not change the next one"
        asked += rows
        ask(session, "label", rows=rows, label=f"class {len(asked) % 2}")
    assert sorted([3, *asked]) == list(range(40)), "every row is asked once"
    assert asked != sorted(asked)
    again = Session(X + 1.0, n_features=2)
    ask(again, "label", rows=[3], label="class 0")
    assert ask(again, "ask", about="row")["rows"] == asked[:1]


def test_asked_pairs_label_every_row():
    """Answered truthfully, the questions end in the true groups, each row compared with few groups."""
    X, groups = table(24, 6)
    session, asked = Session(X, n_features=2), 0
    while True:
        rows = ask(session, "ask", about="pair")["rows"]
        if not rows:
            break
        i, j = rows
        assert (i, j) not in session.known.pairs
        ask(session, "pair", rows=rows, link="must" if groups[i] == groups[j] else "cannot")
        asked += 1
        assert asked <= 24 * 3
    found = [set(rows) for rows in session.known.groups()[0]]
    assert sorted(map(sorted, found)) == [sorted(np.flatnonzero(groups == g).tolist()) for g in range(3)]
    ask(session, "close")
    assert len(session.labels) == 24
    assert ask(session, "ask", about="row")["rows"] == []


def test_only_rows_that_are_shown_are_asked():
    session = Session(table(40, 5)[0], n_features=2, most_rows=10)
    shown = set(session.rows.tolist())
    assert set(ask(session, "ask", about="row")["rows"]) <= shown
    assert set(ask(session, "ask", about="pair")["rows"]) <= shown


# -------------------------------------------------------------------- the map


def test_every_component_is_placed_in_a_square_of_its_own():
    rng = np.random.default_rng(0)
    sizes = [40, 25, 12, 3, 1]
    centres = 1000.0 * np.arange(5)
    X = np.concatenate([rng.normal(size=(n, 2)) + c for n, c in zip(sizes, centres, strict=True)])
    member = np.repeat(np.arange(5), sizes)
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    from fiedler import Graph

    places = place_graph(Graph.from_weights(np.where((D < 100) & (D > 0), 1.0, 0.0))).places
    assert np.abs(places).max() <= 1 + 1e-12
    for a in range(5):
        for b in range(a):
            one, other = places[member == a], places[member == b]
            apart = (one.max(axis=0) < other.min(axis=0)) | (other.max(axis=0) < one.min(axis=0))
            assert apart.any(), (a, b)
    assert len(np.unique(places[member == 0].round(6), axis=0)) > 30


def test_degenerate_tables_are_placed():
    assert positions(Problem(np.zeros((1, 2)))).shape == (1, 2)
    assert np.isfinite(positions(Problem(np.zeros((7, 2))))).all()
    assert np.isfinite(positions(Problem(np.arange(4.0)[:, None]))).all()


def test_the_layout_of_the_chosen_features():
    session = Session(table()[0], n_features=2)
    whole, chosen = (ask(session, "layout", of=of)["places"] for of in ("all", "chosen"))
    assert whole == ask(session, "open")["table"]["places"]
    assert len(chosen) == 30
    assert whole != chosen


def test_rows_as_images_and_spectra():
    X, _ = table(12, 8)
    picture = ask(Session(X, image=(2, 4)), "row", row=3)["picture"]
    assert picture == pytest.approx(X[3].tolist(), rel=1e-3)
    assert ask(Session(X, image=(2, 4)), "open")["table"]["image"] == [2, 4]
    waves = [str(400 + 10 * j) for j in range(8)]
    session = Session(X, feature_names=waves, row_ids=[f"s{i}" for i in range(12)])
    assert ask(session, "open")["table"]["axis"] == [float(w) for w in waves]
    row = ask(session, "row", row=3)
    assert row["row_id"] == "s3"
    assert len(row["picture"]) == 8
    assert ask(Session(X), "row", row=3)["picture"] is None


# -------------------------------------------------------------------- how good


def test_curves_need_labels():
    X, groups = table(60, 8)
    assert ask(Session(X, n_features=2), "curves")["accuracy"] is None
    found = ask(Session(X, groups, n_features=4), "curves")["accuracy"]
    assert found["metric"] == "accuracy"
    assert max(found["mean"]) > 0.8


def test_stability_counts_draws_until_it_is_finished():
    X, groups = table(40, 6)
    session = Session(X, groups, n_features=2)
    for done in range(2, 21, 2):
        reply = ask(session, "stability")
        assert reply["n_draws"] == done
    assert reply["finished"]
    assert sum(reply["frequency"]) == pytest.approx(2, abs=0.01)
    ask(session, "ban", feature=0)
    reply = ask(session, "stability")
    assert reply["n_draws"] == 2
    assert reply["frequency"][0] == 0


def test_snapshots_are_kept():
    session = Session(table()[0], n_features=2)
    ask(session, "snapshot", slot="A")
    ask(session, "set", n_features=3)
    state = ask(session, "snapshot", slot="B")
    assert [len(state["snapshots"][slot]["selected"]) for slot in "AB"] == [2, 3]


# -------------------------------------------------------------------- samples and all rows


def test_a_large_table_is_sampled_and_ranked_on_request():
    X, groups = table(400, 6)
    y = np.where(np.arange(400) < 40, groups, -1)
    session = Session(X, y, must_link=[[390, 393]], cannot_link=[[0, 391]], most_rows=100, n_features=2)
    opened = ask(session, "open")["table"]
    assert opened["sampled"]
    assert len(opened["rows"]) == 100
    assert {390, 391, 393} <= set(opened["rows"])
    assert len(set(range(40)) & set(opened["rows"])) == 40
    assert len(opened["places"]) == 100
    absent = next(row for row in range(400) if row not in set(opened["rows"]))
    assert session.handle({"type": "row", "row": absent})["type"] == "error"
    ask(session, "label", rows=[opened["rows"][-1]], label="1")
    started = ask(session, "final")
    assert started["total"] >= 1
    session.final[1].join(60)
    status = ask(session, "final_status")
    assert not status["running"]
    assert status["current"]
    y[opened["rows"][-1]] = 1
    links = {"must_link": [[390, 393]], "cannot_link": [[0, 391]]}
    fitted = SpectralSelector("subset", n_features_to_select=2).fit(X, y, **links)
    assert status["ranking"]["order"] == fitted.order_.tolist()
    assert np.array_equal(session.selector.order_, fitted.order_)
    assert ask(session, "export", what="ranking")["text"].splitlines()[1].startswith(f"x{fitted.order_[0]},")
    ask(session, "undo")
    assert not ask(session, "final_status")["current"]


def test_a_final_ranking_can_be_cancelled(monkeypatch):
    import threading

    from fiedler.explore.live import Live

    session, entered, go = Session(table(60, 6)[0], n_features=2), threading.Event(), threading.Event()

    def slow(self, *arguments):
        entered.set()
        go.wait(60)
        return session.ranked

    monkeypatch.setattr(Live, "rank", slow)
    assert ask(session, "final")["running"]
    assert entered.wait(60)
    assert session.handle({"type": "final"})["type"] == "error"
    assert ask(session, "final_cancel")["cancelled"]
    go.set()
    session.final[1].join(60)
    status = ask(session, "final_status")
    assert status["ranking"] is None
    assert not status["running"]


def test_the_final_ranking_tells_why_it_failed():
    session = Session(table(60, 6)[0], n_features=2, method="fisher")
    ask(session, "final")
    session.final[1].join(60)
    assert "requires y" in ask(session, "final_status")["error"]


def test_a_source_is_read_in_part(tmp_path):
    X, groups = table(300, 6)
    np.save(tmp_path / "X.npy", X)
    from fiedler.sources import open_source

    session = Session(open_source(tmp_path / "X.npy"), groups, most_rows=50, n_features=2)
    assert len(session.rows) == 50
    ask(session, "final")
    session.final[1].join(60)
    fitted = SpectralSelector("subset", n_features_to_select=2).fit(X, groups)
    assert ask(session, "final_status")["ranking"]["order"][:2] == fitted.order_[:2].tolist()


# -------------------------------------------------------------------- nothing is lost


def test_a_saved_session_goes_on():
    X, _ = table()
    session = Session(X, n_features=2)
    ask(session, "pair", rows=[0, 4], link="cannot")
    ask(session, "label", rows=[2], label="<script>alert(1)</script>")
    ask(session, "pin", feature=3)
    ask(session, "set", method="sselect", lam=0.4, n_features=3)
    ask(session, "snapshot", slot="A") if not session.ranked.trouble else None
    saved = json.loads(json.dumps(session.saved()))
    other = Session(X, n_features=2)
    other.restore(saved)
    assert without_history(other.state()) == without_history(session.state())


def test_a_session_of_another_table_is_refused():
    X, _ = table()
    saved = Session(X, n_features=2).saved()
    for other in (Session(X[:20], n_features=2), Session(X, feature_names=list("abcdef"), n_features=2)):
        with pytest.raises(ValueError, match="other rows or features"):
            other.restore(saved)
    for damaged in (
        None,
        [],
        {"format": 99},
        saved | {"answers": [{"kind": "pair"}]},
        saved | {"settings": {"lam": 9}},
    ):
        session = Session(X, n_features=2)
        before = session.state()
        with pytest.raises(ValueError, match=r"\w"):
            session.restore(damaged)
        assert session.state() == before


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A CSV file with ids and a target, in the current folder."""
    monkeypatch.chdir(tmp_path)
    X, groups = table(24, 5)
    names = ["one, with comma", "two", "=three", "four'", "five"]
    lines = [",".join(["id", *(f'"{name}"' for name in names), "kind"])]
    for i, row in enumerate(X):
        lines.append(",".join([f"s{i}", *map(repr, row.tolist()), "abc"[groups[i]] if i < 9 else ""]))
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    from fiedler.io import read_table

    read = read_table("data.csv", target="kind", id_column=["id"])
    origin = Origin("data.csv", {"target": "kind", "id_columns": ("id",)})
    return Session(read.X, read.y, feature_names=read.feature_names, row_ids=read.row_ids, n_features=2, origin=origin)


def answered(session):
    ask(session, "pair", rows=[10, 13], link="must")
    ask(session, "pair", rows=[10, 14], link="cannot")
    ask(session, "label", rows=[20, 23], label="c")
    return ask(session, "ban", feature=3)


@pytest.mark.parametrize("answers", [False, True])
@pytest.mark.parametrize("method", ["subset", "constraint"])
def test_the_exported_command_repeats_the_ranking(file, tmp_path, method, answers):
    if answers:
        answered(file)
    state = ask(file, "set", method=method)
    for what in ("pairs", "labels"):
        (tmp_path / f"{what}.csv").write_text(ask(file, "export", what=what)["text"])
    exported = ask(file, "export", what="command")
    assert exported["name"] == "command.sh"
    line = exported["text"].splitlines()[-1]
    result = CliRunner().invoke(main, shlex.split(line)[1:])
    assert result.exit_code == 0, result.output
    ranked = ask(file, "export", what="ranking")["text"].splitlines()
    told = (tmp_path / "ranking.csv").read_text().splitlines()
    assert len(told) == 3
    assert [row.rsplit(",", 4)[0] for row in told[1:]] != []
    names = [file.feature_names[j] for j in order(state)[:2]]
    for name, row, mine in zip(names, told[1:], ranked[1:], strict=False):
        assert name in row.replace('""', '"')
        assert name in mine.replace('""', '"')


def test_the_exports_know_every_option_that_reads_a_file():
    """A new option of the command line must be part of the exported command and script."""
    shared = {p.name for p in main.commands["rank"].params} & {p.name for p in main.commands["explore"].params}
    elsewhere = {"data", "auto", "must_link", "cannot_link", "pairs", "method", "top", "quiet", "memory"}
    assert shared - elsewhere == READING


@pytest.mark.filterwarnings("ignore:t.csv is not purely numeric")
def test_options_of_all_kinds_are_exported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, groups = table(24, 3)
    X[:, 2] = groups
    lines = [
        "a title",
        "id,a,b,code,note",
        *(f"s{i},{r[0]!r},{r[1]!r},{int(r[2])},x" for i, r in enumerate(X.tolist())),
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    options = {"id_columns": ("id",), "drop": ("note",), "category": ("code",), "skip_rows": 1, "header": True}
    from fiedler.io import read_table

    read = read_table("t.csv", id_column=["id"], drop=["note"], categories=["code"], skip_rows=1, header=True)
    problem = Problem.read(read.prepared, read.feature_names)
    about = {"feature_names": read.feature_names, "row_ids": read.row_ids, "origin": Origin("t.csv", options)}
    session = Session(problem, n_features=2, scale="keep", **about)
    line = ask(session, "export", what="command")["text"].splitlines()[-1]
    assert "--skip-rows 1 --header --category code --drop note" in line
    result = CliRunner().invoke(main, shlex.split(line)[1:])
    assert result.exit_code == 0, result.output
    told = [row.split(",")[0] for row in (tmp_path / "ranking.csv").read_text().splitlines()[1:]]
    space = {}
    exec(ask(session, "export", what="script")["text"], space)
    assert told == space["selected"] == [read.feature_names[j] for j in order(session.state())[:2]]


def test_the_exported_script_fills_missing_values_and_imports_public_names_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, _ = table(24, 4)
    rows = [
        ",".join("" if (i + j) % 9 == 0 else repr(v) for j, v in enumerate(row)) for i, row in enumerate(X.tolist())
    ]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d", *rows]) + "\n")
    from fiedler.io import fill_missing, read_table

    read = read_table("t.csv")
    origin = Origin("t.csv", {"impute": "median"})
    session = Session(fill_missing(read, "median"), feature_names=read.feature_names, n_features=2, origin=origin)
    text, space = ask(session, "export", what="script")["text"], {}
    exec(text, space)
    assert space["selected"] == [read.feature_names[j] for j in order(session.state())[:2]]
    assert {line.split()[1] for line in text.splitlines() if line.startswith("from fiedler")} == {
        "fiedler",
        "fiedler.io",
    }


def test_ids_that_are_not_unique_are_replaced_by_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, _ = table(24, 4)
    lines = ["id,a,b,c,d", *(f"s{i % 20},{','.join(map(repr, row.tolist()))}" for i, row in enumerate(X))]
    (tmp_path / "twice.csv").write_text("\n".join(lines) + "\n")
    ids = [f"s{i % 20}" for i in range(24)]
    origin = Origin("twice.csv", {"id_columns": ("id",)})
    session = Session(X, feature_names=list("abcd"), row_ids=ids, n_features=2, origin=origin)
    ask(session, "label", rows=[0, 3], label="x")
    state = ask(session, "label", rows=[1, 22], label="y")
    assert ask(session, "row", row=22)["row_id"] == "s2"
    text = ask(session, "export", what="labels")["text"]
    assert text == "row,label\n0,x\n1,y\n3,x\n22,y\n"
    (tmp_path / "labels.csv").write_text(text)
    line = ask(session, "export", what="command")["text"].splitlines()[-1]
    result = CliRunner().invoke(main, shlex.split(line)[1:])
    assert result.exit_code == 0, result.output
    told = [row.split(",")[0] for row in (tmp_path / "ranking.csv").read_text().splitlines()[1:]]
    assert told == ["abcd"[j] for j in order(state)[:2]]


@pytest.mark.parametrize("answers", [False, True])
def test_the_exported_script_repeats_the_selection(file, answers, capsys):
    if answers:
        answered(file)
        ask(file, "pin", feature=1)
    state = file.state()
    space = {}
    exec(compile(ask(file, "export", what="script")["text"], "selection.py", "exec"), space)
    wanted = [file.feature_names[j] for j in order(state)[: state["ranking"]["n_selected"]]]
    assert space["selected"] == wanted
    assert capsys.readouterr().out.splitlines() == wanted


@pytest.mark.parametrize("scale", [None, "standard", "minmax"])
def test_the_script_of_arrays_needs_only_them(capsys, scale):
    X, groups = table()
    X[:, 4] *= 20
    session = Session(X, groups, n_features=2, scale=scale)
    fitted = SpectralSelector("subset", n_features_to_select=2, scale=scale).fit(X, groups)
    assert order(session.state()) == fitted.order_.tolist()
    space = {"X": X, "y": groups}
    exec(ask(session, "export", what="script")["text"], space)
    assert space["selected"] == [f"x{j}" for j in order(session.state())[:2]]


def test_the_report_is_one_page(file):
    pytest.importorskip("jinja2", reason="needs the extra 'report'")
    answered(file)
    text = ask(file, "export", what="report")["text"]
    assert text.startswith("<!doctype html>")
    assert "four&#39;" not in text  # it is banned


def test_there_is_no_ranking_to_export():
    session = Session(table()[0], method="fisher", n_features=2)
    for what in ("ranking", "report"):
        assert "no ranking" in session.handle({"type": "export", "what": what})["message"]
    for kind in ("stability", "snapshot"):
        fields = {"slot": "A"} if kind == "snapshot" else {}
        assert "no ranking" in session.handle({"type": kind, **fields})["message"]
    assert session.handle({"type": "layout", "of": "chosen"})["type"] == "error"


# -------------------------------------------------------------------- what stays


def test_a_label_keeps_its_colour_when_others_are_added():
    X, _ = table()
    session = Session(X, n_features=2)
    ask(session, "label", rows=[1], label="m")
    before = ask(session, "label", rows=[2], label="z")["labels"]
    after = ask(session, "label", rows=[3], label="a")["labels"]
    colour = lambda labels: dict(zip(labels["names"], labels["colours"], strict=True))  # noqa: E731
    assert colour(after) == colour(before) | {"a": 2}
    ask(session, "label", rows=[1], label=None)
    assert colour(session.state()["labels"]) == {"z": 1, "a": 2}
    again = Session(X, n_features=2)
    again.restore(json.loads(json.dumps(session.saved())))
    assert colour(again.state()["labels"]) == {"z": 1, "a": 2}


def test_undo_and_redo_survive_a_new_start(tmp_path):
    X, _ = table()
    session, file = Session(X, n_features=2), SessionFile(tmp_path / "s.json")
    states = [without_history(session.state())]
    for feature in (0, 1):
        states.append(without_history(ask(session, "ban", feature=feature)))
    ask(session, "undo")
    file.save(session)
    again = Session(X, n_features=2)
    assert SessionFile(tmp_path / "s.json").load(again)
    assert (again.state()["undo"], again.state()["redo"]) == (1, 1)
    answers = lambda state: state["answers"]  # noqa: E731
    assert answers(ask(again, "redo")) == answers(states[2])
    assert [answers(ask(again, "undo")) for _ in range(2)] == [answers(states[1]), answers(states[0])]


@pytest.mark.parametrize(
    "steps", [{"past": [[0]]}, {"answers": [3]}, {"past": 7}, [1], {"past": [["x"]], "answers": []}]
)
def test_steps_of_a_damaged_file_are_refused(tmp_path, steps):
    X, _ = table()
    session = Session(X, n_features=2)
    (tmp_path / "s.json").write_text(json.dumps(session.saved() | {"steps": steps}))
    with pytest.raises(ValueError, match=r"s\.json cannot be used"):
        SessionFile(tmp_path / "s.json").load(session)


def test_the_page_shows_values_as_the_table_does():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 90, 40), "kind": ["red", "blue"] * 20})
    frame["admitted"] = pd.Timestamp("2021-03-01") + pd.to_timedelta(np.arange(40) * 10, unit="D")
    with pytest.warns(TableWarning):
        session = Session(frame, n_features=3)
    shown = dict(ask(session, "row", row=3)["values"])
    assert shown == {"age": str(frame["age"][3]), "kind": "blue", "admitted": "2021-03-31"}
    column = list(frame).index("age")
    assert ask(session, "feature", feature=column)["ends"] == [str(frame["age"].min()), str(frame["age"].max())]
    scaled = Session(frame[["age"]].assign(other=rng.normal(300, 10, 40)), n_features=1, scale="standard")
    assert ask(scaled, "feature", feature=0)["values"] == frame["age"].tolist()
    assert "standardised" not in ask(scaled, "export", what="report")["text"]


def test_the_page_speaks_of_no_parameters_of_python(rng):
    X = np.hstack([rng.normal(size=(200, 1)) + 0.3 * rng.normal(size=(200, 3)), rng.normal(size=(200, 9))])
    notes = Session(X, n_features=6).state()["ranking"]["notes"]
    assert any("look like noise" in note for note in notes)
    assert not any("n_features_to_select" in note for note in notes)
