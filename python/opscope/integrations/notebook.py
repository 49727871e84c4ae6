# SPDX-License-Identifier: Apache-2.0
"""``%%opscope``: records a cell of a notebook. IPython loads this module by ``%load_ext opscope``."""

from __future__ import annotations

import ast
import html
from typing import Any

from IPython.core import magic
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from opscope.integrations.framework_profile import FRAMEWORKS, new_profile
from opscope.preview import TablePreview

__all__ = ["CellOverview", "OpscopeMagics", "load"]

_ROWS = 10
_COLUMNS = ("name", "count", "total_ns", "self_ns", "device_self_ns", "self_memory_bytes")
_IF_ANY = ("device_self_ns", "self_memory_bytes")  # columns that are left out where each row has 0
# Where IPython has no such decorator, a `;` at the end of a cell hides nothing.
_can_be_silenced = getattr(magic, "output_can_be_silenced", lambda function: function)


class CellOverview:
    """What a notebook shows below a recorded cell: the operators that took most time, and what slows the cell down."""

    def __init__(self, profile: Any, note: str = '_prof shows the whole page; _prof.report("cell.html") writes it'):
        trace = profile.trace
        # With --stack the calls of Python that start and stop the recording are in the trace, too.
        rows = trace.summary(sort="self_ns", where="category != python_function")
        columns = [name for name in _COLUMNS if name not in _IF_ANY or any(row[name] for row in rows)]
        first = [{name: row[name] for name in columns} for row in rows[:_ROWS]]
        self._table = TablePreview.of(repr(profile).strip("<>"), first, len(rows))
        self._lines = [finding["message"] for finding in trace.advise()] or ["advise() finds nothing"]
        self._note = note

    def __repr__(self) -> str:
        return "\n".join([self._table.text(), *self._lines, self._note])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(line)}</li>" for line in self._lines)
        return f"{self._table.html()}<ul>{items}</ul><p>{html.escape(self._note)}</p>"


@magic.magics_class
class OpscopeMagics(magic.Magics):
    """The cell magic ``%%opscope``; ``%%opscope?`` prints its options."""

    @magic_arguments()
    @argument("--shapes", action="store_true", help="record the shapes of inputs")
    @argument("--memory", action="store_true", help="record allocations")
    @argument("--stack", action="store_true", help="record calls of Python functions and modules")
    @argument("--report", action="store_true", help="show the page of `opscope report`, not the overview")
    @argument("--framework", choices=FRAMEWORKS, help="default: the one that is imported; of several, torch")
    @_can_be_silenced
    @magic.cell_magic
    def opscope(self, line: str, cell: str) -> Any:
        """Records the cell and shows what took most time; ``_prof`` is the profile, also if the cell raises."""
        __tracebackhide__ = True
        chosen = parse_argstring(self.opscope, line)
        try:
            profile = new_profile(chosen.framework, shapes=chosen.shapes, memory=chosen.memory, stack=chosen.stack)
        except (ImportError, ValueError, RuntimeError) as error:
            raise UsageError(str(error)) from None
        code, last = self._compile(cell)
        self.shell.push({"_prof": profile}, interactive=False)
        with profile:
            value = self._run(code, last)
        _show(profile, chosen.report)
        return value

    def _compile(self, cell: str) -> tuple[Any, Any]:
        """The statements, and the last expression (None without one), whose value IPython shows."""
        compiler = self.shell.compile
        source = self.shell.transform_cell(cell)
        number = len(self.shell.history_manager.input_hist_parsed) - 1
        name = compiler.cache(source, number, raw_code=cell)  # a traceback names the cell and shows its lines
        tree = self.shell.transform_ast(compiler.ast_parse(source, filename=name))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        value = None if last is None else compiler(ast.Expression(last.value), name, "eval")
        return compiler(tree, name, "exec"), value

    def _run(self, code: Any, last: Any) -> Any:
        __tracebackhide__ = True
        names = self.shell.user_global_ns, self.shell.user_ns
        exec(code, *names)
        return None if last is None else eval(last, *names)


def _show(profile: Any, whole_page: bool) -> None:
    page = profile._repr_html_() if whole_page else None
    if page is not None:
        display({"text/plain": repr(profile), "text/html": page}, raw=True)
    elif whole_page:
        display(CellOverview(profile, 'the page is too large for a notebook; _prof.report("cell.html") writes it'))
    else:
        display(CellOverview(profile))


def load(shell: InteractiveShell) -> None:
    """Adds the magic to a shell."""
    shell.register_magics(OpscopeMagics)
