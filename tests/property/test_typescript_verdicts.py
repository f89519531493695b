"""The TypeScript reader and the Python one say the same of documents gone wrong: verdict, layer, pointer, keyword."""

from __future__ import annotations

import json
import os
from random import Random
from typing import Any

from evh.errors import DecodeError, RecordError, SchemaError
from evh.protocol import models
from evh.protocol.codec import decode, decode_strict
from evh.protocol.jsontext import check_text
from evh.protocol.tables import CLASSES
from evh.testing import document_types, documents, mutate, sample
from tests.support.node import ask_reader, node

PROFILE = os.environ.get("EVH_TEST_PROFILE", "dev")
COUNT = {"dev": 1000, "ci": 20_000, "deep": 200_000}[PROFILE]
BASES = {"dev": 3, "ci": 25, "deep": 50}[PROFILE]
BATCH = 20_000


def make_texts(count: int, random: Random) -> list[tuple[str, str]]:
    """Mutated documents of all types but variants, which stand in their unions, as type and text."""
    types = [name for name in document_types() if name in models.__all__]
    types = [name for name in types if name not in CLASSES or CLASSES[name].tag is None]
    bases = [(name, each) for name in types for each in sample(documents(name), BASES, seed=random.randrange(2**32))]
    made = []
    for _ in range(count):
        name, document = random.choice(bases)
        made.append((name, json.dumps(mutate(document, random, random.choice((1, 1, 2, 4)), swell=False))))
    return made


def strict_answer(text: str, kind: Any) -> dict[str, str]:
    try:
        faults = sorted((fault.pointer, fault.kind) for fault in check_text(text))
        if faults:
            return {"verdict": "refused", "layer": "json", "pointer": faults[0][0], "keyword": faults[0][1]}
        decode_strict(text, kind)
    except SchemaError as error:
        first = error.violations[0]
        return {"verdict": "refused", "layer": "schema", "pointer": first.pointer, "keyword": first.keyword}
    except DecodeError as error:
        return {"verdict": "refused", "layer": "json", "pointer": error.pointer or "", "keyword": "not-json"}
    except RecordError:
        pass  # a chain too long is no matter of the schema
    return {"verdict": "accepted"}


def lenient_answer(text: str, kind: Any) -> dict[str, Any]:
    notices: list[Any] = []
    try:
        decode(text, kind, notices=notices)
    except (SchemaError, DecodeError, RecordError):
        return {"verdict": "refused"}
    return {"verdict": "accepted", "notices": sorted([each.kind, each.pointer] for each in notices)}


def without_written(answer: dict[str, Any]) -> dict[str, Any]:
    """What is compared of a lenient answer."""
    if answer["verdict"] == "refused":
        return {"verdict": "refused"}
    return {"verdict": "accepted", "notices": sorted(answer["notices"])}


def test_mutated_documents_get_the_same_verdicts(request: Any) -> None:
    node()
    random = Random(int(request.config.getoption("hypothesis_seed")))
    accepted = 0
    for start in range(0, COUNT, BATCH):
        texts = make_texts(min(BATCH, COUNT - start), random)
        requests = [
            {"id": 2 * index + second, "mode": mode, "type": name, "input": text}
            for index, (name, text) in enumerate(texts)
            for second, mode in enumerate(("strict", "lenient"))
        ]
        answers = ask_reader(requests)
        for index, (name, text) in enumerate(texts):
            kind = getattr(models, name)
            strict, lenient = answers[2 * index], answers[2 * index + 1]
            del strict["id"]
            assert strict == strict_answer(text, kind), f"{name}: {text[:2000]}"
            assert without_written(lenient) == lenient_answer(text, kind), f"{name}: {text[:2000]}"
            accepted += strict["verdict"] == "accepted"
    assert COUNT // 50 < accepted < COUNT * 9 // 10, "both verdicts must turn up"
