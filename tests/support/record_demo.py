"""Records the example sessions that ship with aforesaid: `python -m tests.support.record_demo`.

A developer's tool. It makes a small repository, lets the real client work on it in two scripted
interactive sessions, and writes what the hooks were given to `src/aforesaid/demo/`. Only the model
is scripted: the edits, the failing tests, the commits and the payloads are real.
"""

import json
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.support.client import TOOLS, Client, HookDump, git_repo
from tests.support.netns import reexec_in_namespace
from tests.support.scripted_api import Call, ScriptedApi, Step, Text, Together
from tests.support.terminal import Terminal

DEMO = Path(__file__).parents[2] / "src" / "aforesaid" / "demo"
HOOKS = {
    "SessionStart": "context",
    "UserPromptSubmit": "new",
    "PostToolUse": "save",
    "PostToolUseFailure": "save",
    "SubagentStop": "save",
    "PreCompact": "compact",
    "Stop": "summary",
    "SessionEnd": "end",
}

LINE_TOTAL = '''\
def line_total(item):
    """One line before tax."""
    return item["unit_price"] * item["quantity"]
'''
PRICING = f'''\
"""What an order costs."""

TAX_RATE = 0.20


{LINE_TOTAL}

def order_total(items):
    """What the customer pays, tax included."""
    net = sum(line_total(item) for item in items)
    return round(net * (1 + TAX_RATE), 2)
'''
QUOTE = """\
def quote(body):
    items = body["items"]
    lines = [line_total(item) for item in items]
    return {"total": order_total(items), "largest_line": max(lines)}
"""
API = f'''\
"""The HTTP face of the service: a path and a JSON text in, a status and a dict out."""

import json
import logging

from orders.pricing import line_total, order_total

log = logging.getLogger(__name__)


{QUOTE}

def invoice_csv(items):
    """The invoice export, one row per line."""
    return "\\n".join(f"{{item['sku']}},{{line_total(item):.2f}}" for item in items)


def handle(path, text):
    try:
        if path == "/quotes":
            return 200, quote(json.loads(text))
        return 404, {{"error": f"no such path: {{path}}"}}
    except Exception:
        log.exception("request failed: %s", path)
        return 500, {{"error": "internal error"}}
'''
TOTAL_TEST = """\
    def test_the_total_includes_tax(self):
        self.assertEqual(order_total([{"unit_price": 1000, "quantity": 1}]), 1200)
"""
TESTS = f"""\
import unittest

from orders.pricing import line_total, order_total


class PricingTest(unittest.TestCase):
    def test_a_line_costs_price_times_quantity(self):
        self.assertEqual(line_total({{"unit_price": 250, "quantity": 4}}), 1000)

{TOTAL_TEST}"""
REPOSITORY = {
    "README.md": "# orders\n\nQuotes and invoices for the shop. Tests: `python3 -m unittest`.\n",
    ".gitignore": "__pycache__/\n",
    "orders/__init__.py": "",
    "orders/pricing.py": PRICING,
    "orders/api.py": API,
    "tests/__init__.py": "",
    "tests/test_pricing.py": TESTS,
}

TIERS = "BULK_DISCOUNTS = [(10, 0.05), (50, 0.10)]  # from this quantity, share taken off"
TIERS_FIXED = "BULK_DISCOUNTS = [(50, 0.10), (10, 0.05)]  # largest first: the first match wins"
BULK = f'''\
{TIERS}


def bulk_discount(quantity):
    """The share taken off a line of this many pieces."""
    for minimum, share in BULK_DISCOUNTS:
        if quantity >= minimum:
            return share
    return 0.0


def line_total(item):
    """One line before tax, with its bulk discount."""
    price = item["unit_price"] * item["quantity"]
    return price * (1 - bulk_discount(item["quantity"]))
'''
BULK_TESTS = """
    def test_ten_pieces_take_five_percent_off_the_line(self):
        self.assertEqual(line_total({"unit_price": 200, "quantity": 10}), 1900)

    def test_fifty_pieces_take_ten_percent_off_the_line(self):
        self.assertEqual(line_total({"unit_price": 200, "quantity": 50}), 9000)
"""
CENTS = '''\
"""What an order costs. Money is integer cents, never a float."""

TAX_PERCENT = 20
BULK_DISCOUNTS = [(50, 10), (10, 5)]  # largest first: the first match wins


def percent_of(cents, percent):
    """A share of an amount, rounded half up to a whole cent."""
    return (cents * percent + 50) // 100


def bulk_discount(quantity):
    """The percentage taken off a line of this many pieces."""
    return next((percent for minimum, percent in BULK_DISCOUNTS if quantity >= minimum), 0)


def line_total(item):
    """One line in cents before tax, with its bulk discount."""
    cents = item["unit_cents"] * item["quantity"]
    return cents - percent_of(cents, bulk_discount(item["quantity"]))


def order_total(items):
    """What the customer pays in cents, tax included."""
    net = sum(line_total(item) for item in items)
    return net + percent_of(net, TAX_PERCENT)
'''
CENTS_QUOTE = QUOTE.replace('"total"', '"total_cents"').replace('_line"', '_line_cents"')
ROUNDING_TEST = """\
    def test_half_a_cent_of_discount_is_rounded_up(self):
        self.assertEqual(line_total({"unit_cents": 1, "quantity": 10}), 9)

"""

TRY_EMPTY = """\
python3 - <<'EOF'
from orders.api import handle
status, body = handle("/quotes", '{"items": []}')
assert status < 500, (status, body)
EOF"""
GUARDED_QUOTE = CENTS_QUOTE.replace(
    '["items"]\n',
    '["items"]\n    if not items:\n        raise BadRequest("an order needs at least one item")\n',
)
BAD_REQUEST = '''\
class BadRequest(Exception):
    """The caller can mend this; the message says how."""


'''
REFUSE = """\
    except BadRequest as error:
        return 422, {"error": str(error)}
    except Exception:
"""
API_TESTS = """\
import unittest

from orders.api import handle


class QuoteTest(unittest.TestCase):
    def test_an_order_with_items_gets_a_quote(self):
        status, body = handle("/quotes", '{"items": [{"unit_cents": 1000, "quantity": 1}]}')
        self.assertEqual((status, body["total_cents"]), (200, 1200))

    def test_an_order_without_items_is_refused_with_a_reason(self):
        status, body = handle("/quotes", '{"items": []}')
        self.assertEqual((status, body), (422, {"error": "an order needs at least one item"}))
"""


def bash(command: str, description: str, say: str = "") -> Call:
    return Call("Bash", {"command": command, "description": description}, say)


def on(tool: str, name: str, say: str = "", **given: str | bool) -> Call:
    """A call on a file of the repository."""
    return Call(tool, {"file_path": f"{{{{cwd}}}}/{name}", **given}, say)


def edit(name: str, old: str, new: str, say: str = "", **given: bool) -> Call:
    return on("Edit", name, say, old_string=old, new_string=new, **given)


def commit(message: str) -> Call:
    return bash(f'git add --all && git commit -m "{message}"', "Commit the change")


TEST = bash("python3 -m unittest", "Run the tests")
Turns = Sequence[tuple[str, Sequence[Step]]]

DISCOUNTS: Turns = [
    (
        "Please add bulk discounts to the pricing: per line, 5% off from 10 pieces and 10% off "
        "from 50. Add tests and commit when they pass.",
        [
            Together((on("Read", "orders/pricing.py"), on("Read", "tests/test_pricing.py"))),
            bash("python3 -m unittest", "Run the tests", "First I check that the tests are green."),
            edit("orders/pricing.py", LINE_TOTAL, BULK),
            edit("tests/test_pricing.py", TOTAL_TEST, TOTAL_TEST + BULK_TESTS),
            TEST,
            edit(
                "orders/pricing.py",
                TIERS,
                TIERS_FIXED,
                "50 pieces get only 5%: the loop stops at the first tier that fits, and that is "
                "the smallest one. The tiers have to be tried largest first.",
            ),
            TEST,
            commit("Add bulk discounts per line"),
            Text(
                "Bulk discounts work: a line of 10 or more pieces gets 5% off, 50 or more gets "
                "10%.\n\n"
                "- `orders/pricing.py`: new `bulk_discount()`, used by `line_total()`.\n"
                "- My first version tried the smallest tier first, so 50 pieces got only 5%. The "
                "new test caught it; `BULK_DISCOUNTS` is now ordered largest first.\n"
                "- `tests/test_pricing.py`: one new test per tier. All 4 tests pass, and the "
                'change is committed as "Add bulk discounts per line".'
            ),
        ],
    ),
    (
        "We decided to keep money as integer cents everywhere, never floats. Rounding has cost us "
        "a cent on three invoices. Please apply that to the pricing and commit.",
        [
            on("Read", "orders/api.py"),
            on("Write", "orders/pricing.py", content=CENTS),
            edit("tests/test_pricing.py", "unit_price", "unit_cents", replace_all=True),
            edit(
                "tests/test_pricing.py",
                "    def test_the_total_includes_tax(self):\n",
                ROUNDING_TEST + "    def test_the_total_includes_tax(self):\n",
            ),
            edit("orders/api.py", QUOTE, CENTS_QUOTE),
            edit("orders/api.py", "{line_total(item):.2f}", "{line_total(item) / 100:.2f}"),
            TEST,
            commit("Keep money as integer cents"),
            Text(
                "Pricing now calculates in integer cents only, as you decided.\n\n"
                "- `orders/pricing.py`: prices come in as `unit_cents`, discounts and tax are "
                "whole percentages, and `percent_of()` is the one place that rounds (half up).\n"
                "- `orders/api.py`: a quote answers with `total_cents` and `largest_line_cents`. "
                "Callers that read `total` have to follow.\n"
                "- A new test pins the rounding of half a cent. All 5 tests pass; committed as "
                '"Keep money as integer cents".\n\n'
                "Next: the invoice export in orders/api.py still formats floats."
            ),
        ],
    ),
]
EMPTY_ORDER: Turns = [
    (
        "Support reports that an order with zero items gets a 500 from /quotes. Please find out "
        "why, fix it and commit.",
        [
            bash("git log --oneline -5", "Show recent commits", "I look at the latest changes."),
            Together((on("Read", "orders/api.py"), on("Read", "orders/pricing.py"))),
            bash(TRY_EMPTY, "Reproduce the report", "`max(lines)` looks suspicious. I try it."),
            edit("orders/api.py", CENTS_QUOTE, BAD_REQUEST + GUARDED_QUOTE, "It is `max()`."),
            edit("orders/api.py", "    except Exception:\n", REFUSE),
            on("Write", "tests/test_api.py", content=API_TESTS),
            bash(TRY_EMPTY, "Repeat the request"),
            TEST,
            commit("Refuse an order without items"),
            Text(
                "An order with zero items now gets a 422 with the reason instead of a 500.\n\n"
                "- Cause: `quote()` in `orders/api.py` asks for the `max()` of the lines, which "
                "raises ValueError for an empty list; `handle()` turned that into a 500.\n"
                "- Fix: `quote()` raises the new `BadRequest`, and `handle()` answers 422 with "
                '"an order needs at least one item". The pricing itself was right and is '
                "unchanged.\n"
                "- `tests/test_api.py` is new and holds the regression test. All 7 tests pass; "
                'committed as "Refuse an order without items".\n\n'
                "Next: a body without `items`, or one that is no JSON, still ends in a 500; both "
                "should raise `BadRequest` too. The invoice export still formats floats."
            ),
        ],
    ),
]
SESSIONS = {
    "session1": ("5d0c1f7e-8a34-4c1b-9e57-2f6b7a90c3d1", DISCOUNTS),
    "session2": ("c27e9b40-61fd-4f0a-8d2c-b15a3e7f4692", EMPTY_ORDER),
}


def play(client: Client, hooks: HookDump, project: Path, session_id: str, turns: Turns) -> None:
    """One interactive session: a person who types, reads the answer and leaves."""
    tools = ("--allowedTools", ",".join(TOOLS))
    with Terminal(client, "--session-id", session_id, *tools, cwd=project) as terminal:
        for number, (prompt, _) in enumerate(turns, start=1):
            terminal.ready()
            terminal.submit(prompt)
            hooks.wait("Stop", number, timeout=120)
        terminal.ready()
        terminal.submit("/exit")
        terminal.exit_status()


def lines(hooks: HookDump, client: Client, project: Path) -> str:
    """One line per firing, with nothing in it of the machine that recorded it."""
    failed = len(hooks.payloads("PostToolUseFailure"))
    assert failed == 1, f"each story has one failing command, not {failed}"
    fired = [{"hook": HOOKS[p["hook_event_name"]], "payload": p} for p in hooks.payloads()]
    text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in fired)
    text = text.replace(str(project), "{{project}}").replace(str(client.home), "{{home}}")
    text = text.replace(re.sub(r"\W|_", "-", str(project)), "-home-dev-orders")
    assert client.root.name not in text, "a path of this machine is left in the recording"
    return text


def main() -> None:
    reexec_in_namespace("tests.support.record_demo", [])
    with tempfile.TemporaryDirectory(prefix="demo") as folder, ScriptedApi() as api:
        root = Path(folder).resolve()
        project = git_repo(root / "orders", REPOSITORY)
        # Two edits of one size within a second would otherwise leave Python with the older bytecode.
        client = Client(root, api.url, env={"PYTHONDONTWRITEBYTECODE": "1"})
        recorded = {}
        for name, (session_id, turns) in SESSIONS.items():
            hooks = HookDump(root / name)
            client.settings(hooks.settings(list(HOOKS)), "user")
            for prompt, steps in turns:
                api.when(prompt, *steps)
            play(client, hooks, project, session_id, turns)
            recorded[name] = lines(hooks, client, project)
    for name, text in recorded.items():
        (DEMO / f"{name}.jsonl").write_text(text)
        sys.stdout.write(f"{name}: {text.count(chr(10))} hooks, {len(text)} characters\n")


if __name__ == "__main__":
    main()
