"""The derived identity of a record."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import codec
from stella.content.identity import identity
from stella.content.record import Record
from stella.content.record import read_rules
from tests.making.records import one
from tests.making.records import record

TEXTS = st.text(max_size=20)
PARTS = st.fixed_dictionaries(
    {
        "lineage_id": TEXTS.map(lambda text: f"l{text}"),
        "kind": st.just("rule"),
        "statement": TEXTS.map(lambda text: f"s{text}"),
    },
    optional={
        "tags": st.lists(TEXTS, max_size=3),
        "truth": st.fixed_dictionaries(
            {"basis": st.just("measured")},
            optional={
                "confidence": st.floats(allow_nan=False, allow_infinity=False),
                "ttl": st.integers(0, 2**32 - 1) | TEXTS,
            },
        ),
        "steering": st.fixed_dictionaries(
            {"force": st.just("may")}, optional={"precedence": st.integers(0, 2**32 - 1)}
        ),
    },
)


def digest(tree: object) -> str:
    # For plain ASCII without fractions the canonical form is what json writes with sorted keys.
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.behaviour("P-47")
def test_the_id_is_of_a_pass_without_identity_and_the_hash_of_one_with_the_id() -> None:
    """[P-47] RFC 8785, then SHA-256."""
    tree = {
        "kind": "rule",
        "lineage_id": "Style.No Print!",
        "statement": "Use the logger.",
        "steering": {
            "applies_to": {"keywords": [], "paths": [], "tasks": []},
            "force": "should",
            "precedence": 0,
        },
    }
    found = identity(one(record("Style.No Print!", "Use the logger.")))
    assert found.record_id == f"rec_style-no-print_{digest(tree)[:12]}"
    assert found.record_hash == f"sha256:{digest({**tree, 'record_id': found.record_id})}"
    assert (found.filled, found.differs) == (True, ())


def test_the_canonical_form_is_that_of_rfc_8785() -> None:
    """[P-47] Numbers as ECMAScript writes them, text as it stands, keys sorted, no null."""
    truth = {"basis": "measured", "confidence": 1e-7, "ttl": 3, "probe": {"kind": "manual"}}
    found = identity(one(record("é/\U0001f600", 'Say "ü"\x7f\x01 <&\u20ac.', truth=truth)))

    def text(more: str) -> str:
        return (
            f'{{"kind":"rule","lineage_id":"é/\U0001f600",{more}'
            '"statement":"Say \\"ü\\"\x7f\\u0001 <&€.",'
            '"steering":{"applies_to":{"keywords":[],"paths":[],"tasks":[]},"force":"should",'
            '"precedence":0},'
            '"truth":{"basis":"measured","confidence":1e-7,"probe":{"kind":"manual"},"ttl":3}}'
        )

    first = hashlib.sha256(text("").encode()).hexdigest()
    assert found.record_id == f"rec__{first[:12]}"
    second = hashlib.sha256(text(f'"record_id":"{found.record_id}",').encode()).hexdigest()
    assert found.record_hash == f"sha256:{second}"


def test_stored_words_that_are_derived_change_nothing_and_others_are_named() -> None:
    """[P-47] A difference is a new revision."""
    first = identity(one(record()))
    stored = {"record_id": first.record_id, "record_hash": first.record_hash}
    same = identity(one(record(**stored)))
    assert same.record_hash == first.record_hash
    assert (same.filled, same.differs) == (False, ())
    other = identity(one(record(statement="Keep them long.", **stored)))
    assert (other.filled, other.differs) == (False, ("record_id", "record_hash"))
    assert identity(one(record(record_id=first.record_id))).filled


def test_what_the_file_says_for_all_is_part_of_the_record_and_unknown_keys_are_not() -> None:
    """[P-47] An approval of one text is none of the same text from another hand."""
    head = b'schema = "context-record/v0.1"\nset_id = "a"\n'
    body = b'[[record]]\nlineage_id = "a"\nkind = "rule"\nstatement = "Do."\n'
    found = [
        read_rules(data).value
        for data in (
            head + body,
            head + b'[defaults]\norigin = "user"\n' + body,
            head + body + b'origin = "user"\n',
            head + body + b"foreign = 1\n",
        )
    ]
    hashes = [identity(rules.records[0]).record_hash for rules in found if rules is not None]
    assert hashes[1] == hashes[2] != hashes[0] == hashes[3]


def test_a_lineage_without_a_letter_still_gets_an_id() -> None:
    assert identity(one(record("é!"))).record_id.startswith("rec__")


@settings(deadline=None)
@given(PARTS)
def test_every_record_has_one_identity_and_keeps_it(tree: dict[str, object]) -> None:
    """[P-47] Nothing a record can hold is beyond the canonical form."""
    found = codec.decode(Record, tree)
    derived = identity(found)
    stored = codec.decode(
        Record, {**tree, "record_id": derived.record_id, "record_hash": derived.record_hash}
    )
    assert identity(stored).differs == ()
    assert identity(stored).record_hash == derived.record_hash
