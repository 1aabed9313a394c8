"""HTML tables that `_repr_html_` methods return to notebooks. Texts are escaped."""

from html import escape

import numpy as np

# A tensor with more elements, or with longer rows, is shown as text instead of a table.
_CELLS, _WIDE = 400, 20


def table(caption, header, rows, footer=()):
    """Return a table; numbers in all columns but the first are aligned to the right.

    Args:
        caption: a text above the table.
        header: the titles of the columns; empty for none.
        rows: sequences of cells, each a text or a number.
        footer: lines of text below the table.
    """
    head = "".join(f"<th>{escape(str(title))}</th>" for title in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    below = "".join(f"<div>{escape(line)}</div>" for line in footer)
    head = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<div><b>{escape(caption)}</b><table>{head}<tbody>{body}</tbody></table>{below}</div>"


def _cell(value):
    text = escape(str(value))
    is_number = text.replace(",", "").replace(".", "").lstrip("-").isdigit()
    return f'<td style="text-align: {"right" if is_number else "left"}">{text}</td>'


def array_html(title, array, text):
    """Return a small matrix or vector as a table, and other arrays as text."""
    if array.ndim not in (1, 2) or array.size > _CELLS or not 0 < array.shape[-1] <= _WIDE:
        return f"<div><b>{escape(title)}</b><pre>{escape(text)}</pre></div>"
    rows = array.reshape(-1, array.shape[-1])
    return table(title, (), [[_number(value) for value in row] for row in rows])


def _number(value):
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return f"{value:.4g}" if isinstance(value, np.floating) else str(value)
