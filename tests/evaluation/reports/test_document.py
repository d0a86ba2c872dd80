from evaluation.reports.document import grid, page


def test_markdown() -> None:
    table = grid(["from", "en|de"], [["**en**", "1.0"]])
    assert page(["# a < b", table]) == "# a < b\n\n| from | en\\|de |\n| --- | ---: |\n| **en** | 1.0 |\n"
