"""Tokens of services that people and programs talk to: messages, payments, mail, monitoring."""

import re

from recollect.privacy.rule import END, Rule, token
from recollect.privacy.samples import digits, hexed, mixed, upper

# These begin like anything: what stands in their middle is looked for.
WITHOUT_PREFIX: tuple[Rule, ...] = (
    Rule(
        "discord",
        re.compile(r"\.(?<=[\w-]{24}\.)[\w-]{6}\.(?=[\w-]{0,40}\d)[\w-]{27,40}" + END, re.ASCII),
        (),
        f"M{mixed(23)}.{mixed(6)}.{mixed(38)}",
        ("NotImplementedErrorHandlers.before.anything_else_at_all_that_is", "Module.method.name"),
        grow=28,
    ),
    Rule(
        "mailgun-new",
        re.compile(r"-(?<=[0-9a-f]{32}-)[0-9a-f]{8}-[0-9a-f]{8}" + END, re.ASCII),
        (),
        f"{hexed(32)}-{hexed(8)}-{hexed(8)}",
        ("0b0d3f5e-8a5c-4b0e-9d0b-2f1d4f6f7a10",),
        grow=32,
    ),
)
SERVICES: tuple[Rule, ...] = (
    token(
        "slack",
        r"(?:xox[a-z]-[\w-]{10,250}|xapp-\d-[\w-]{20,250})",
        "xox xapp-",
        f"xoxb-{digits(12)}-{digits(12)}-{mixed(24)}",
        "xoxo, with love",
        "xoxb-token",
    ),
    token(
        "slack-webhook",
        r"https://hooks\.slack\.com/[a-z]{3,12}/(?P<secret>[\w/]{20,120})",
        "https://hooks.slack.com/",
        f"https://hooks.slack.com/services/T{upper(8)}/B{upper(8)}/{mixed(24)}",
        "https://hooks.slack.com/services/T0/B0",
    ),
    token(
        "discord-webhook",
        r"https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/(?P<secret>\d{16,22}/[\w-]{50,90})",
        "https://discord https://ptb.discord https://canary.discord",
        f"https://discord.com/api/webhooks/{digits(18)}/{mixed(68)}",
        "https://discord.com/api/webhooks/1/x",
    ),
    token(
        "telegram",
        r"(?:bot)?\d{8,10}:A[\w-]{34}" + END,
        ":A",
        f"{digits(9)}:AA{mixed(33)}",
        "12345678:Again",
        back=13,
    ),
    token(
        "stripe",
        r"(?:[rps]k_(?:live|test|prod)_[A-Za-z0-9]{16,250}|whsec_[A-Za-z0-9+/=]{32,100})",
        " ".join(f"{kind}k_{mode}_" for kind in "rps" for mode in ("live", "test", "prod"))
        + " whsec_",
        f"sk_live_{mixed(24)}",
        "pk_test_mode",
        "run_test_cases",
    ),
    token(
        "square",
        r"(?:sq0[a-z]{3}-[\w-]{22,60}|EAAA[\w-]{60}" + END + ")",
        "sq0 EAAA",
        f"sq0atp-{mixed(22)}",
        "sq0",
    ),
    token("shopify", r"shp[a-z]{2}_[0-9a-fA-F]{32}" + END, "shp", f"shpat_{hexed(32)}", "shpat_x"),
    token("twilio", r"SK[0-9a-f]{32}" + END, "SK", f"SK{hexed(32)}", "SKU-1", f"SK{hexed(40)}"),
    token(
        "sendgrid",
        r"SG\.[\w-]{16,32}\.[\w-]{32,64}",
        "SG.",
        f"SG.{mixed(22)}.{mixed(43)}",
        "SG.UTF-8",
    ),
    token(
        "mailgun",
        r"key-[0-9a-f]{32}" + END,
        "key-",
        f"key-{hexed(32)}",
        "key-value",
        "0b0d3f5e-8a5c-4b0e-9d0b-2f1d4f6f7a10",
    ),
    token(
        "mailchimp", r"[0-9a-f]{32}-us\d{1,2}" + END, "-us", f"{hexed(32)}-us14", "en-us", back=32
    ),
    token(
        "sendinblue",
        r"xkeysib-[0-9a-f]{64}-[\w]{16}",
        "xkeysib-",
        f"xkeysib-{hexed(64)}-{mixed(16)}",
        "xkeysib-",
    ),
    token(
        "linear",
        r"lin_(?:api|oauth)_[A-Za-z0-9]{32,80}",
        "lin_",
        f"lin_api_{mixed(40)}",
        "lin_api_x",
    ),
    token(
        "notion",
        r"(?:secret_|ntn_)(?=[A-Za-z0-9]{0,40}\d)[A-Za-z0-9]{40,60}" + END,
        "secret_ ntn_",
        f"ntn_{mixed(46)}",
        "secret_name",
    ),
    token(
        "postman",
        r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
        "PMAK-",
        f"PMAK-{hexed(24)}-{hexed(34)}",
        "PMAK-",
    ),
    token("newrelic", r"NRAK-[A-Z0-9]{27}" + END, "NRAK-", f"NRAK-{upper(27)}", "NRAK-1"),
    token(
        "grafana",
        r"(?:glc|glsa)_[\w+/=]{32,400}",
        "glc_ glsa_",
        f"glsa_{mixed(32)}_{hexed(8)}",
        "glsa_x",
    ),
    token(
        "sentry", r"sntry[su]_[\w+/=]{50,400}", "sntrys_ sntryu_", f"sntryu_{hexed(64)}", "sntrys_"
    ),
    token("figma", r"figd_[\w-]{36,60}", "figd_", f"figd_{mixed(40)}", "figd_x"),
    token(
        "airtable",
        r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}" + END,
        "pat",
        f"pat{mixed(14)}.{hexed(64)}",
        "path.name",
    ),
    token("dropbox", r"sl\.(?:u\.)?[\w-]{100,1500}", "sl.", f"sl.{mixed(130)}", "sl.py"),
    token(
        "age",
        r"AGE-SECRET-KEY-1[0-9A-Z]{58}" + END,
        "AGE-SECRET-KEY-1",
        f"AGE-SECRET-KEY-1{upper(58)}",
        "AGE-SECRET-KEY-1 is how it begins",
    ),
    token("1password", r"ops_eyJ[\w-]{100,2000}", "ops_eyJ", f"ops_eyJ{mixed(250)}", "ops_eyJ"),
    token(
        "jwt",
        r"(?<!\.)eyJ[\w-]{10,4000}\.[\w-]{10,8000}(?:\.[\w-]{0,2000}){0,3}",
        "eyJ",
        f"eyJ{mixed(33)}.eyJ{mixed(60)}.{mixed(43)}",
        "eyJ",
        f"eyJ{mixed(40)} without its other parts",
    ),
)
