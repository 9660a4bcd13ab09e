"""Files appear whole or not at all, and nothing is replaced without force."""

import numpy as np
import pytest

from fiedler.io import write_ranking

RANKING = {"feature": np.array(["a", "b, c"]), "score": np.array([0.1 + 0.2, np.nan]), "rank": np.array([1, 2])}


def test_nothing_is_replaced_or_left_behind(tmp_path, monkeypatch):
    path = tmp_path / "r.csv"
    path.write_text("old")
    with pytest.raises(FileExistsError, match="exists; use force=True"):
        write_ranking(path, RANKING)
    for failure in (RuntimeError, KeyboardInterrupt):

        def fail(*_, failure=failure):
            raise failure

        monkeypatch.setattr("fiedler.data.write.ranking_text", fail)
        with pytest.raises(failure):
            write_ranking(path, RANKING, force=True)
        assert [p.name for p in tmp_path.iterdir()] == ["r.csv"]
        assert path.read_text() == "old"
