"""The pages of measurements: their sentences say what the committed tables in benchmarks/results say."""

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS, RESULTS = ROOT / "docs", ROOT / "benchmarks" / "results"
STUDIES = {
    "reproductions.md": "papers",
    "which-method.md": "study",
    "is-it-real.md": "significance",
    "noise.md": "noise",
    "holes.md": "holes",
    "benchmark.md": "field",
    "scaling.md": "scale",
    "single-cells.md": "cells",
    "spatial.md": "spatial",
}
pytestmark = pytest.mark.skipif(not (DOCS.is_dir() and RESULTS.is_dir()), reason="the pages are not installed")


def load(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def records(path):
    header, *rows = load(path)
    return [dict(zip(header, row, strict=True)) for row in rows]


def table(page, name):
    return records(RESULTS / STUDIES[page] / f"{name}.csv")


def says(page, sentence):
    """Whether a page has a sentence, however its lines are broken."""
    return " ".join(sentence.split()) in " ".join((DOCS / page).read_text(encoding="utf-8").split())


# -------------------------------------------------------------------- sentences


def test_the_page_on_noise_says_what_the_screen_gives_back():
    rows = {row["method"]: row for row in table("noise.md", "real")}
    plain, screened = rows["subset"], rows["subset, agreement"]
    before, after, kept = plain["accuracy, 0 times"], plain["accuracy, 16 times"], screened["accuracy, 16 times"]
    assert says("noise.md", f"`subset` falls from {before} to {after}, and with the screen stays at {kept}.")
    assert float(kept) >= 0.72 > float(after)
    for block, least in (("real", 0.0), ("held-out", -0.004)):
        found = {row["method"]: float(row["accuracy, 0 times"]) for row in table("noise.md", block)}
        assert found["subset, agreement"] - found["subset"] >= least
    for name in ("LLCFS", "gated Laplacian"):
        rival = rows[name]["accuracy, 0 times"], rows[name]["accuracy, 16 times"]
        assert says("noise.md", f"{name} {'falls ' * (name == 'LLCFS')}from {rival[0]} to {rival[1]}")
    lost = []
    for block in ("real-text", "held-out-text"):
        found = {row["method"]: float(row["accuracy, 0 times"]) for row in table("noise.md", block)}
        lost.append(f"{found['subset'] - found['subset, agreement']:.3f}".lstrip("0"))
    assert says("noise.md", f"the screen costs `subset` {lost[0]} and {lost[1]} on text")
    told = {row["method"]: row["16 times"].replace("0.", ".", 1) for row in table("noise.md", "knowing")}
    a, b, c = (f"from {told[name]} to {told[f'{name}, agreement']}" for name in ("sSelect", "C4", "SSLS"))
    assert says("noise.md", f"sSelect rises {a}, C4 {b} and SSLS {c}")


# -------------------------------------------------------------------- pages open with their main results


@pytest.mark.parametrize("page", STUDIES)
def test_a_page_opens_with_its_main_results(page):
    opening = (DOCS / page).read_text(encoding="utf-8").partition("<!-- table:")[0]
    assert re.search(r"^(The three main results|In short)", opening, flags=re.MULTILINE)
    assert len(re.findall(r"^- ", opening, flags=re.MULTILINE)) >= 3


def test_the_opening_on_methods_quotes_its_tables():
    ranks = {row["method"]: row for row in table("which-method.md", "free-standings") if row["method"] != "all"}
    best, second = ranks["subset"], ranks["cur"]
    assert says("which-method.md", f"best average rank of {len(ranks)} selectors ({best['rank, together']}; CUR, the "
                                   f"second best, has {second['rank, together']})")  # fmt: skip
    assert says("which-method.md", f"({best['rank, held-out']}; CUR has {second['rank, held-out']})")
    gains = {
        row["subset over"]: row["5 to 20 per class: together, 37 sets"]
        for row in table("which-method.md", "labels-gains")
    }
    for rival, words in (
        ("subset, unlabelled", "{} higher than without labels ({} data sets better, {} worse)"),
        ("cur", "{} higher than that of CUR ({} better, {} worse)"),
    ):
        gain, better, worse = re.match(r"\+(\.\d+), (\d+):(\d+)", gains[rival]).groups()
        assert says("which-method.md", words.format(gain, better, worse))
    none = next(row for row in table("which-method.md", "advice") if row["you have"] == "no labels")
    lost = none["over all features"].lstrip("−")
    assert says("which-method.md", f"they are ahead of `subset` by {lost} on average")


def test_the_opening_on_significance_quotes_its_tables():
    rows = load(RESULTS / "significance" / "noise.csv")[1:]
    ours, naive = [float(row[5]) for row in rows], [float(row[2]) for row in rows]
    assert says("is-it-real.md", f"{100 * min(ours):.1f} to {100 * max(ours):.1f} % of pure noise features")
    assert says("is-it-real.md", f"{100 * min(naive):.0f} to {100 * max(naive):.0f} % are.")
    default = next(row for row in table("is-it-real.md", "planted") if "default" in row["how"])
    assert says("is-it-real.md", f"{100 * float(default['planted found']):.0f} % are found")
    assert says("is-it-real.md", f"{100 * float(default['false share of what is found']):.1f} % of the features found")
    assert max(float(row[".05"]) for row in table("is-it-real.md", "breaks")) == 1.0


def test_the_opening_on_noise_quotes_its_tables():
    found = {(row["sets"].split(",")[0], row["method"]): row for row in table("noise.md", "default")}
    for block, where in (("held-out", "on nine held-out data sets"), ("study", "On the 17 study sets")):
        plain, default = (found[block, method] for method in ("subset", "subset, auto (the default)"))
        assert says("noise.md", f"from {plain['0 times']} to {plain['16 times']}")
        assert says("noise.md", where)
        assert says("noise.md", f"the default it is {default['16 times']}")
    (clean,) = table("noise.md", "clean")
    assert says("noise.md", f"On {clean['equal to screen=None']} of {clean['sets without noise']} data sets")
    name, instead = clean["others"].split(": ")
    assert says("noise.md", name)
    assert says("noise.md", f"the accuracy is {instead}")
    blocks = next(row for row in table("noise.md", "failing") if "blocks" in row["data"])
    assert says("noise.md", f"keeps {100 * float(blocks['share']):.0f} % of the columns of correlated noise")


def test_the_opening_on_cells_quotes_its_tables():
    for name in ("yan", "pbmc68k_reduced"):
        mean = {row["genes chosen by"]: row["mean"] for row in table("single-cells.md", name)}
        sentence = f"has {mean['laplacian']}, scanpy's `cell_ranger` {mean['scanpy, cell_ranger']} and `seurat`"
        assert says("single-cells.md", f"{sentence} {mean['scanpy, seurat']}.")
        assert any(says("single-cells.md", f"{verb} {mean['variance']}.") for verb in ("with", "has"))


def test_the_opening_on_scaling_quotes_its_tables():
    limits = table("scaling.md", "limits")
    assert len(limits) == 13
    assert says("scaling.md", f"largest peak is {max(float(row['peak MiB']) for row in limits):.0f} MiB")
    seconds = {(row["axis"], row["rows"], row["columns"]): row["seconds"] for row in table("scaling.md", "growth")}
    tall, wide = seconds["rows", "1,000,000", "100"], seconds["columns", "200", "2,000,000"]
    assert says("scaling.md", f"1,000,000 × 100 values take {tall} s and 200 × 2,000,000 values take {wide} s")
    graphs = {row["graph"]: row for row in table("scaling.md", "anchors-fashion_mnist")}
    few, all_rows = graphs["Anchors(n_anchors=1000)"], graphs["KNN(weight='binary', algorithm='exact')"]
    assert says("scaling.md", f"takes {few['seconds']} s with 1000 anchors, and {all_rows['seconds']} s with exact")
    assert says("scaling.md", f"rank correlation of the two is {few['LS: ρ to binary kNN']}")
    assert says("scaling.md", f"features is {few['1-NN']} with anchors and {all_rows['1-NN']} with exact neighbours")


def test_the_opening_on_the_papers_counts_the_claims():
    *rows, everything = table("reproductions.md", "overview")
    counts = [[int(cell) for cell in list(row.values())[1:]] for row in rows]
    total = [sum(column) for column in zip(*counts, strict=True)]
    assert total == [int(cell) for cell in list(everything.values())[1:]]
    plain, setting, not_confirmed, _, _ = total
    claims = plain + setting + not_confirmed
    assert says("reproductions.md", f"**{plain + setting} of {claims} claims are confirmed, {setting} of them with a")
    assert plain + setting >= 80


def test_results_count_the_promises_that_are_met():
    met = [
        row["met"]
        for name in ("ratios", "facts")
        for row in records(RESULTS / "speed" / f"{name}.csv")
        if row["met"] != "–"
    ]
    told = f"{met.count('yes')} of {len(met)} promises are met"
    assert told in (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")


def test_the_sselect_section_says_what_its_table_says():
    rows = table("reproductions.md", "sselect-accuracy")
    ahead = sum(row["variance"] > row["sSelect"] for row in rows), sum(row["random"] > row["Laplacian"] for row in rows)
    assert ahead == (8, 3)
    page = "reproductions/sselect.md"
    assert says(page, "do better than sSelect in 8 of 9 rows. Random terms do better than LS in 3 rows")
    average = table("reproductions.md", "sselect-table-2")[-1]
    printed = records(ROOT / "benchmarks" / "papers" / "printed" / "sselect-table-2.csv")[-1]
    shares = [float(average[key]) / float(printed[key]) for key in ("less Fisher", "less Laplacian")]
    assert says(page, f"the gain is {100 * shares[0]:.0f} % of the printed one over Fisher and "
                                    f"{100 * shares[1]:.0f} % over LS")  # fmt: skip


def test_every_claim_has_a_verdict_and_each_that_fails_a_reason():
    papers = ("sselect", "spec", "ssls", "constraints", "evsc")
    for row, paper in zip(table("reproductions.md", "overview"), papers, strict=False):
        verdicts = [found["verdict"] for found in table("reproductions.md", f"{paper}-verdicts")]
        counts = [verdicts.count("confirmed"), verdicts.count("confirmed with this setting")]
        failing = [verdict for verdict in verdicts if verdict.startswith("not confirmed")]
        assert all(verdict.startswith("not confirmed: ") for verdict in failing)
        assert [int(cell) for cell in list(row.values())[1:4]] == [*counts, len(failing)]
        settings = [found["setting"] for found in table("reproductions.md", f"{paper}-verdicts")]
        told = [
            (v == "confirmed with this setting") == (s not in ("–", ""))
            for v, s in zip(verdicts, settings, strict=True)
        ]
        assert all(told)
        checks = [found["holds"] for found in table("reproductions.md", f"{paper}-checks")]
        assert [int(cell) for cell in list(row.values())[4:]] == [checks.count("yes"), checks.count("no")]


def test_what_a_stated_setting_breaks_is_said():
    broken = [
        (path.stem, row["key"])
        for path in sorted((RESULTS / "papers" / "answers").glob("*.csv"))
        for row in records(path)
        if (row["holds"], row["holds with the setting"]) == ("yes", "no")
    ]
    assert broken == [("constraints", "kendall-wine"), ("spec", "pie-rbf"), ("spec", "pie-supervised")]
    assert says("reproductions.md", "three claims that come out by default fail under the setting")


def test_which_method_names_the_best_average_ranks():
    order = [row["method"] for row in table("which-method.md", "free-standings")]
    assert order[:2] == ["subset", "cur"]
    assert len(order) - 1 == 18  # without all features
    assert all(row["use"].startswith("`subset`") for row in table("which-method.md", "advice"))
    verdicts = [row["verdict"] for row in table("which-method.md", "defaults")]
    assert says("which-method.md", f"{verdicts.count('keep')} of {len(verdicts)} defaults stand")


def test_where_subset_is_not_ahead_on_held_out_data_sets_is_said():
    column = "held-out, 15 sets"
    level = {
        row["subset over"]
        for row in table("which-method.md", "free-gains")
        if float(re.search(r"p [=<] (\.\d+)", row[column])[1]) >= 0.05
    }
    assert level == {"variance pruned", "cur", "evsc pruned", "fps", "variance"}
    losses = {row["subset over"] for row in table("which-method.md", "free-gains") if row[column].startswith("−")}
    assert losses == {"variance pruned", "all"}


def test_where_labels_and_targets_do_not_help_is_said():
    best = {
        column: min((row[column], row["method"]) for row in table("which-method.md", "labels-ranks")[:6])[1]
        for column in table("which-method.md", "labels-ranks")[0]
        if column.endswith("per class")
    }
    assert list(best.values()) == ["variance"] * 3 + ["relieff"] * 3
    values = table("which-method.md", "targets-values")
    first = [min((row[f"{n} targets"], row["method"]) for row in values if row["method"] not in ("all", "sets"))[1]
             for n in (4, 6, 10, 20, 40)]  # fmt: skip
    assert first == ["subset"] * 2 + ["l1"] * 3
    for name in ("free-tuned", "labels-tuned", "targets-tuned"):
        assert all(float(re.search(r"p = (\.\d+)", row["sets"])[1]) >= 0.05 for row in table("which-method.md", name))
    assert sum(row["gain"].startswith("+") for row in table("which-method.md", "free-tuned")) == 2


def test_every_job_keeps_to_its_memory():
    assert all(float(row["peak MiB"]) <= 500 for row in table("scaling.md", "limits"))
    one, two = (float(row["seconds"]) for row in table("scaling.md", "growth") if row["axis"] == "workers, by rows")
    assert says("scaling.md", f"two worker processes are {one / two:.2f} times as fast as one")


def test_p_values_hold_on_noise():
    rows = load(RESULTS / "significance" / "noise.csv")[1:]
    assert all(0.04 <= float(row[5]) <= 0.06 for row in rows)
    assert min(float(row[2]) for row in rows) > 0.1
    assert all(row["comes out"] == "yes" for row in table("is-it-real.md", "findings"))


def test_the_variance_is_ahead_on_both_sets_of_cells():
    for name in ("yan", "pbmc68k_reduced"):
        means = {row["genes chosen by"]: row["mean"] for row in table("single-cells.md", name)}
        assert means["variance"] > means["laplacian"]


def test_the_page_of_the_field_says_what_its_tables_say():
    for name in ("study", "fresh"):
        rows = {row["selector"]: row for row in table("benchmark.md", name)}
        near = {selector: float(row["1-NN"]) for selector, row in rows.items()}
        clusters = {selector: float(row["k-means"]) for selector, row in rows.items()}
        assert max(near, key=near.get) == "all"
        ahead = {selector for selector, value in near.items() if value > near["subset"] + 0.0005} - {"all"}
        assert ahead <= {"CUR", "FPS", "mrsf"}
        assert near["mcfs"] < near["mrsf"] < near["subset"]
        assert clusters["mcfs"] < clusters["subset"]
        assert near["trace_ratio"] < near["mcfs"]
        for rival in ("PFA", "UDFS", "NDFS"):
            assert near[rival] < near["subset"]
            assert clusters[rival] < clusters["subset"]
        better = [row["k-means: sets better than subset : worse (p)"] for row in rows.values()]
        assert not [cell for cell in better if "(" in cell and _wins(cell) and float(cell.split("(")[1][:-1]) < 0.05]


def test_the_page_of_the_field_quotes_its_tables():
    study, fresh = (
        {row["selector"]: row["1-NN"] for row in table("benchmark.md", name)} for name in ("study", "fresh")
    )
    assert says("benchmark.md", f"study sets ({study['subset']}, CUR {study['CUR']}, `mrsf` {study['mrsf']})")
    assert says("benchmark.md", f"fresh ones ({fresh['subset']}, {fresh['CUR']}, {fresh['FPS']})")
    assert study["subset"] == max(value for name, value in study.items() if name != "all")


def test_the_page_of_the_field_begins_with_its_ranks():
    *rows, last = table("benchmark.md", "ranks")
    ranks = {row["selector"]: row for row in rows}
    assert len(ranks) == 19

    def best(judge):
        return sorted(ranks, key=lambda name: float(ranks[name][judge]))

    near, clusters, svm = (f"{judge}, no text" for judge in ("1-NN", "k-means", "SVM"))
    first = "Explained(KNN(5), of='graph', power=1)"
    assert best(near)[:2] == ["subset", "CUR"]
    assert best(svm)[:3] == [first, "CUR", "subset"]
    assert best(clusters)[:3] == ["CUR", "laplacian, redundancy=True", "subset"]
    cells = {name: [ranks[name][judge] for judge in (near, clusters, svm)] for name in ("subset", "CUR")}
    assert says("benchmark.md", f"rank ({cells['subset'][0]} of 19 selectors). CUR ({cells['CUR'][0]}) is level")
    pruned = ranks["laplacian, redundancy=True"][clusters]
    assert says("benchmark.md", f"CUR ({cells['CUR'][1]}), the pruned Laplacian score ({pruned}) and "
                                f"`subset` ({cells['subset'][1]}) have the best ranks")  # fmt: skip
    assert says("benchmark.md", f"`{first}` ({ranks[first][svm]}), CUR ({cells['CUR'][2]}) and "
                                f"`subset` ({cells['subset'][2]})")  # fmt: skip

    def behind(judge):
        return {
            name for name in ranks if float(ranks[name][judge]) - float(ranks["subset"][judge]) > float(last[judge])
        }

    assert behind(near) == {"variance", "laplacian", "evsc", "trace_ratio", "PFA", "UDFS", "NDFS", "random"}
    assert behind(clusters) <= {"random"}  # of rounded ranks


def test_the_page_of_the_field_says_what_the_linear_judge_finds():
    sets = {name: {row["selector"]: row for row in table("benchmark.md", name)} for name in ("study", "fresh", "text")}
    value = {name: {selector: row["SVM"] for selector, row in rows.items()} for name, rows in sets.items()}
    duel = "SVM: sets better than subset : worse (p)"
    assert says("benchmark.md", f"study sets ({value['study']['subset']} and {value['study']['CUR']}) and on the fresh "
                                f"ones ({value['fresh']['subset']} and {value['fresh']['CUR']})")  # fmt: skip
    for name in ("study", "fresh"):
        assert max(value[name], key=value[name].get) == "all"
        for rival in ("variance", "laplacian", "spec[gamma=4]", "evsc", "trace_ratio", "PFA", "UDFS", "NDFS", "random"):
            cell = sets[name][rival][duel]
            assert not _wins(cell)
            assert float(cell.split("(")[1][:-1]) < 0.05
        assert value[name]["mcfs"] < value[name]["subset"]
    assert value["study"]["mrsf"] < value["study"]["mcfs"]
    near = {selector: row["1-NN"] for selector, row in sets["text"].items() if selector != "all"}
    del value["text"]["all"]
    assert max(near, key=near.get) == max(value["text"], key=value["text"].get) == "subset"
    assert says("benchmark.md", f"all selectors there ({near['subset']} and {value['text']['subset']})")


def test_the_page_of_the_field_says_how_other_packages_do():
    for name in ("study", "fresh", "text"):
        rows = {row["selector"]: list(row.values())[1:] for row in table("benchmark.md", name)}
        assert rows["scikit-matter CUR"] == rows["CUR"]
    study, fresh = ({row["selector"]: row for row in table("benchmark.md", name)} for name in ("study", "fresh"))
    assert all(study["scikit-matter FPS"][judge] < study["FPS"][judge] for judge in ("1-NN", "k-means", "NMI", "SVM"))
    a, b = (study["fastcan"][f"{j}: sets better than subset : worse (p)"].split(" (")[0] for j in ("1-NN", "k-means"))
    c = fresh["fastcan"]["SVM: sets better than subset : worse (p)"].split(" (")[0]
    assert says("benchmark.md", f"by neighbours ({a}) and by k-means ({b}), and on the fresh ones by the SVM ({c})")


def test_the_page_of_the_field_counts_the_printed_numbers_that_recompute():
    rows = table("benchmark.md", "printed-asu")
    reached = [sum(float(row[name]) >= float(row["printed, best with labels"]) - 0.02 for row in rows)
               for name in ("subset, without labels", "subset, with labels")]  # fmt: skip
    assert ([row["Fisher or ReliefF reaches it"] for row in rows].count("yes"), *reached, len(rows)) == (3, 6, 8, 8)
    assert says("benchmark.md", "reach the printed number in three of eight rows")
    assert says("benchmark.md", "in six of eight rows, `subset` with labels in all")
    lasso = {row["method"]: row for row in table("benchmark.md", "printed-lassonet")}
    pairs = [row for row in lasso.values() if row["reproduced"] in ("yes", "no")]
    assert len(pairs) == 3
    assert all(row["computed"] > row["printed"] for row in pairs)
    ours = lasso["subset, without labels, chosen on 2,000 rows"]["computed"]
    assert says("benchmark.md", f"`subset` without labels ({ours}) is ahead of PFA ({lasso['PFA']['computed']})")


def test_tuning_by_labels_brings_about_what_chance_brings():
    rows = {row["selector"]: row for row in table("benchmark.md", "tuned")}
    near, clusters = (
        {name: float(row[f"{judge}, gain"]) for name, row in rows.items()} for judge in ("1-NN", "k-means")
    )
    chance = [rows["random"][f"{judge}, gain"] for judge in ("1-NN", "k-means")]
    assert says("benchmark.md", f"It is {chance[0]} by neighbours and {chance[1]} by k-means")
    assert min(near, key=near.get) == min(clusters, key=clusters.get) == "subset"
    for name in ("UDFS", "NDFS"):
        assert abs(near[name] - near["random"]) < 0.02
        assert abs(clusters[name] - clusters["random"]) < 0.02


def _wins(cell):
    better, worse = cell.partition(" (")[0].split(" : ")
    return int(better) > int(worse)
