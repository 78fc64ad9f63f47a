"""The figures of the benchmarks as plots."""

import show

#: The colour of each side, in all plots.
COLOURS = {
    "waybill": "#0b6e4f",
    "cloudpickle": "#c8553d",
    "pickle": "#3d5a80",
    "dill": "#b08900",
    "pyfory": "#7b4b94",
    "marshal": "#888888",
}


def draw(report, folder):
    """Writes bench_<name>.svg for each plot whose figures were measured."""
    try:
        import matplotlib
    except ImportError:
        print(show.dim("matplotlib is not installed: no plots"))
        return
    matplotlib.use("svg")
    # Makes the file depend on the figures alone, with searchable text.
    matplotlib.rcParams.update({"svg.hashsalt": "waybill", "svg.fonttype": "none"})
    from matplotlib import pyplot

    plots = {
        "cloudpickle": draw_ratios,
        "modules": draw_modules,
        "objects": draw_objects,
    }
    for name, plot in plots.items():
        made = plot(pyplot, report)
        if made is None:
            continue
        path = folder / f"bench_{name}.svg"
        made.tight_layout()
        made.savefig(path, metadata={"Date": None}, bbox_inches="tight")
        pyplot.close(made)
        print(f"wrote {path}")


def draw_ratios(pyplot, report):
    """The speed of each row, as a multiple of cloudpickle's."""
    rows = [r for r in report["rows"] if r["unit"] == "s" and r["group"] != "growth"]
    rows = [row for row in rows if "cloudpickle" in row["figures"]]
    if not rows:
        return None
    names = [row["work"] for row in rows]
    ratios = [row["figures"]["cloudpickle"] / row["figures"]["waybill"] for row in rows]
    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.2 * len(rows)))
    shades = [COLOURS["waybill" if ratio >= 1 else "cloudpickle"] for ratio in ratios]
    # Bars start at 1: to the left of it cloudpickle is faster.
    axes.barh(names, [ratio - 1 for ratio in ratios], left=1, color=shades)
    axes.set_xscale("log")
    axes.set_xlim(0.8 * min(1, *ratios), 1.5 * max(1, *ratios))
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.tick_params(axis="y", labelsize=7)
    axes.set_xlabel("times as fast as cloudpickle")
    axes.grid(axis="x", alpha=0.3)
    return figure


def draw_modules(pyplot, report):
    """The time of one dumps against the number of modules in the process."""
    curve = report["curves"]["modules"]
    if not curve:
        return None
    figure, axes = pyplot.subplots(figsize=(7, 4))
    draw_lines(axes, curve, "modules", [(s, "o-") for s in COLOURS], lambda p: p, 1e6)
    axes.set_xlabel("entries in sys.modules")
    axes.set_ylabel("µs for each dumps")
    axes.set_title("dumps of a function that names three packages")
    return figure


def draw_objects(pyplot, report):
    """The time for each object against the number of objects in the payload."""
    curve = report["curves"]["objects"]
    if not curve:
        return None
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for verb, style in (("dumps", "o-"), ("loads", "s--")):
        styles = [(side, style) for side in COLOURS]
        draw_lines(axes, curve, "objects", styles, lambda p, v=verb: p[v], 1e9, verb)
    axes.set_xlabel("objects in the payload")
    axes.set_ylabel("ns for each object")
    axes.set_title("lists of an int, a float and a text")
    return figure


def draw_lines(axes, curve, x, styles, figures, factor, label=""):
    """A line for each side of the curve; `figures(point)` is {side: y}."""
    for side, style in styles:
        points = [point for point in curve if side in figures(point)]
        if points:
            axes.loglog(
                [point[x] for point in points],
                [figures(point)[side] * factor for point in points],
                style,
                color=COLOURS[side],
                label=f"{side} {label}".strip(),
            )
    axes.grid(alpha=0.3)
    axes.legend()
