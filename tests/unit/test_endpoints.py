"""Where an OpenAI-compatible API is found."""

import pytest

from recollect.errors import ConfigError
from recollect.providers.endpoints import PRESETS, Endpoint, find, is_loopback, place


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_is_found_by_its_name_and_by_its_address(preset: Endpoint) -> None:
    name, url = preset.name, preset.url
    assert find(name) is find(f" {name.upper()} ") is find(url) is find(url + "/") is preset


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_local_preset_needs_no_key_and_a_remote_one_names_its_variable(preset: Endpoint) -> None:
    local, variable = preset.local, preset.key_variable
    assert local == (variable is None)
    assert local == is_loopback(preset.url)


def test_any_address_will_do_and_is_named_for_its_host() -> None:
    found = find("https://models.example.com:8443/v1/")
    assert (found.name, found.url) == ("models.example.com", "https://models.example.com:8443/v1")
    assert (found.key_variable, found.default_model, found.local) == (None, None, False)
    assert not found.preset


def test_the_whole_address_of_a_request_may_be_pasted() -> None:
    assert find("http://[::1]:9/v1/chat/completions").url == "http://[::1]:9/v1"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1/v1", True),
        ("http://llm.localhost/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://[::1]:80/v1", True),
        ("http://0.0.0.0:11434/v1", True),
        ("http://192.168.1.5:11434/v1", False),
        ("http://localhost.example.com/v1", False),
    ],
)
def test_only_this_machine_is_local(url: str, local: bool) -> None:
    assert find(url).local is local


@pytest.mark.parametrize(
    "setting",
    [
        "",
        "opena",
        "ftp://host/v1",
        "http://",
        "127.0.0.1:80",
        "http://h:x/",
        "http://[1/",
        "https:",
    ],
)
def test_anything_else_is_an_error_that_names_the_presets(setting: str) -> None:
    with pytest.raises(ConfigError) as raised:
        find(setting)
    for preset in PRESETS:
        assert preset.name in str(raised.value)


def test_a_password_in_an_address_is_not_shown() -> None:
    assert place("http://me:secret@host:81/v1") == "host:81"
    assert place("https://host/v1") == "host"
    assert place("nonsense") == "its address"
    assert find("http://me:secret@host:81/v1").name == "host"
