"""The colours can be told apart from the ground and from one another."""

from rosenblatt.markup import palette


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_marks_have_a_contrast_of_three_and_texts_of_four_and_a_half():
    for colour in (*palette.CLASSES, palette.UPDATE, palette.SOLUTIONS, palette.AXES):
        assert contrast(colour, palette.PANEL) >= 3, colour
    for colour in (palette.INK, palette.SOFT, palette.UPDATE):
        assert contrast(colour, palette.PANEL) >= 4.5, colour


def test_ten_classes_have_ten_colours():
    assert len(set(palette.CLASSES)) == 10
