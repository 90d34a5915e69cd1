"""From text to columns: lines, words, their n-grams, hashes, and a dictionary.

Text is an array of bytes in UTF-8; a span is [start, end) in it. Indices are cast to unsigned, because Numba would look
for negative ones at each byte.
"""

import numpy as np

from rosenblatt.jit import compiled, overload

U = np.uint64
U8, U32 = np.uint8, np.uint32
BLANK = 32
WIDE = 1  # marks bytes that are not ASCII
TILE = 1 << 16  # bytes that are looked at together
BATCH = 256  # words that are hashed together
WORD_BITS = 64

# ----------------------------------------------------------------------------------------------------------- hashes

_word = U(0xFFFFFFFF)
_c1, _c2, _c3, _c4 = U(0xCC9E2D51), U(0x1B873593), U(0x85EBCA6B), U(0xC2B2AE35)
_five, _add = U(5), U(0xE6546B64)
_high_bits = U(0x8080808080808080)  # of eight bytes
_pairs, _fours, _eight, _all = U(0x0003000300030003), U(0x0000000F0000000F), U(0xFF), U(0xFFFFFFFFFFFFFFFF)


@compiled()
def _scrambled(k):
    k = k * _c1 & _word
    return (k << U(15) | k >> U(17)) * _c2 & _word


@compiled()
def murmur(text, begin, end, seed):
    """Compute MurmurHash3 of 32 bits (x86 variant) of the bytes in [begin, end)."""
    h, i = U(seed), begin
    while i + 4 <= end:
        k = U(text[U(i)]) | U(text[U(i + 1)]) << U(8) | U(text[U(i + 2)]) << U(16) | U(text[U(i + 3)]) << U(24)
        h ^= _scrambled(k)
        h = ((h << U(13) | h >> U(19)) & _word) * _five + _add & _word
        i += 4
    if i + 4 <= text.size:  # a look at what follows is faster than the branches
        k = U(text[U(i)]) | U(text[U(i + 1)]) << U(8) | U(text[U(i + 2)]) << U(16)
        k &= (U(1) << U(8 * (end - i))) - U(1)
    else:
        k = U(0)
        for place in range(i, end):
            k |= U(text[U(place)]) << U(8 * (place - i))
    h ^= _scrambled(k)  # nothing, if no byte is left
    h ^= U(end - begin) & _word
    h = (h ^ h >> U(16)) * _c3 & _word
    h = (h ^ h >> U(13)) * _c4 & _word
    return h ^ h >> U(16)


@compiled()
def hash_spans(text, start, end, seed, mask, column):
    """Write the hash of each span, and the mask, into `column`; `seed` has one seed for all spans, or one for each."""
    step = np.int64(seed.size > 1)
    for k in range(start.size):
        h = np.int64(murmur(text, np.int64(start[k]), np.int64(end[k]), seed[k * step]) & U(mask))
        column[k] = h - (h >> 31 << 32)  # all 32 bits fit, as a number with a sign


# ------------------------------------------------------------------------------------------------------------ words


@compiled()
def _code_point(text, i, stop):
    """Return the code point at i of text that is not ASCII, and its bytes; zero bytes if they are not UTF-8."""
    head = np.int64(text[U(i)])
    size = 2 if 0xC2 <= head < 0xE0 else 3 if 0xE0 <= head < 0xF0 else 4 if 0xF0 <= head < 0xF5 else 0
    if size == 0 or i + size > stop:
        return 0, 0
    point = head & (0x7F >> size)
    for k in range(i + 1, i + size):
        if text[U(k)] & 0xC0 != 0x80:
            return 0, 0
        point = point << 6 | np.int64(text[U(k)]) & 0x3F
    least = 0x80 if size == 2 else 0x800 if size == 3 else 0x10000
    if point < least or 0xD800 <= point < 0xE000 or point > 0x10FFFF:
        return 0, 0
    return point, size


@compiled()
def _write_point(out, o, point):
    """Write a code point as UTF-8 and return where it ends."""
    if point < 0x80:
        out[U(o)] = point
        return o + 1
    if point < 0x800:
        out[U(o)], out[U(o + 1)] = 0xC0 | point >> 6, 0x80 | point & 0x3F
        return o + 2
    if point < 0x10000:
        out[U(o)], out[U(o + 1)], out[U(o + 2)] = 0xE0 | point >> 12, 0x80 | point >> 6 & 0x3F, 0x80 | point & 0x3F
        return o + 3
    out[U(o)], out[U(o + 1)] = 0xF0 | point >> 18, 0x80 | point >> 12 & 0x3F
    out[U(o + 2)], out[U(o + 3)] = 0x80 | point >> 6 & 0x3F, 0x80 | point & 0x3F
    return o + 4


@compiled()
def _write_wide(text, i, stop, wide, out, o):
    """Write the character at i, which is not ASCII, if it belongs to a word; return where reading and writing go on."""
    point, size = _code_point(text, i, stop)
    if size == 0:  # a byte that is not UTF-8 is a letter of its own
        out[U(o)] = text[U(i)]
        return i + 1, o + 1
    lower = np.int64(wide[point]) if point < wide.size else 0
    if lower == 0:
        return i + size, o
    return i + size, _write_point(out, o, lower)


@compiled()
def split_words(text, start, end, narrow, wide, out, word_start, word_end, first_word):
    """Cut each span of a text into words, written one after another with a space before and after each.

    Parameters
    ----------
    text : uint8 array
    start, end : int arrays of shape (n,)
        Spans. The byte after each must be there, ASCII, and belong to no word.
    narrow : uint8 array of shape (256,)
        What to write for a byte: 0 if it is a character that belongs to no word, WIDE if it is not ASCII.
    wide : uint32 array
        The same for all characters, by code point; those beyond its end belong to no word. May be empty if the text is
        ASCII.
    out : uint8 array
        With room for twice the spans' bytes and two more for each.
    word_start, word_end : int32 arrays
        With room for a word for each two bytes of the spans, and one for each span.
    first_word : int32 array of shape (n + 1,)
        Receives the number of the first word of each span.

    Returns
    -------
    int
        Bytes written.
    """
    o = words = np.int64(0)
    for row in range(start.size):
        first_word[row] = words
        i, stop = np.int64(start[row]), np.int64(end[row])
        out[U(o)] = BLANK
        o += 1
        while i < stop:
            begin = o
            letter = narrow[U(text[U(i)])]
            while letter > WIDE:
                out[U(o)] = letter
                o += 1
                i += 1
                letter = narrow[U(text[U(i)])]
            while letter == WIDE:
                before = o
                i, o = _write_wide(text, i, stop, wide, out, o)
                if o == before:
                    letter = U8(0)
                    i -= 1
                else:
                    letter = narrow[U(text[U(i)])]
                    while letter > WIDE:
                        out[U(o)] = letter
                        o += 1
                        i += 1
                        letter = narrow[U(text[U(i)])]
            i += 1
            if o > begin:
                word_start[U(words)], word_end[U(words)] = begin, o
                words += 1
                out[U(o)] = BLANK
                o += 1
    first_word[start.size] = words
    return o


def _lowest_bit(bits):
    """Return the place of the lowest bit of a number that is not zero."""
    return U((int(bits) & -int(bits)).bit_length() - 1)


def _by_instruction(bits):
    """Return the same as Numba is to compile it: as one instruction."""
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def count(context, bits):
        return types.uint64(types.uint64), lambda context, builder, signature, values: builder.cttz(
            values[0], cgutils.true_bit
        )

    return lambda bits: count(bits)


overload(_lowest_bit)(_by_instruction)


@compiled()
def _mark(kinds, eights, marks):
    """Write a bit for each byte of `kinds`, which is 0 or 1; `eights` is the same memory, eight bytes at a time."""
    for place in range(marks.size):
        found = U(0)
        for part in range(8):
            x = eights[U(8 * place + part)]
            x = (x | x >> U(7)) & _pairs
            x = (x | x >> U(14)) & _fours
            found |= ((x | x >> U(28)) & _eight) << U(8 * part)
        marks[U(place)] = found


@compiled()
def find_lines(text, end, tab, kinds, eights, marks):
    """Write where lines end, and where each has its first tab, or ends if it has none; return how many lines there are.

    Lines for which there is no room are counted only. `kinds` has room for some bytes, a multiple of 64, `eights` is
    the same memory, and `marks` has room for as many bits.
    """
    count, first = 0, -1
    for base in range(0, text.size, kinds.size):
        size = min(kinds.size, text.size - base)
        for i in range(size):
            byte = text[U(base + i)]
            kinds[U(i)] = (byte == U8(9)) | (byte == U8(10))
        for i in range(size, kinds.size):
            kinds[U(i)] = 0
        _mark(kinds, eights, marks)
        for place in range(marks.size):
            found = marks[U(place)]
            while found != 0:
                i = base + WORD_BITS * place + np.int64(_lowest_bit(found))
                found &= found - U(1)
                if text[U(i)] == 9:
                    first = i if first < 0 else first
                else:
                    if count < end.size:
                        end[U(count)], tab[U(count)] = i, first if first >= 0 else i
                    count, first = count + 1, -1
    return count


@compiled()
def _load(text, i):
    """Return the eight bytes at i as one number."""
    low = U(text[U(i)]) | U(text[U(i + 1)]) << U(8) | U(text[U(i + 2)]) << U(16) | U(text[U(i + 3)]) << U(24)
    i += 4
    high = U(text[U(i)]) | U(text[U(i + 1)]) << U(8) | U(text[U(i + 2)]) << U(16) | U(text[U(i + 3)]) << U(24)
    return low | high << U(32)


@compiled()
def _turned(h):
    return ((h << U(13) | h >> U(19)) & _word) * _five + _add & _word


@compiled()
def _finished(h, size):
    h ^= size
    h = (h ^ h >> U(16)) * _c3 & _word
    h = (h ^ h >> U(13)) * _c4 & _word
    return h ^ h >> U(16)


@compiled()
def _careful_word(text, i, stop, narrow, wide, scratch, seed):
    """Return where the word at i ends, its number of bytes and its hash; or where to go on if there is none."""
    o = zero = np.int64(0)  # not 0, for which Numba would compile what is called once more
    while i < stop:
        letter = narrow[U(text[U(i)])]
        after, before = i + 1, o
        if letter == WIDE:
            after, o = _write_wide(text, i, stop, wide, scratch, o)
        elif letter != 0:
            scratch[U(o)] = letter
            o += 1
        if o == before:
            i = i if o > 0 else after
            break
        i = after
    return i, o, murmur(scratch, zero, o, seed)


@compiled()
def _mark_words(text, begin, end, case, lower, kinds, eights, marks):
    """Copy a part of a text to `lower`, capitals in lower case if `case` is 32, and mark what may belong to words."""
    for i in range(end - begin):
        byte = text[U(begin + i)]
        capital = (byte >= U8(65)) & (byte <= U8(90))
        lower[U(i)] = byte | (case if capital else U8(0))
        small, digit = (byte >= U8(97)) & (byte <= U8(122)), (byte >= U8(48)) & (byte <= U8(57))
        kinds[U(i)] = capital | small | digit | (byte == U8(95)) | (byte > U8(127))
    for i in range(end - begin, kinds.size):
        kinds[U(i)] = 0
    _mark(kinds, eights, marks)


# The same steps in numbers of 32 bits, twice as many of which fit into a register. Each function that is called takes
# time to compile.


@compiled()
def _short_scrambled(k):
    k = U32(U(k) * _c1 & _word)
    return U32(U(U32((U(k) << U(15) | U(k) >> U(17)) & _word)) * _c2 & _word)


@compiled()
def _short_turned(h):
    return U32(U(U32((U(h) << U(13) | U(h) >> U(19)) & _word)) * _five + _add & _word)


@compiled()
def _hash_short(eight, size, count, seed, mask, column, first):
    """Write the hashes of words of at most eight bytes: without branches, so that it is done for several at once."""
    for k in range(count):
        x, length = eight[U(k)], U32(size[U(k)])
        h = U32(seed ^ _short_scrambled(U32(x & _word)))
        h = _short_turned(h) if length > U32(3) else h
        h = U32(h ^ _short_scrambled(U32(x >> U(32))))
        h = _short_turned(h) if length > U32(7) else h
        h = U32(h ^ length)
        h = U32(U(U32(h ^ U32(h >> U32(16)))) * _c3 & _word)
        h = U32(U(U32(h ^ U32(h >> U32(13)))) * _c4 & _word)
        column[U(first + k)] = np.int64(U32(h ^ U32(h >> U32(16))) & mask)


@compiled()
def _hash_long(lower, begin, end, seed):
    """Return the hash of a word, and whether it is ASCII."""
    h, i, seen = seed, begin, U(0)
    while i + 8 <= end:
        x = _load(lower, i)
        seen |= x
        h = _turned(h ^ _scrambled(x & _word))
        h = _turned(h ^ _scrambled(x >> U(32)))
        i += 8
    left = U(end - i)
    x = _load(lower, i) & (U(1) << (left << U(3))) - U(1)
    h ^= _scrambled(x & _word)
    h = _turned(h) if left > U(3) else h
    h ^= _scrambled(x >> U(32))
    return _finished(h, U(end - begin)), (seen | x) & _high_bits == U(0)


# One argument for each array: Numba would pass a bundle of them array by array, too.
@compiled()
def _hash_others(lower, begins, ends, count, narrow, wide, seed, mask, column, first, scratch):
    """Write the hashes of words that are long or not ASCII; return how many columns are written then."""
    for k in range(count):
        i, stop = np.int64(begins[U(k)]), np.int64(ends[U(k)])
        h, plain = _hash_long(lower, i, stop, seed)
        if plain:
            column[U(first)] = np.int64(h & mask)
            first += 1
            continue
        while i < stop:
            i, letters, h = _careful_word(lower, i, stop, narrow, wide, scratch, seed)
            column[U(first)] = np.int64(h & mask)
            first += letters > 0
    return first


@compiled()
def hash_words(text, start, end, narrow, wide, case, seed, mask, column, pointer, scratch, lower, kinds, eights, work):
    """Write the hash of each word of each span, and the mask, into `column`: as `split_words` and `hash_spans` do.

    The words of a span come in any order. Bytes of several spans are looked at together, and so are words, so that
    little depends on branches, which would often be predicted wrongly.

    Parameters
    ----------
    text, start, end, narrow, wide : arrays
        As in `split_words`; the spans come in order.
    case : uint8
        32 for lower case, 0 to leave letters as they are.
    seed, mask : int
    column : int32 array
        With room for a word for each two bytes of the spans, one for each span, and one more.
    pointer : int32 array of shape (n + 1,)
        Receives the number of the first word of each span.
    scratch : uint8 array
        With room for twice the bytes of the longest span, and eight more.
    lower : uint8 array
        With room for TILE bytes or the longest span, and eight more.
    kinds, eights : uint8 array, uint64 array
        The same memory, with room for TILE bytes or the longest span, and one more, filled up to a multiple of 64.
    work : uint64 array of shape (5, m)
        With room for BATCH and 32 more in each row; and for a bit for each byte of `kinds` in the last.

    Returns
    -------
    int
        How many words there are.
    """
    eight, size, begins, ends = work[0], work[1], work[2], work[3]
    marks = work[4, : kinds.size // WORD_BITS]
    count = base = np.int64(0)
    known = np.int64(-1)  # bytes in [base, known) are marked
    seed, mask, case = U(seed), U(mask), U8(case)
    for row in range(start.size):
        pointer[row] = count
        if end[row] > known or start[row] < base:
            base = np.int64(start[row])
            known = max(min(base + TILE, np.int64(end[start.size - 1])), np.int64(end[row]))
            used = (known - base) // WORD_BITS + 1
            _mark_words(text, base, known, case, lower, kinds[: WORD_BITS * used], eights, marks[:used])
        i, stop = U(np.int64(start[row]) - base), U(np.int64(end[row]) - base)
        place, last = i >> U(6), stop >> U(6)
        inside, carry, begin = _all << (i & U(63)), U(0), U(0)
        shorts = others = np.int64(0)
        while place <= last:
            if place == last:
                inside &= (U(1) << (stop & U(63))) - U(1)
            bits, at = marks[place] & inside, place << U(6)
            before = bits << U(1) | carry
            opens, closes = bits & ~before, before & ~bits
            if carry == 0 and opens != 0:
                begin = at + _lowest_bit(opens)
                opens &= opens - U(1)
            inside, carry = _all, bits >> U(63)
            while closes != 0:
                close = at + _lowest_bit(closes)
                closes &= closes - U(1)
                length = close - begin
                x = _load(lower, np.int64(begin)) & _all >> ((~length + U(1)) << U(3) & U(63))
                # All is written, and one of both is kept.
                eight[U(shorts)], size[U(shorts)], begins[U(others)], ends[U(others)] = x, length, begin, close
                other = (length > U(8)) | (x & _high_bits != U(0))
                others += other
                shorts += not other
                if opens != 0:  # else a word may begin in the next 64 bytes
                    begin = at + _lowest_bit(opens)
                    opens &= opens - U(1)
            place += U(1)
            if shorts + others >= BATCH or place > last:
                _hash_short(eight, size, shorts, seed, mask, column, count)
                count = _hash_others(
                    lower, begins, ends, others, narrow, wide, seed, mask, column, count + shorts, scratch
                )
                shorts = others = np.int64(0)
    pointer[start.size] = count
    return count


@compiled()
def word_grams(word_start, word_end, first_word, least, most, start, end, pointer):
    """Write the spans of all n-grams of words, n from `least` to `most`; return how many."""
    count = 0
    for row in range(first_word.size - 1):
        pointer[row] = count
        last = first_word[row + 1]
        for word in range(first_word[row], last):
            for other in range(word + least - 1, min(word + most, last)):
                start[U(count)], end[U(count)] = word_start[word], word_end[other]
                count += 1
    pointer[first_word.size - 1] = count
    return count


@compiled()
def letter_grams(text, word_start, word_end, first_word, least, most, start, end, pointer):
    """Write the spans of all n-grams of characters in each word and the space on either side; return how many."""
    count = 0
    for row in range(first_word.size - 1):
        pointer[row] = count
        for word in range(first_word[row], first_word[row + 1]):
            begin, stop = np.int64(word_start[word]) - 1, np.int64(word_end[word]) + 1
            while begin < stop:
                i = begin
                for n in range(1, most + 1):
                    if i >= stop:
                        break
                    i += 1
                    while i < stop and text[U(i)] & 0xC0 == 0x80:
                        i += 1
                    if n >= least:
                        start[U(count)], end[U(count)] = begin, i
                        count += 1
                begin += 1
                while begin < stop and text[U(begin)] & 0xC0 == 0x80:
                    begin += 1
    pointer[first_word.size - 1] = count
    return count


# ------------------------------------------------------------------------------------------------------- dictionary


@compiled()
def _is_name(text, begin, size, names, place, length):
    if size != length:
        return False
    for k in range(size):  # noqa: SIM110 - Numba does not compile generators as arguments
        if text[U(begin + k)] != names[U(place + k)]:
            return False
    return True


@compiled()
def join_names(text, start, end, group, prefixes, prefix_end, out, out_end):
    """Write the full name of each span: the prefix of its group, and its bytes. `group` is one for all, or for each."""
    o, step = 0, np.int64(group.size > 1)
    for k in range(start.size):
        own = group[k * step]
        for i in range(prefix_end[own], prefix_end[own + 1]):
            out[U(o)] = prefixes[U(i)]
            o += 1
        for i in range(start[k], end[k]):
            out[U(o)] = text[U(i)]
            o += 1
        out_end[k + 1] = o


@compiled()
def find_names(text, name_end, slots, names, known_end, state, column):
    """Find the number of each name in a dictionary, and enter new names as long as there is room.

    Parameters
    ----------
    text, name_end : arrays
        The names to look for, one after another: where each ends, after a zero.
    slots : int32 array
        A power of two of places, at least twice as many as names: the number of a name, or -1.
    names, known_end : arrays
        The names that are known, likewise.
    state : int64 array
        Number of names; most names; the first name to be looked for, and afterwards the first that was not.
    column : int32 array
        Receives the numbers: -1 where a name is not known and there is no room for it.

    Returns
    -------
    bool
        Whether all names were looked for; else there is not enough room for the bytes of another one.
    """
    mask = slots.size - 1
    for k in range(state[2], name_end.size - 1):
        begin, size = np.int64(name_end[k]), np.int64(name_end[k + 1]) - np.int64(name_end[k])
        slot = np.int64(murmur(text, begin, begin + size, 0)) & mask
        number = np.int64(slots[slot])
        while number >= 0:
            place = known_end[number]
            if _is_name(text, begin, size, names, place, known_end[number + 1] - place):
                break
            slot = (slot + 1) & mask
            number = np.int64(slots[slot])
        if number < 0 and state[0] < state[1]:
            number, place = state[0], known_end[state[0]]
            if place + size > names.size:
                state[2] = k
                return False
            names[place : place + size] = text[begin : begin + size]
            known_end[number + 1], slots[slot] = place + size, number
            state[0] += 1
        column[k] = number
    state[2] = name_end.size - 1
    return True
