"""How the best model is found without arguments: trials in order, judged on honest scores.

``problem`` knows the data and how scores are judged, ``searches`` finds settings by shared
decompositions, ``trials`` fits one kind of model each, ``ideas`` says what is tried in which order,
``schedule`` tries one after the other within a time budget, ``blend`` joins the best, ``choice``
selects one or a blend, ``wishes`` reads size budgets, ``frontier`` shows what accuracy costs in
size.
"""
