"""The fuzz target in short: random tables for every method, damaged files of every format."""

import pytest
from fuzz import damaged_files, one_method


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_every_table_gets_scores_or_one_clear_error(block):
    problems = [(seed, one_method(seed)) for seed in range(150 * block, 150 * (block + 1))]
    assert not [found for found in problems if found[1]]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [(0, 1), (2, 3)])
def test_damaged_files_get_an_answer(seeds):
    assert not damaged_files(*seeds)
