from evaluation.reports.document import Code, Grid, Heading, Text, as_markdown, text

BLOCKS = [
    Heading(1, "a < b"),
    text("One `a|b`,", "**strong**."),
    Text(("x", "y"), listed=True),
    Code("f <x>"),
    Grid(["from", "en|de"], [["**en**", "1.0"]]),
]


def test_markdown() -> None:
    assert as_markdown(BLOCKS).split("\n\n") == [
        "# a < b",
        "One `a|b`, **strong**.",
        "- x\n- y",
        "```\nf <x>\n```",
        "| from | en\\|de |\n| --- | ---: |\n| **en** | 1.0 |\n",
    ]
