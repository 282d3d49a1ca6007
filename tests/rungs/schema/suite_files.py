"""Reading the official JSON Schema test-suite for the tests of this folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DRAFTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
}


@dataclass(frozen=True)
class Case:
    file: str
    name: str
    schema: Any
    data: Any
    valid: bool
    formats: bool


def cases(shared: Path) -> list[Case]:
    out = []
    root = shared / "json-schema-suite" / "tests"
    for draft, uri in DRAFTS.items():
        for path in sorted((root / draft).rglob("*.json")):
            file = str(path.relative_to(root))
            for group in json.loads(path.read_text()):
                schema = group["schema"]
                if isinstance(schema, dict):
                    schema = {"$schema": uri, **schema}
                for test in group["tests"]:
                    name = f"{file}: {group['description']}: {test['description']}"
                    out.append(Case(file, name, schema, test["data"], test["valid"], "/optional/format/" in file))
    return out
