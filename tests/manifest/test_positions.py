import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.manifest.positions import Positions
from tests.properties import documents as some
from tests.properties.manifests import PROOF
from tests.properties.manifests import places


@pytest.mark.behaviour("M-6")
@PROOF
@given(some.documents())
def test_every_path_stands_where_its_writer_put_it(document: some.Document) -> None:
    """[M-6]; dotted and quoted keys, tables in every form, strings that look like TOML, CRLF."""
    assert codec.parse_toml(document.text) == document.tree
    paths = [path for path, _ in places(document.tree) if path]
    found = Positions(document.text)
    assert {path: found.of(path) for path in paths} == document.places


@PROOF
@given(st.text("ab.[]{}=\"'#\\\n\r, 1", max_size=24))
def test_any_text_that_is_toml_can_be_placed(text: str) -> None:
    """[M-3, M-6]"""
    try:
        tree = codec.parse_toml(text)
    except Refused:
        return
    found = Positions(text)
    assert all(found.of(path) for path, _ in places(tree) if path)


TEXT = """\
a = 1
[b.c]
  d = [ 1, [2], {e = 3} ]
[[f]]
[[f]]
g.h = 4
[b]
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), None),
        (("a",), (1, 1)),
        (("b",), (7, 1)),
        (("b", "c"), (2, 1)),
        (("b", "c", "d"), (3, 3)),
        (("b", "c", "d", 0), (3, 9)),
        (("b", "c", "d", 1, 0), (3, 13)),
        (("b", "c", "d", 2, "e"), (3, 18)),
        (("f",), (4, 1)),
        (("f", 1), (5, 1)),
        (("f", 1, "g", "h"), (6, 3)),
    ],
)
def test_a_path_has_a_line_and_a_column(path: some.Path, place: tuple[int, int] | None) -> None:
    """[M-6]"""
    assert Positions(TEXT).of(path) == place


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("x",), None),
        (("x", "y"), None),
        (("f", 1, "x"), (5, 1)),
        (("b", "c", "x"), (2, 1)),
        (("b", "c", "d", 9), (3, 3)),
    ],
)
def test_what_is_missing_stands_where_the_table_around_it_does(
    path: some.Path, place: tuple[int, int] | None
) -> None:
    """[M-6]"""
    assert Positions(TEXT).of(path) == place


def many(form: str) -> str:
    """Return as many pieces as fit into a manifest, each with its number."""
    pieces: list[str] = []
    size = 0
    while size < limits.MANIFEST_BYTES - 200:
        pieces.append(form.format(len(pieces)))
        size += len(pieces[-1])
    return "".join(pieces)


@pytest.mark.parametrize(
    "text",
    [
        many("k{} = 1\n"),
        many("[t{}]\n"),
        many("[[a]]\n"),
        "[[a]]\n[[a.b]]\n" + many("[[a.b.c]]\n"),
        many("a.b.c.k{} = 1\n"),
        many('"k\\u0041{}" = 1\n'),
        f"a = [{many('{},')}]\n",
        f"a = [\n{many('{{x = {}}},')}]\n",
        f"a = {{{many('k{}=1,')}z=1}}\n",
        f"a = '''{many('[x{}]')}'''\n",
        f'a = """{many("[x{}] = #")}"""\n',
        f'"{many("x")}" = 1\n',
        many("# [x{}]\n"),
        many("\n"),
        many(" "),
        "a = [" + many("[],"),
    ],
    ids=range(16),
)
def test_the_end_of_the_largest_manifest_is_found(text: str) -> None:
    """[M-1, M-3]; each would take minutes if any step looked back over what it has read."""
    text = f"{text}]\nzz = 1" if text.endswith("[],") else f"{text}\n[zz]"
    assert len(text) <= limits.MANIFEST_BYTES
    assert Positions(text).of(("zz",)) == (text.count("\n") + 1, 1)
