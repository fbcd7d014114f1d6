"""text_classifier() on all of WordNet's nouns: texts and names in, names out.

    python bench/text/whole.py DATA.NOUN [--rows N] [--out FILE]

DATA.NOUN is the file of that name in Debian's package wordnet-base 3.0. Rows that are wordnet's
test rows judge, all others are learnt from; ``--rows`` learns from fewer. The record has seconds of
``fit`` and of ``predict_labels`` (the five best labels of all test rows), and of the processors
(all threads together, whatever else the machine is busy with); precision among the 1, 3 and 5 best;
and what the classifier says of its choice.
"""

import time
from pathlib import Path

import numpy as np
from vectorizer import hits, nouns

from compactlearn import predict_labels, text_classifier
from compactlearn_bench.measure import parser, write


def main():
    command = parser(__doc__, "text_whole.json")
    command.add_argument("nouns", type=Path, help="data.noun of wordnet-base 3.0")
    command.add_argument("--rows", type=int, help="learn from so many rows only; no record")
    given = command.parse_args()
    learnt, judged = nouns(given.nouns), nouns(given.nouns, tests=True)
    if given.rows is not None:
        order = np.random.default_rng(0).permutation(len(learnt))[: given.rows]
        learnt = [learnt[k] for k in order]
    start, begun = time.perf_counter(), time.process_time()
    model = text_classifier().fit([text for text, _ in learnt], [names for _, names in learnt])
    fitted, learnt_s = time.perf_counter(), time.process_time() - begun
    found = predict_labels(model, [text for text, _ in judged], 5)
    done, predicted_s = time.perf_counter(), time.process_time() - begun - learnt_s
    best = [[name for name, _ in row] for row in found]
    row = {
        "rows": len(learnt),
        "judged": len(judged),
        "labels": len(model[-1].label_names_),
        "features": int(model[-1].n_features_in_),
        "fit_s": fitted - start,
        "fit_processor_s": learnt_s,
        "predict_s": done - fitted,
        "predict_processor_s": predicted_s,
        "precision": hits(best, [set(names) for _, names in judged]).mean(axis=0).tolist(),
        "why": model[-1].why_,
    }
    print(row)
    if given.rows is None:
        write(given.out, [row])


if __name__ == "__main__":
    main()
