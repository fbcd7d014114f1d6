"""How the best model is found without arguments: trials in order, judged on honest scores.

``problem`` knows the data and how scores are judged, ``searches`` finds settings by shared
decompositions, ``trials`` fits one kind of model each, ``ideas`` says what is tried in which order,
``blend`` joins the best, ``choice`` takes one or a blend, ``wishes`` reads budgets, ``frontier``
shows what accuracy costs in size.
"""
