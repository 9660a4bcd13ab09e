"""Missing values: agreement with the ranking of the complete table, and columns that gain from their holes."""
