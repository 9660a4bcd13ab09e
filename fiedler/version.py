"""The version, by itself, so that every room can name it without asking the front door."""

__version__ = "0.1.0.dev0"
_DECIDE_DIGITS = ("numpy", "scipy", "scikit-learn", "numba")


def software() -> dict[str, str | None]:
    """Versions of all that decides the digits of a result. A kept result of other versions is computed again."""
    from importlib.metadata import PackageNotFoundError, version

    found: dict[str, str | None] = {"fiedler": __version__}
    for name in _DECIDE_DIGITS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # numba is an extra
            found[name] = None
    return found
