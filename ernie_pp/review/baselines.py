"""Two plain ways to find fields, for figures beside the model's: cues in the text, and values known from training."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ernie_pp.data.entities.document import Mention
from ernie_pp.text.terms import TermMatcher

# A value ends where the sentence, the next cue, a bracket that explains it or the next numbered point begins.
_END = (
    r"(?=[,，。;；“”\"》\n]|[（(](?:以下|下称|简称)|[（(]?[0-9一二三四五六七八九十]{1,2}[、.．)）]|[甲乙丙]方"
    r"|(?:项目|工程|合同|招标|法定|住所|注册|地址|建设|中标|标的|签订|招投|本次)[\u4e00-\u9fff]{0,8}[:：]|$)"
)
# A name may have a bracket in it, (集团), which is not one that explains it, (以下简称…).
_LETTER = r"(?:[^,，。;；:：“”\"\n()（）、]|[（(][^()（）称]{1,12}[)）])"
_BODY = r"(?:公司|集团|厂|局|院|部|委员会|政府|中心|管理处|管理所|指挥部|大学|学校|医院|银行|办公室|分公司|支行)"
_PARTY = rf"({_LETTER}{{2,40}}?{_BODY})"
_COMPANY = r"((?:[^\W0-9_]|[（(][^()（）称]{1,12}[)）]){3,30}?公司)"
_TITLE = r"([^,，。;；:：“”\"《》\n]{4,80}?)"
_OPEN, _REMARK = r"[“”\"《]?", r"(?:[（(][^()（）]{1,40}[)）])?"
_FIRST = (
    r"(?:甲方|发包人|发包方|招标人|招标单位|招标方|采购人|采购方|采购单位|买方|需方|业主方|业主单位|业主|建设单位"
    r"|定作方|委托方)"
)
_SECOND = r"(?:乙方|承包人|承包方|中标人|中标单位|中标方|卖方|供方|供应商|承揽方|受托方|供货方|第一中标候选人)"
_IS = r"(?:名称)?(?:[为是]?[:：]|[为是])"
_SIGN = r"签[订署](?:了|的)?"
_NOTICE = r"(?:发出|发来|发送|下发|送达|签发|出具|寄发|授予|的?《?(?:中标|成交))"

# (field, score, pattern): group 1 is the value. The scores order the cues, they measure nothing.
_CUES = (
    ("甲方", 0.9, rf"{_FIRST}{_REMARK}{_IS}{_PARTY}{_END}"),
    ("甲方", 0.7, rf"(?:收到|接到|取得)(?:了|由)?{_FIRST}?{_PARTY}(?:和[^,，。]{{2,40}}?)?{_REMARK}{_NOTICE}"),
    ("甲方", 0.6, rf"[与和]{_FIRST}?{_PARTY}{_REMARK}(?:[^,，。]{{0,12}}?){_SIGN}"),
    ("乙方", 0.9, rf"{_SECOND}{_REMARK}{_IS}{_PARTY}{_END}"),
    ("乙方", 0.7, rf"(?:全资|控股|下属)(?:子)?公司[,，]?{_COMPANY}(?=[（(,，与于]|近日|收到|中标|签)"),
    (
        "乙方",
        0.6,
        rf"编号[:：]?[^\u4e00-\u9fff]{{0,3}}[临第]?[^\u4e00-\u9fff]{{4,16}}号?{_COMPANY}(?=关于|[^,，。]{{2,20}}公告)",
    ),
    ("乙方", 0.5, rf"(?:遗漏|责任)。{_COMPANY}[（(](?:以下)?[^()（）]{{0,6}}称[^()（）]{{0,6}}公司"),
    ("项目名称", 0.9, rf"(?:项目|工程)名称(?:及[^:：]{{1,6}})?[:：为]+{_OPEN}{_TITLE}{_END}"),
    ("项目名称", 0.8, rf"中标(?:项目|工程)[:：]{_OPEN}{_TITLE}{_END}"),
    (
        "项目名称",
        0.7,
        rf"(?:确定|确认)[^,，。]{{2,40}}?(?:为|中标)[“”\"《]?{_TITLE}[”\"》]?{_REMARK}(?:项目)?的?(?:第一)?中标",
    ),
    ("项目名称", 0.6, r"[“\"]([^,，。:：“”\"]{6,80}(?:项目|工程|标段?|活动|采购))[”\"]"),
    ("项目名称", 0.5, rf"关于[^,，。]{{0,20}}?中标{_TITLE}的(?:提示性)?公告"),
    ("合同名称", 0.9, rf"(?:合同|协议)(?:书)?名称[:：为]+{_OPEN}{_TITLE}{_END}"),
    ("合同名称", 0.8, rf"{_SIGN}[^《,，。]{{0,20}}《([^《》]{{4,80}})》"),
    ("合同名称", 0.6, rf"{_SIGN}([^,，。《》“”]{{4,40}}?(?:合同|协议))[,，。]"),
)
CUE_FIELDS = tuple(dict.fromkeys(field for field, _, _ in _CUES))


class CueFinder:
    """Fields by regular expressions on their cues (甲方：…, 招标人为…, 项目名称：…, 签订了《…》)."""

    def __init__(self) -> None:
        self._cues = [(field, score, re.compile(pattern)) for field, score, pattern in _CUES]

    def __call__(self, texts: Sequence[str]) -> list[tuple[Mention, ...]]:
        """What the cues find in each text, labelled with the field's name, in order of places."""
        return [tuple(sorted(self._find(text))) for text in texts]

    def _find(self, text: str) -> Iterable[Mention]:
        for field, score, pattern in self._cues:
            for match in pattern.finditer(text):
                yield Mention(match.start(1), match.end(1), field, score, "cue")


class DictionaryFinder:
    """Fields by the longest match of their training values.

    A value's score is the share of the training documents holding it whose field it is: a city's name that was a
    party once and stands in fifty other documents is hardly one.
    """

    def __init__(self, documents: Iterable[tuple[str, Mapping[str, Sequence[str]]]]) -> None:
        """Of (text, values by field) each."""
        documents = list(documents)
        names = {value for _, fields in documents for values in fields.values() for value in values if value}
        matcher = TermMatcher({name: name for name in names})
        holding = Counter(name for text, _ in documents for name in {found for _, _, found in matcher.find(text)})
        filling = Counter(
            (name, field) for _, fields in documents for field, values in fields.items() for name in set(values)
        )
        scores: dict[str, list[tuple[str, float]]] = {name: [] for name in sorted(names)}
        for (name, field), count in sorted(filling.items()):
            if name:
                # A longer value may hide a shorter one in its own text, so it need not be found there.
                scores[name].append((field, count / max(count, holding[name])))
        self._matcher: TermMatcher[list[tuple[str, float]]] = TermMatcher(scores)

    def __call__(self, texts: Sequence[str]) -> list[tuple[Mention, ...]]:
        """What is known of each text, labelled with the field's name, in order of places."""
        return [tuple(sorted(self._find(text))) for text in texts]

    def _find(self, text: str) -> Iterable[Mention]:
        for start, end, scores in self._matcher.find(text):
            for field, score in scores:
                yield Mention(start, end, field, score, "dictionary")
