"""Runs the notebooks and keeps what they show.

    python -m benchmarks.notebooks

Each runs in its own folder, as a reader would run it. What differs from run to run or from machine to machine (times,
versions, identifiers) is not kept.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from benchmarks import formats

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def read(path: Path) -> NotebookNode:
    """The notebook of a file."""
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    return notebook


def execute(path: Path, where: Path | None = None) -> NotebookNode:
    """The notebook with the outputs that it has now.

    Args:
        path: The notebook; the file stays as it is.
        where: The folder it runs in, if not its own.
    """
    notebook = read(path)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": where or path.parent}},
    )
    client.execute()
    notebook.metadata = NotebookNode(KERNEL)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return notebook


def execute_together(paths: Sequence[Path]) -> list[NotebookNode]:
    """Several notebooks of one folder, one after another in one kernel: most of the time goes into starting it.

    Args:
        paths: The notebooks; the files stay as they are.
    """
    notebooks = [read(path) for path in paths]
    cells = [cell for notebook in notebooks for cell in notebook.cells]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    whole = nbformat.v4.new_notebook(cells=cells)
    where = {"metadata": {"path": paths[0].parent}}
    NotebookClient(
        whole, timeout=300, kernel_name="python3", record_timing=False, coalesce_streams=True, resources=where
    ).execute()
    return notebooks


def shown(notebook: NotebookNode) -> Iterator[tuple[int, str, str]]:
    """What a notebook shows: number of the cell, kind, text. Pictures are told by their kind alone."""
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if "text" in output:
                yield number, str(output["name"]), str(output["text"])
            for kind, data in sorted(output.get("data", {}).items()):
                yield number, str(kind), "" if kind.startswith("image/") else str(data)


def main() -> None:
    """Make the one about formats, and run all of them."""
    nbformat.write(formats.notebook(), FOLDER / "formats.ipynb")
    for path in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(execute(path), path)
        print(path.name)


if __name__ == "__main__":
    main()
