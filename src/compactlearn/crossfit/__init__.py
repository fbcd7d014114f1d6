"""Out-of-fold scores, and decoders and thresholds learnt from them.

Rule: nothing that has seen a row's labels takes part in its out-of-fold score, and rows that belong
together (those of one of the user's groups, or else equal rows) are held out together.

* ``_together`` numbers the rows that belong together: ``row_hashes``, ``held_out_together``.
* ``_folds`` has :class:`Folds`, the fold of every row, made from such numbers or from splits;
  ``make_splits`` reads what users pass as ``cv``, for searches and ``ThresholdTuner``.
* ``_scores`` has :class:`OutOfFoldScores`: row numbers, scores by columns, labels, weights, unknown
  labels, and the threshold tuned on them. Fits of the compact classifiers, of the shortlist and of
  ``ThresholdTuner`` create it; tuning, noise rates, trials and blends use it.
* ``_cross_fit`` (refits by fold), ``_leave_out`` (closed forms), ``_fold_sums`` (moments of folds)
  and ``_held_out_sample`` (rows that ``_held_out_rows`` holds out of a stream) compute the scores.
* ``_decoder_fitter`` learns decoder and threshold: :class:`DecoderFitter` makes a
  :class:`FittedDecoder`. ``_plan`` decides the number of folds.
"""
