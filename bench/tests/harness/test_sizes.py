"""Sizes of models against the arrays that fitted ones hold."""

import numpy as np
import pytest

from compactlearn import method
from compactlearn.metrics import macro_f1, micro_f1
from compactlearn_bench.methods.completions import method_with_completion
from compactlearn_bench.methods.frequency import by_frequency
from compactlearn_bench.methods.library_entries import ENTRIES

from .tasks import SEED, make_task

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

GRID = {
    "alphas": [1.0],
    "betas": [1.0],
    "label_ridges": [0.0],
    "label_ratios": [0.3, 0.5, 1.0],
    "feature_ratios": [0.1, 0.3, 1.0],
}


def n_parameters_of(model):
    """The smallest chain of the arrays that the model holds."""
    P, B, W = model.embedding_.projection_, model.regressor_.coef_.T, model.embedding_.decoder_
    W = W.toarray() if hasattr(W, "toarray") else W
    P = np.eye(B.shape[0]) if P is None else P
    chains = [(P @ B @ W,), (P @ B, W), (P, B @ W), (P, B, W)]
    return W.shape[1] + min(sum(array.size for array in chain) for chain in chains)


@pytest.mark.parametrize("name", ["ORI", "PLST", "CMLL_y", "MDDM", "CMLL", "k-ORI", "k-CMLL"])
def test_sizes_are_those_of_the_arrays(name):
    task = make_task("paper", GRID)
    answer = ENTRIES[name].answer(task)
    extra = {"completion": "variance"} if name.removeprefix("k-") in ("CMLL", "MDDM") else {}
    for configuration, size in zip(answer.configurations, answer.sizes, strict=True):
        model = method_with_completion(name, random_state=SEED, **extra, **configuration)
        assert size == n_parameters_of(model.fit(task.X_train, task.Y_train)), configuration


def test_landmarks_are_counted_apart():
    task = make_task("paper", GRID | {"kernel_method": "nystroem", "n_components": 20})
    answer = ENTRIES["k-ORI"].answer(task)
    assert answer.details["landmarks"] == 20
    assert answer.details["landmark_numbers"] == 20 * 14
    assert answer.sizes == [20 * 7 + 7]
    exact = ENTRIES["k-ORI"].answer(make_task("paper", GRID))
    assert exact.details["landmarks"] == task.X_train.shape[0]


def test_sizes_of_classifiers_of_each_label():
    task = make_task("paper", {"Cs": [1.0], "threshold": 0.5})
    assert ENTRIES["BR-logistic"].answer(task).sizes == [14 * 7 + 7]
    model = method("POP", random_state=SEED).fit(task.X_train, task.Y_train)
    assert ENTRIES["POP"].answer(task).sizes == [model.coef_.nnz + 7]


def test_a_bound_on_the_size():
    task = make_task("paper", GRID | {"n_numbers": 60})
    answer = ENTRIES["PLST"].answer(task)
    assert {c["n_label_components"] for c in answer.configurations} == {0.3}
    assert max(answer.sizes) <= 60
    with pytest.raises(ValueError, match=r"leaves ORI no configuration.*keeps 105 numbers"):
        ENTRIES["ORI"].answer(make_task("paper", GRID | {"n_numbers": 60}))


def test_as_many_numbers_as_cmll_has_by_itself():
    task = make_task("nested", GRID | {"n_numbers": "cmll"})
    model = method("CMLL", protocol="recommended").fit(task.X_train, task.Y_train)
    bound = n_parameters_of(model)
    for name in ("PLST", "CMLL", "RRR", "PCA+ridge"):
        assert ENTRIES[name].answer(task).sizes[0] <= bound


def test_bands_of_labels():
    rng = np.random.default_rng(0)
    task = make_task()
    Y = task.Y_train.toarray()
    Y[:, 0], Y[:, 1] = 0, 0
    Y[:5, 1] = 1
    scores = rng.normal(size=task.Y_test.shape)
    labels = scores > 0
    train = type(task.Y_train)(Y)
    found = by_frequency(train, task.Y_test, scores, labels)
    counts = Y.sum(axis=0)
    bands = {"0": counts == 0, "1-9": (counts > 0) & (counts < 10), "10-99": counts > 9}
    assert set(found) == {name for name, columns in bands.items() if columns.any()}
    truth = task.Y_test.toarray()
    for name, columns in bands.items():
        T, S, L = truth[:, columns], scores[:, columns], labels[:, columns]
        values = found[name]
        assert values["n_labels"] == columns.sum()
        assert values["micro_f1"] == pytest.approx(micro_f1(T, L.astype(int)))
        assert values["macro_f1"] == pytest.approx(macro_f1(T, L.astype(int)))
        precisions, areas = [], []
        for t, s in zip(T.T, S.T, strict=True):
            order = np.argsort(-s)
            ranked = t[order]
            hits = np.cumsum(ranked)
            precisions.append(np.mean((hits / np.arange(1, len(t) + 1))[ranked > 0]))
            pairs = s[t > 0][:, None] > s[t == 0]
            areas.append(pairs.mean())
        assert values["label_average_precision"] == pytest.approx(np.mean(precisions))
        assert values["label_auc"] == pytest.approx(np.mean(areas))
