"""Where an OpenAI-compatible API is found."""

import pytest

from aforesaid.errors import ConfigError
from aforesaid.providers.http import PRESETS, Endpoint, find_endpoint, host_and_port, is_loopback
from tests.support.tables import loop_over


@loop_over("preset", PRESETS)
def test_a_preset_is_found_by_its_name_and_by_its_address(preset: Endpoint) -> None:
    name, url = preset.name, preset.url
    assert (
        find_endpoint(name)
        is find_endpoint(f" {name.upper()} ")
        is find_endpoint(url)
        is find_endpoint(url + "/")
        is preset
    )


@loop_over("preset", PRESETS)
def test_a_local_preset_needs_no_key_and_a_remote_one_names_its_variable(preset: Endpoint) -> None:
    local, variable = preset.local, preset.key_variable
    assert local == (variable is None)
    assert local == is_loopback(preset.url)


def test_any_address_will_do_and_is_named_for_its_host() -> None:
    found = find_endpoint("https://models.example.com:8443/v1/")
    assert (found.name, found.url) == ("models.example.com", "https://models.example.com:8443/v1")
    assert (found.key_variable, found.default_model, found.local) == (None, None, False)
    assert found not in PRESETS


def test_the_whole_address_of_a_request_may_be_pasted() -> None:
    assert find_endpoint("http://[::1]:9/v1/chat/completions").url == "http://[::1]:9/v1"


@loop_over(
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
    assert find_endpoint(url).local is local


@loop_over(
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
        find_endpoint(setting)
    for preset in PRESETS:
        assert preset.name in str(raised.value)


def test_a_password_in_an_address_is_not_shown() -> None:
    assert host_and_port("http://me:secret@host:81/v1") == "host:81"
    assert host_and_port("https://host/v1") == "host"
    assert host_and_port("nonsense") == "its address"
    assert find_endpoint("http://me:secret@host:81/v1").name == "host"
