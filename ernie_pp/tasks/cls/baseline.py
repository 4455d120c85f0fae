"""The plain method beside the model: logistic regression on TF-IDF of single characters and character pairs.

It says what a figure is worth: where the model does not beat it, the model is too small, or not trained enough.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence

import numpy as np

from ernie_pp.progress import track

LOG = logging.getLogger("ernie_pp")
NAME = "character-bigram logistic regression"
# More rows hardly move it and would keep the user waiting; each label is a model of its own on all of them.
MAX_ROWS, MAX_DECISIONS = 50_000, 2_000_000
_REGULARISATION = 1e-5


def fit_baseline(
    texts: Sequence[str], true: np.ndarray, dev_texts: Sequence[str], *, multi_label: bool, seed: int
) -> np.ndarray:
    """The labels given to `dev_texts`, bool [rows, labels], after training on `texts` with labels `true`.

    Rows are taken from the start of a seeded shuffle when there are more than `count_rows` allows.
    """
    # Loaded late: only a training run needs it.
    from sklearn.feature_extraction.text import TfidfVectorizer

    start = time.monotonic()
    num_labels = true.shape[1]
    rows = np.random.default_rng(seed).permutation(len(texts))[: count_rows(len(texts), num_labels=num_labels)]
    if len(rows) < len(texts):
        LOG.info("baseline: fitted on %d of %d training rows, %d labels", len(rows), len(texts), num_labels)
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True)
    train = vectorizer.fit_transform([texts[row] for row in rows])
    dev = vectorizer.transform(dev_texts)
    columns = []
    with track("baseline", num_labels, unit="labels") as tracker:
        for label in range(num_labels):
            columns.append(_decide(train, true[rows, label], dev, seed=seed))
            tracker.advance()
    scores = np.stack(columns, axis=1)  # [dev rows, labels], above 0: has the label
    chosen = scores > 0 if multi_label else np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
    LOG.info("baseline (%s) fitted on %d rows in %.1f s", NAME, len(rows), time.monotonic() - start)
    return chosen


def count_rows(num_rows: int, *, num_labels: int) -> int:
    """Training rows the baseline takes of `num_rows`."""
    return min(num_rows, MAX_ROWS, max(1, MAX_DECISIONS // num_labels))


def _decide(train: object, has_label: np.ndarray, dev: object, *, seed: int) -> np.ndarray:
    """Score of each dev row for one label against all others."""
    from sklearn.linear_model import SGDClassifier

    if has_label.all() or not has_label.any():
        return np.full(dev.shape[0], 1.0 if has_label.all() else -1.0)  # type: ignore[attr-defined]
    model = SGDClassifier(loss="log_loss", alpha=_REGULARISATION, max_iter=20, tol=1e-4, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 20 passes are enough whether or not it says it has converged
        return model.fit(train, has_label).decision_function(dev)
