"""Steps of a training make their tensors where they are used.

Within ``torch.device("meta")`` a tensor for which nobody said where has no numbers, and cannot be
moved. On a GPU it would be made on the host, and copying it is refused within a graph of CUDA.
"""

import pytest
import torch

from compactlearn import C2AEClassifier
from compactlearn.related import DeepCMLLClassifier, ManiacClassifier
from tests.makers import make_data


@pytest.mark.parametrize(
    "model",
    [
        C2AEClassifier(max_epochs=1, random_state=0),
        DeepCMLLClassifier(max_epochs=1, random_state=0),
        ManiacClassifier(max_epochs=1, pretraining_epochs=1, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_tensor_is_made_elsewhere(model):
    X, Y = make_data(40, 5, 6)
    with torch.device("meta"):
        model.fit(X, Y)
