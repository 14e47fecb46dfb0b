"""The files that are made from records: JUnit XML and the HTML page."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from remat_lint.runtime_check import CheckResult, Options, check, html, junit  # noqa: E402
from remat_lint.runtime_check.errors import UsageError  # noqa: E402
from remat_lint.runtime_check.markup import element  # noqa: E402
from remat_lint.runtime_check.output import Files  # noqa: E402
from remat_lint.runtime_check.record import (  # noqa: E402
    ConfirmationRecord,
    CostRecord,
    DivergenceRecord,
    FrontRecord,
    ManifestRecord,
    MarkerRecord,
    Quantity,
    RanksRecord,
    Record,
    Sections,
    excerpt,
    record_of,
)
from remat_lint.runtime_check.verdicts import EXIT_INCONCLUSIVE  # noqa: E402

NASTY = "</script><script>alert('&')</script>\"\x00\udcff"


class Two(nn.Module):
    """Two regions under names of the test's choice, and what runs bare between them."""

    keeps = False
    names = ("first", "second")

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x: Tensor) -> Tensor:
        x = remat.region(self.first, self.names[0], recompute=not self.keeps)(x)
        return remat.region(self.second, self.names[1], recompute=not self.keeps)(self.between(x))

    def between(self, x: Tensor) -> Tensor:
        remat.recompute_needs_tensor(x)
        return x.sin()


class Dropping(Two):
    def between(self, x: Tensor) -> Tensor:
        remat.recompute_needs_tensor(x)
        return F.dropout(x, 0.5)


class Unmarked(Two):
    def between(self, x: Tensor) -> Tensor:
        return x.exp()


@functools.cache
def checked(module: type[nn.Module]) -> CheckResult:
    torch.manual_seed(0)
    return check(lambda: (module(), torch.ones(2, 4)), Options(device="cpu"))


def made_record(module: type[nn.Module] = Two, sections: Sections | None = None) -> Record:
    return record_of(checked(module), sections or Sections())


def page_of(*records: Record) -> str:
    page = html.page(records)
    assert_well_formed(page)
    return page


def assert_well_formed(page: str) -> None:
    """Every element is closed where it belongs, and nothing is loaded or run."""
    open_elements: list[str] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag not in ("script", "link", "iframe", "img", "object"), tag
            for name, _ in attrs:
                assert name not in ("src", "href", "style"), name
                assert not name.startswith("on"), name
            if tag != "meta":
                open_elements.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_elements.pop() == tag

    Parser().feed(page)
    assert open_elements == []
    assert not re.search(r"@import|url\(|https?:", page)


def test_page_shows_verdict_and_counts() -> None:
    page = page_of(made_record())
    assert '<p class="verdict holds">✓ holds</p>' in page
    rows = re.findall(r"<tr><th scope=\"row\">(\w+)</th>(.*?)</tr>", page)
    cells = {
        name: re.findall(r'<td class="runs heat\d" title="body: \d">(\d)</td>', row) for name, row in rows
    }
    counts = {name: runs for name, runs in cells.items() if runs}
    assert counts == {"none": ["2", "2"], "all": ["1", "1"], "first": ["1", "2"], "second": ["2", "1"]}


def test_card_shows_the_source_of_an_exception() -> None:
    page = page_of(made_record(Unmarked))
    assert "Raises in backward" in page
    marked = re.search(r'<span class="marked">.*?</span>(.*?)\n</span>', page)
    assert marked is not None
    assert "self.between(x)" in marked.group(1)
    assert "write remat.recompute_needs_tensor(...)" in page
    assert page.count('<section class="card">') == 1


def test_card_shows_the_first_divergence() -> None:
    names, lines = ("torch's random state",), excerpt(__file__, 3)
    cause = DivergenceRecord(
        "body", None, "bernoulli_", __file__, 3, "random state", "drawn", names, None, "write a hook", lines
    )
    broken = made_record(
        Dropping, Sections(divergences=dict.fromkeys(("none", "all", "first", "second"), cause))
    )
    page = page_of(broken)
    assert "First divergence: random state" in page
    assert "<dt>operation</dt><dd>bernoulli_</dd>" in page
    assert "<dt>remedy</dt><dd>write a hook</dd>" in page
    assert "<dt>policies</dt><dd>none, all, first, second</dd>" in page
    assert "gradient of second.weight" in page


def test_every_section_is_drawn() -> None:
    costs = (
        CostRecord("none", Quantity(2048.0, 2048.0), Quantity(), Quantity(3.0, 3.2, 0.1), True),
        CostRecord("all", Quantity(4096.0), Quantity(), Quantity(2.0), True),
    )
    sections = Sections(
        retained_bytes={("body", "first"): 1536, ("body", "second"): 512},
        front=FrontRecord(
            costs, budget_bytes=3072, recommended="none", by_layer=("no gain",), doubts=("busy",)
        ),
        knock_out=[MarkerRecord("m.py", 3, "needed", "all", "raises")],
        ranks=RanksRecord(2, False, (1,), ("rank 1 did not report",)),
    )
    not_checked = ConfirmationRecord("streams", "not checked", ("no GPU",))
    record = replace(
        made_record(sections=sections),
        confirmations=(not_checked,),
        manifests=(ManifestRecord("m.json", "M", ("x ran",), ()),),
    )
    page = page_of(record)
    assert page.count('class="hollow"') == 2
    assert page.count('class="solid"') == 1 + 2  # a measured point, two bars
    assert page.count('class="error"') == 3  # the bar and its two ends
    assert page.count('class="limit"') == 1
    for text in ("1.5 KiB", "– not checked", "m.py:3", "rank 1 did not report", "x ran", "no gain", "busy"):
        assert text in page


def test_one_point_has_axes_too() -> None:
    cost = CostRecord("none", Quantity(0.0), Quantity(), Quantity(0.0), True)
    page = page_of(made_record(sections=Sections(front=FrontRecord((cost,)))))
    assert page.count('class="hollow"') == 1


def nasty_record() -> Record:
    class Nasty(Dropping):
        names = (NASTY, "second")

    return replace(made_record(Nasty), target=NASTY, verdict="broken")


def test_everything_is_escaped() -> None:
    page = page_of(nasty_record())
    assert "<script" not in page
    assert "&lt;script&gt;alert(&#x27;&amp;&#x27;)" in page
    page.encode("utf-8")


def test_many_tracks_are_folded() -> None:
    record = made_record()
    many = replace(record, policies=record.policies * 10)
    page = page_of(many)
    assert "<summary>24 more</summary>" in page


def test_page_of_several_records() -> None:
    assert page_of(made_record(), made_record(Unmarked)).count("<article>") == 2


def test_element_leaves_out_what_is_not_there() -> None:
    assert (
        element("a", None, 1, class_=None, hidden=True, open=False, data_x="<")
        == '<a hidden data-x="&lt;">1</a>'
    )


def suite_of(record: Record) -> ElementTree.Element:
    root = ElementTree.fromstring(junit.rendered([record]).encode())
    (suite,) = root
    cases = suite.findall("testcase")
    for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.attrib[kind]) == sum(case.find(tag) is not None for case in cases)
    assert int(suite.attrib["tests"]) == len(cases)
    return suite


def names_with(suite: ElementTree.Element, tag: str) -> list[str]:
    return [case.attrib["name"] for case in suite.findall("testcase") if case.find(tag) is not None]


def test_junit_has_a_case_for_each_policy_and_confirmation() -> None:
    confirmations = (
        ConfirmationRecord("counts", "holds", ()),
        ConfirmationRecord("state", "broken", ("buffer x differs",)),
        ConfirmationRecord("streams", "not checked", ()),
    )
    suite = suite_of(replace(made_record(Unmarked), confirmations=confirmations))
    assert [case.attrib["name"] for case in suite.findall("testcase")] == [
        *("policy none", "policy all", "policy first", "policy second"),
        *("confirms counts", "confirms state", "confirms streams"),
    ]
    assert names_with(suite, "failure") == ["policy all", "policy first", "confirms state"]
    assert names_with(suite, "skipped") == ["confirms streams"]
    failure = suite.findall("testcase")[1].find("failure")
    assert failure is not None
    assert "reads the output of region first" in failure.attrib["message"]


def test_junit_never_passes_what_is_inconclusive() -> None:
    suite = suite_of(made_record(sections=Sections(exit_status=EXIT_INCONCLUSIVE)))
    assert names_with(suite, "error") == ["verdict"]


def test_junit_of_nasty_names_is_well_formed() -> None:
    suite = suite_of(nasty_record())
    assert "alert('&')" in suite.attrib["name"]


def test_files_are_written_where_they_are_wanted(tmp_path: Path) -> None:
    files = Files(json=tmp_path / "a.json", junit=tmp_path / "a.xml", html=tmp_path / "a.html")
    files.require_places()
    files.write([made_record()])
    assert json.loads((tmp_path / "a.json").read_text())["verdict"] == "holds"
    assert (tmp_path / "a.xml").read_text().startswith("<?xml")
    assert (tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")
    Files(json=tmp_path / "b.json").write([made_record(), nasty_record()])
    assert len(json.loads((tmp_path / "b.json").read_text())) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", "a.xml", "a.html", "b.json"}


def test_place_that_is_none_is_said_before_the_check(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--html .*a.html cannot be written: there is no folder"):
        Files(html=tmp_path / "no" / "a.html").require_places()
    with pytest.raises(UsageError, match=r"--junit .* it is a folder"):
        Files(junit=tmp_path).require_places()
    with pytest.raises(UsageError, match=r"--json .* cannot be written"):
        Files(json=tmp_path).write([made_record()])
