"""Pages that are made when the site is built: what the package knows about itself."""

import re

ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)


def read(app, docname, source):
    """Anchors as GitHub wants them, made targets of the site."""
    source[0] = ANCHOR.sub(r"(\1)=", source[0])


def setup(app):
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
