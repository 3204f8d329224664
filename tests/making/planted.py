"""Secrets nobody ever used, put together here so that no file holds one.

`PLANTED` has one for every shape that is replaced wherever it stands; each value is the text
that must not be found afterwards.
"""

from stella.redact import Redactor

BODY = "A1b2C3d4E5f6G7h8"
REGISTERED = "quartz+lantern/7=" + "Zebra Ünit"

PREFIXES = (
    "sk-",
    "rk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "npm_",
    "hf_",
    "dop_v1_",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "SG.",
)


def pem(label: str = "RSA ") -> str:
    """A private key in PEM form; its lines are base64 of nothing."""
    body = "\n".join(("MIIEow" + BODY * 4)[:64] for _ in range(3))
    return f"-----BEGIN {label}PRIVATE KEY-----\n{body}\n-----END {label}PRIVATE KEY-----"


THREE_PARTS = ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", f"{BODY}-_x"))
USER_INFORMATION = "person:pass" + "word@1"
ASSIGNED = "f00dCafe" + "/+_=.~-9"

PLANTED: dict[str, tuple[str, str]] = {
    **{prefix: (f"{prefix}{BODY}", f"{prefix}{BODY}") for prefix in PREFIXES},
    "pem": (pem(), "MIIEow"),
    "three parts": (THREE_PARTS, THREE_PARTS.rpartition(".")[2]),
    "user information": (f"https://{USER_INFORMATION}@host.example/x", USER_INFORMATION),
    "assigned": (f"DB_PASSWORD={ASSIGNED}", ASSIGNED),
    "registered": (REGISTERED, REGISTERED),
}
"""By name: the text as somebody writes it, and the part of it that is the secret."""


def redactor() -> Redactor:
    """A redactor that knows the registered value."""
    return Redactor(registered=[REGISTERED])
