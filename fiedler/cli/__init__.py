"""The command ``fiedler``: rank, select, compare and report on tables in files, without writing Python.

    fiedler rank genes.csv --target label --method 'sselect[lam=0.1,graph=knn[n_neighbors=7]]' --out ranking.csv

- ``__init__``   every command and its options
- ``kinds``      values of options
- ``run``        from options to a job: memory and workers, the table, the method, the results, the page of ``explore``
- ``screen``     results on stdout, notes, progress and errors on stderr

This room may import every other room. Only click is imported here; a command imports what it needs, so
``fiedler --help`` answers at once.
"""

from __future__ import annotations

import inspect
import json
import re
import shlex
import sys
import warnings
from typing import Any

import click

from ..registry import METHODS
from ..words import did_you_mean, direction, printable
from .kinds import Number, Scale, number_or_share, numbers, sides, size
from .screen import Commands, Screen

TASKS, ESTIMATORS = ("auto", "classes", "target"), ("knn", "logistic", "ridge", "pls", "svm", "forest")
SCALES = ("standard", "minmax", "keep")  # as in fiedler.data.arrays, which takes a second to import
_COMMAND = f"{__name__}.command"  # where a command keeps its own words
_NEEDS = {"classes": "class labels", "target": "real target", "pairs": "pairs or class labels"}
_SENTENCE = re.compile(r"\.(?: (?=[A-Z])|$)|; see ")
METHOD_NAMES = tuple(entry.name for entry in METHODS)


class Examples(click.Command):
    """A command with a screen, whose examples are shown as written, and which keeps its words for the report."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_COMMAND] = shlex.join(["fiedler", str(self.name), *args])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        ctx.obj = Screen(ctx.params.get("quiet", False))
        with warnings.catch_warnings(action="always"):
            warnings.showwarning = ctx.obj.warned
            return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line.strip()}\n" for line in self.epilog.strip().splitlines()))


def complete_method(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in METHOD_NAMES if name.startswith(incomplete)]


# -------------------------------------------------------------------- options

# What --help says about an option, where a command says nothing else.
_HELP = {
    "--auto": "Use the guesses of 'fiedler look' for all options that are not given: target, ids, columns to leave "
    "out, scale, orientation.",
    "--target": "Column that holds the labels: its name, or its number from 0.",
    "--labels": "File that holds the labels: one per line, or 'row,label' for some of the rows.",
    "--id": "Column of row names, which is not used as a feature. Can be repeated.",
    "--names": "File that holds the names of the features, one per line.",
    "--layer": "Layer of an .h5ad file to read instead of its X.",
    "--header/--no-header": "Say whether the first line of a text file holds names.",
    "--skip-rows": "Number of lines above the table in a text or .xlsx file; by default titles above it are found.",
    "--transpose": "The file holds one feature per row, with its name in the first cell.",
    "--sheet": "Sheet of an .xlsx file: its name, or its number from 0.",
    "--drop": "Leave this column out. Can be repeated.",
    "--category": "The numbers of this column are codes without an order: read it as a category. Can be repeated; "
    "'all' means all features.",
    "--numeric-only": "Leave out columns that hold no numbers.",
    "--scale": "Scale every column to unit variance (standard) or to the range 0 to 1 (minmax), or leave it as it is, "
    "without a warning about the scale (keep).",
    "--task": "Say whether the labels are classes or a real target; auto decides by their values.",
    "--unlabeled": "The label that means unknown, -1 by default; 'none' if -1 is a class.",
    "--impute": "Fill missing cells with this value of their column.",
    "--must-link": "File of pairs of rows that belong together: row ids, or row numbers from 0.",
    "--cannot-link": "File of pairs of rows that do not belong together.",
    "--pairs": "File of both kinds of pairs; its third column says 'must' or 'cannot'.",
    "--method": "A method, name[param=value,...], or a formula of several; 'fiedler methods' lists them.",
    "--redundancy": "Skip near-duplicates: features that correlate more than R (0.7 by default) with a better one.",
    "--include": "Always select this feature, and choose others that complement it: its name, or its number from 0 "
    "among the features. Can be repeated.",
    "--screen": "Drop features that look like noise first. agreement: those that correlate with no other; fdr: those "
    "that are not significant; auto: as agreement, if more than 30 % seem to correlate with no other.",
    "--graph": "Graph over the rows in an .h5ad file, on which features are tested: a key of obsp, or of obsm "
    "(coordinates, such as spatial).",
    "--coordinates": "Columns with the places of the rows, such as x,y: every row is joined to its six nearest rows. "
    "Features are tested on this graph.",
    "--block": "Column with the slide, batch or donor of each row; rows are compared inside blocks only.",
    "--depth": "For counts on a graph: auto tests Pearson residuals, with the totals of the rows as depths; none tests "
    "the values as they are; or a column with depths.",
    "--memory": "Memory to use, such as 500MB or 2GB. Larger files are read in blocks.",
    "--workers": "Read the blocks in N processes of this machine.",
    "--scheduler": "Read the blocks on the workers of the Dask cluster at this address.",
    "--stability": "Rank N random parts of the rows, and show how often each feature is among the best.",
    "--significance": "Test whether each feature is more than noise, and show p, q and effect.",
    "--alpha": "False discovery rate of --significance and --screen fdr; by default 0.1, and 0.01 for the screen of a "
    "set.",
    "--escape-formulas": "Put a quote before names that a spreadsheet would run as formulas.",
    "--report": "Write an HTML report to this file as well.",
    "--features": "Numbers of features to compare at, such as 5,10,20; by default 5, 10, ..., 50.",
    "--draws": "Number of random draws of labels or folds.",
    "--shown": "Number of labels that each method may use in a draw; by default all labels outside the predicted fold. "
    "0 selects without labels.",
    "--metric": "Measure: accuracy, clustering_accuracy, nmi, kmeans_accuracy, kmeans_nmi, rmse or jaccard. Can be "
    "repeated.",
    "--judge": "Judge features by predictions from neighbours, by clusters of k-means, or by both, instead of "
    "--metric.",
    "--estimator": "Model that predicts the labels or the target from the chosen features.",
    "--standardize": "Standardise the chosen columns before they are judged.",
    "--session": "File that keeps the answers; by default DATA.fiedler.json.",
    "--image": "Height and width, such as 28x28, if every row is an image.",
    "--port": "Port; by default any free one.",
    "--no-browser": "Print the address only; do not open a browser.",
    "--seed": "Random seed.",
    "--jobs": "Number of cores to use; by default all.",
    "--force": "Replace existing files.",
    "--quiet": "Show neither notes nor progress.",
    "rank --top": "Show only the K best features.",
    "rank --out": "Write the ranking to this .csv, .tsv, .json, .xlsx, .parquet or .feather file; - is standard "
    "output.",
    "select --top": "Features to keep: a number (100), a share (0.1), auto (as many as a set needs) or fdr (those "
    "above noise). By default as many as a set needs, or half in a ranking.",
    "select --out": "File to write the reduced table to, in the format of DATA.",
    "compare --method": "A method to compare, name[param=value,...]. Can be repeated. Without it, usual methods are "
    "compared.",
    "compare --rows": "Most rows to compare on; a larger table is sampled.",
    "compare --out": "Write every value to this .csv, .tsv, .xlsx, .parquet or .feather file, or a summary to this "
    ".json file.",
    "report --top": "Features to select, as in 'fiedler select'; by default as many as a set needs, or half in a "
    "ranking.",
    "report --out": "File to write the report to.",
    "explore --top": "Features to select; by default 10.",
    "explore --rows": "Largest number of rows to show and to rank after each answer; a larger table is sampled.",
    "look --skip-rows": "Number of lines above the table.",
}


def _option(*flags: str, of: str = "", **about: Any) -> Any:
    """An option with its text in ``_HELP``; ``of`` is a command that says something else about it."""
    name = next(flag for flag in flags if flag.startswith("--"))
    return click.option(*flags, help=_HELP[f"{of} {name}".strip()], **about)


def _whole(least: int, letter: str = "N", usual: int | None = None) -> dict[str, Any]:
    about: dict[str, Any] = {} if usual is None else {"default": usual, "show_default": True}
    return {"type": click.IntRange(min=least), "metavar": letter, **about}


_file = click.Path(dir_okay=False)
_several: dict[str, Any] = {"metavar": "COL", "multiple": True}
_share: dict[str, Any] = {"type": number_or_share, "metavar": "NUMBER|SHARE|AUTO|FDR"}
_data, _quiet = click.argument("data", type=click.Path()), _option("-q", "--quiet", is_flag=True)
_header, _memory = _option("--header/--no-header", default=None), _option("--memory", type=size)
_layer, _sheet, _transpose = _option("--layer"), _option("--sheet"), _option("--transpose", is_flag=True)
_method, _report_file = _option("-m", "--method", shell_complete=complete_method), _option("--report", type=_file)
_TABLE = (
    _data,
    _option("--auto", is_flag=True),
    _option("--target", metavar="COL"),
    _option("--labels", type=_file),
    _option("--id", "id_columns", **_several),
    _option("--names", type=_file),
    *(_layer, _header, _option("--skip-rows", **_whole(0)), _transpose, _sheet),
    _option("--drop", **_several),
    _option("--category", **_several),
    _option("--numeric-only", is_flag=True),
    _option("--scale", type=Scale(SCALES)),
    _option("--task", type=click.Choice(TASKS), default="auto"),
    _option("--unlabeled", metavar="V"),
    _option("--impute", type=click.Choice(["median", "mean", "zero"])),
    *(_option(flag, type=_file) for flag in ("--must-link", "--cannot-link", "--pairs")),
)
_CHOICE = (
    _method,
    _option("--redundancy", type=click.FloatRange(0, 1, min_open=True), is_flag=False, flag_value=0.7, metavar="[R]"),
    _option("--include", **_several),
    _option("--screen", type=click.Choice(["auto", "agreement", "fdr", "none"]), default="auto", show_default=True),
)
_PLACES = (
    _option("--graph", metavar="KEY"),
    _option("--coordinates", metavar="COLS"),
    _option("--block", metavar="COL"),
    _option("--depth", metavar="auto|none|COL", default="auto", show_default=True),
)
_LARGE = (_memory, _option("--workers", **_whole(1)), _option("--scheduler", metavar="ADDRESS"))
_RUN = (
    _option("--seed", **_whole(0, usual=0)),
    _option("--jobs", **_whole(1)),
    _option("--force", is_flag=True),
    _quiet,
)


# -------------------------------------------------------------------- commands


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="fiedler", message="fiedler %(version)s")
def main() -> None:
    """Spectral feature selection: find the columns of a table that vary little between similar rows.

    Labels are optional, and may be known for some rows only. They are classes or real targets. Instead of labels, you
    can give pairs of rows that belong together or do not.

    DATA is a CSV, TSV (also .gz), Excel, Parquet, Feather, ARFF, MATLAB, NPY, NPZ, svmlight, Matrix Market, h5ad, HDF5
    or Zarr file.
    """


def _command(*options: Any, examples: str | None = None) -> Any:
    """A command of :func:`main` with these options, in this order; its function gets the screen first."""

    def declare(function: Any) -> Any:
        function = click.pass_obj(function)
        for option in reversed(options):
            function = option(function)
        return main.command(cls=Examples, epilog=examples)(function)

    return declare


@_command(
    *(_data, _header, _option("--skip-rows", of="look", **_whole(0)), _transpose, _sheet, _layer),
    examples="""
    fiedler look table.csv
    fiedler look book.xlsx --sheet 'Results 2024'
    """,
)
def look(screen: Screen, /, data: str, **options: Any) -> None:
    """Show the columns of DATA and their problems, and print a command that works.

    Each column has a line with its role (feature, id, target candidate, text, constant, copy), its number of missing
    cells, its number of different values and its standard deviation. The roles are guesses; the option --auto of the
    other commands uses them.
    """
    from ..first_look import look as first_look
    from .run import with_size

    with screen.watching(f"looking at {with_size(data)}"):
        found = str(first_look(data, **options))
    click.echo("\n".join(map(printable, found.split("\n"))))


@_command(
    *(*_TABLE, *_CHOICE, *_PLACES, *_LARGE),
    _option("--top", of="rank", type=Number(min=1), metavar="K"),
    _option("--stability", **_whole(2)),
    _option("--significance", is_flag=True),
    _option("--alpha", metavar="A", type=click.FloatRange(0, 1, min_open=True, max_open=True)),
    _option("--out", of="rank", type=_file),
    _option("--escape-formulas", is_flag=True),
    *(_report_file, *_RUN),
    examples="""
    fiedler rank genes.csv --target label --top 50 --out ranking.csv
    fiedler rank genes.csv --significance --alpha 0.05 --out ranking.csv
    fiedler rank cells.h5ad --target kind -m 'sselect[lam=0.1,graph=knn[n_neighbors=7]]' --stability 50
    fiedler rank spectra.parquet --pairs pairs.csv --id sample -m 'laplacian * constraint[variant=1]' | head
    fiedler rank spots.h5ad --graph spatial --block slide --out genes.csv
    fiedler rank big.zarr --memory 2GB --workers 2 --out ranking.csv
    """,
)
def rank(screen: Screen, /, data: str, **options: Any) -> None:
    """Rank the features of DATA, best first.

    The default method is 'subset'. It chooses a set of features, and uses labels or pairs if they are given.
    """
    from ..data.labels import ranking_text, write_ranking
    from . import run

    run.check(data, options)
    with run.resources(options, screen):
        job, top = run.load(data, options, screen), options["top"]
        m = job.table.shape[1]
        if top is not None and top > m:
            screen.note(f"--top {top}, but {data} has only {m} features")
        with run.running(job, screen, f"ranking {m} features"):
            fewest = max(1, len(job.included))  # without --top a ranking needs a number only for redundancy
            usual = max(run.USUAL_SET, fewest) if job.criterion.is_set else m if options["redundancy"] else fewest
            selector = job.fit(min(top or usual, m), screen)
            drawn = run.frequencies(job, selector) if options["stability"] else None
            tested = run.tested(job, screen) if options["significance"] or job.on_places else None
    columns = run.ranking(job, selector, drawn, tested)
    if found := run.prediction(job, selector, top, screen):
        screen.note(f"the first {found}")
    if drawn is not None:
        number = f"{drawn.k} features" if top else f"{drawn.k} features (--top sets this number)"
        share = f"{drawn.n_draws} draws of 80 % of the rows"
        screen.note(f"{share}: the first {number} overlap by {drawn.jaccard:.2f} on average")
    if options["out"] == "-":
        print(ranking_text(columns), end="")
    elif options["out"]:
        formulas = "escape" if options["escape_formulas"] else "keep"
        write_ranking(options["out"], columns, force=options["force"], about=job.about(), formulas=formulas)
        screen.done(f"wrote {options['out']}")
    else:
        about = f"{run.short_text(job.criterion)} on {job.table.source.name}: {job.table.shape[0]} rows, {m} features"
        scale = "gain: share added" if job.criterion.is_set else direction(job.criterion.greater_is_better)
        screen.table(columns, f"{about}; {scale}", top or 20)
    if options["report"]:
        _report(options["report"], job, selector, screen, stability=drawn, significance=tested)


@_command(
    *(*_TABLE, *_CHOICE, *_PLACES),
    _option("--top", of="select", **_share),
    _option("--out", of="select", type=click.Path(), required=True),
    *(*_LARGE, *_RUN),
    examples="""
    fiedler select genes.csv --target label --top 100 --out small.csv
    fiedler select news.svmlight --top 0.1 --out small.svmlight
    """,
)
def select(screen: Screen, /, data: str, **options: Any) -> None:
    """Write a copy of DATA that keeps only the best features.

    Row ids and labels are kept. The order of the columns and their values do not change.
    """
    from ..data.formats import file_format, write_table
    from . import run

    run.check(data, options)
    if file_format(options["out"]) != file_format(data):
        raise click.UsageError(f"--out {options['out']} must have the format of {data}.")
    with run.resources(options, screen):
        job = run.load(data, options, screen)
        with run.running(job, screen, "selecting"):
            selector = job.fit(options["top"], screen)
    with screen.watching(f"writing {options['out']}"):
        write_table(options["out"], job.table, selector.support_, force=options["force"])
    kept = f"{selector.n_features_} of {job.table.shape[1]} features"
    if found := run.prediction(job, selector, selector.n_features_, screen):
        screen.note(found)
    if options["top"] in (None, "auto") and len(getattr(selector, "explained_", ())) == selector.n_features_:
        kept += f", which explain {selector.explained_[-1]:.0%} of what all features explain,"
    screen.done(f"wrote {options['out']}: {kept} by {run.short_text(job.criterion)}")


@_command(
    *_TABLE,
    _option("-m", "--method", "methods", of="compare", multiple=True, shell_complete=complete_method),
    _option("--features", type=numbers, metavar="K,K"),
    _option("--draws", **_whole(1, usual=10)),
    _option("--shown", **_whole(0)),
    _option("--metric", "metrics", multiple=True),
    _option("--judge", type=click.Choice(["neighbors", "clusters", "both"])),
    _option("--estimator", type=click.Choice(ESTIMATORS), default="knn", show_default=True),
    _option("--standardize", is_flag=True),
    _option("--rows", of="compare", **_whole(20, usual=5000)),
    _option("--out", of="compare", type=_file),
    *(_report_file, *_RUN),
    examples="""
    fiedler compare genes.csv --target label -m laplacian -m 'sselect[lam=0.1]' -m fisher --shown 10
    fiedler compare juice.csv --target sugar -m ssls -m correlation --features 5,10,20 --out values.csv
    """,
)
def compare(screen: Screen, /, data: str, **options: Any) -> None:
    """Compare methods by how well their features predict the labels.

    Every method ranks the features, and the labels are predicted from its first k features. Random features, the
    variance and all features are compared as well. Without labels, the measure is the share of the neighbours of each
    row that the features preserve. With --out, the same command continues an interrupted comparison.
    """
    from ..data.labels import write_ranking
    from ..data.work import replacing
    from . import run

    run.check(data, options)
    job, out = run.load(data, options, screen), options["out"]
    with run.keeping_cells(out, screen) as folder:
        result = run.comparison(job, screen, folder)
        if out and out.lower().endswith(".json"):
            with replacing(out, options["force"]) as temporary:
                text = json.dumps(result.summary(), indent=1, allow_nan=False)
                temporary.write_text(text + "\n", encoding="utf-8")
        elif out:
            write_ranking(out, result.table, force=options["force"])
    screen.table(*run.comparison_columns(result))
    if out:
        screen.done(f"wrote {out}")
    if options["report"]:
        first = job.fit(None if job.criterion.is_set else max(result.settings["n_features"]), screen)
        _report(options["report"], job, first, screen, comparison=result)


@_command(
    *(*_TABLE, *_CHOICE, *_PLACES),
    _option("--top", of="report", **_share),
    _option("--out", of="report", type=_file, default="report.html", show_default=True),
    *_RUN,
    examples="fiedler report genes.csv --target label --top 50 --out report.html",
)
def report(screen: Screen, /, data: str, **options: Any) -> None:
    """Rank the features of DATA and write an HTML report about them."""
    from . import run

    run.check(data, options, page=True)
    with run.resources(options, screen):
        job = run.load(data, options, screen)
        with screen.watching("ranking"):
            selector = job.fit(options["top"], screen)
            tested = run.tested(job, screen) if job.on_places else None
        _report(options["out"], job, selector, screen, significance=tested)


@_command(
    *_TABLE,
    _method,
    _option("--top", of="explore", **_whole(1, "K")),
    _option("--session", type=_file),
    _option("--image", type=sides, metavar="HXW"),
    _option("--rows", of="explore", **_whole(2, usual=5000)),
    _memory,
    _option("--port", metavar="N", type=click.IntRange(0, 65535), default=0),
    _option("--no-browser", is_flag=True),
    _quiet,
    examples="""
    fiedler explore genes.csv --target label
    fiedler explore spectra.csv --id sample --pairs pairs.csv --session tuesday.json
    fiedler explore digits.csv --target digit --image 8x8 --no-browser --port 8899
    """,
)
def explore(screen: Screen, /, data: str, **options: Any) -> None:
    """Open DATA in a page in which you give labels and pairs by hand and see the ranking change.

    The page opens in the browser of this machine. Other machines cannot connect to it. Answers are saved in
    DATA.fiedler.json, and the next start continues from there. The command ends a minute after the page was closed, or
    with Ctrl-C.
    """
    from . import run

    run.check(data, options)
    run.explore(data, run.load(data, options, screen), screen, click.get_current_context().meta[_COMMAND])


@_command(click.argument("name", required=False, shell_complete=complete_method))
def methods(screen: Screen, name: str | None) -> None:
    """List the methods, or explain one of them.

    The list has the formula of each method, the labels or pairs that it needs, whether large or small scores are good,
    and its paper.
    """
    from .. import methods as known
    from ..registry import PAPERS

    classes = known.METHODS
    if name is not None:
        if name not in classes:
            raise ValueError(f"{name!r} is not a method; {did_you_mean(name, classes)}Known: {', '.join(classes)}.")
        signature = inspect.signature(classes[name])
        parameters = ",".join(f"{parameter}={info.default}" for parameter, info in signature.parameters.items())
        words = re.sub(r":\w+:`~?(?:fiedler\.)?([^`]*)`", r"\1", inspect.getdoc(classes[name]) or "")
        click.echo(f"{name}[{parameters}]\n\n{words.replace('``', '')}")
        return
    terminal, rows = sys.stdout.isatty(), []
    for entry in METHODS:
        method = classes[entry.name]()
        score = (inspect.getdoc(type(method)) or "").partition("\n")[0].replace(f" ({entry.equation})", "")
        score = _SENTENCE.split(score)[0]
        formula = repr(method.formula()) if isinstance(method, known.Method) else ""
        needs = " and ".join(_NEEDS[kind] for kind in sorted(method.reads)) or "nothing"
        about = [f"{score}\n{formula}".rstrip()] if terminal else [score, formula]
        rows.append((entry.name, *about, needs, direction(method.greater_is_better), entry.equation))
    names = ("method", "score", *["formula"] * (not terminal), "needs", "direction", "paper")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    screen.table(columns, "'fiedler methods NAME' explains one")
    if terminal:
        print("\nPapers: " + "; ".join(map(str, PAPERS.values())) + ".")


@_command(_quiet)
def demo(screen: Screen, quiet: bool) -> None:
    """Show the selection of features from real data.

    The data are scikit-learn's breast cancer set, with 569 rows and 30 features. Only 10 labels are used.
    """
    with screen.watching("selecting from 30 features with 10 labels"):
        import numpy as np
        from sklearn.datasets import load_breast_cancer

        from ..selector import SpectralSelector

        table = load_breast_cancer()
        few = np.full(len(table.target), -1)
        for label in (0, 1):
            few[np.flatnonzero(table.target == label)[:5]] = label
        selector = SpectralSelector(scale="standard").fit(table.data, few)
        found = {"feature": table.feature_names, "gain": selector.gains_, "rank": selector.ranking_}
        columns = {name: values[selector.order_[: selector.n_features_]] for name, values in found.items()}
        columns["explained"] = selector.explained_[: selector.n_features_]
    screen.table(columns, "subset on breast cancer, 10 of 569 labels known; gain: share added")


@_command(click.argument("shell", type=click.Choice(["bash", "zsh", "fish"])))
def completion(screen: Screen, shell: str) -> None:
    """Print a script that lets your shell complete commands and methods.

    In bash, run: eval "$(fiedler completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is not None:
        click.echo(kind(main, {}, "fiedler", "_FIEDLER_COMPLETE").source())


def _report(path: str, job: Any, selector: Any, screen: Screen, **results: Any) -> None:
    """One HTML file about a fitted selector, with the stability or the comparison where there is one."""
    from ..report import summarize, write_html

    with screen.watching("writing the report"):
        about = {"feature_names": job.table.feature_names, "source": str(job.table.source)}
        about |= {"task": job.options["task"], "command": click.get_current_context().meta[_COMMAND]}
        selector.set_params(scale=job.options["scale"])  # the lines of Python scale; what was read is not scaled
        summary = summarize(selector, job.read, job.table.y, **about, **job.pairs, **results, seed=job.options["seed"])
        write_html(path, summary, job.options["force"])
    screen.done(f"wrote {path}")
