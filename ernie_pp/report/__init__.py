"""The run report: one self-contained HTML page drawn from plain values."""

from ernie_pp.report.content import Confusion, Content, Curve, Histogram, Mistake, PlanPicture, Table
from ernie_pp.report.page import write_report

__all__ = ["Confusion", "Content", "Curve", "Histogram", "Mistake", "PlanPicture", "Table", "write_report"]
