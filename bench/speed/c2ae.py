"""Seconds of an epoch of C2AE on delicious, on the CPU and, where there is one, on a CUDA device.

    python bench/speed/c2ae.py [--data-home DIR] [--threads N ...] [--out FILE]

Both in the same run, sparse X as it comes from the file and a dense copy of it, with the settings
of the authors' program (batches of 500, latent size 0.8 of the labels) and with the defaults. An
epoch's time is that of a long fit less that of a fit of one epoch, by the number of epochs between:
what happens once (device, captured step, checks) is thus left out, and given by itself.
"""

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import C2AEClassifier, method
from compactlearn.datasets import load
from compactlearn.utils import require

MODELS = {
    "program": method("C2AE", validation_fraction=0.0, random_state=0),
    "defaults": C2AEClassifier(validation_fraction=0.0, random_state=0),
}


def seconds(model: Any, X: Any, Y: Any, **params: Any) -> float:
    """One fit."""
    start = time.perf_counter()
    model.set_params(**params).fit(X, Y)
    return time.perf_counter() - start


def measure(name: str, X: Any, Y: Any, device: str, epochs: int) -> dict[str, Any]:
    """An epoch, from the difference of two fits."""
    model = MODELS[name]
    one = seconds(model, X, Y, device=device, max_epochs=1)
    many = seconds(model, X, Y, device=device, max_epochs=1 + epochs)
    return {"epoch_s": (many - one) / epochs, "first_s": one}


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = common.parser(__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[2], help="of the CPU's runs")
    parser.add_argument("--epochs", type=int, default=2, help="timed on the CPU (CUDA: 10 times)")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "c2ae_speed.json")
    options = parser.parse_args(arguments)
    torch = require("torch", extra="deep", purpose="C2AE")
    data = load("delicious", data_home=options.data_home)
    Y = common.sparse(data.Y)
    forms = {"dense": common.dense(data.X), "sparse": common.sparse(data.X)}
    cuda = torch.cuda.is_available()
    if cuda:  # the very first use of a device takes seconds
        seconds(MODELS["program"], forms["sparse"], Y, device="cuda", max_epochs=1)
    rows = []
    for name in MODELS:
        for form, X in forms.items():
            devices = [("cpu", threads, options.epochs) for threads in options.threads]
            if cuda:
                devices.append(("cuda", 1, 10 * options.epochs))
            for device, threads, epochs in devices:
                torch.set_num_threads(threads)
                found = measure(name, X, Y, device, epochs)
                rows.append(
                    {"settings": name, "X": form, "device": device, "threads": threads}
                    | {key: round(value, 4) for key, value in found.items()}
                )
                print(rows[-1], flush=True)
    hardware = torch.cuda.get_device_name() if cuda else None
    record = {
        "date": common.today(),
        "machine": common.machine() | {"device": hardware, "torch": torch.__version__},
        "data": {"name": "delicious", "rows": Y.shape[0], "labels": Y.shape[1]},
    }
    common.write_json(options.out, record | {"measurements": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
