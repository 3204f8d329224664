"""[H-42] Which names say that a file holds a secret."""

import pytest

from stella.context.sensitive import sensitive


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env.local",
        ".ENV",
        ".envs/production/x.txt",
        "my-credentials.json",
        "Credential",
        "secrets/readme.md",
        "a/top_secret.txt",
        "id_rsa",
        "keys/id_ed25519",
        ".netrc",
        ".npmrc",
        "sub/.pypirc",
        "server.pem",
        "SERVER.KEY",
        "x.pem/notes.txt",
    ],
)
def test_a_name_that_says_so_is_sensitive(path: str) -> None:
    assert sensitive(path)


@pytest.mark.parametrize(
    "path",
    ["env", "x.env", "environment.py", "keys.py", "a.keys", "pem", "id_rsa_notes.md", "my.npmrc.x"],
)
def test_other_names_are_not(path: str) -> None:
    assert not sensitive(path)
