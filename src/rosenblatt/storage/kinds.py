"""Recognise other files by their first bytes, for messages about a wrong file."""

from __future__ import annotations

import re

AS_CSV = "Save the table as CSV."
# The first bytes of a file, what it is, and what to do if data is needed.
FIRST_BYTES = (
    (rb"PK\x03\x04.*?(?:xl/|\[Content_Types\])", "an Excel workbook or another Office file", AS_CSV),
    (rb"PK\x03\x04.*?\.npy", "a set of NumPy arrays (.npz)", "Load it in Python, or save it with numpy.savetxt."),
    (rb"PK\x03\x04", "a zip archive", "Unpack it, and pass the file that is in it."),
    (rb"\xd0\xcf\x11\xe0", "an Excel workbook or another Office file of old", AS_CSV),
    (rb"\x93NUMPY", "a NumPy array (.npy)", "Load it in Python, or save it with numpy.savetxt."),
    (rb"\x80[\x02-\x05]", "a pickle (.pkl, .joblib)", "Save the table as CSV or Parquet."),
    (rb"\x08[\x01-\x20]\x12.*?(?:onnx|pytorch|tf2)", "an ONNX model", "Pass data files."),
    (rb".{8}\{\s*\"__metadata__\"", "a model", "Pass data files, and the model where a model is wanted."),
    (rb"%PDF-", "a PDF document", AS_CSV),
    (rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|II\*\x00|MM\x00\*|BM.{8}\x00\x00", "a picture", "Pass a table of its features."),
    (rb"\x1f\x8b|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd", "a packed file", "Unpack it."),
    (rb"SQLite format 3", "an SQLite database", "Save the result of a query as CSV."),
    (rb"\x89HDF", "an HDF5 file", "Save the table as CSV or Parquet."),
    (rb"7z\xbc\xaf|Rar!|.{257}ustar", "an archive", "Unpack it, and pass the file that is in it."),
    (rb"(?i:\s*<(?:!doctype\s+html|html)\b)", "a web page (HTML)", "Fetch the file itself: it may need a login."),
    (rb"\s*<\?xml", "XML", AS_CSV),
)
BYTES_OF_KIND = 2048  # of a file, that are compared


def kind_of_file(start: bytes) -> tuple[str, str]:
    """Return what a file is, by its first bytes, and what to do; both empty if it may be data.

    Examples
    --------
    >>> kind_of_file(b"%PDF-1.7")[0], kind_of_file(b"a,b,c")[0]
    ('a PDF document', '')
    """
    start = start[:BYTES_OF_KIND]
    for pattern, what, remedy in FIRST_BYTES:
        if re.match(pattern, start, re.DOTALL):
            return what, remedy
    zeros = [start[k::2].count(0) for k in (0, 1)]
    if len(start) > 1 and sum(zeros) > 0.1 * len(start):
        if min(zeros) == 0 and max(zeros) >= 0.4 * len(start):
            order = "LE" if zeros[1] else "BE"
            return "text in UTF-16", f"Save it as UTF-8, for example with iconv -f UTF-16{order} -t UTF-8."
        return "a binary file", "Pass a text file, or one of Parquet or Arrow."
    return "", ""
