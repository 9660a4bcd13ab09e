"""The version, in a module that imports no room, so that every room can use it."""

__version__ = "0.1.0"
_DECIDE_DIGITS = ("numpy", "scipy", "scikit-learn", "numba")
_ALSO_SHOWN = ("pandas", "polars", "matplotlib", "anndata", "zarr", "dask", "joblib", "threadpoolctl", "click")


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


def show_versions() -> None:
    """Print the versions of fiedler, of Python and of the packages it uses, for a bug report.

    Examples
    --------
    >>> import fiedler
    >>> fiedler.show_versions()  # doctest: +ELLIPSIS
    fiedler ...
    """
    import platform
    from importlib.metadata import PackageNotFoundError, version

    lines = {"fiedler": __version__, "python": platform.python_version(), "system": platform.platform()}
    for name in (*_DECIDE_DIGITS, *_ALSO_SHOWN):
        try:
            lines[name] = version(name)
        except PackageNotFoundError:
            lines[name] = "not installed"
    width = max(map(len, lines))
    print("\n".join(f"{name:<{width}}  {found}" for name, found in lines.items()))
