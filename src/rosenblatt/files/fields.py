"""Fields of tables in text, between delimiters or in quotes (RFC 4180), and numbers scaled on line.

A text is an array of bytes whose last one is a newline.
"""

import numpy as np

from rosenblatt.engine.jit import compiled

U = np.uint64
NEWLINE, RETURN = 10, 13
NO_FAULT, TOO_FEW, TOO_MANY, BAD_QUOTE = 0, 1, 2, 3


@compiled()
def _quoted_end(text, i, quote, end):
    """Return where the quote closes that opened before i, or the end if it does not, and whether quotes are within."""
    doubled = False
    while i < end:
        if text[U(i)] == quote:
            if i + 1 < end and text[U(i + 1)] == quote:
                doubled = True
                i += 1
            else:
                return i, doubled
        i += 1
    return end, doubled


@compiled()
def _after_quotes(text, close, delimiter, end):
    """Return the delimiter or newline that follows a closing quote; -1 if something else does, or nothing that ends."""
    after = close + 1
    if after + 1 < end and text[U(after)] == RETURN and text[U(after + 1)] == NEWLINE:
        after += 1
    if after >= end or not (text[U(after)] == delimiter or text[U(after)] == NEWLINE):
        return -1
    return after


@compiled()
def record_end(text, i, delimiter, quote, longest):
    """Return where the record that begins at i ends, and whether that is known.

    A record is damaged in which a quote is not closed at the end of its field, or not within `longest` bytes of the
    record's beginning. All of it is then its first line, so that one stray quote costs one line, and what is a record
    does not depend on what text is at hand. It is not known while more text could decide it.
    """
    begin, size = i, text.size
    end = min(size, begin + longest)
    damaged = False
    while i < size:
        if text[U(i)] == quote:
            close, _ = _quoted_end(text, i + 1, quote, end)
            i = _after_quotes(text, close, delimiter, end)
            if i < 0:
                # At the end of the text, the next byte or two may change it.
                open_end = end < begin + longest and close + 2 >= end
                damaged = not open_end
                break
        else:
            while i < size and text[U(i)] != delimiter and text[U(i)] != NEWLINE:
                i += 1
            if i == size:
                break
        i += 1
        if text[U(i - 1)] == NEWLINE:
            return i, True
    i = begin
    while i < size and text[U(i)] != NEWLINE:
        i += 1
    return min(i + 1, size), damaged and i < size


@compiled()
def last_record_end(text, delimiter, quote, longest):
    """Return where the last record ends of which that is known, of a text that begins with a record; 0 if none is."""
    i, known = 0, True
    while known and i < text.size:
        end, known = record_end(text, i, delimiter, quote, longest)
        i = end if known else i
    return i


@compiled()
def _plain_field(text, i, delimiter):
    """Return where the field that begins at i ends, and where its delimiter is."""
    begin = i
    while text[U(i)] != delimiter and text[U(i)] != NEWLINE:
        i += 1
    return i - 1 if text[U(i)] == NEWLINE and i > begin and text[U(i - 1)] == RETURN else i, i


@compiled()
def _quoted_field(text, i, delimiter, quote, end):
    """Return the same of a field in quotes, whether quotes are within, and its newlines; -1 if it is not closed."""
    close, twice = _quoted_end(text, i + 1, quote, end)
    lines = 0
    for place in range(i, close):
        lines += text[U(place)] == NEWLINE
    return close, _after_quotes(text, close, delimiter, end), twice, lines


@compiled()
def _split_record(text, i, delimiter, quote, longest, first, last, doubled):
    """Find the fields of the record at i: where the next one begins, its lines, and what is wrong."""
    lines, columns, end = 1, first.size, min(text.size, i + longest)
    for field in range(columns):
        begin, twice, more = i, False, 0
        if text[U(i)] == quote:
            begin += 1
            stop, i, twice, more = _quoted_field(text, i, delimiter, quote, end)
            if i < 0:
                return i, lines, BAD_QUOTE
        else:
            stop, i = _plain_field(text, i, delimiter)
        first[field], last[field], doubled[field] = begin, stop, twice
        lines += more
        i += 1
        if text[U(i - 1)] == NEWLINE:
            return i, lines, NO_FAULT if field == columns - 1 else TOO_FEW
    return i, lines, TOO_MANY


@compiled()
def split_fields(text, start, delimiter, quote, longest, first, last, doubled, line):
    """Find the fields of each record until the end or the first fault.

    Parameters
    ----------
    text : uint8 array
        Whole records.
    start : (int, int, int)
        Where to begin: a byte at the start of a record, the number of its line, and the rows found so far.
    delimiter, quote : int
        A quote of -1: none has a meaning.
    longest : int
        Bytes of a record within which its quotes must be closed.
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
    end = text.size
    while i < end:
        if text[U(i)] == NEWLINE or (text[U(i)] == RETURN and text[U(i + 1)] == NEWLINE):
            i += 1 if text[U(i)] == NEWLINE else 2
            number += 1
            continue
        after, lines, fault = _split_record(text, i, delimiter, quote, longest, first[row], last[row], doubled[row])
        if fault != NO_FAULT:
            return row, i, number, fault
        line[row] = number
        row += 1
        number += lines
        i = after
    return row, end, number, NO_FAULT


@compiled()
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
