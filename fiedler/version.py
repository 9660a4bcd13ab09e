"""The version, in a module that imports no room, so that every room can use it."""

__version__ = "0.1.0.dev0"
_DECIDE_DIGITS = ("numpy", "scipy", "scikit-learn", "numba")


def software() -> dict[str, str | None]:
    """Versions of all software that affects the digits of a result; stored results of other versions are not used."""
    from importlib.metadata import PackageNotFoundError, version

    found: dict[str, str | None] = {"fiedler": __version__}
    for name in _DECIDE_DIGITS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # numba is an extra
            found[name] = None
    return found
