"""The five papers' experiments beside what they print (printed/) and say (claims.csv) -> docs/reproductions.md."""
