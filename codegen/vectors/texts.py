"""Vectors of the text itself: what is no JSON, what JSON readers take differently, numbers that JSON does not have, and
the canonical form.

Promise: the verdicts of the json layer stand here by hand, one beside each text; those of the schema layer are the
reference validator's, and are left out where the text does not mean one thing to everybody.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import rfc8785

from ..shapes import HAND_WRITTEN, Contract, Member, Shape
from .judging import Judging, Vector, compact, digest, verdict
from .lenient import escaped
from .samples import Samples

TOKEN = '"@token@"'
"""Stands in a text for what is put there in the end."""
NO_JSON: tuple[tuple[str, str], ...] = (
    ("empty", ""), ("blank", " \n"), ("torn-object", '{"a":1'), ("torn-text", '{"a":"x'), ("torn-literal", '{"a":tru'),
    ("trailing-comma", '{"a":1,}'), ("trailing-comma-in-array", '{"a":[1,]}'), ("single-quotes", "{'a':1}"),
    ("bare-name", "{a:1}"), ("leading-zero", '{"a":01}'), ("plus", '{"a":+1}'), ("no-digit-after-point", '{"a":1.}'),
    ("no-digit-before-point", '{"a":.5}'), ("no-exponent", '{"a":1e}'), ("hexadecimal", '{"a":0x1F}'),
    ("nan-in-lower-case", '{"a":nan}'), ("python-literal", '{"a":None}'), ("undefined", '{"a":undefined}'),
    ("comment", '{"a":1} // c'), ("two-documents", "{} {}"), ("control-character-in-text", '{"a":"\x01"}'),
    ("tab-in-text", '{"a":"\t"}'), ("newline-in-text", '{"a":"x\ny"}'), ("unknown-escape", '{"a":"\\x41"}'),
    ("short-escape", '{"a":"\\u12"}'), ("form-feed", '\f{"a":1}'), ("no-break-space", '\u00a0{"a":1}'),
    ("nul-behind", '{"a":1}\x00'), ("missing-colon", '{"a" 1}'), ("missing-comma", '{"a":1 "b":2}'),
    ("bracket-left", '{"a":1}]'),
)  # fmt: skip
NO_TEXT: tuple[tuple[str, bytes], ...] = (
    ("invalid-utf-8", b'{"a":"\xff"}'), ("torn-utf-8", b'{"a":"\xc3'), ("overlong-utf-8", b'{"a":"\xc0\xaf"}'),
    ("surrogate-in-utf-8", b'{"a":"\xed\xa0\x80"}'), ("beyond-unicode", b'{"a":"\xf4\x90\x80\x80"}'),
    ("utf-16", '{"a":1}'.encode("utf-16")),
)  # fmt: skip
FINE: tuple[tuple[str, str], ...] = (
    ("white-space", ' \r\n\t[ 1 ,\n2 ] '), ("negative-zero", "-0"), ("exponent", "1E+2"), ("tiny", "1e-400"),
    ("largest-safe", "9007199254740991"), ("least-safe", "-9007199254740991"),
    ("beyond-safe-with-fraction", "9007199254740993.0"),
    ("beyond-safe-with-exponent", "1e16"), ("largest-double", "1.7976931348623157e308"),
    ("many-digits", "0." + "3" * 60),
    ("escapes", r'"\"\\\/\b\f\n\r\t\u00e9"'), ("surrogate-pair", r'"\ud83d\ude00"'), ("nul", r'"\u0000"'),
    ("line-separators", '"\u0085\u2028\u2029"'), ("delete", '"\x7f"'), ("no-character", '"\uffff"'),
    ("empty-name", '{"":1}'),
    ("same-name-in-two-objects", '[{"a":1},{"a":2}]'), ("name-of-other-case", '{"a":1,"A":2}'),
    ("composed", '{"\u00e9":1,"e\u0301":2}'),
)  # fmt: skip
FAULTY: tuple[tuple[str, str, str, str], ...] = (
    ("duplicate", '{"b":1,"b":2}', "/b", "duplicate-key"), ("duplicate-equal", '{"b":1,"b":1}', "/b", "duplicate-key"),
    ("duplicate-by-escape", r'{"b":1,"\u0062":2}', "/b", "duplicate-key"),
    ("duplicate-deep", '[{"a":[{"x":{},"y":0,"x":{}}]}]', "/0/a/0/x", "duplicate-key"),
    ("duplicate-proto", '{"__proto__":1,"__proto__":2}', "/__proto__", "duplicate-key"),
    ("duplicate-odd-name", '{"a/b~c":1,"a/b~c":2}', "/a~1b~0c", "duplicate-key"),
    ("big", "9007199254740992", "", "big-integer"), ("big-negative", "[-9007199254740992]", "/0", "big-integer"),
    ("big-by-far", '{"n":' + "1" * 60 + "}", "/n", "big-integer"),
    ("surrogate", r'"\ud800"', "", "surrogate"), ("surrogate-low", r'["x\udc00y"]', "/0", "surrogate"),
    ("surrogates-reversed", r'"\udc00\ud800"', "", "surrogate"),
    ("surrogate-before-escape", r'"\ud800\n"', "", "surrogate"),
    ("nan", "NaN", "", "non-finite"), ("infinity", "[Infinity]", "/0", "non-finite"),
    ("minus-infinity", '{"n":-Infinity}', "/n", "non-finite"), ("too-large", "1e400", "", "non-finite"),
    ("too-small", "-1.5E+999", "", "non-finite"),
)  # fmt: skip
KEPT_NOTICES = ("surrogate", "non-finite")
DEEPEST = 128
CANONICAL: tuple[tuple[str, Any], ...] = (
    ("numbers", [0, -0.0, 1, 1.0, -1.5, 0.1, 100, 1e2, 1e20, 1e21, 1e22, 1e-6, 1e-7, 123456789012345680000.0]),
    ("edges", [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2**53 - 1, -(2**53 - 1), 9007199254740993.0]),
    ("shortest", [0.30000000000000004, 333333333.33333329, 4.35, 0.002, 1e-27, 4.5, 1.0e23, 295147905179352825856.0]),
    ("texts", ["\u20ac$\u000f\nA'B\"\\\\\"/", "\x00\x1f\x7f\u0080\u2028", "\b\t\n\f\r", "\U0001f600", "é", "e\u0301"]),
    ("order-by-utf-16", {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}),
    ("order", {"b": 1, "a": 2, "": 3, "B": 4, "aa": 5, "10": 6, "9": 7, "__proto__": 8, "a.b": 9}),
    ("deep", {"z": [{"y": {"b": None, "a": [True, False, [], {}]}}], "a": {"c": {}, "b": []}}),
)  # fmt: skip


class Texts:
    """The text vectors of one contract, in the smallest document of it that has room for any JSON."""

    def __init__(self, contract: Contract, samples: Samples, judging: Judging) -> None:
        self.contract = contract
        self.samples = samples
        self.judging = judging
        self.host, self.member = self._room()

    def _room(self) -> tuple[str, str]:
        """The root and its member that take any JSON object: the root with the fewest members that is closed."""
        found = [
            (len(shape.members), shape.name, member.name)
            for shape in self.contract.shapes.values()
            if shape.closed and shape.name in self.contract.roots().values()
            for member in shape.members
            if member.kind.what == "object" and not member.schema.keys() & {"x-wire", "x-stream"}
        ]
        _, name, member = min(found)
        return name, member

    def around(self, text: str) -> str:
        """The host's text with `text` as the value of the member `a` of its free object."""
        whole = compact({**self.samples.minimal(self.host), self.member: {"a": "@token@"}})
        return whole.replace(TOKEN, text)

    def texts(self) -> Iterator[Vector]:
        room = f"/{escaped(self.member)}/a"
        for name, text in NO_JSON:
            yield self._vector(
                f"no-json-{name}", {"text": text}, ("", "not-json"), {"refused": {"pointer": "", "keyword": "not-json"}}
            )
        for name, data in NO_TEXT:
            coded = base64.b64encode(data).decode()
            yield self._vector(
                f"no-json-{name}",
                {"base64": coded},
                ("", "not-json"),
                {"refused": {"pointer": "", "keyword": "not-json"}},
            )
        yield self._vector("bom", {"text": "\ufeff" + self.around("1")}, ("", "bom"), {"notices": [["bom", ""]]})
        for name, text in FINE:
            yield self._fine(f"fine-{name}", self.around(text))
        yield self._fine("fine-white-space-around", f" \r\n\t{self.around('1')}\n ")
        for name, text, pointer, keyword in FAULTY:
            lenient = {"notices": [[keyword, room + pointer]]} if keyword in KEPT_NOTICES else None
            yield self._vector(name, {"text": self.around(text)}, (room + pointer, keyword), lenient)
        yield from self._depths(room)
        yield from self._repeated_member()
        for shape in self.contract.shapes.values():
            for member in shape.members:
                yield from self._non_finite(shape, member)

    def _depths(self, room: str) -> Iterator[Vector]:
        """The host and its free object are two levels."""
        yield self._fine("deepest", self.around("[" * (DEEPEST - 2) + "]" * (DEEPEST - 2)), lenient=False)
        for name, levels in (("deeper", DEEPEST - 1), ("much-deeper", 3 * DEEPEST)):
            text = self.around("[" * levels + "]" * levels)
            made = self._vector(name, {"text": text}, (room + "/0" * (DEEPEST - 2), "depth"), None)
            made["schema"] = "ok"
            yield made

    def _repeated_member(self) -> Iterator[Vector]:
        """A declared member that stands twice, in a document that is valid by either of its values."""
        first, value = next(iter(self.samples.minimal(self.host).items()))
        text = self.around("1")
        yield self._vector(
            "duplicate-of-a-declared-member",
            {"text": text[:-1] + f",{json.dumps(first)}:{compact(value)}" + "}"},
            (f"/{escaped(first)}", "duplicate-key"),
            None,
        )

    def _fine(self, name: str, text: str, *, lenient: bool = True) -> Vector:
        document = json.loads(text)
        made: Vector = {"name": f"text/{name}", "type": self.host, "text": text, "json": "ok"}
        made["schema"] = verdict(self.judging.faults(self.host, document))
        if lenient:
            made["lenient"] = {"notices": []}
        made["sha256"] = digest(document)
        return made

    def _vector(self, name: str, given: dict[str, str], fault: tuple[str, str], lenient: Any) -> Vector:
        made: Vector = {"name": f"text/{name}", "type": self.host, **given, "json": verdict([fault])}
        return made if lenient is None else made | {"lenient": lenient}

    def _non_finite(self, shape: Shape, member: Member) -> Iterator[Vector]:
        """NaN where a number is meant: it may go with the nearest place that can do without."""
        if shape.name in HAND_WRITTEN or member.schema.keys() & {"x-computed", "x-wire"}:
            return
        kind, path, forms = member.kind, f"/{escaped(member.name)}", [TOKEN]
        goes = member.nullable or not member.required
        while kind.item is not None and kind.what in ("array", "map"):
            inner, form = ("0", "[{}]") if kind.what == "array" else ("k", '{{"k":{}}}')
            path, goes, kind = f"{path}/{inner}", goes or kind.what == "map", kind.item
            forms.insert(1, form)
        if kind.what != "number":
            return
        value = TOKEN
        for form in forms[1:]:
            value = form.format(value)
        whole = {**self.samples.minimal(shape.name), member.name: json.loads(value)}
        text = compact(whole).replace(TOKEN, "NaN")
        lenient = (
            {"notices": [["non-finite", path]]} if goes else {"refused": {"pointer": path, "keyword": "non-finite"}}
        )
        made = self._vector(f"nan-{shape.name}-{member.name}", {"text": text}, (path, "non-finite"), lenient)
        yield made | {"type": shape.name}

    def canonical(self) -> Iterator[Vector]:
        for name, value in CANONICAL:
            document = {**self.samples.minimal(self.host), self.member: {"a": value}}
            made = self.judging.vector(f"canonical/{name}", self.host, document)
            yield made | {"canonical": rfc8785.dumps(document).decode()}
