import pytest

from stella.manifest.runtime import PLUGIN_DIR
from stella.manifest.runtime import Runtime
from tests.making.manifests import loaded
from tests.making.manifests import steering


@pytest.mark.behaviour("M-34")
def test_the_loader_replaces_nothing_in_the_arguments() -> None:
    """[M-34, B56]"""
    argv = ("${plugin_dir}/../x", "${HOME}", "$(id)", "${${plugin_dir}}", "a; rm -rf b")
    listed = ", ".join(f'"{word}"' for word in argv)
    runtime = loaded(steering(f"[runtime]\nargv = [{listed}]\ntimeout_secs = 1\n")).runtime
    assert runtime == Runtime(argv=argv, timeout_secs=1, env=())
    assert PLUGIN_DIR == "${plugin_dir}"


def test_the_name_of_a_credential_loads_like_any_other() -> None:
    """What is withheld is the value, when the process starts [T-11, B58]."""
    runtime = loaded(
        steering('[runtime]\nargv = ["x"]\ntimeout_secs = 1\nenv = ["API_KEY", "Token"]\n')
    ).runtime
    assert runtime is not None
    assert runtime.env == ("API_KEY", "Token")
