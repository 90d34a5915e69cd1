"""Entries of sparse rows: sorted by column, counted or added up, scaled to unit length.

Indices are cast to unsigned, because Numba would check for negative ones at each entry.
"""

import numpy as np

from rosenblatt.engine.jit import compiled

U = np.uint64
_ones, _twos, _fours = U(0x5555555555555555), U(0x3333333333333333), U(0x0F0F0F0F0F0F0F0F)  # every other 1, 2, 4 bits
_bytes = U(0x0101010101010101)
MARKED_BITS = 18  # of columns that are counted without sorting: three levels of 64 bits
GROUPS, MARKS = 1 << MARKED_BITS - 12, 1 << MARKED_BITS - 6
MARKED_ENTRIES = (1 << 16) - 1  # maximum of a row for that: counts have 16 bits
FEW = 40  # entries up to which insertion sort is faster than radix sort
MANY = 600  # entries from which on a full radix sort is faster than one digit and insertion
DIGIT_BITS = 9
PLACES = (1 << DIGIT_BITS) + 2  # work space for counting digits


# LLVM turns the arithmetic of the next two functions into one instruction each.


@compiled()
def bit_count(bits):
    """Return how many bits of a number are set."""
    bits = bits - (bits >> U(1) & _ones)
    bits = (bits & _twos) + (bits >> U(2) & _twos)
    return (bits + (bits >> U(4)) & _fours) * _bytes >> U(56)


@compiled()
def lowest_bit(bits):
    """Return the place of the lowest bit of a number, or 64 if it is zero."""
    return bit_count(~bits & bits - U(1))


@compiled()
def _sort_few(keys, begin, end):
    for k in range(begin + 1, end):
        key, place = keys[U(k)], k
        while place > begin and keys[U(place - 1)] > key:
            keys[U(place)] = keys[U(place - 1)]
            place -= 1
        keys[U(place)] = key


@compiled()
def _distribute(keys, begin, size, low, digit_bits, spare, places):
    """Sort keys by the digit from bit `low` on, equal ones in order; return how many have the commonest digit."""
    buckets = np.int64(1) << digit_bits
    for bucket in range(buckets + 1):
        places[U(bucket)] = 0
    for k in range(begin, begin + size):
        places[U((np.int64(keys[U(k)]) >> low & buckets - 1) + 1)] += 1
    most, before = 0, 0
    for bucket in range(1, buckets + 1):
        most = max(most, places[U(bucket)])
    for bucket in range(1, buckets, 4):  # four at once, because each sum waits for the one before
        second = places[U(bucket)] + places[U(bucket + 1)]
        fourth = places[U(bucket + 2)] + places[U(bucket + 3)] + second
        places[U(bucket)] += before
        places[U(bucket + 1)] = before + second
        places[U(bucket + 2)] += before + second
        places[U(bucket + 3)] = before = before + fourth
    for k in range(begin, begin + size):
        bucket = U(np.int64(keys[U(k)]) >> low & buckets - 1)
        spare[U(places[bucket])] = keys[U(k)]
        places[bucket] += 1
    for k in range(size):
        keys[U(begin + k)] = spare[U(k)]
    return most


@compiled()
def _swap_neighbours(keys, begin, end):
    """Order the keys of each pair of neighbours, from the first and from the second on; the loop is vectorised."""
    for first in range(begin, begin + 2):
        for pair in range((end - first) // 2):
            k = first + 2 * pair
            low, high = min(keys[U(k)], keys[U(k + 1)]), max(keys[U(k)], keys[U(k + 1)])
            keys[U(k)], keys[U(k + 1)] = low, high


@compiled()
def _sort(keys, begin, end, low, bits, spare, places):
    """Sort keys by the bits from `low` on; keys that are equal there must be in order already."""
    size = end - begin
    if size <= FEW:
        return _sort_few(keys, begin, end)
    # Hashes are spread evenly: the highest digit nearly sorts them. Other columns, and many, are sorted by all digits.
    digit_bits = np.int64(8)  # a literal 8 would have another type, for which Numba compiles a second version
    if size <= MANY and _distribute(keys, begin, size, low + max(bits - 8, 0), digit_bits, spare, places) <= FEW:
        _swap_neighbours(keys, begin, end)
        _swap_neighbours(keys, begin, end)
        return _sort_few(keys, begin, end)
    digit_bits = np.int64(DIGIT_BITS)
    for digit in range(0, bits, DIGIT_BITS):
        _distribute(keys, begin, size, low + digit, digit_bits, spare, places)
    return None


@compiled()
def _divide(value, begin, end, total):
    """Divide values by the root of a sum of squares, unless it is zero or not finite."""
    if 0.0 < total < np.inf:
        length = np.sqrt(total)
        for k in range(begin, end):
            value[U(k)] /= length


@compiled()
def _number(count, logarithm, binary):
    """Return the value of a column that occurs `count` times."""
    if logarithm:
        return 1.0 + np.log(np.float64(count))
    return 1.0 if binary else np.float64(count)


@compiled()
def count_columns(indptr, column, value, bits, logarithm, binary, normalise, spare, room, numbers):
    """Sort the columns of each row and count them, in place; return the number of entries, one for each column.

    A count becomes one if `binary`, and one plus its logarithm if `logarithm`; rows are divided by their length if
    `normalise`. All columns have at most `bits` bits.
    Work space: `spare` has the length of the longest row, `room` has PLACES more, `numbers` has 64.
    """
    places, last = room[:PLACES], room[PLACES - 1 :]
    for count in range(64):
        numbers[count] = _number(max(count, 1), logarithm, binary)
    k, low, begin = np.int64(0), np.int64(0), np.int64(indptr[0])
    for row in range(indptr.size - 1):
        end = np.int64(indptr[row + 1])
        _sort(column, begin, end, low, bits, spare, places)
        # Without branches that are hard to predict.
        unique = 0
        last[0] = begin
        for entry in range(begin, end - 1):
            key = column[U(entry)]
            column[U(k + unique)], last[U(unique + 1)] = key, entry + 1
            unique += key != column[U(entry + 1)]
        if begin < end:
            column[U(k + unique)], last[U(unique + 1)] = column[U(end - 1)], end
            unique += 1
        total = 0.0
        for entry in range(unique):
            count = last[U(entry + 1)] - last[U(entry)]
            number = numbers[U(count)] if count < 64 else _number(count, logarithm, binary)
            value[U(k + entry)] = number
            total += number * number
        if normalise:
            _divide(value, k, k + unique, total)
        k += unique
        begin = end
        indptr[row + 1] = k
    return k


@compiled()
def _marked_places(top, groups, places):
    """Write the indices of the marks that are not zero, in order, and return how many. Their groups become zero."""
    count = np.int64(0)
    while top != 0:
        group = lowest_bit(top)
        top &= top - U(1)
        bits = groups[group]
        groups[group] = 0
        after = count + np.int64(bit_count(bits))
        while bits != 0:  # four at a time, because their number is unpredictable; surplus ones are overwritten
            for place in range(4):
                places[U(count + place)] = group << U(6) | lowest_bit(bits)
                bits &= bits - U(1)
            count += 4
        count = after
    return count


@compiled()
def count_marked(indptr, column, value, logarithm, binary, normalise, marks, places, counts, numbers):
    """Do the same as `count_columns` without sorting, for columns of MARKED_BITS and rows of up to MARKED_ENTRIES.

    Each column is marked by a bit, each number with such a bit by another, and so are these. Bits are found in order.
    Work space: `marks` has GROUPS + MARKS and `counts` one for each column, all zero before and after; `places` has
    MARKS and four more, `numbers` has 64.
    """
    groups, marks = marks[:GROUPS], marks[GROUPS:]
    for count in range(64):
        numbers[count] = _number(max(count, 1), logarithm, binary)
    k, begin = np.int64(0), np.int64(indptr[0])
    for row in range(indptr.size - 1):
        end, top = np.int64(indptr[row + 1]), U(0)
        for entry in range(begin, end):
            key = U(column[U(entry)])
            counts[key] += 1
            marks[key >> U(6)] |= U(1) << (key & U(63))
            groups[key >> U(12)] |= U(1) << (key >> U(6) & U(63))
            top |= U(1) << (key >> U(12))
        first, total = k, 0.0
        for entry in range(_marked_places(top, groups, places)):
            place = places[U(entry)]
            bits = marks[place]
            marks[place] = 0
            while bits != 0:
                key = place << U(6) | lowest_bit(bits)
                bits &= bits - U(1)
                count = counts[key]
                counts[key] = 0
                number = numbers[U(count)] if count < 64 else _number(np.int64(count), logarithm, binary)
                column[U(k)], value[U(k)] = key, number
                total += number * number
                k += 1
        if normalise:
            _divide(value, first, k, total)
        begin = end
        indptr[row + 1] = k
    return k


@compiled()
def _rises(column, begin, end):
    """Return whether columns are from 0, in order, and all different."""
    last = -1
    for entry in range(begin, end):
        if column[U(entry)] <= last:
            return False
        last = np.int64(column[U(entry)])
    return True


@compiled()
def add_columns(indptr, column, value, bits, own, room):
    """Sort the entries of each row by column and add up those of one column, in place; return how many remain.

    Negative columns are left out; others have at most `bits` bits. Values of one column are added in their order.
    Work space: `own` has the length of the longest row, `room` twice that and PLACES more.
    """
    size = own.size
    places, keys, spare = room[:PLACES], room[PLACES : PLACES + size], room[PLACES + size :]
    first, low = np.int64(0), np.int64(32)
    k, begin = first, np.int64(indptr[0])
    for row in range(indptr.size - 1):
        end, count = np.int64(indptr[row + 1]), np.int64(0)
        if _rises(column, begin, end):
            if k < begin:
                for entry in range(begin, end):
                    column[U(k + entry - begin)], value[U(k + entry - begin)] = column[U(entry)], value[U(entry)]
            k += end - begin
            begin = end
            indptr[row + 1] = k
            continue
        for entry in range(begin, end):
            if column[U(entry)] >= 0:
                keys[U(count)] = np.int64(column[U(entry)]) << 32 | count
                own[U(count)] = value[U(entry)]
                count += 1
        _sort(keys, first, count, low, bits, spare, places)
        last = -1
        for entry in range(count):
            key = keys[U(entry)] >> 32
            number = own[U(keys[U(entry)] & 0xFFFFFFFF)]
            if key == last:
                value[U(k - 1)] += number
            else:
                column[U(k)], value[U(k)] = key, number
                k += 1
            last = key
        begin = end
        indptr[row + 1] = k
    return k


@compiled()
def normalise_rows(indptr, value):
    """Divide the values of each row by their length, in place."""
    for row in range(indptr.size - 1):
        begin, end = np.int64(indptr[row]), np.int64(indptr[row + 1])
        total = 0.0
        for k in range(begin, end):
            total += value[U(k)] * value[U(k)]
        _divide(value, begin, end, total)


@compiled()
def append_entries(place, indptr, column, value, columns, values):
    """Copy the entries of each row to its next free place, and move that."""
    for row in range(indptr.size - 1):
        k = place[row]
        for entry in range(indptr[row], indptr[row + 1]):
            columns[k], values[k] = column[entry], value[entry]
            k += 1
        place[row] = k


@compiled()
def count_pairs(left, right, last, squares, pointer):
    """Write where the pairs of each row begin and end: an entry of the left row and one of the right; return how many.

    `left` and `right` have where rows begin and end. If the rows are of one column, each pair comes once: `last` has
    for each entry on the left the one on the right after which its partners begin, or with which if `squares`.
    Otherwise `last` is empty.
    """
    count = np.int64(0)
    for row in range(left.size - 1):
        pointer[row] = count
        end = np.int64(right[row + 1])
        if last.size == 0:
            count += (np.int64(left[row + 1]) - left[row]) * (end - right[row])
            continue
        for entry in range(left[row], left[row + 1]):
            count += end - last[U(entry)] - (not squares)
    pointer[left.size - 1] = count
    return count


@compiled()
def pair_entries(left, right, last, squares, of_left, of_right):
    """Write the entries of each pair that `count_pairs` counts."""
    k = np.int64(0)
    for row in range(left.size - 1):
        begin, end = np.int64(right[row]), np.int64(right[row + 1])
        for entry in range(left[row], left[row + 1]):
            first = begin if last.size == 0 else np.int64(last[U(entry)]) + (not squares)
            for other in range(first, end):
                of_left[U(k)], of_right[U(k)] = entry, other
                k += 1


@compiled()
def mark_columns(column, used):
    """Note which columns have an entry."""
    for k in range(column.size):
        used[column[k]] = 1
