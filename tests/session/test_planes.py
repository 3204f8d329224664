from pathlib import Path

from stella.candidates.workspaces import Workspaces
from stella.session.pipeline import bind
from stella.session.planes import planes_of
from stella.tools.all import TOOLS
from tests.making.sessions import installed
from tests.making.sessions import options
from tests.making.sessions import project
from tests.making.sessions import verifying
from tests.session.test_workshop import workshop


def test_putting_the_planes_together_makes_nothing_on_disk(tmp_path: Path) -> None:
    """[D-51, D-54]"""
    root, home = project(tmp_path / "work"), tmp_path / "home"
    installed(root, home)
    wanted = options(root, home, tmp_path / "m", pipeline=verifying())
    bound = bind(wanted, root)
    assert bound is not None
    before = sorted(root.rglob("*"))
    shop = workshop(tmp_path / "shop")
    with shop.hands(root, TOOLS, "user") as hands:
        workspaces = Workspaces(root, path_value=shop.path_value, clock=shop.clock)
        planes = planes_of(bound, shop, hands.watching, workspaces, wanted)
    assert set(planes.serving.members) == {"verify"}
    assert planes.serving.attempts is planes.attempts
    assert sorted(root.rglob("*")) == before
