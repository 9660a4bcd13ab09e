"""Reading and writing of files: one function reads a table with its labels in any format, one writes a ranking.

``FORMATS`` is the table of file formats; :func:`register_format` adds a format.
"""

from .data.formats import FORMATS, Format, file_format, read_table, register_format, write_table
from .data.labels import as_labels, read_labels, read_pairs, write_ranking
from .data.tables import Contents, Request, Table, fill_missing
