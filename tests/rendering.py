"""Pages of a report with a few sections: a figure takes a tenth of a second, and a whole page has twenty."""

from fiedler.report import SECTIONS, render_html

HEAD = ("data", "run", "features")  # without which there is no page


def only(*names):
    """These sections, with the head of the page, warnings and notes."""
    assert set(names) <= {section.name for section in SECTIONS}
    return [section for section in SECTIONS if section.name in (*HEAD, "warnings", "notes", *names)]


def page_of(summary, *names):
    """The page with these sections of a report."""
    return render_html(summary, only(*names))
