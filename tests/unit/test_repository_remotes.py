"""One repository has many addresses."""

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.repository import normal_remote
from tests.support.tables import loop_over

SHOP = "github.com/org/shop"


@loop_over(
    ("url", "normal"),
    [
        ("https://github.com/org/shop", SHOP),
        ("https://github.com/org/shop.git", SHOP),
        ("https://github.com/org/shop/", SHOP),
        ("https://github.com/org/shop.git/", SHOP),
        ("https://GitHub.com/org/shop.git", SHOP),
        ("HTTPS://github.com/org/shop.git", SHOP),
        ("https://user:secret@github.com/org/shop.git", SHOP),
        ("https://user:s@cret@github.com/org/shop", SHOP),
        ("https://github.com:443/org/shop.git", SHOP),
        ("git@github.com:org/shop.git", SHOP),
        ("github.com:org/shop.git", SHOP),
        ("git@github.com:/org/shop.git", SHOP),
        ("ssh://git@github.com/org/shop.git", SHOP),
        ("ssh://git@github.com:22/org/shop.git", SHOP),
        ("git+ssh://git@github.com/org/shop", SHOP),
        ("git://github.com/org/shop", SHOP),
        ("  https://github.com/org/shop\n", SHOP),
        ("https://gitlab.com/group/sub/shop.git", "gitlab.com/group/sub/shop"),
        ("/srv/git/shop.git", "/srv/git/shop"),
        ("file:///srv/git/shop.git", "/srv/git/shop"),
    ],
)
def test_an_address_is_made_normal(url: str, normal: str) -> None:
    assert normal_remote(url) == normal


@loop_over(
    "url",
    [
        "https://github.com/other/shop",
        "https://github.com/org/shop2",
        "https://gitlab.com/org/shop",
        "git@github.com:org/shop.wiki.git",
        "https://github.com/Org/Shop",
        "https://github.com:8443/org/shop",
        "ssh://git@github.com:2222/org/shop",
        "https://github.com/or%67/shop",
        "https://github.com/other/../org/shop",
        "https://github.com.evil.example/org/shop",
        "https://github.com@evil.example/org/shop",
        "https://evil.example/github.com/org/shop",
        "https://github.com:x/org/shop",
        "https://g\u0131thub.com/org/shop",
        "/github.com/org/shop",
        "../github.com/org/shop",
    ],
)
def test_other_repositories_stay_apart(url: str) -> None:
    assert normal_remote(url) != SHOP


def test_a_letter_that_only_looks_like_ascii_stays_another_one() -> None:
    """The sign for kelvin becomes a `k` in lower case."""
    assert normal_remote("https://bitbuc\u212aet.org/a/b") != normal_remote(
        "https://bitbucket.org/a/b"
    )


def test_addresses_in_brackets_stay_apart() -> None:
    urls = ["https://[fe80::1]/a", "https://[fe80::2]/a", "https://[fe80::1]:8443/a"]
    assert len(set(map(normal_remote, urls))) == 3


@given(st.text())
def test_any_address_has_a_normal_form(url: str) -> None:
    normal_remote(url)


NAMES = st.from_regex(r"[A-Za-z0-9_.-]{1,12}", fullmatch=True)


@given(NAMES, NAMES)
def test_no_secret_of_an_address_is_kept(user: str, secret: str) -> None:
    normal = normal_remote(f"https://{user}:{secret}-7f3a@git.example.org/team/tool.git")
    assert normal == "git.example.org/team/tool"
