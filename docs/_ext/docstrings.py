"""Docstrings of this package as reStructuredText; they are written to be read in a terminal.

An indented paragraph is a formula and is shown as it is written. ``|dλ/dw|`` and ``scores_`` would be a substitution
and a target; they are escaped. What scikit-learn puts into classes by itself is left out.
"""

import re

from sphinx.ext import autosummary

autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.", "p.")  # no end of a sentence

UNDERLINE = re.compile(r"^-{3,}\s*$")
LITERAL = re.compile(r"(``.*?``|:[\w:]+:`[^`]*`|`[^`]*`_*)")
BARS = re.compile(r"\|(?=\S)")
TARGET = re.compile(r"(?<=\w)_(?!\w)")
ENTRY = re.compile(r"^(\S.*? : )(.*)$")  # name : type, whose name numpydoc escapes
TEXT, CODE = {"", "Notes"}, {"Examples"}  # sections with formulas, and with sessions


def readable(lines):
    """The lines of a docstring, ready for Sphinx."""
    out, section, inside = [], "", False
    for at, line in enumerate(lines):
        if at + 1 < len(lines) and UNDERLINE.match(lines[at + 1]):
            section, inside = line.strip(), False
        formula = section in TEXT and line.startswith("    ")
        if formula and not inside and not last_text(out).endswith("::"):
            out += ["", "::", ""]
        inside = formula or (inside and not line.strip())
        entry = ENTRY.match(line) if section not in TEXT else None
        if inside or section in CODE:
            out.append(line)
        else:
            out.append(entry[1] + escaped(entry[2]) if entry else escaped(line))
    return out


def last_text(lines):
    return next((line.rstrip() for line in reversed(lines) if line.strip()), "")


def escaped(line):
    """Bars and trailing underscores outside of literals and references, escaped."""
    parts = LITERAL.split(line)
    return "".join(part if at % 2 else TARGET.sub(r"\\_", BARS.sub(r"\\|", part)) for at, part in enumerate(parts))


def prepare(app, what, name, obj, options, lines):
    lines[:] = readable(lines)


def skip(app, what, name, obj, skipped, options):
    """Leave out scikit-learn's methods for routing and output, which all its estimators share, and fields of tuples.

    The fields of a named tuple are listed with its parameters; Python documents them as "Alias for field number 0".
    """
    shared = re.fullmatch(r"set_\w+_request|get_metadata_routing|set_output", name)
    return True if shared or str(getattr(obj, "__doc__", "")).startswith("Alias for field number") else None


def setup(app):
    app.connect("autodoc-process-docstring", prepare, priority=400)  # before numpydoc
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
