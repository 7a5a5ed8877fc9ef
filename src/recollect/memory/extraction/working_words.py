"""Words for what an agent does at its work, and with what; not for what the programs do that it writes.

`always run the tests` is about the work, `always show the total` about a program. Lists are regular
expressions, with `_` for a blank.
"""

import re


def either(words: str) -> str:
    """One of these."""
    return f"(?:{'|'.join(words.split()).replace('_', ' ')})"


# How an order begins.
VERB = (
    either(
        "use run write add put keep make check ask show tell explain name call prefer avoid create "
        "include import export test format lint commit push rebase squash merge branch open close pin "
        "prefix suffix start begin end read update document comment follow respect log handle validate "
        "escape wrap type annotate declare define install build deploy release ship tag bump sign "
        "verify confirm review propose plan answer reply respond speak talk give provide list cite link "
        "refer quote do be let leave ignore skip stop touch edit change modify delete remove rename "
        "move refactor rewrite regenerate generate mock stub hardcode hard-code force force-push amend "
        "revert reset store save set treat assume consider think work go pass specify indent align sort "
        "group split mention translate convert spell fetch pull sync clean send post upload publish "
        "mark label assign invent guess summarize summarise apologize apologise suggest introduce "
        "depend rely query select lock migrate drop seed round expose leak swallow catch silence "
        "disable enable bypass approve trust restart rebuild remind target support stick have reformat "
        "abbreviate cache mutate nest inline extract throw batch stage cherry-pick proofread"
    )
    + r"(?![\w-])"
)
WORK = re.compile(
    r"\b"
    + either(
        "run commit push ask squash rebase install deploy merge lint mock stub amend force-push "
        "cherry-pick regenerate pin explain answer reply respond edit touch refactor reformat guess "
        "invent review sign stage apologi[sz]e summari[sz]e abbreviate hard-?code confirm verify "
        "propose suggest plan proofread"
    )
    + r"(?![\w-])",
    re.IGNORECASE,
)
WORKPIECE = re.compile(
    r"\b"
    + either(
        "commits? commit_messages? branch(?:es)? prs? pull_requests? merge_requests? tests? specs? docs "
        "documentation readme changelog comments? docstrings? type_hints? annotations? naming names? "
        "imports? exports? dependenc(?:y|ies) packages? librar(?:y|ies) mocks? fixtures? code "
        "functions? class(?:es)? variables? constants? tabs spaces indentation quotes semicolons? "
        "migrations? diffs? plans? emojis? todos? ci builds? releases? secrets? credentials "
        "lock_?files? main master conventions? style linter formatter type_checker me types? files? "
        "modules? english spelling"
    )
    + r"\b|`|\w+\.(?:json|toml|lock|ya?ml|md|py|ts|js|go|rs|sql)\b",
    re.IGNORECASE,
)
# What is done again and again, as a verb and as a noun.
DOES = either(
    "add change touch edit write commit push create update modify finish fix refactor run rename delete "
    "remove make start open merge deploy release bump install implement move generate are_done work_on "
    "introduce upgrade review"
)
DONE = either(
    "commit push pr pull_request merge release deploy(?:ment)? change session task edit migration "
    "refactoring answer feature fix"
)
# What an agent writes beside the code.
TITLES = either(
    "commit_messages? pr_titles? pull_requests? branch(?:es)?(?:_names)? changelog_entries docstrings "
    "code_comments variable_names file_names test_names release_notes"
)
TEXTS = either(
    "answers responses replies explanations summaries commit_messages prs diffs commits functions "
    "pull_requests"
)
HABITS = either(
    "adding putting writing apologi[sz]ing ending starting asking explaining summari[sz]ing rewriting "
    "reformatting renaming committing pushing guessing inventing repeating generating creating wrapping "
    "mocking suggesting proposing"
)
# What a team does as a rule.
PRACTICES = either(
    "use using support deploy target ship squash(?:-merge)? rebase merge release write format lint test "
    "follow keep store track name prefix run host pin commit review require stick prefer avoid vendor "
    "version publish log build branch tag sign indent document generate validate mock"
)
ROLES = either(
    "developer engineer scientist designer student analyst researcher beginner novice architect "
    "consultant freelancer founder teacher maintainer programmer dev dba sre physicist biologist "
    "chemist mathematician economist doctor nurse lawyer journalist professor newbie hobbyist "
    "statistician geologist linguist translator musician artist electrician mechanic accountant "
    "librarian cto ceo"
)
SYSTEMS = either("windows macos mac a_mac os_x linux ubuntu debian fedora arch nixos wsl2? freebsd")
EDITORS = either(
    "vim neovim nvim emacs vs_?code pycharm intellij webstorm sublime zed helix nano cursor fish zsh "
    "bash powershell tmux dvorak colemak"
)
# Where teams keep what is not code, and what they keep there.
PRODUCTS = either(
    "linear jira notion confluence slack figma grafana sentry datadog kibana google_(?:docs|drive) "
    "sharepoint airtable miro trello asana zendesk 1password vault s3 github gitlab the_wiki our_wiki "
    "storybook pagerduty"
)
KEPT = either(
    "docs documentation (?:dash)?boards? specs? wiki runbooks? designs? mock-?ups? wireframes tickets? "
    "issues? bugs? tasks logs metrics alerts repo tracker backlog roadmap channel "
    "staging(?:_server|_environment|_site)? playground storybook status_page changelog guides? "
    "guidelines sheets? spreadsheets? reference admin_panel pipelines? artifacts meeting_notes minutes "
    "secrets credentials requirements stories questions requests incidents errors feedback style_?guide"
)
FILED = either(
    "docs documentation specs? runbooks? adrs? fixtures migrations designs? schema deploy_scripts? changelog "
    "style_?guide guidelines glossary design_docs? openapi_file test_data seeds?"
)
# What a person has.
OWN = either(
    "name handle github(?:_handle|_user_?name|_account)? time_?zone editor ide shell os "
    "operating_system keyboard_layout (?:native|first)_language mother_tongue pronouns"
)
# What a team works on, and what that needs.
WHOLES = either("project repo repository code_?base package library monorepo team company")
PARTS = either("app service backend frontend api stack product ci pipeline")
NEEDS = either(
    "uses? targets? is_written_in runs?_on requires? supports? is_deployed deploys?_to follows? "
    "builds?_with doesn't_use does_not_use no_longer_uses"
)
