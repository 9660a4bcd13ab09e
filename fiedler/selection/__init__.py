"""The third factor, selection: from scores to a choice.

``ranking`` puts features in order, by score or as a set. ``redundancy`` drops near-duplicates of better features.
``choice`` decides how many features are kept, and which. This room may import significance, criteria, sets and
everything below them.
"""
