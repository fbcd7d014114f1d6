"""Why a model says what it says: scores as sums of terms, and labels beside their neighbours.

``explanation.py`` is what a user gets, ``parts.py`` the sums before the strongest terms are taken;
``inside.py`` is what a kind of model has to tell, and ``trees.py``,
``compact_inside.py`` and ``foreign.py`` tell it; ``asking.py`` finds rows, labels and names,
``strongest.py`` takes the strongest terms.
"""
