"""The notice of the encoder's data names every model that its weights descend from, and ships with them."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "src/aforesaid/encoders/data"
ANCESTORS = {
    "sentence-transformers/all-MiniLM-L6-v2": "Apache-2.0",
    "nreimers/MiniLM-L6-H384-uncased": "MIT",
    "microsoft/MiniLM-L12-H384-uncased": "MIT",
    "UniLM v2": "MIT",
    "BERT base, uncased": "Apache-2.0",
}


def test_the_notice_names_every_ancestor_with_its_licence_and_every_file() -> None:
    lines = (DATA / "NOTICE.md").read_text().splitlines()
    for model, licence in ANCESTORS.items():
        row = next(line for line in lines if line.startswith(f"| [{model}]"))
        assert row.split("|")[4].strip().startswith(licence)
    for path in DATA.iterdir():
        assert path.name == "NOTICE.md" or any(f"`{path.name}`" in line for line in lines)
    assert any("Permission is hereby granted" in line for line in lines)


def test_the_notice_is_a_licence_file_of_the_package() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "src/aforesaid/encoders/data/NOTICE.md" in built["project"]["license-files"]
    assert built["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["src/aforesaid"]}


@pytest.mark.long
def test_the_notice_is_in_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"a wheel cannot be built here: {done.stderr.decode()[-200:]}")
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "aforesaid/encoders/data/NOTICE.md" in names
    assert any("licenses/" in name and name.endswith("NOTICE.md") for name in names)
