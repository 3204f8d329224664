"""Which variables of the host's environment a child may see. Nothing here reads the environment.

Credentials stay with the host whoever asks for them: a plugin gets exactly the names of its
manifest without them [T-10, T-11], tools and tests get the host's environment without them
and without what could turn a program against the person who runs it [T2-45].
"""

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Final

EXACT: Final = frozenset(("API_KEY", "TOKEN", "PASSWORD", "SECRET"))
"""Names of credentials, whole [T-11]."""

SUFFIXES: Final = (
    "_API_KEY",
    "_APIKEY",
    "_TOKEN",
    "_PASSWORD",
    "_SECRET",
    "_SECRET_KEY",
    "_PRIVATE_KEY",
    "_ACCESS_KEY",
    "_CREDENTIALS",
    "_CREDENTIAL",
    "_PAT",
)
"""How names of credentials end [T-11]."""

CLOUD: Final = frozenset(
    (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_SECURITY_TOKEN",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_PROFILE",
        "AWS_DEFAULT_PROFILE",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "AZURE_FEDERATED_TOKEN_FILE",
    )
)
"""Names that lead to the credentials of a cloud [T-11]."""

# They name programs or files that a tool would obey, or force colour into captured text.
_STEERING: Final = frozenset(
    (
        "SSH_AUTH_SOCK",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_EXTERNAL_DIFF",
        "GIT_PROXY_COMMAND",
        "BASH_ENV",
        "ENV",
        "RIPGREP_CONFIG_PATH",
        "FORCE_COLOR",
        "CLICOLOR_FORCE",
        "PY_COLORS",
        "CARGO_TERM_COLOR",
    )
)
_STEERING_PREFIXES: Final = ("GIT_CONFIG", "GIT_SSH")
_OURS: Final = "STELLA_"

SESSION: Final = "STELLA_SESSION_ID"
"""What tells a tool's child which session it belongs to [T2-47]."""


def withheld(names: Iterable[str], registered: frozenset[str]) -> tuple[str, ...]:
    """Return those of `names` that are credentials, in their order and as written [T-11].

    `registered` are the variables that model providers read their keys from. Case is ignored.
    """
    keys = frozenset(map(str.upper, registered))
    return tuple(name for name in names if _is_credential(name, keys))


def exact(
    names: Iterable[str], host_env: Mapping[str, str], registered: frozenset[str]
) -> dict[str, str]:
    """Return a plugin's environment: the listed names that are set and no credentials.

    A name that is not set stays absent, and nothing is added [T-10, T-11, T-12].
    """
    listed = tuple(names)
    refused = frozenset(withheld(listed, registered))
    return {name: host_env[name] for name in listed if name in host_env and name not in refused}


def inherited(
    host_env: Mapping[str, str], registered: frozenset[str], allowed: frozenset[str]
) -> dict[str, str]:
    """Return the environment of a tool or a test: the host's, without what T2-45 withholds.

    `allowed` are exact names let through again, except model keys and our own [T2-46].
    """
    keys = frozenset(map(str.upper, registered))
    return {
        name: value
        for name, value in host_env.items()
        if name.upper() not in keys
        and not name.startswith(_OURS)
        and (name in allowed or not (_is_credential(name, keys) or _steers(name, value)))
    }


def _is_credential(name: str, keys: frozenset[str]) -> bool:
    upper = name.upper()
    return upper in EXACT or upper in CLOUD or upper in keys or upper.endswith(SUFFIXES)


def _steers(name: str, value: str) -> bool:
    if name.upper().endswith("_PROXY") and "@" in value:
        return True
    return name in _STEERING or name.startswith(_STEERING_PREFIXES)
