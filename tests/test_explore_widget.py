"""The page in a notebook: one module for all, messages through the widget, and what can be read from it."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("anywidget", reason="needs the extra 'explore'")

import fiedler
from fiedler import SpectralSelector
from fiedler.explore.widget import MODULES, PAGE, Explorer, bundle

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the widgets' own packages


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    groups = np.arange(30) % 3
    X = rng.normal(size=(30, 6))
    X[:, :3] += 3 * rng.normal(size=(3, 3))[groups]
    return X, groups


def sent_by(page, *messages):
    """What the widget sends back when the page sends messages."""
    replies = []
    page.send = lambda content, buffers=None: replies.append(json.loads(json.dumps(content, allow_nan=False)))
    for number, message in enumerate(messages):
        page._handle_custom_msg({**message, "id": f"q-{number}"}, [])
    return replies


def test_messages_go_through_the_widget(table):
    X, groups = table
    y = np.where(np.arange(30) < 9, groups, -1)
    page = fiedler.explore(X, y, n_features=2)
    assert isinstance(page, Explorer)
    opened, paired, wrong = sent_by(
        page, {"type": "open"}, {"type": "pair", "rows": [10, 13], "link": "must"}, {"type": "nonsense"}
    )
    assert [reply["id"] for reply in (opened, paired, wrong)] == ["q-0", "q-1", "q-2"]
    assert wrong["type"] == "error"
    assert page.version == 1
    must = {"must_link": [[10, 13]], "cannot_link": np.empty((0, 2), dtype=int)}
    fitted = SpectralSelector("subset", n_features_to_select=2).fit(X, y, **must)
    assert paired["ranking"]["order"] == fitted.order_.tolist()
    assert np.array_equal(page.selector.order_, fitted.order_)
    assert page.selector.transform(X).shape == (30, 2)
    again = SpectralSelector("subset", n_features_to_select=2).fit(X, page.labels, **page.pairs)
    assert np.array_equal(again.order_, fitted.order_)


def test_labels_can_be_read_as_y(table):
    X, groups = table
    page = fiedler.explore(X, n_features=2)
    assert page.labels is None
    for label in range(3):
        rows = np.flatnonzero(groups == label)[:3].tolist()
        sent_by(page, {"type": "label", "rows": rows, "label": "abc"[label]})
    assert set(page.labels.tolist()) == {"a", "b", "c", None}
    fitted = SpectralSelector("subset", n_features_to_select=2).fit(X, page.labels)
    assert np.array_equal(page.selector.order_, fitted.order_)


def test_a_defect_is_told_to_the_page(table, monkeypatch):
    page = fiedler.explore(table[0])
    monkeypatch.setattr(page.state, "handle", lambda message: 1 / 0)
    (reply,) = sent_by(page, {"type": "open"})
    assert reply["type"] == "error"
    assert "ZeroDivisionError" in reply["message"]
    assert reply["id"] == "q-0"


def test_answers_are_kept_in_a_file(table, tmp_path):
    path = tmp_path / "notebook.json"
    page = fiedler.explore(table[0], session=path)
    sent_by(page, {"type": "pin", "feature": 4})
    again = fiedler.explore(table[0], session=path)
    assert again.state.known.pinned == [4]


def test_the_modules_of_the_page_can_be_one():
    """No import is left, one export, and no name is defined twice at the top."""
    text = bundle()
    assert not re.search(r"^import ", text, re.MULTILINE)
    assert re.findall(r"^export .*", text, re.MULTILINE) == ["export default {"]
    names = re.findall(r"^(?:async )?(?:function|class|const|let) ([A-Za-z_]\w*)", text, re.MULTILINE)
    assert len(names) > 30
    assert sorted(names) == sorted(set(names))
    assert {path.stem for path in PAGE.glob("*.js")} == {*MODULES, "main"}


def test_every_import_names_what_is_exported():
    exported = {}
    for name in (*MODULES, "main"):
        text = (PAGE / f"{name}.js").read_text(encoding="utf-8")
        exported[name] = set(re.findall(r"^export (?:function|class|const) (\w+)", text, re.MULTILINE))
        for names, module in re.findall(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', text, re.MULTILINE):
            assert {part.strip() for part in names.split(",")} <= exported[module], (name, module)


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "fiedler.explore.widget")
    with pytest.raises(ImportError, match=r"pip install 'fiedler\[explore\]'"):
        fiedler.explore([[1.0, 2.0], [2.0, 1.0]])


def test_the_room_can_be_called_whatever_was_imported_before():
    """Each order of imports in a package that is imported anew; one process, so that NumPy is imported once."""
    code = """
import sys
for first in ("import fiedler.explore.session as s", "import fiedler; fiedler.explore", ""):
    for name in [name for name in sys.modules if name.split(".")[0] == "fiedler"]:
        del sys.modules[name]
    exec(first, {})
    import fiedler
    from fiedler.explore import Session
    import fiedler.explore.session as again
    assert again.Session is Session
    assert callable(fiedler.explore)
    print(type(fiedler.explore).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["_Room"] * 3
