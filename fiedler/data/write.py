from .labels import RANKING_SUFFIXES, ranking_text, write_ranking  # noqa: F401
