"""Words of the trade: which of them say nearly the same, and which are in every other prompt.

A memory says `package` where a prompt says `library`. Word vectors that were made from all of English do not
know that, and there may be none at all.
"""

from functools import cache

from recollect.english import stem
from recollect.text import words

# A line is a family. A word may be in several.
FAMILIES = """
package library dependency crate gem plugin third_party
database db postgres postgresql mysql mariadb sqlite sql query queries
migration schema column ddl
test tests spec specs suite unittest pytest jest testcase coverage
mock mocks stub stubs fake fakes double
main master trunk
deploy deployment release ship rollout publish production prod live
staging preprod acceptance
pr prs pull_request merge_request mr review
commit commits squash rebase
error errors exception exceptions failure failed crash traceback stacktrace panic
log logs logging trace traces print stdout
cache caching memoize redis memcached
queue queues broker kafka rabbitmq topic consumer
login signin sign_in signed auth authentication password session token oauth sso logout
money price amount currency cents invoice fee surcharge refund billing payment discount tax total
timezone utc dst clock timestamp timestamps datetime
latency p95 p99 slow performance throughput response
dashboard dashboards metrics monitoring grafana chart graph
outage incident downtime down 500 502 503 oncall
ticket tickets issue issues jira linear bug bugs tracker
credentials secret secrets password key keys login account accounts vault
sandbox test_system test_environment
button css color colour colours colors theme design layout figma spacing font
frontend front_end react vue svelte angular component components useeffect usestate jsx tsx html
backend server api handler
endpoint route routes api rest request openapi swagger
shell bash zsh fish terminal command sed awk grep xargs oneliner one_liner
editor vim neovim emacs ide vscode
docs documentation readme document docstring
flag flags toggle rollout pilot beta
container docker image compose kubernetes k8s pod cluster
terraform infrastructure firewall subnet cloud aws gcp azure
webhook webhooks callback event events notification notifications
retry retries idempotency idempotent duplicate duplicates twice
mail email smtp mailer
sms message reminder reminders
privacy gdpr personal dpo retention
benchmark load_test k6 performance
prefer prefers preference preferences preferred like likes
ios iphone ipad swift android mobile app
indentation indent tabs spaces formatting style
bucket s3 blob storage object
"""
# What is done to anything, and what is anywhere. It says little of the subject.
EVERYDAY = """
add adds make makes write writes wrote show shows give gives find finds found fix mend change
changes changed update check look looks need needs want wants use uses used using run runs start
starts stop set put try go goes keep take takes see say says work works happen call calls read open
create remove delete rename move turn let help build file files line lines code function thing way
name names number part case point place time times day days week today yesterday tomorrow morning
last next first second new old one two three five small big good bad right wrong long short missing
everything nothing everybody somebody nobody never always ever back only instead really maybe bit
lot ok yes no thanks please py js ts tsx rs md json yaml yml txt java kt html sh value values list
default version type types local current whole main different same question answer explain tell mean
means whether almost left able possible best better done ready enough already user users people
customer customers project anything anymore
"""


@cache
def kin() -> dict[str, frozenset[str]]:
    """By stem: the others that say nearly the same."""
    found: dict[str, set[str]] = {}
    for line in FAMILIES.strip().splitlines():
        family = {stem(word) for word in line.split()}
        for word in family:
            found.setdefault(word, set()).update(family - {word})
    return {word: frozenset(others) for word, others in found.items()}


@cache
def everyday() -> frozenset[str]:
    return frozenset(stem(word) for word in words(EVERYDAY))
