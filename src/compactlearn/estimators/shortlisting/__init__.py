"""The stages of :class:`compactlearn.ShortlistClassifier`, one file each.

A retriever and the neighbours of a row name its candidate labels (``candidates.py``,
``neighbours.py``); what both say of a candidate becomes one log-odds (``first_look.py``); a sparse
logistic regression for each label looks again (``second_look.py``); and the candidates of a row are
compared with each other (``third_look.py``).
"""
