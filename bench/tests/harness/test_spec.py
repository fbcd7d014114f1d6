"""Valid specs, and the sentences about invalid ones."""

import datetime

import pytest

from compactlearn_bench import SpecError, cells_of, parse_spec, read_spec
from compactlearn_bench.spec.reading import Budget, SpecDataset

SMALL = {"name": "small", "datasets": ["emotions"], "methods": ["ORI"]}


def test_what_is_not_said_has_a_default():
    spec = parse_spec(SMALL)
    assert (spec.seed, spec.folds, spec.inner_folds, spec.workers) == (0, 5, 5, 1)
    assert spec.selections == ("paper", "nested")
    assert spec.metrics == (
        "average_precision",
        "micro_f1",
        "ranking_loss",
        "one_error",
        "precision_at_3",
        "ndcg_at_3",
    )
    assert spec.budget == Budget(None, None)
    assert len(cells_of(spec)) == 10


def test_everything_said_arrives(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text("""
name = "all.of-it_1"
seed = 7
folds = 3
selections = ["nested"]
inner_folds = 2
metrics = ["micro_f1", "psp_at_1"]
ridge = "wide"
workers = 2
datasets = ["Enron", {name = "emotions", rows = 90, only = ["mine"], without = ["ORI"]}]
methods = ["ORI", {name = "CMLL_y", as = "mine", alphas = [0.5, 1.0]}]

[budget]
seconds = 1.5
memory = "1.5 GiB"

[[overrides]]
dataset = "emotions"
method = "mine"
alphas = [2.0]
""")
    spec = read_spec(path)
    assert spec.datasets == (
        SpecDataset("enron"),
        SpecDataset("emotions", 90, ("mine",), ("ORI",)),
    )
    assert spec.budget == Budget(1.5, 3 * 2**29)
    assert (spec.ridge, spec.workers, spec.folder) == ("wide", 2, tmp_path)
    cells = cells_of(spec)
    assert len(cells) == 3 * 3
    settings = {(cell.dataset, cell.method): cell.settings for cell in cells}
    mine = settings["enron", "mine"]
    assert mine["inner_folds"] == 2
    assert mine["alphas"] == [0.5, 1.0]  # a method's own come before the spec's ridge
    assert mine["metrics"] == ["micro_f1", "psp_at_1"]
    assert mine["entry"] == "CMLL_y"
    assert settings["emotions", "mine"]["alphas"] == [2.0]
    assert settings["enron", "ORI"]["alphas"] == [10.0**k for k in range(-5, 5)]
    assert "entry" not in settings["enron", "ORI"]
    emotions = [cell for cell in cells if cell.dataset == "emotions"]
    assert {(cell.rows, cell.seed, cell.n_folds) for cell in emotions} == {(90, 7, 3)}


WRONG = {
    "key": ({"fold": 3}, "The key 'fold' means nothing in the spec.*Did you mean 'folds'"),
    "name": ({"name": "a/b"}, "of letters, digits.*got 'a/b'"),
    "seed": ({"seed": -1}, "The key 'seed' must be an integer >= 0; got -1"),
    "folds": ({"folds": 1}, "The key 'folds' must be an integer >= 2; got 1"),
    "twice": ({"selections": ["paper", "paper"]}, "each once"),
    "metric": ({"metrics": ["average_precison"]}, "Did you mean 'average_precision'"),
    "no metrics": ({"metrics": []}, "'metrics' must hold a list of at least one"),
    "ridge": ({"ridge": "wde"}, "'paper' or 'wide'.*Did you mean 'wide'"),
    "sets": ({"datasets": "emotions"}, r"Write it as datasets = \[...\]"),
    "set": ({"datasets": ["emotons"]}, "datasets list.*Did you mean 'emotions'"),
    "rows": ({"datasets": [{"name": "enron", "rows": 0}]}, "'rows' must be an integer >= 2"),
    "only": ({"datasets": [{"name": "enron", "only": ["OR"]}]}, "'only' must list.*'ORI'"),
    "method": ({"methods": [3]}, "A method must be a name, or a table with the key 'name'"),
    "as": ({"methods": [{"name": "ORI", "as": ""}]}, "'as' of a method must be a name"),
    "long": ({"methods": [{"name": "ORI", "as": "x" * 101}]}, "of at most 100 characters"),
    "estimator": ({"methods": [{"name": "x", "estimator": "a.b"}]}, "'package.module:object'"),
    "alike": ({"methods": ["ORI", "ORI"]}, "more than once; give each a name of its own by 'as'"),
    "budget": ({"budget": 3}, r"\[budget\] must be given as a table"),
    "below budget": ({"budget": {"workers": 3}}, "follows the heading .*: move the key up"),
    "seconds": ({"budget": {"seconds": 0}}, "'seconds' must be a finite number > 0"),
    "endless": ({"budget": {"seconds": 10**400}}, "'seconds' must be a finite number > 0"),
    "memory": ({"budget": {"memory": "8 GB"}}, "KiB, MiB, GiB, TiB; got '8 GB'"),
    "override": ({"overrides": ["x"]}, "An override must be a table"),
    "override set": (
        {"overrides": [{"dataset": "enron"}]},
        r"spec's own \(emotions\), or a list of them with each once; got 'enron'\. Use these names",
    ),
    "override method": ({"overrides": [{"method": "OR"}]}, "Did you mean 'ORI'"),
    "override of none": ({"overrides": [{"method": []}]}, "Leave the key out for every one"),
    "override twice": ({"overrides": [{"method": ["ORI", "ORI"]}]}, "with each once; got 'ORI'"),
}


@pytest.mark.parametrize(("change", "words"), WRONG.values(), ids=WRONG.keys())
def test_a_mistake_is_a_sentence(change, words):
    with pytest.raises(SpecError, match=words) as raised:
        parse_spec(SMALL | change)
    assert str(raised.value)[0].isupper()
    assert str(raised.value).endswith((".", "?"))


def test_an_override_of_a_list_is_one_for_each_pair():
    """Cells and their digests are those of the overrides written one by one."""
    lists = {"dataset": ["emotions", "enron"], "method": ["ORI", "PLST"], "alphas": [0.5]}
    several = SMALL | {
        "methods": ["ORI", "PLST", "CPLST"],
        "datasets": ["emotions", "enron", "yeast"],
    }
    one_by_one = [
        {"dataset": dataset, "method": method, "alphas": [0.5]}
        for dataset in lists["dataset"]
        for method in lists["method"]
    ]
    cells = cells_of(parse_spec(several | {"overrides": [lists]}))
    assert cells == cells_of(parse_spec(several | {"overrides": one_by_one}))
    changed = {(cell.dataset, cell.method) for cell in cells if cell.settings["alphas"] == [0.5]}
    assert changed == {
        ("emotions", "ORI"),
        ("emotions", "PLST"),
        ("enron", "ORI"),
        ("enron", "PLST"),
    }


DUMMY = {"name": "x", "estimator": "sklearn.dummy:DummyClassifier"}
LATER = {
    "name": ({"methods": ["OIR"]}, "A method must be one of ORI.*Did you mean 'ORI'"),
    "setting": ({"methods": [{"name": "ORI", "alph": 1}]}, "'ORI' on emotions.*mean 'alphas'"),
    "reserved": ({"methods": [{"name": "ORI", "metrics": []}]}, "'metrics'.*harness's own"),
    "date": (
        {"methods": [DUMMY | {"constant": datetime.date(2020, 1, 1)}]},
        "must be finite numbers, texts",
    ),
    "rows": ({"datasets": [{"name": "emotions", "rows": 594}]}, "at most 593.*got 594"),
    "folds": ({"folds": 594}, "emotions has 593; got 594. Use fewer folds"),
    "module": (
        {"methods": [{"name": "x", "estimator": "nowhere:x"}]},
        "'nowhere:x' cannot be imported.*put the module next to the spec",
    ),
    "no classifier": (
        {"methods": [{"name": "x", "estimator": "builtins:dict"}]},
        "unfitted scikit-learn classifier, but it returned {}; correct it",
    ),
    "nothing to try": ({"methods": [DUMMY | {"constant": []}]}, "that of 'constant' is empty"),
    "inner folds": ({"methods": [DUMMY | {"inner_folds": 1}]}, "'inner_folds' must be an integer"),
    "no method left": (
        {"datasets": [{"name": "emotions", "only": ["ORI"], "without": ["ORI"]}]},
        "leave none for emotions",
    ),
    "override of one too many": (
        {
            "methods": ["ORI", "PLST"],
            "datasets": ["emotions", {"name": "enron", "without": ["ORI"]}],
            "overrides": [{"dataset": "enron", "method": ["ORI", "PLST"], "alphas": [1.0]}],
        },
        "that of 'ORI' meets none",
    ),
}


@pytest.mark.parametrize(("change", "words"), LATER.values(), ids=LATER.keys())
def test_a_mistake_about_a_method_is_a_sentence(change, words):
    with pytest.raises(SpecError, match=words):
        cells_of(parse_spec(SMALL | change))


@pytest.mark.parametrize("key", ["name", "datasets", "methods"])
def test_three_keys_must_be_there(key):
    with pytest.raises(SpecError, match=f"must have the key '{key}'"):
        parse_spec({k: v for k, v in SMALL.items() if k != key})


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(SpecError, match=r"cannot be read \(No such file"):
        read_spec(tmp_path / "nowhere.toml")
    (tmp_path / "bad.toml").write_text("name = \n")
    with pytest.raises(SpecError, match=r"is not TOML: .*line 1"):
        read_spec(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_text(f"seed = {'9' * 5000}\n")
    with pytest.raises(SpecError, match=r"is not TOML: .*digits"):
        read_spec(tmp_path / "bad.toml")
