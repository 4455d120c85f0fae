import pytest

from ernie_pp.data.faults import Faults

HEADER = "label\ttext\n"


def fields(rows):
    return [dict(row.fields) for row in rows]


def test_values_stay_the_text_of_the_file(read):
    texts = ["NA", "null", "None", "123", "007", "1e5", "2024-01-01", "True", " 前后有空格 ", "-", "nan"]
    rows = read("a.tsv", HEADER + "".join(f"1\t{text}\n" for text in texts))
    assert [row.fields["text"] for row in rows] == texts


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_all_systems_give_the_same_rows(read, end):
    text = "label\ttext\n1\t好\n0\t差\n".replace("\n", end)
    assert fields(read("a.tsv", text)) == [{"label": "1", "text": "好"}, {"label": "0", "text": "差"}]
    assert fields(read("a.csv", text.replace("\t", ","))) == fields(read("a.tsv", text))


def test_last_line_needs_no_end(read):
    assert fields(read("a.tsv", HEADER + "1\t好")) == [{"label": "1", "text": "好"}]


def test_a_mark_of_order_at_the_start_is_dropped_and_one_inside_is_text(read):
    rows = read("a.tsv", b"\xef\xbb\xbf" + (HEADER + "1\t\ufeff好\ufeff\n").encode())
    assert fields(rows) == [{"label": "1", "text": "\ufeff好\ufeff"}]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\u3000", "\xa0"])
def test_only_line_feeds_end_a_line(read, character):
    for name, separator in (("a.tsv", "\t"), ("a.csv", ",")):
        rows = read(name, f"label{separator}text\n1{separator}前{character}后\n")
        assert fields(rows) == [{"label": "1", "text": f"前{character}后"}]


def test_quotes_are_text_in_tsv(read):
    assert fields(read("a.tsv", HEADER + '1\t"好\n0\t他说"差"\n')) == [
        {"label": "1", "text": '"好'},
        {"label": "0", "text": '他说"差"'},
    ]


def test_quoted_fields_hold_commas_quotes_and_line_breaks(read):
    rows = read("a.csv", 'label,text\r\n1,"好，\r\n真的,""很""好"\r\n0,差\r\n')
    assert fields(rows) == [{"label": "1", "text": '好，\r\n真的,"很"好'}, {"label": "0", "text": "差"}]
    assert [row.place.line for row in rows] == [2, 4]


def test_quoting_can_be_chosen_for_either_format(read):
    assert fields(read("a.tsv", 'label\ttext\n1\t"a\tb"\n', quoting="double")) == [{"label": "1", "text": "a\tb"}]
    assert fields(read("a.csv", 'label,text\n1,"a"\n', quoting="none")) == [{"label": "1", "text": '"a"'}]


def test_without_a_header_columns_are_numbered(read):
    assert fields(read("a.tsv", "1\t好\n0\t差\n", header=False, columns=("1", "0")))[1] == {"0": "0", "1": "差"}


def test_blank_lines_are_passed_over_and_are_empty_texts_in_a_single_column(read):
    assert [row.place.line for row in read("a.tsv", "\n" + HEADER + "\n1\t好\n\n\n")] == [4]
    assert [row.fields["text"] for row in read("a.tsv", "text\n好\n\n差\n")] == ["好", "", "差"]


def test_empty_values_are_kept_for_the_task_to_judge(read):
    assert fields(read("a.tsv", HEADER + "1\t\n")) == [{"label": "1", "text": ""}]


@pytest.mark.parametrize(
    ("name", "data", "settings", "parts"),
    [
        (
            "a.tsv",
            HEADER + "1\t好\t多\n",
            {},
            ["a.tsv line 2", 'found "3: 1\\x09好\\x09多"', "number of columns", "expected 2"],
        ),
        ("a.tsv", HEADER + "1\n", {}, ["a.tsv line 2", "1: 1", "TAB"]),
        ("a.csv", "label,text\n1,好,多\n", {}, ["a.csv line 2", "3: 1,好,多", "double quotes"]),
        ("a.tsv", "lable\ttext\n1\t好\n", {"columns": ("label",)}, ["line 1", 'column "label"', 'mean "lable"']),
        ("a.tsv", "1\t好\n", {"header": False, "columns": ("2",)}, ["line 1", 'column "2"', "number from 0"]),
        ("a.tsv", "text\ttext\n1\t好\n", {}, ["line 1", "every name once", '"text"']),
        ("a.tsv", HEADER, {}, ["a.tsv line 1", "at least one row"]),
        ("a.tsv", "", {}, ["a.tsv line 1", "at least one row"]),
        ("a.csv", "\ufeff", {}, ["a.csv line 1", "at least one row"]),
        ("a.tsv", HEADER + "1\t好\0坏\n", {}, ["line 2", "character 4", "\\x00", "without NUL"]),
        ("a.csv", "label,text\n1,好\0坏\n", {}, ["line 2", "character 4", "\\x00", "without NUL"]),
        ("a.tsv", HEADER + "1\t好\r坏\n", {}, ["line 2", "character 4", "carriage return"]),
        ("a.csv", "label,text\n1,好\r坏\n", {}, ["line 2", "character 4", "carriage return"]),
        ("a.csv", 'label,text\n1,好\n0,"差\n1,"好"\n', {}, ["line 3", "quotes", "closed", '0,"差']),
        ("a.csv", 'label,text\n1,"多行\n文字",x\n0,"差', {}, ["line 4", "quotes"]),
        ("a.csv", 'label,text\n1,"他说"好"了"\n', {}, ["line 2", "quotes", '""']),
    ],
)
def test_faults_are_named_by_line_column_and_value(refused, name, data, settings, parts):
    message = refused(name, data, **settings)
    assert [part for part in parts if part not in message] == []


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_bad_bytes_are_named_and_gbk_is_recognised(refused, name):
    separator = b"\t" if name == "a.tsv" else b","
    head = b"label" + separator + b"text\n"
    message = refused(name, head + b"1" + separator + "质量很好，喜欢".encode("gb18030") + b"\n")
    assert "line 2" in message and "byte 3 of the line (0xD6)" in message and "GB18030" in message
    assert "质量很好，喜欢" in message
    message = refused(name, head + b"1" + separator + "好".encode() + b"\xff\n")
    assert "byte 6 of the line (0xFF)" in message and "GB18030" not in message
    # An encoded surrogate is no UTF-8 either.
    assert "0xED" in refused(name, head + b"1" + separator + b"\xed\xa0\x80\n")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_other_unicode_encodings_are_recognised(refused, encoding):
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    message = refused("a.tsv", (mark + HEADER + "1\t好\n").encode(encoding))
    assert encoding.upper()[:6] in message and "UTF-8" in message


def test_skipping_leaves_out_the_bad_rows_only(read):
    faults = Faults(on_error="skip")
    data = b'label,text\n1,a\n0,\xff\n1,b,c\n0,"open\n1,d\n0,"e\nf"\n1,"g\xff\nh"\n0,i\n'
    rows = read("a.csv", data, faults=faults)
    assert [row.fields["text"] for row in rows] == ["a", "d", "e\nf", "i"]
    assert [fault.place.line for fault in faults.listed] == [3, 4, 5, 9]


def test_a_quote_that_never_closes_swallows_no_other_row(read):
    faults = Faults(on_error="skip")
    rows = read("a.csv", 'label,text\n0,"open\n' + "1,好\n" * 30_000, faults=faults)
    assert len(rows) == 30_000
    assert [fault.place.line for fault in faults.listed] == [2]


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize(
    ("name", "data"), [("a.tsv", b"label\t\xff\n1\ta\n0\tb\n"), ("a.csv", b'label,"te"xt\n1,a\n0,b\n')]
)
def test_a_header_that_cannot_be_read_is_not_replaced_by_the_next_line(refused, name, data, on_error):
    message = refused(name, data, faults=Faults(on_error=on_error))
    assert f"{name} line 1" in message and "line 2" not in message


def test_texts_longer_than_the_csv_modules_own_limit_are_read(read):
    text = "长" * 200_000
    assert read("a.csv", f'label,text\n1,"{text}"\n')[0].fields["text"] == text
