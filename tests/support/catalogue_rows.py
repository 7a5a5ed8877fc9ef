"""The faults that aforesaid is tested against, numbered for good: a row is never renumbered or reused."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    part: str
    fault: str
    holds: str
    why_not: str = ""  # why a part of it cannot be tested everywhere


CAPTURE = "Capture"
QUEUE = "Queue and worker"
DOORS = "HTTP, MCP and files"
TEXT = "Secrets and hostile text"

_CAPTURE = (
    (
        1,
        "a hook is killed at any byte",
        "what it acknowledged is there, byte for byte; else whole or absent; the rest is swept",
    ),
    (
        2,
        "the sender dies in the middle of a payload",
        "the half is put aside with a reason, never parsed in part, and the transcript heals the event",
    ),
    (3, "32 hooks at once", "every event has a file of its own"),
    (
        4,
        "the disk is full while a hook writes",
        "nothing is published, the hook stays silent, the loss is counted and healed from the transcript; "
        "what is left is reported at the next session start",
    ),
    (
        5,
        "the spool is missing, read-only, elsewhere, or a planted link",
        "it is made again for its owner alone, or the hook fails quietly",
    ),
    (
        6,
        "file size and descriptor limits; input that is closed, empty or never ends",
        "no hang, nothing half-written; an empty file is dropped and counted",
    ),
    (
        7,
        "payloads from nothing to gigabytes",
        "whole up to 2 MB; beyond that shortened and marked, in bounded time, after all small captures; "
        "never silently dropped",
    ),
    (
        8,
        "broken UTF-8, NUL, surrogates, escapes, right-to-left text",
        "the bytes are kept, the text can be searched, the viewer shows it as text",
    ),
    (
        9,
        "JSON that is deep, wide or absurd",
        "stored or put aside; the worker lives within its memory",
    ),
    (10, "the clock jumps", "order and leases hold, nothing starves"),
    (
        11,
        "no worker for days, 1,000,000 files wait",
        "hooks do not notice; all is taken in order afterwards, in bounded memory",
    ),
    (
        12,
        "hooks of two versions at once, an upgrade in a session",
        "both formats are read, the newer worker takes over, nothing is lost",
    ),
    (
        13,
        "a strange environment: no HOME, odd names, empty PATH, umask 000",
        "the right place or a quiet end, and private files",
    ),
)
_QUEUE = (
    (
        14,
        "hooks and workers killed in hundreds of rounds",
        "nothing acknowledged is lost, doubled or damaged",
    ),
    (15, "a kill between commit and unlink", "the file is read again and nothing is doubled"),
    (
        16,
        "a kill between taking a job and storing its result",
        "the next worker takes it up; its effect is there once",
    ),
    (
        17,
        "a worker that is stopped beyond its lease and goes on",
        "its late result is refused; the effect is there once",
    ),
    (
        18,
        "a job that always fails",
        "three tries with pauses, then it is parked and listed; others go on",
    ),
    (
        19,
        "a model that is away for an hour",
        "the queue waits, no try is used up, all is done afterwards",
    ),
    (20, "a job that kills the worker", "parked after three; no crash loop"),
    (21, "one event reported by hook, transcript and import", "one row"),
    (
        22,
        "two workers at once, a stale number, a number that a stranger has",
        "one works; nobody else is killed",
    ),
    (
        23,
        "the database is locked by another process",
        "hooks do not notice; the worker waits and goes on",
    ),
    (24, "the worker's thread is dead while its port is open", "its health says so"),
    (
        25,
        "the database is damaged",
        "found, moved aside, restored from a backup, spool and transcripts; the user is informed",
    ),
    (26, "the disk is full while the worker stores", "rolled back; the spool keeps the file"),
    (27, "power loss", "a file is unlinked only after its commit has reached the disk"),
    (28, "file systems without safe shared memory", "no WAL there, and a warning"),
    (29, "an old SQLite", "a warning; one process writes"),
    (
        30,
        "1,000 events wait while the session ends and the worker is restarted or upgraded",
        "all are processed",
    ),
    (31, "a backup while writing goes on", "it is sound and complete, and can be restored"),
    (32, "a migration is killed at any point", "the old schema or the new one"),
)
_DOORS = (
    (
        40,
        "a foreign Host, two of them, none, a whole address",
        "refused on every route, before any handler",
    ),
    (41, "a foreign Origin", "refused; no CORS header, ever"),
    (
        42,
        "bodies that are no JSON, other verbs, GET with effects",
        "refused; no GET changes anything",
    ),
    (
        43,
        "no token, a wrong one, one in the address",
        "refused; the viewer's link is good once and leaves a cookie that scripts cannot read",
    ),
    (44, "listening on other addresses", "there is no way to ask for it"),
    (45, "another user of the machine", "can read and enter nothing"),
    (
        46,
        "scripts and markup in every stored field",
        "text in the viewer, and a policy that would not run them",
    ),
    (
        47,
        "the live stream: strangers, many, slow ones",
        "guarded like the rest, limited, dropped when they do not read",
    ),
    (48, "paths that lead elsewhere", "not found, and no link is followed"),
    (
        49,
        "slow requests, huge bodies and headers, thousands of connections",
        "limits; captures do not notice",
    ),
    (50, "search terms that are syntax", "found or not found, never an error"),
    (51, "MCP calls that are huge, broken or unknown", "an error result; the server lives"),
    (
        52,
        "the port is taken by a mute or hostile server",
        "another port; nothing is ever sent to it; hooks do not notice",
    ),
)
_TEXT = (
    (
        60,
        "100 secrets of 25 kinds through every way in",
        "at least 95 of them replaced; none of those on any byte of the disk",
    ),
    (61, "texts that make patterns slow", "every rule stays linear"),
    (
        62,
        "private spans, nested, unclosed, split, escaped",
        "never stored; an unclosed one hides the rest",
    ),
    (63, "a sentence that is to be forgotten", "no trace in any file of the home"),
    (
        64,
        "instructions in files, pages, results, commits, names",
        "they stay in the envelope; from the web nothing is injected automatically",
    ),
    (65, "text that imitates the envelope or the client's tags", "made harmless"),
    (
        66,
        "poison in small doses, and one row in 10,000",
        "not injected automatically without a second witness, and logged",
    ),
    (67, "another project's memory", "never injected automatically"),
    (68, "no network", "everything works, and nobody tries to reach one"),
    (
        69,
        "a hostile repository: configuration, hooks, filters, remotes, links, FIFOs, forged objects",
        "nothing of it runs or connects, nothing waits for it, and it is taken for no other repository",
    ),
    (70, "a process with content in memory crashes", "no core dump, whatever the system's pattern"),
)

ROWS = tuple(
    Row(number, part, fault, holds)
    for part, rows in ((CAPTURE, _CAPTURE), (QUEUE, _QUEUE), (DOORS, _DOORS), (TEXT, _TEXT))
    for number, fault, holds in rows
)
