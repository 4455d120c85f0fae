"""A report page as a tree that tests can ask, and a content to change one thing of."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest

from ernie_pp.report import Confusion, Content, Curve, Histogram, Mistake, Table

VOID = {"meta", "input", "br", "link", "img"}


@dataclass
class Element:
    tag: str
    attributes: dict
    children: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag=None, **wanted):
        """Every element below with this tag and these attributes (`class_` names one of its classes)."""
        for child in self.children:
            if isinstance(child, Element):
                if child._is(tag, wanted):
                    yield child
                yield from child.all(tag, **wanted)

    def one(self, tag=None, **wanted):
        (found,) = self.all(tag, **wanted)
        return found

    def _is(self, tag, wanted):
        def value(name):
            return self.attributes.get(name, "").split() if name == "class" else [self.attributes.get(name)]

        return tag in (None, self.tag) and all(want in value(name.rstrip("_")) for name, want in wanted.items())


class _Builder(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Element("page", {})]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)


@pytest.fixture(scope="session")
def parse():
    """From HTML to an Element; a tag that is not closed in order fails."""

    def build(html):
        builder = _Builder()
        builder.feed(html)
        builder.close()
        assert len(builder.open) == 1, f"<{builder.open[-1].tag}> is not closed"
        return builder.open[0]

    return build


@pytest.fixture
def content():
    return Content(
        title="cls: 情感",
        headline="dev accuracy 87.3 %",
        headline_note="95 % interval 85.4 to 89.2 %, 1200 rows, step 600",
        facts=[("model", "random weights"), ("rows", "9,600 train")],
        notes=["text.max_length 192 cuts 812 rows"],
        curves=[Curve("training loss", {"loss": [(10, 0.7), (20, 0.4), (30, 0.31)]})],
        tables=[Table("By label", ["label", "F1", "rows"], [["负面", 0.8714, 1200]], frozenset({"F1"}))],
        confusion=Confusion(["负面", "正面"], [[40, 5], [9, 36]]),
        histograms=[Histogram("lengths", [0, 50, 100, 150], [5, 0, 90], "tokens", 120)],
        mistakes=[Mistake("dev.tsv line 7", "房间很好", "正面", "负面", 0.987)],
        settings="task: cls\nseed: 42\n",
    )
