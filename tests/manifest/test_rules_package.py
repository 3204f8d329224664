import pytest

from stella.manifest.package import CLOSED_SECTIONS
from tests.making.manifests import broken
from tests.making.manifests import faults
from tests.making.manifests import loaded


def bundle(*tables: str) -> str:
    return 'name = "x"\n' + "\n".join(tables)


def capability(
    tool: str = '"t"', risk: str = '"low"', purpose: str = '"p"', scope: str = "[]"
) -> str:
    return f"[[capabilities]]\ntool = {tool}\nrisk = {risk}\npurpose = {purpose}\nscope = {scope}\n"


def setting(key: str = '"ui.a"', value: str = "1", purpose: str = '"p"') -> str:
    return f"[[configure]]\nkey = {key}\nvalue = {value}\npurpose = {purpose}\n"


@pytest.mark.behaviour("M-49", "M-51")
def test_capabilities_are_named_explained_limited_in_words_and_stand_once() -> None:
    """[R-63, R-64, R-65, R-66, M-49, M-51]"""
    assert broken(bundle(capability(), capability(tool='"u"', scope='["a", "b"]'))) == []
    assert broken(bundle(capability(tool='" "', purpose='""', scope='["", "a", " "]'))) == [
        "R-63",
        "R-64",
        "R-65",
        "R-65",
    ]
    assert broken(bundle(capability(), capability(tool='" t "'))) == ["R-66"]
    assert broken(bundle(capability(tool='""'), capability(tool='""'))) == ["R-63", "R-63"]


def test_a_capability_half_of_which_did_not_decode_is_judged_by_the_other_half() -> None:
    """[M-5]"""
    found = faults(bundle(capability(tool="1", risk="1", purpose='""', scope='[1, ""]')))
    assert [each.name for each in found] == [
        "wrong-type",
        "wrong-type",
        "wrong-type",
        "EmptyCapabilityPurpose",
        "EmptyCapabilityScope",
    ]


@pytest.mark.behaviour("M-54")
@pytest.mark.parametrize(
    ("table", "identity", "text"),
    [
        ("tools", "name", "description"),
        ("skills", "slug", "description"),
        ("records", "lineage", "statement"),
    ],
)
def test_content_is_named_described_and_stands_once(table: str, identity: str, text: str) -> None:
    """[R-67, R-68, R-70, M-54]"""

    def entry(name: str, words: str) -> str:
        return f'[[{table}]]\n{identity} = "{name}"\n{text} = "{words}"\n'

    assert broken(bundle(entry("a", "b"), entry("b", "b"))) == []
    assert broken(bundle(entry(" ", ""), entry(" ", "x"))) == ["R-67", "R-68", "R-67"]
    assert broken(bundle(entry("a", "b"), entry("a ", "b"))) == ["R-70"]


def test_a_record_of_a_package_is_advice() -> None:
    """[R-69, K-22]"""
    record = '[[records]]\nlineage = "a"\nstatement = "b"\nenforcement = "{}"\n'
    assert broken(bundle(record.format("advisory"))) == []
    assert broken(bundle(record.format("blocking"))) == ["R-69"]
    assert broken(bundle(record.format("advisory"), record.format("blocking"))) == ["R-69", "R-70"]
    assert broken(bundle(record.format("blokcing"))) == ["R-1 unknown-token"]


def test_a_tool_has_no_enforcement_whatever_its_type() -> None:
    """[M-2, M-5]"""
    tool = '[[tools]]\nname = "a"\ndescription = "b"\nenforcement = {}\n'
    assert broken(bundle(tool.format('"blocking"'))) == ["R-1 unknown-key"]
    assert broken(bundle(tool.format("1"))) == ["R-1 unknown-key"]


@pytest.mark.parametrize("key", ["ui", "ui.", ".ui", "ui..a", "u i.a", "ui.é", "ui.a\\n", "[a].b"])
def test_a_settings_key_is_dotted(key: str) -> None:
    """[R-73, M-55]"""
    assert broken(bundle(setting(key=f'"{key}"'))) == ["R-73"]


def test_a_settings_key_of_several_parts_loads() -> None:
    """[M-55]"""
    keys = ("ui.a", "ui.a.b-c.D_0", "9.9")
    assert [
        each.key for each in loaded(bundle(*(setting(key=f'"{k}"') for k in keys))).configure
    ] == [*keys]


@pytest.mark.parametrize("section", sorted(CLOSED_SECTIONS))
def test_a_closed_section_is_refused_with_what_it_governs(section: str) -> None:
    """[R-74, M-56, K-23]"""
    found = faults(bundle(setting(key=f'"{section}.x"')))
    assert [each.rule for each in found] == ["R-74"]
    assert CLOSED_SECTIONS[section] in found[0].message
    assert broken(bundle(setting(key=f'"{section}x.x"'))) == []


@pytest.mark.parametrize("value", ["{}", "{ a = 1 }", "[[]]", "[1, [2]]", "[{}]"])
def test_a_setting_is_one_leaf_or_a_flat_list(value: str) -> None:
    """[R-75, K-23]"""
    assert broken(bundle(setting(value=value))) == ["R-75"]


@pytest.mark.parametrize("value", ["[]", "[1, 'a', true]", "nan", "1979-05-27", "''"])
def test_every_leaf_and_flat_list_is_a_value(value: str) -> None:
    """[M-55]"""
    assert broken(bundle(setting(value=value))) == []


def test_settings_have_a_key_a_purpose_and_stand_once() -> None:
    """[R-71, R-72, R-76, M-57]"""
    assert broken(bundle(setting(key='" "', purpose='" "'))) == ["R-71", "R-72"]
    assert broken(bundle(setting(), setting())) == ["R-76"]
    assert broken(bundle(setting(), setting(key='" ui.a"'))) == ["R-73", "R-76"]


@pytest.mark.behaviour("G-25", "K-120")
@pytest.mark.parametrize("key", ["max_holds", "default", "test_timeout_secs", "red_on_error"])
def test_no_plugin_sets_what_bounds_or_grants_a_pipeline(key: str) -> None:
    """[R-74, M-56, D-7, G-25]"""
    assert broken(bundle(setting(key=f'"pipeline.{key}"'))) == ["R-74"]
    assert broken(bundle(setting(key='"pipeline.tiers.plan"'))) == ["R-74"]
