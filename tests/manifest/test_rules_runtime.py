import pytest

from tests.making.manifests import broken


def observer(argv: str = '["x"]', timeout: str = "1", env: str = "[]") -> str:
    return (
        'name = "x"\n[loop]\nparticipation = "observer"\n'
        f"[runtime]\nargv = {argv}\ntimeout_secs = {timeout}\nenv = {env}\n"
    )


def test_a_process_that_can_start_loads() -> None:
    """[M-32]"""
    assert broken(observer()) == []
    assert broken(observer(timeout="18446744073709551615")) == []
    assert broken(observer(argv='["${plugin_dir}/x", "a; rm -rf b"]')) == []


def test_a_bundle_of_content_has_no_process() -> None:
    """[R-54]"""
    assert broken(observer().replace("observer", "none")) == ["R-54"]


@pytest.mark.behaviour("M-32")
@pytest.mark.parametrize(
    ("argv", "rules"),
    [
        ("[]", ["R-55"]),
        ('["x", ""]', ["R-56"]),
        ('[" ", "x"]', ["R-56"]),
        ('["x\\u0000y"]', ["R-56"]),
        ("[1]", ["R-1 wrong-type"]),
    ],
)
def test_arguments_name_a_program_and_can_be_passed(argv: str, rules: list[str]) -> None:
    """[R-55, R-56, B55]"""
    assert broken(observer(argv=argv)) == rules


def test_a_process_has_time() -> None:
    """[R-57, B44]"""
    assert broken(observer(timeout="0")) == ["R-57"]


@pytest.mark.behaviour("M-33")
@pytest.mark.parametrize(
    ("env", "rules"),
    [
        ('["PATH", "path", "A B", "é"]', []),
        ('[""]', ["R-58"]),
        ('["", ""]', ["R-58", "R-58"]),
        ('[" "]', ["R-59"]),
        ('[" PATH"]', ["R-59"]),
        ('["A=B"]', ["R-59"]),
        ('["A\\u0000"]', ["R-59"]),
        ('["PATH\\n"]', ["R-59"]),
        ('["PATH", "PATH"]', ["R-60"]),
    ],
)
def test_environment_names_are_exact_and_stand_once(env: str, rules: list[str]) -> None:
    """[R-58, R-59, R-60, M-33, Q-7, K-21]"""
    assert broken(observer(env=env)) == rules
