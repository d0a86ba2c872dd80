"""Pictures of a report, as SVG: matrices of language pairs sorted by family, and bars with their spread.

The only module that imports matplotlib (extra `report`), and without pyplot: no state, no display.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from io import StringIO
from itertools import groupby

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from numpy.typing import NDArray

from index.languages import language

CELL_INCHES = 0.34  # inches per language
NUMBERED_LANGUAGES = 14  # matrices of more languages show colours without numbers

Values = NDArray[np.floating]


def by_family(codes: Sequence[str]) -> list[str]:
    """Sort languages by family, then by code."""
    return sorted(codes, key=lambda code: (language(code).family, code))


def heatmap(codes: Sequence[str], values: Values, *, asymmetry: bool = False) -> str:
    """Draw (n, n) per cent from language (row) to language (column), NaN: no value, as SVG.

    Globetrotter's figure 7; with `asymmetry` A - Aᵀ, figure 9: red rows are easier to translate from than to.
    """
    order = [list(codes).index(code) for code in by_family(codes)]
    values = np.asarray(values)[np.ix_(order, order)]
    return _matrix(by_family(codes), values - values.T if asymmetry else values, asymmetry)


def _matrix(codes: Sequence[str], values: Values, diverging: bool) -> str:
    written = len(codes) <= NUMBERED_LANGUAGES
    size = 1.8 + CELL_INCHES * (1.6 if written else 1) * len(codes)
    most = float(np.nanmax(np.abs(values), initial=0)) or 1.0
    with _style():
        figure = Figure(figsize=(size + 1.2, size), layout="constrained")
        axes = figure.subplots()
        colours, least = ("RdBu_r", -most) if diverging else ("viridis", 0.0)
        mesh = axes.pcolormesh(values, cmap=colours, vmin=least, vmax=most)
        axes.invert_yaxis()
        axes.set(aspect="equal", xlabel="to", ylabel="from")
        places = np.arange(len(codes)) + 0.5
        axes.set_xticks(places, codes, rotation=90)
        axes.set_yticks(places, codes)
        _families(axes, codes)
        if written:
            _numbers(axes, values, mesh)
        figure.colorbar(mesh, ax=axes, shrink=0.7, pad=0.12)
        return _svg(figure)


def _families(axes: Axes, codes: Sequence[str]) -> None:
    """Lines between the families, and their names on the right."""
    families = [language(code).family for code in codes]
    ends = np.cumsum([len(list(members)) for _, members in groupby(families)])
    for end in ends[:-1]:
        axes.axhline(end, color="white", linewidth=1.5)
        axes.axvline(end, color="white", linewidth=1.5)
    right = axes.secondary_yaxis("right")
    right.set_yticks(
        (np.concatenate([[0], ends[:-1]]) + ends) / 2, [family for family, _ in groupby(families)]
    )
    right.tick_params(length=0)


def _numbers(axes: Axes, values: Values, mesh: QuadMesh) -> None:
    """Each value in its cell, light on dark colours and dark on light ones."""
    for row, column in zip(*np.nonzero(np.isfinite(values)), strict=True):
        red, green, blue, _ = mesh.cmap(mesh.norm(values[row, column]))
        colour = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
        label = f"{values[row, column]:.1f}"
        axes.text(column + 0.5, row + 0.5, label, ha="center", va="center", fontsize=7, color=colour)


def bars(rows: Mapping[str, tuple[float, float]], unit: str) -> str:
    """Draw {name: (mean, spread)} as horizontal bars, the first on top, as SVG: Globetrotter's figure 3."""
    with _style():
        figure = Figure(figsize=(7, 0.8 + 0.3 * len(rows)), layout="constrained")
        axes = figure.subplots()
        means, spreads = np.array(list(rows.values()), float).reshape(-1, 2).T
        axes.barh(range(len(rows)), means, xerr=spreads, color="#4477aa", ecolor="black", capsize=3)
        axes.set_yticks(range(len(rows)), list(rows))
        axes.invert_yaxis()
        axes.set_xlabel(unit)
        return _svg(figure)


def _style() -> AbstractContextManager[None]:
    # Text is kept as text, and equal figures give equal bytes.
    return matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "passepartout", "font.size": 9.0})


def _svg(figure: Figure) -> str:
    buffer = StringIO()
    # Tight: the constrained layout cuts labels beside axes of equal aspect.
    figure.savefig(buffer, format="svg", metadata={"Date": None}, bbox_inches="tight")
    return buffer.getvalue()
