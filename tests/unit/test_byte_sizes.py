"""Sizes as people write and read them."""

import pytest

from ernie_pp.byte_sizes import format_bytes, parse_bytes, parse_rate


@pytest.mark.parametrize(
    ("text", "size"),
    [("16GiB", 16 << 30), ("512 MB", 512_000_000), ("1.5kib", 1536), ("7B", 7), (" 2 TB ", 2 * 10**12)],
)
def test_a_size_is_a_number_with_a_unit(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["16", "GiB", "-1GiB", "1 GiB/s", "0B", "1e3MB", ""])
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        parse_bytes(text)


def test_a_rate_is_a_size_a_second():
    assert parse_rate("25GB/s") == 25e9
    with pytest.raises(ValueError, match="a second"):
        parse_rate("25GB")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1010 << 20, "1010 MiB"),
        ((1 << 30) - 1, "1 GiB"),
        (3 << 40, "3 TiB"),
    ],
)
def test_a_size_is_told_with_three_digits_and_no_exponent(size, text):
    assert format_bytes(size) == text
