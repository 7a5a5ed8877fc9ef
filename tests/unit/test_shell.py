"""Command lines are read as a shell reads them, as far as it matters which commands are run."""

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.provenance.commands import Downloads
from aforesaid.provenance.shell import parse
from tests.support.tables import loop_over

PARTS = (
    "curl https://a.org/x cat 'it s' \"$(gh pr view 1)\" `id` | || && ; & ( ) { } > >> < << <<< EOF \n \\"
    " ' \" $( $((1)) -o -c f 2>&1 if fi then for in do done case esac bash psql git show ssh host kubectl"
    " exec -- tar x= http://[ #"
)
PIECES = st.sampled_from(PARTS.split(" "))


def words(line: str) -> list[list[tuple[str, ...]]]:
    return [[tuple(command.words) for command in pipeline] for pipeline in parse(line)]


@loop_over(
    ("line", "found"),
    [
        ("cd /tmp && ls -a; pwd", [[("cd", "/tmp")], [("ls", "-a")], [("pwd",)]]),
        ("a 'b c' \"d e\" f\\ g | h", [[("a", "b c", "d e", "f g"), ("h",)]]),
        ("X=1 make # not this", [[("make",)]]),
        ("a 2>&1 > out < in", [[("a",)]]),
        ("python - <<'E'\nprint(1)\nE\nls", [[("python", "-")], [("ls",)]]),
        ("f() { a; }", [[("f",)], [()]]),
        ("a \\\n -b", [[("a", "-b")]]),
    ],
)
def test_a_line_is_split_into_its_commands(line: str, found: list[object]) -> None:
    assert words(line) == found


def test_groups_substitutions_and_redirections_are_kept() -> None:
    (((group, last),)) = parse("(a; b) | c > out 2> err")
    assert [[each.words for each in pipeline] for pipeline in group.body] == [[["a"]], [["b"]]]
    assert last.writes == ["out"]
    ((command,),) = parse('x=$(a | b) y "$(c "d e")" <(f) < g <<< h')
    assert command.substitutions == ["a | b", 'c "d e"', "f"]
    assert (command.assigned, command.reads) == ([("x", "$(a | b)")], ["g"])
    assert command.inputs == ["h"]


@given(st.lists(PIECES, max_size=14).map(" ".join) | st.text(max_size=60))
def test_no_line_is_too_strange(line: str) -> None:
    parse(line)
    assert Downloads().add_command(line) in (True, False)
