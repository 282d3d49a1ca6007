"""A first suite, made from traces.

May import columns, suite and everything below; faces read the traces and hand the batches in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tracelens.columns import Batch
from tracelens.errors import UsageError, counted
from tracelens.init.observe import observe
from tracelens.init.write import REFERENCES_FILE, TOOLS_FILE, references_text, suite_text, tools_text

__all__ = ["InitResult", "starter_suite"]


@dataclass(frozen=True, slots=True)
class InitResult:
    """A starter suite.

    Attributes:
        toml: Text of the suite file.
        files: Text of the files it names, by name; they belong beside it.
        n_traces: Traces it was made from.
        n_tools: Tools seen.
        n_cases: Cases in the references file.
        notes: What the user should know.
    """

    toml: str
    files: Mapping[str, str]
    n_traces: int
    n_tools: int
    n_cases: int
    notes: tuple[str, ...] = ()

    def save(self, path: str | Path, *, overwrite: bool = False) -> list[Path]:
        """Writes the suite file, and the files it names beside it.

        Args:
            path: The suite file.
            overwrite: Whether files that exist may be replaced.

        Returns:
            The files written, the suite first.

        Raises:
            UsageError: A file exists already; nothing is written then.
        """
        path = Path(path)
        texts = {path: self.toml} | {path.parent / name: text for name, text in self.files.items()}
        for file in texts:
            if file.exists() and not overwrite:
                raise UsageError(
                    "the file exists already", where=str(file), hint="choose another name, or overwrite it (--force)"
                )
        path.parent.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8", newline="\n")
        return list(texts)


def starter_suite(batches: Iterable[Batch], name: str = "suite") -> InitResult:
    """A suite to start from: the tools seen, their schemas (recorded, else inferred), and the references in the traces.

    Args:
        batches: Batches of whole traces, from any source.
        name: Name of the suite.

    Returns:
        Texts that load as they are, and that accept every call they were made from.

    Example:
        >>> print(starter_suite([]).toml.splitlines()[2])
        name = "suite"
    """
    seen = observe(batches)
    files = {TOOLS_FILE: tools_text(seen), REFERENCES_FILE: references_text(seen)}
    notes = list(seen.notes)
    if seen.conflicts:
        listed = ", ".join(sorted(seen.conflicts)[:5])
        notes.append(
            f"{counted(len(seen.conflicts), 'case')} with different references in different traces ({listed}); "
            "the first was kept"
        )
    if seen.without_case:
        traces = counted(seen.without_case, "trace")
        notes.append(f"{traces} with a reference but without a case_id, so it stays with the trace")
    if seen.rejects:
        notes.append(f"{counted(seen.rejects, 'record')} rejected and left out, the first: {seen.first_reject}")
    return InitResult(
        toml=suite_text(seen, name),
        files={file: text for file, text in files.items() if text},
        n_traces=seen.traces,
        n_tools=len(seen.tools),
        n_cases=len(seen.references),
        notes=tuple(notes),
    )
