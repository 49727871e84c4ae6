# SPDX-License-Identifier: Apache-2.0
"""The tables of action_check.py as Markdown.

Names of spans are any text that the program of a pull request chooses. Each of their characters that Markdown or HTML
could read is a character reference here.
"""

LONGEST_NAME = 200  # characters


def text(value):
    """Any text as Markdown that shows it on one line, in a cell of a table, too."""
    value = str(value)
    if len(value) > LONGEST_NAME:
        value = value[: LONGEST_NAME - 3] + "..."
    shown = []
    for char in value:
        if not char.isprintable():
            char = char.encode("unicode_escape", "surrogatepass").decode()
        shown += [each if each.isalnum() or each == " " else f"&#{ord(each)};" for each in char]
    return "".join(shown)


def number(value, name):
    """A value of a metric or of a column, with the unit that its name has."""
    if value is None:
        return "-"
    if name.endswith("_ns"):
        return f"{value / 1e6:,.3f} ms"
    if name.endswith("_bytes"):
        return f"{value / 2**20:,.3f} MiB"
    return f"{value:,.6g}"


def table(titles, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (titles, ["---"] * len(titles), *rows)) + "\n"


def check_section(answer):
    rows = answer["rows"]
    crossed = sum(not row["passed"] for row in rows)
    cells = []
    for row in rows:
        metric = row["metric"]
        limit = f"{metric} {row['name']}" if row["name"] else metric
        values = [number(row[key], metric) for key in ("value", "baseline", "limit")]
        cells.append(
            [text(limit), row["limit_kind"].replace("_", " "), *values, "" if row["passed"] else "**crossed**"]
        )
    title = f"{crossed} of {len(rows)} limits crossed" if crossed else f"{len(rows)} limits kept"
    head = f"### opscope check: {title}\n\n"
    return head + table(["Metric", "Kind", "Value", "Baseline", "Limit", ""], cells) + quality_line(answer)


def quality_line(answer):
    quality = answer.get("quality") or {}
    if quality.get("verdict", "good") == "good":
        return ""
    return f"\nThe recording is {text(quality['verdict'])}: {text('; '.join(map(str, quality.get('reasons', []))))}\n"


def diff_section(answer):
    cells = []
    for row in answer["rows"]:
        times = [number(row[key], key) for key in ("delta_ns", "a_self_ns", "b_self_ns")]
        counts = [number(row[key], key) for key in ("a_count", "b_count", "p")]
        cells.append([text(row["name"]), text(row["status"]), *times, *counts])
    steps = answer["steps"]
    means = " to ".join(number(steps[key], key) for key in ("a_mean_ns", "b_mean_ns"))
    counts = " and ".join(number(steps[key], key) for key in ("a_count", "b_count"))
    line = f"\nMean step: {means} (of {counts} steps, p {number(steps['p'], 'p')})\n" if steps["a_count"] else ""
    titles = ["Name", "Status", "Delta", "Base, self", "Head, self", "Base, calls", "Head, calls", "p"]
    return "\n### opscope diff: base to head\n\n" + table(titles, cells) + line
