"""Selection: from scores to a choice of features. It is the third factor of a method.

``ranking`` puts features in order, by score or as a set. ``redundancy`` drops near-duplicates of better features.
``choice`` decides how many features are kept, and which; it also has the screens that drop noise first. ``explanation``
says why a feature was chosen. This room may import ``significance``, ``criteria``, ``sets``
and everything below them.
"""
