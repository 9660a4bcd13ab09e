"""The command ``fiedler``: rank, select, compare and report on tables in files, without writing Python.

    fiedler rank genes.csv --target label --method 'sselect[lam=0.1,graph=knn[n_neighbors=7]]' --out ranking.csv

- ``__init__``   every command and its options
- ``run``        from options to a job: the table, the method, the results;  ``scale``  memory, blocks and workers
- ``commands``   what ``methods``, ``demo`` and ``explore`` do
- ``screen``     results on stdout, notes, progress and errors on stderr

This room may import every other room. Only click is imported here; a command imports what it needs, so
``fiedler --help`` answers at once.
"""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any

import click

from ..registry import METHODS
from ..words import printable
from .scale import Size, longest_name
from .screen import Commands, Screen

TASKS = ("auto", "classes", "target")
SCALES = ("standard", "minmax", "keep")  # as in fiedler.data.arrays, which takes a second to import
_COMMAND = f"{__name__}.command"  # where a command keeps its own words
METHOD_NAMES = tuple(entry.name for entry in METHODS)


class Examples(click.Command):
    """A command whose examples are shown as they are written, and which keeps its own words for the report."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_COMMAND] = shlex.join(["fiedler", str(self.name), *args])
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line.strip()}\n" for line in self.epilog.strip().splitlines()))


class NumberOrShare(click.ParamType):
    """``20`` features, the share ``0.1`` of them, ``auto`` or ``fdr``."""

    name = "number|share|auto|fdr"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | float | str:
        if value in ("auto", "fdr"):
            return value
        try:
            number = float(value) if "." in str(value) else int(value)
        except ValueError:
            number = 0
        if number <= 0 or (isinstance(number, float) and number > 1):
            self.fail(f"{value!r} is neither a number of features, nor a share in (0, 1], nor auto or fdr.", param, ctx)
        return number


class Scale(click.Choice):
    """``standard``, ``minmax`` or ``keep``; ``none`` is an older word for ``keep``."""

    def __init__(self) -> None:
        super().__init__(SCALES)

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        return super().convert("keep" if value == "none" else value, param, ctx)


class Numbers(click.ParamType):
    """``5,10,20``."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[int]:
        try:
            return [int(part) for part in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} is not a list of whole numbers such as 5,10,20.", param, ctx)


class Sides(click.ParamType):
    """``28x28``."""

    name = "HxW"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        height, _, width = str(value).lower().partition("x")
        if not (height.isdigit() and width.isdigit()):
            self.fail(f"{value!r} is not the height and width of an image, such as 28x28.", param, ctx)
        return int(height), int(width)


def complete_method(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in METHOD_NAMES if name.startswith(incomplete)]


def _options(*options: Any) -> Any:
    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


_file = click.Path(dir_okay=False)
data_options = _options(
    click.argument("data", type=click.Path()),
    click.option(
        "--auto",
        is_flag=True,
        help="Use the guesses of 'fiedler look' for all options that are not given: target, ids, columns to leave out, "
        "scale, orientation.",
    ),
    click.option("--target", metavar="COL", help="Column that holds the labels: its name, or its number from 0."),
    click.option(
        "--labels", type=_file, help="File that holds the labels: one per line, or 'row,label' for some of the rows."
    ),
    click.option(
        "--id",
        "id_columns",
        metavar="COL",
        multiple=True,
        help="Column of row names, which is not used as a feature. Can be repeated.",
    ),
    click.option("--names", type=_file, help="File that holds the names of the features, one per line."),
    click.option("--layer", help="Layer of an .h5ad file to read instead of its X."),
    click.option("--header/--no-header", default=None, help="Say whether the first line of a text file holds names."),
    click.option(
        "--skip-rows",
        metavar="N",
        type=click.IntRange(min=0),
        help="Number of lines above the table in a text or .xlsx file; by default titles above it are found.",
    ),
    click.option(
        "--transpose", is_flag=True, help="The file holds one feature per row, with its name in the first cell."
    ),
    click.option("--sheet", help="Sheet of an .xlsx file: its name, or its number from 0."),
    click.option("--drop", metavar="COL", multiple=True, help="Leave this column out. Can be repeated."),
    click.option(
        "--category",
        metavar="COL",
        multiple=True,
        help="The numbers of this column are codes without an order: read it as a category. Can be repeated; 'all' "
        "means all features.",
    ),
    click.option("--numeric-only", is_flag=True, help="Leave out columns that hold no numbers."),
    click.option(
        "--scale",
        type=Scale(),
        help="Scale every column to unit variance (standard) or to the range 0 to 1 (minmax), or leave it as it "
        "is, without a warning about the scale (keep).",
    ),
    click.option(
        "--task",
        type=click.Choice(TASKS),
        default="auto",
        help="Say whether the labels are classes or a real target; auto decides by their values.",
    ),
    click.option(
        "--unlabeled", metavar="V", help="The label that means unknown, -1 by default; 'none' if -1 is a class."
    ),
    click.option(
        "--impute",
        type=click.Choice(["median", "mean", "zero"]),
        help="Fill missing cells with this value of their column.",
    ),
)
pair_options = _options(
    click.option(
        "--must-link", type=_file, help="File of pairs of rows that belong together: row ids, or row numbers from 0."
    ),
    click.option("--cannot-link", type=_file, help="File of pairs of rows that do not belong together."),
    click.option("--pairs", type=_file, help="File of both kinds of pairs; its third column says 'must' or 'cannot'."),
)
run_options = _options(
    click.option("--seed", metavar="N", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."),
    click.option("--jobs", metavar="N", type=click.IntRange(min=1), help="Number of cores to use; by default all."),
    click.option("--force", is_flag=True, help="Replace existing files."),
    click.option("-q", "--quiet", is_flag=True, help="Show neither notes nor progress."),
)
method_option = click.option(
    *("-m", "--method"),
    shell_complete=complete_method,
    help="A method, name[param=value,...], or a formula of several; 'fiedler methods' lists them.",
)
redundancy_option = click.option(
    "--redundancy",
    type=click.FloatRange(0, 1, min_open=True),
    is_flag=False,
    flag_value=0.7,
    metavar="[R]",
    help="Skip near-duplicates: features that correlate more than R (0.7 by default) with a better one.",
)
include_option = click.option(
    "--include",
    metavar="COL",
    multiple=True,
    help="Always select this feature, and choose others that complement it: its name, or its number from 0 among the "
    "features. Can be repeated.",
)
screen_option = click.option(
    "--screen",
    type=click.Choice(["agreement", "fdr"]),
    help="Drop noise columns first. agreement: columns that correlate with no other; fdr: not significant ones.",
)
scale_options = _options(
    click.option("--memory", type=Size(), help="Memory to use, such as 500MB or 2GB. Larger files are read in blocks."),
    click.option(
        "--workers", metavar="N", type=click.IntRange(min=1), help="Read the blocks in N processes of this machine."
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="Read the blocks on the workers of the Dask cluster at this address."
    ),
)
report_option = click.option("--report", type=_file, help="Write an HTML report to this file as well.")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="fiedler", message="fiedler %(version)s")
def main() -> None:
    """Spectral feature selection: find the columns of a table that vary little between similar rows.

    Labels are optional, and may be known for some rows only. They are classes or real targets. Instead of labels, you
    can give pairs of rows that belong together or do not.

    DATA is a CSV, TSV (also .gz), Excel, Parquet, Feather, ARFF, MATLAB, NPY, NPZ, svmlight, Matrix Market, h5ad, HDF5
    or Zarr file.
    """


@main.command(
    cls=Examples,
    epilog="""
    fiedler look table.csv
    fiedler look book.xlsx --sheet 'Results 2024'
    """,
)
@click.argument("data", type=click.Path())
@click.option("--header/--no-header", default=None, help="Say whether the first line of a text file holds names.")
@click.option("--skip-rows", metavar="N", type=click.IntRange(min=0), help="Number of lines above the table.")
@click.option("--transpose", is_flag=True, help="The file holds one feature per row, with its name in the first cell.")
@click.option("--sheet", help="Sheet of an .xlsx file: its name, or its number from 0.")
@click.option("--layer", help="Layer of an .h5ad file to read instead of its X.")
def look(data: str, **options: Any) -> None:
    """Show the columns of DATA and their problems, and print a command that works.

    Each column has a line with its role (feature, id, target candidate, text, constant, copy), its number of missing
    cells, its number of different values and its standard deviation. The roles are guesses; the option --auto of the
    other commands uses them.
    """
    screen = Screen()
    with screen.warnings_as_notes():
        from ..first_look import look as first_look
        from .run import with_size

        with screen.watching(f"looking at {with_size(data)}"):
            found = str(first_look(data, **options))
        click.echo("\n".join(map(printable, found.split("\n"))))


@main.command(
    cls=Examples,
    epilog="""
    fiedler rank genes.csv --target label --top 50 --out ranking.csv
    fiedler rank genes.csv --significance --alpha 0.05 --out ranking.csv
    fiedler rank cells.h5ad --target kind -m 'sselect[lam=0.1,graph=knn[n_neighbors=7]]' --stability 50
    fiedler rank spectra.parquet --pairs pairs.csv --id sample -m 'laplacian * constraint[variant=1]' | head
    fiedler rank big.zarr --memory 2GB --workers 2 --out ranking.csv
    """,
)
@data_options
@pair_options
@method_option
@redundancy_option
@include_option
@screen_option
@scale_options
@click.option("--top", metavar="K", type=click.IntRange(min=1), help="Show only the K best features.")
@click.option(
    "--stability",
    type=click.IntRange(min=2),
    metavar="N",
    help="Rank N random parts of the rows, and show how often each feature is among the best.",
)
@click.option(
    "--significance", is_flag=True, help="Test whether each feature is more than noise, and show p, q and effect."
)
@click.option(
    "--alpha",
    metavar="A",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="False discovery rate of --significance and --screen fdr; by default 0.1, and 0.01 for the screen of a set.",
)
@click.option(
    "--out",
    type=_file,
    help="Write the ranking to this .csv, .tsv, .json, .xlsx, .parquet or .feather file; - is standard output.",
)
@click.option(
    "--escape-formulas", is_flag=True, help="Put a quote before names that a spreadsheet would run as formulas."
)
@report_option
@run_options
def rank(data: str, **options: Any) -> None:
    """Rank the features of DATA, best first.

    The default method is 'subset'. It chooses a set of features, and uses labels or pairs if they are given.
    """
    screen = Screen(options["quiet"])
    with screen.warnings_as_notes():
        _early_errors(data, options)
        from . import run, scale

        with run.limited(options["jobs"]), scale.resources(options, screen):
            job, criterion = _prepare(data, options, screen)
            m, top = job.table.shape[1], options["top"]
            if top is not None and top > m:
                screen.note(f"--top {top}, but {data} has only {m} features")
            with scale.running(job, run.text_of(criterion), screen, f"ranking {m} features"):
                selector = job.fit(criterion, min(top or run.usual_number(criterion, job), m))
                n_draws = options["stability"]
                k = run.number_to_compare(selector, top) if n_draws else 0  # loads much
                drawn = run.frequencies(job, criterion, k, n_draws) if n_draws else None
                tested = run.tested(job, criterion, screen) if options["significance"] else None
        columns = run.ranking(job, selector, top, None if drawn is None else drawn.frequency, tested)
        if drawn is not None:
            number = f"{k} features" if top else f"{k} features (--top sets this number)"
            share = f"{drawn.n_draws} draws of 80 % of the rows"
            screen.note(f"{share}: the first {number} overlap by {drawn.jaccard:.2f} on average")
        if not run.deliver(columns, options, job.about(criterion)):
            screen.table(columns, run.title(job, criterion), top or 20)
        elif options["out"] != "-":
            screen.done(f"wrote {options['out']}")
        if options["report"]:
            results = {"stability": drawn, "significance": tested, "seed": options["seed"]}
            _report(options["report"], job, selector, screen, **results)


@main.command(
    cls=Examples,
    epilog="""
    fiedler select genes.csv --target label --top 100 --out small.csv
    fiedler select news.svmlight --top 0.1 --out small.svmlight
    """,
)
@data_options
@pair_options
@method_option
@redundancy_option
@include_option
@screen_option
@click.option(
    "--top",
    type=NumberOrShare(),
    help="Features to keep: a number (100), a share (0.1), auto (as many as a set needs) or fdr (those above noise). "
    "It is required, except with --auto.",
)
@click.option(
    "--out", type=click.Path(), required=True, help="File to write the reduced table to, in the format of DATA."
)
@scale_options
@run_options
def select(data: str, **options: Any) -> None:
    """Write a copy of DATA that keeps only the best features.

    Row ids and labels are kept. The order of the columns and their values do not change.
    """
    screen = Screen(options["quiet"])
    if options["top"] is None and not options["auto"]:
        raise click.UsageError("Missing option '--top': how many features to keep; --auto decides it.")
    with screen.warnings_as_notes():
        _early_errors(data, options)
        from ..data.formats import file_format, write_table
        from . import run, scale

        if file_format(options["out"]) != file_format(data):
            raise click.UsageError(f"--out {options['out']} must have the format of {data}.")
        with run.limited(options["jobs"]), scale.resources(options, screen):
            job, criterion = _prepare(data, options, screen)
            with scale.running(job, run.text_of(criterion), screen, "selecting"):
                selector = job.fit(criterion, options["top"] or ("auto" if criterion.is_set else None))
        with screen.working(f"writing {options['out']}"):
            write_table(options["out"], job.table, selector.support_, force=options["force"])
        kept = f"{selector.n_features_} of {job.table.shape[1]} features"
        screen.done(f"wrote {options['out']}: {kept} by {run.text_of(criterion)}")


@main.command(
    cls=Examples,
    epilog="""
    fiedler compare genes.csv --target label -m laplacian -m 'sselect[lam=0.1]' -m fisher --shown 10
    fiedler compare juice.csv --target sugar -m ssls -m correlation --features 5,10,20 --out values.csv
    """,
)
@data_options
@pair_options
@click.option(
    "-m",
    "--method",
    "methods",
    multiple=True,
    shell_complete=complete_method,
    help="A method to compare, name[param=value,...]. Can be repeated. Without it, usual methods are compared.",
)
@click.option(
    "--features",
    type=Numbers(),
    metavar="K,K",
    help="Numbers of features to compare at, such as 5,10,20; by default 5, 10, ..., 50.",
)
@click.option(
    "--draws",
    metavar="N",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Number of random draws of labels or folds.",
)
@click.option(
    "--shown",
    metavar="N",
    type=click.IntRange(min=0),
    help="Number of labels that each method may use in a draw; by default all labels outside the predicted fold. 0 "
    "selects without labels.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Measure: accuracy, clustering_accuracy, nmi, kmeans_accuracy, kmeans_nmi, rmse or jaccard. Can be repeated.",
)
@click.option(
    "--judge",
    type=click.Choice(["neighbors", "clusters", "both"]),
    help="Judge features by predictions from neighbours, by clusters of k-means, or by both, instead of --metric.",
)
@click.option(
    "--estimator",
    type=click.Choice(["knn", "logistic", "ridge", "pls", "svm", "forest"]),
    default="knn",
    show_default=True,
    help="Model that predicts the labels or the target from the chosen features.",
)
@click.option("--standardize", is_flag=True, help="Standardise the chosen columns before they are judged.")
@click.option(
    "--rows",
    metavar="N",
    type=click.IntRange(min=20),
    default=5000,
    show_default=True,
    help="Most rows to compare on; a larger table is sampled.",
)
@click.option(
    "--out",
    type=_file,
    help="Write every value to this .csv, .tsv, .xlsx, .parquet or .feather file, or a summary to this .json file.",
)
@report_option
@run_options
def compare(data: str, **options: Any) -> None:
    """Compare methods by how well their features predict the labels.

    Every method ranks the features, and the labels are predicted from its first k features. Random features, the
    variance and all features are compared as well. Without labels, the measure is the share of the neighbours of each
    row that the features preserve. With --out, the same command continues an interrupted comparison.
    """
    screen = Screen(options["quiet"])
    with screen.warnings_as_notes():
        _early_errors(data, options)
        from . import run, scale

        job = _load(data, options, screen, *options["methods"])
        options["methods"] = options["methods"] or run.usual_methods(job, screen)
        with scale.keeping_cells(options["out"], screen) as folder:
            result = run.comparison(job, screen, folder)
            if options["out"]:
                run.write_comparison(options["out"], result, options["force"])
        screen.table(*run.comparison_columns(result))
        if options["out"]:
            screen.done(f"wrote {options['out']}")
        if options["report"]:
            criterion = run.as_criterion(options["methods"][0])
            first = job.fit(criterion, "auto" if criterion.is_set else max(result.settings["n_features"]))
            _report(options["report"], job, first, screen, comparison=result, seed=options["seed"])


@main.command(cls=Examples, epilog="fiedler report genes.csv --target label --top 50 --out report.html")
@data_options
@pair_options
@method_option
@redundancy_option
@include_option
@screen_option
@click.option(
    "--top",
    type=NumberOrShare(),
    help="Features to select, as in 'fiedler select'; by default as many as a set needs, or half in a ranking.",
)
@click.option("--out", type=_file, default="report.html", show_default=True, help="File to write the report to.")
@run_options
def report(data: str, **options: Any) -> None:
    """Rank the features of DATA and write an HTML report about them."""
    screen = Screen(options["quiet"])
    with screen.warnings_as_notes():
        _early_errors(data, options, page=True)
        from . import run

        with run.limited(options["jobs"]):
            job, criterion = _prepare(data, options, screen)
            with screen.watching("ranking"):
                selector = job.fit(criterion, options["top"] or ("auto" if criterion.is_set else None))
            _report(options["out"], job, selector, screen, seed=options["seed"])


@main.command(
    cls=Examples,
    epilog="""
    fiedler explore genes.csv --target label
    fiedler explore spectra.csv --id sample --pairs pairs.csv --session tuesday.json
    fiedler explore digits.csv --target digit --image 8x8 --no-browser --port 8899
    """,
)
@data_options
@pair_options
@method_option
@click.option("--top", metavar="K", type=click.IntRange(min=1), help="Features to select; by default 10.")
@click.option("--session", type=_file, help="File that keeps the answers; by default DATA.fiedler.json.")
@click.option("--image", type=Sides(), help="Height and width, such as 28x28, if every row is an image.")
@click.option(
    "--rows",
    metavar="N",
    type=click.IntRange(min=2),
    default=5000,
    show_default=True,
    help="Largest number of rows to show and to rank after each answer; a larger table is sampled.",
)
@click.option("--memory", type=Size(), help="Memory to use, such as 500MB or 2GB. Larger files are read in blocks.")
@click.option("--port", metavar="N", type=click.IntRange(0, 65535), default=0, help="Port; by default any free one.")
@click.option("--no-browser", is_flag=True, help="Print the address only; do not open a browser.")
@click.option("-q", "--quiet", is_flag=True, help="Show neither notes nor progress.")
def explore(data: str, **options: Any) -> None:
    """Open DATA in a page in which you give labels and pairs by hand and see the ranking change.

    The page opens in the browser of this machine. Other machines cannot connect to it. Answers are saved in
    DATA.fiedler.json, and the next start continues from there. The command ends a minute after the page was closed, or
    with Ctrl-C.
    """
    screen = Screen(options["quiet"])
    with screen.warnings_as_notes():
        from . import commands

        commands.check_early(data, options)
        job, criterion = _prepare(data, options, screen)
        commands.explore(data, job, criterion, screen)


@main.command()
@click.argument("name", required=False, shell_complete=complete_method)
def methods(name: str | None) -> None:
    """List the methods, or explain one of them.

    The list has the formula of each method, the labels or pairs that it needs, whether large or small scores are good,
    and its paper.
    """
    from . import commands

    if name is not None:
        click.echo(commands.explain(name))
    else:
        commands.list_methods(Screen())


@main.command()
@click.option("-q", "--quiet", is_flag=True, help="Show neither notes nor progress.")
def demo(quiet: bool) -> None:
    """Show a ranking of real data.

    The data are scikit-learn's breast cancer set, with 569 rows and 30 features. Only 10 labels are used.
    """
    screen = Screen(quiet)
    with screen.warnings_as_notes(), screen.working("ranking 30 features with 10 labels"):
        from .commands import demo_ranking

        columns = demo_ranking()
    screen.table(columns, "sselect on breast cancer, 10 of 569 labels known; small is good", 10)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that lets your shell complete commands and methods.

    In bash, run: eval "$(fiedler completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is not None:
        click.echo(kind(main, {}, "fiedler", "_FIEDLER_COMPLETE").source())


def _early_errors(data: str, options: dict[str, Any], page: bool = False) -> None:
    """What can be known to fail before any file is read."""
    from importlib.util import find_spec

    from ..data.formats import check_output
    from ..data.labels import RANKING_SUFFIXES

    if options["target"] is not None and options["labels"] is not None:
        raise click.UsageError("--target and --labels both give the labels; choose one.")
    report, out = options.get("report", options["out"] if page else None), options["out"]
    if report and not report.lower().endswith((".html", ".htm")):
        raise click.UsageError(f"{report}: a report is an .html file.")
    suffix = os.path.splitext(str(out))[1].lower()
    needed = [("matplotlib", "report"), ("jinja2", "report")] * bool(report)
    needed += [("pyarrow", "io")] * (suffix in (".parquet", ".feather")) + [("openpyxl", "io")] * (suffix == ".xlsx")
    for module, extra in needed:  # what is missing is said before the work
        if sys.modules.get(module, ()) is None or find_spec(module) is None:
            raise ImportError(f"{report or out} needs {module}; install it with: pip install 'fiedler[{extra}]'")
    if out == "-" and "escape_formulas" not in options:
        raise click.UsageError("--out - writes a ranking to standard output; name a file here.")
    if "report" in options and out not in (None, "-") and not out.lower().endswith(RANKING_SUFFIXES):
        raise click.UsageError(f"--out {out}: results are written as {', '.join(RANKING_SUFFIXES)}.")
    inputs = [data, *(options.get(name) for name in ("labels", "names", "must_link", "cannot_link", "pairs"))]
    for path in (out, report):
        if path in (None, "-"):
            continue
        size, most = len(os.fsencode(os.path.basename(path))), longest_name(os.path.dirname(path) or ".")
        if size > most:
            has = f"this name has {size} bytes, but a name in this folder has at most {most}"
            raise click.UsageError(f"{path[:20]}...: {has}; choose a shorter one.")
        for given in filter(None, inputs):  # two names may lead to one file, through links too
            both = os.path.exists(given) and os.path.exists(path)
            if os.path.samefile(given, path) if both else os.path.realpath(given) == os.path.realpath(path):
                raise click.UsageError(f"{path} is {given}, which is read; results never replace their own data.")
        check_output(path, options["force"])


def _load(data: str, options: dict[str, Any], screen: Screen, *methods: str | None) -> Any:
    """The table, after a check that the methods can be, which should be known before a file is read."""
    from ..syntax import as_criterion
    from . import run

    for method in methods:
        _ = method is not None and as_criterion(method).greater_is_better
    return run.load(data, options, screen)


def _prepare(data: str, options: dict[str, Any], screen: Screen) -> tuple[Any, Any]:
    from . import run

    job = _load(data, options, screen, options["method"])
    return job, run.choose(options["method"], job, screen)


def _report(path: str, job: Any, selector: Any, screen: Screen, **results: Any) -> None:
    """One HTML file about a fitted selector, with the stability or the comparison where there is one."""
    from ..report import summarize, write_html

    with screen.watching("writing the report"):
        about = {"feature_names": job.table.feature_names, "source": str(job.table.source)}
        about |= {"task": job.options["task"], "command": click.get_current_context().meta[_COMMAND]}
        selector.set_params(scale=job.options["scale"])  # the lines of Python scale; what was read is not scaled
        summary = summarize(selector, job.read, job.y, **about, **job.pairs, **results)
        write_html(path, summary, job.options["force"])
    screen.done(f"wrote {path}")
