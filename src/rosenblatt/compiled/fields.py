"""Fields of tables in text, between delimiters or in quotes (RFC 4180), and numbers scaled on line.

A text is an array of bytes whose last one is a newline.
"""

import numpy as np
from numba import njit

U = np.uint64
NEWLINE, RETURN = 10, 13
NO_FAULT, TOO_FEW, TOO_MANY, BAD_QUOTE = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def _quoted_end(text, i, quote):
    """Return where the quote closes that opened before i, or the end of the text, and whether there were quotes within."""
    doubled, end = False, text.size
    while i < end:
        if text[U(i)] == quote:
            if i + 1 < end and text[U(i + 1)] == quote:
                doubled = True
                i += 1
            else:
                return i, doubled
        i += 1
    return end, doubled


@njit(cache=True, nogil=True)
def last_record_end(text, delimiter, quote):
    """Return where the last whole record ends, of a text that begins with a record; 0 if none is whole."""
    i, whole, size = 0, 0, text.size
    opens = True  # a quote here would open a field
    while i < size:
        byte = text[U(i)]
        if byte == quote and opens:
            i, _ = _quoted_end(text, i + 1, quote)
            opens = False
        else:
            if byte == NEWLINE:
                whole = i + 1
            opens = byte == NEWLINE or byte == delimiter
        i += 1
    return whole


@njit(cache=True, nogil=True)
def split_fields(text, start, delimiter, quote, first, last, doubled, line):
    """Find the fields of each record until the end or the first fault.

    Parameters
    ----------
    text : uint8 array
        Whole records.
    start : (int, int, int)
        Where to begin: a byte at the start of a record, the number of its line, and the rows found so far.
    delimiter, quote : int
        A quote of -1: none has a meaning.
    first, last : int32 arrays of shape (n_rows, n_columns)
        Receive where each field begins and ends, without quotes. There is a row for each line.
    doubled : uint8 array of shape (n_rows, n_columns)
        Receives whether a field has quotes within, which are there twice.
    line : int array
        Receives the number of each row's line.

    Returns
    -------
    rows, place, number, fault
        Rows so far; where the faulty record begins, or the end of the text; the number of its line; what is wrong.
    """
    i, number, row = start
    end, columns = text.size, first.shape[1]
    while i < end:
        begin, field, lines = i, 0, 1
        if text[U(i)] == NEWLINE or (text[U(i)] == RETURN and text[U(i + 1)] == NEWLINE):
            i += 1 if text[U(i)] == NEWLINE else 2
            number += 1
            continue
        while True:
            if field == columns:
                return row, begin, number, TOO_MANY
            if text[U(i)] == quote:
                close, twice = _quoted_end(text, i + 1, quote)
                if close >= end - 1:
                    return row, begin, number, BAD_QUOTE
                first[row, field], last[row, field], doubled[row, field] = i + 1, close, twice
                for place in range(i, close):
                    lines += text[U(place)] == NEWLINE
                i = close + 1
                if text[U(i)] == RETURN and text[U(i + 1)] == NEWLINE:
                    i += 1
                if text[U(i)] != delimiter and text[U(i)] != NEWLINE:
                    return row, begin, number, BAD_QUOTE
            else:
                at = i
                while text[U(i)] != delimiter and text[U(i)] != NEWLINE:
                    i += 1
                stop = i - 1 if text[U(i)] == NEWLINE and i > at and text[U(i - 1)] == RETURN else i
                first[row, field], last[row, field], doubled[row, field] = at, stop, 0
            field += 1
            i += 1
            if text[U(i - 1)] == NEWLINE:
                break
        if field < columns:
            return row, begin, number, TOO_FEW
        line[row] = number
        row += 1
        number += lines
    return row, end, number, NO_FAULT


@njit(cache=True, nogil=True)
def scale_rows(X, missing, count, mean, squares, out):
    """Centre and scale each row by the rows up to it (Welford 1962), in order; what is missing becomes 0.

    `count`, `mean` and `squares` (the sum of squared deviations) are the state: of each column, changed in place.
    """
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if missing[i, j]:
                out[i, j] = 0.0
                continue
            count[j] += 1.0
            delta = X[i, j] - mean[j]
            mean[j] += delta / count[j]
            squares[j] += delta * (X[i, j] - mean[j])
            deviation = np.sqrt(squares[j] / count[j])
            out[i, j] = (X[i, j] - mean[j]) / deviation if deviation > 0.0 else 0.0
