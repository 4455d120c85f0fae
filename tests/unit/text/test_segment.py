from ernie_pp.text.segment import words


def test_words_have_their_places_and_blanks_are_none():
    text = "中华人民共和国 最高人民法院\n合同。"
    found = [text[start:end] for start, end in words(text)]
    assert "".join(found) == "中华人民共和国最高人民法院合同。"
    assert {"中华人民共和国", "合同", "。"} <= set(found)
    assert words("") == []
