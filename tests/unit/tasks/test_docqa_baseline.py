"""Plain answers to questions about small contracts."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.tasks.docqa.baseline import nearest_sentence, neighbourhood

CONTRACT = """房屋租赁合同
出租方（甲方）：北京远大置业有限公司
承租方（乙方）：王小明
第一条　租赁期限自2024年1月1日起，至2025年12月31日止。
第二条　月租金为人民币8,500元，押金为人民币17,000元。乙方应于每月五日前支付租金；逾期支付的，每日按0.5%支付违约金。
第三条　房屋的维修费用由甲方承担。“因乙方使用不当造成损坏的，维修费用由乙方承担。”
第四条　本合同争议由北京仲裁委员会仲裁，合同一式两份。"""
SENTENCES = {
    "月租金是多少？": "第二条　月租金为人民币8,500元，押金为人民币17,000元。",
    "租赁期限自何时起？": "第一条　租赁期限自2024年1月1日起，至2025年12月31日止。",
    "使用不当造成损坏由谁承担？": "“因乙方使用不当造成损坏的，维修费用由乙方承担。",
    "承租方是谁": "承租方（乙方）：王小明",
    "争议由谁仲裁": "第四条　本合同争议由北京仲裁委员会仲裁，合同一式两份。",
}
NEIGHBOURS = {
    "月租金是多少？": "人民币8,500元",
    "押金为多少元？": "人民币17,000元",
    "租赁期限自何时起？": "2024年1月1日起",
    "房屋的维修费用由谁承担？": "甲方承担",
    "本合同争议由何处解决？": "北京仲裁委员会仲裁",
    "哪里仲裁委员会仲裁": "第四条　本合同争议由北京",
}


def found(method, question, text=CONTRACT):
    start, end = method(question, text)
    return text[start:end]


@pytest.mark.parametrize("question", SENTENCES)
def test_the_sentence_that_shares_most_is_found(question):
    assert found(nearest_sentence, question) == SENTENCES[question].rstrip("。")


@pytest.mark.parametrize("question", NEIGHBOURS)
def test_what_stands_beside_the_shared_words_is_found(question):
    assert found(neighbourhood, question) == NEIGHBOURS[question]


def test_a_rare_pair_says_more_than_common_ones():
    text = "合同金额另议。合同编号为甲。合同金额。合同金额见附件。合同编号见附件。合同担保见附件。"
    assert found(nearest_sentence, "合同的担保", text) == "合同担保见附件"


def test_a_value_behind_a_colon_belongs_to_the_words_before_it():
    assert found(neighbourhood, "签约日期是何时？", "签约地点：上海\n签约日期： 2024年5月6日\n") == "2024年5月6日"


def test_question_words_and_punctuation_are_no_shared_words():
    text = "有什么规定，见附件。金额三百元。"
    assert found(neighbourhood, "什么金额？", text) == "三百元"
    assert found(neighbourhood, "什么？", text) == ""


def test_words_that_occur_often_are_taken_where_the_sentence_fits():
    text = "甲方地址在北京。联系电话为110。乙方地址在天津，联系电话为119。"
    assert found(neighbourhood, "乙方的联系电话？", text) == "119"


def test_capitals_do_not_matter_and_places_stay():
    text = "İstanbul公司。NEXON股价为5元。"
    assert found(neighbourhood, "nexon股价是多少", text) == "5元"
    assert found(nearest_sentence, "nexon股价是多少", text) == "NEXON股价为5元"


@pytest.mark.parametrize("method", [nearest_sentence, neighbourhood])
@pytest.mark.parametrize(
    ("question", "text"),
    [("金额多少", ""), ("", "金额三元。"), ("多少？", "甲乙"), ("鱼", "鱼。"), ("甲方", " \n\u3000")],
)
def test_there_is_an_empty_place_where_nothing_is_shared(method, question, text):
    assert method(question, text) == (0, 0)


ANY = st.text("甲乙丙，。：\n 为1,aİ什么", max_size=30)


@pytest.mark.parametrize("method", [nearest_sentence, neighbourhood])
@settings(deadline=None, max_examples=300)
@given(ANY, ANY)
def test_places_lie_in_the_text_and_begin_and_end_without_blanks(method, question, text):
    start, end = method(question, text)
    assert 0 <= start <= end <= len(text)
    assert text[start:end] == text[start:end].strip()


def test_long_articles_with_many_questions_do_not_take_long():
    text = "".join(
        f"第{number}条　甲方应于{number}日内向乙方支付{number * 7}元，逾期按日计息。" for number in range(2500)
    )
    begin = time.perf_counter()
    for number in range(30):
        assert f"支付{number * 7}元" in found(nearest_sentence, f"第{number}条要求支付多少元？", text)
        assert found(neighbourhood, f"第{number}条　甲方应于多少日内支付？", text)
    assert time.perf_counter() - begin < 5
