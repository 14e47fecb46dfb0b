"""One source file: bytes in; text, LibCST tree, analyser's walk and positions out, each on demand.

Importing this module does not import LibCST: most files of a run are dropped by the byte
prefilter and never need it.
"""

from __future__ import annotations

import io
import re
import tokenize
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from remat_lint.limits import refusal

if TYPE_CHECKING:
    import libcst as cst

    from remat_lint.analysis import ir

_IMPORTS_REMAT = re.compile(
    rb"(?:^(?:\xef\xbb\xbf)?|[:;\r])[ \t\f]*(?:from|import)[ \t]+[^\r\n#]*\btorch_remat\b", re.MULTILINE
)

MAX_CHECKED = 2_000_000
"""A file of more bytes is not checked for its syntax where nothing else asks for it."""

_SHARED = ("text", "tree", "_lowered", "_positions", "_code")
"""What depends on nothing but the content of a file."""

_ONLY_PARSE = 0x400
"""``ast.PyCF_ONLY_AST``, without importing ``ast``."""


class SourceError(Exception):
    """The file cannot be read as Python source; ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Span:
    """Where a node stands: lines and columns count from 1, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class SourceFile:
    """A Python file that is analysed; nothing is parsed before it is asked for."""

    def __init__(self, path: str, raw: bytes) -> None:
        self.path = path
        self.raw = raw
        self.given = False
        """Whether the user named this very file."""
        self._code: dict[int, str] = {}

    @classmethod
    def read(cls, path: str | Path) -> SourceFile:
        """The file at ``path``. Raises ``OSError`` where it cannot be read."""
        return cls(str(path), Path(path).read_bytes())

    def share_work_of(self, other: SourceFile) -> None:
        """Take over what was worked out for a file with the same content."""
        if other.raw == self.raw:
            self.__dict__ |= {name: other.__dict__[name] for name in _SHARED if name in other.__dict__}

    def is_relevant(self) -> bool:
        """Whether the file imports torch_remat, as far as a look at its bytes tells."""
        return b"torch_remat" in self.raw and _IMPORTS_REMAT.search(self.raw) is not None

    def compiles(self) -> bool:
        """Whether Python takes the file; asked without LibCST. Very large files are taken to be in order."""
        if len(self.raw) > MAX_CHECKED:
            return True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(self.raw, self.path, "exec", _ONLY_PARSE, dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
        except (RecursionError, MemoryError):
            return True
        return True

    @cached_property
    def text(self) -> str:
        """The decoded text, newlines as they are. Raises ``SourceError``."""
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(self.raw).readline)
            return self.raw.decode(encoding)
        except (SyntaxError, UnicodeDecodeError, LookupError) as error:
            raise SourceError(f"the file cannot be decoded: {error}") from error

    @cached_property
    def tree(self) -> cst.Module:
        """The LibCST tree. Raises ``SourceError`` where the file is not valid Python."""
        import libcst as cst

        if b"\0" in self.raw:
            line = self.raw[: self.raw.index(b"\0")].count(b"\n") + 1
            raise SourceError("the file contains a NUL byte", line)
        _ = self.text  # a wrong encoding is reported as such
        refused = refusal(self.raw)
        if refused is not None:
            raise SourceError(*refused)
        try:
            return cst.parse_module(self.raw)
        except cst.ParserSyntaxError as error:
            raise self._syntax_error(str(error.message), error.raw_line, error.raw_column) from error
        except (RecursionError, ValueError, UnicodeError) as error:
            raise SourceError(f"the file cannot be parsed: {error}") from error

    def _syntax_error(self, message: str, line: int, column: int) -> SourceError:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(self.text, self.path, "exec", dont_inherit=True)
        except SyntaxError as error:  # its message and place are the ones that people know
            return SourceError(error.msg, error.lineno or 1, error.offset or 1)
        except (ValueError, RecursionError, MemoryError, OverflowError):
            pass
        return SourceError(message, max(line, 1), column + 1)

    @cached_property
    def _lowered(self) -> tuple[ir.Module, list[cst.CSTNode]]:
        from remat_lint.analysis.lowering import lower

        try:
            return lower(self.tree)
        except RecursionError as error:
            raise SourceError("the file is nested too deeply to be analysed") from error

    @property
    def lowered(self) -> ir.Module:
        """The intermediate form of the file. Raises ``SourceError``."""
        return self._lowered[0]

    @property
    def nodes(self) -> list[cst.CSTNode]:
        """The tree's nodes in the order of the analyser's walk: a node index points into it."""
        return self._lowered[1]

    @cached_property
    def _positions(self) -> dict[cst.CSTNode, Span]:
        from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

        found = MetadataWrapper(self.tree, unsafe_skip_copy=True).resolve(PositionProvider)
        spans = {}
        for node, where in found.items():
            assert isinstance(where, CodeRange)
            start, end = where.start, where.end
            spans[node] = Span(start.line, start.column + 1, end.line, end.column + 1)
        return spans

    def span(self, node: int) -> Span:
        """Where the node with this index stands. Computed for the whole file on the first call."""
        return self._positions[self.nodes[node]]

    def code(self, node: int) -> str:
        """The source text of a node, without surrounding white space."""
        found = self._code.get(node)
        if found is None:
            found = self._code[node] = self.tree.code_for_node(self.nodes[node]).strip()
        return found

    def has_comment(self, node: int) -> bool:
        """Whether a comment stands on the lines of a statement, or directly above it."""
        span = self.span(node)
        lines = self.text.splitlines()
        above = lines[span.line - 2] if span.line > 1 else ""
        after = lines[span.end_line - 1][span.end_column - 1 :]
        return above.lstrip().startswith("#") or "#" in after or "#" in self.code(node)
