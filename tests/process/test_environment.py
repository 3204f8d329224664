"""What a child may see of the host's environment, by name."""

import pytest
from hypothesis import given
from hypothesis import strategies

from stella.process.environment import exact
from stella.process.environment import inherited
from stella.process.environment import withheld

NONE: frozenset[str] = frozenset()
REGISTERED = frozenset({"OPENAI_API_KEY", "MY_MODEL"})
NAMES = strategies.text(strategies.characters(codec="ascii"), min_size=1, max_size=12)

SECRET = [
    *("API_KEY", "TOKEN", "PASSWORD", "SECRET"),
    *("X_API_KEY", "X_APIKEY", "GITHUB_TOKEN", "DB_PASSWORD", "X_SECRET", "X_SECRET_KEY"),
    *("X_PRIVATE_KEY", "X_ACCESS_KEY", "X_CREDENTIALS", "X_CREDENTIAL", "GITLAB_PAT"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN"),
    *("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
    *("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN"),
    *("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_SHARED_CREDENTIALS_FILE"),
    *("AWS_PROFILE", "AWS_DEFAULT_PROFILE"),
    *("GOOGLE_APPLICATION_CREDENTIALS", "AZURE_FEDERATED_TOKEN_FILE"),
]
PLAIN = [
    *("PATH", "HOME", "LANG", "TERM", "KEY", "TOKENS", "API_KEYS", "MYTOKEN", "SECRETARY"),
    *("X_PATH", "PATROL", "AWS_REGION", "TOKEN_URL", "GIT_AUTHOR_NAME", "ENVIRONMENT"),
]
STEERING = [
    *("SSH_AUTH_SOCK", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG"),
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF"),
    *("GIT_PROXY_COMMAND", "BASH_ENV", "ENV", "RIPGREP_CONFIG_PATH"),
    *("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "CARGO_TERM_COLOR"),
]


@pytest.mark.behaviour("T-11")
@pytest.mark.parametrize("name", SECRET)
def test_a_credential_is_withheld_from_a_plugin_however_it_is_spelled(name: str) -> None:
    """T-11: every row of the table, and case does not matter."""
    for spelled in (name, name.lower(), name.title()):
        assert withheld([spelled], NONE) == (spelled,)
        assert exact([spelled], {spelled: "x"}, NONE) == {}


@pytest.mark.behaviour("T-12")
@pytest.mark.parametrize("name", PLAIN + STEERING)
def test_other_names_pass_to_a_plugin_when_listed(name: str) -> None:
    """T-12: PATH, HOME, SSH_AUTH_SOCK and their like too."""
    assert withheld([name], REGISTERED) == ()
    assert exact([name], {name: "x"}, REGISTERED) == {name: "x"}


def test_a_registered_model_key_is_withheld_whatever_its_name() -> None:
    """T-11."""
    assert withheld(["PATH", "my_model", "MY_MODEL"], REGISTERED) == ("my_model", "MY_MODEL")


def test_a_plugin_gets_what_is_listed_and_set_and_the_rest_is_reported() -> None:
    """K-44, T-10: an unset name stays absent, an empty one stays empty."""
    listed = ("PATH", "FOO", "OPENAI_API_KEY", "EMPTY")
    host = {"PATH": "/bin", "OPENAI_API_KEY": "sk", "EMPTY": "", "HOME": "/home/x"}
    assert exact(listed, host, NONE) == {"PATH": "/bin", "EMPTY": ""}
    assert withheld(listed, NONE) == ("OPENAI_API_KEY",)


@given(host=strategies.dictionaries(NAMES, strategies.text()), listed=strategies.lists(NAMES))
def test_a_plugin_never_gets_what_it_did_not_list(host: dict[str, str], listed: list[str]) -> None:
    """T-10, for all."""
    given_ = exact(listed, host, REGISTERED)
    assert given_.items() <= host.items()
    assert given_.keys() <= set(listed)
    assert not withheld(given_, REGISTERED)


@pytest.mark.parametrize("name", [*SECRET, *STEERING, "OPENAI_API_KEY", "MY_MODEL", "my_model"])
def test_a_tool_does_not_inherit_credentials_or_what_steers_programs(name: str) -> None:
    """T2-45."""
    assert inherited({name: "x", "PATH": "/bin"}, REGISTERED, NONE) == {"PATH": "/bin"}


@pytest.mark.parametrize("name", PLAIN)
def test_a_tool_inherits_the_rest(name: str) -> None:
    assert inherited({name: "x"}, REGISTERED, NONE) == {name: "x"}


@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY", "no_proxy"])
def test_a_proxy_is_inherited_unless_it_holds_credentials(name: str) -> None:
    """T2-45."""
    assert inherited({name: "http://proxy:8080"}, NONE, NONE) == {name: "http://proxy:8080"}
    assert inherited({name: "http://me:word@proxy:8080"}, NONE, NONE) == {}


def test_exact_names_are_let_through_again_but_never_model_keys_or_our_own() -> None:
    """T2-46."""
    names = ("GITHUB_TOKEN", "GIT_DIR", "OPENAI_API_KEY", "STELLA_SESSION_ID", "HTTP_PROXY")
    host = dict.fromkeys(names, "a@b")
    passed = inherited(host, REGISTERED, frozenset(names) | {"NOT_SET"})
    assert set(passed) == {"GITHUB_TOKEN", "GIT_DIR", "HTTP_PROXY"}
    assert inherited(host, REGISTERED, frozenset({"github_token"})) == {}


def test_our_own_variables_are_never_inherited() -> None:
    """T2-45."""
    assert inherited({"STELLA_MODEL": "x", "STELLA_": "y"}, NONE, frozenset({"STELLA_"})) == {}
