"""Files in and out: one call reads a table with its labels, whatever the format; one writes a ranking."""

from .data.formats import file_format, read_table, write_table
from .data.labels import as_labels, read_labels, read_pairs
from .data.tables import Table, fill_missing
from .data.write import annotate, write_ranking
