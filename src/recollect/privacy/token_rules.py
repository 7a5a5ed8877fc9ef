"""Tokens that say by themselves what they are: a prefix, an alphabet, a length."""

import re

from recollect.privacy.rule import END, Rule, token
from recollect.privacy.samples import digits, hexed, mixed, upper

CLOUDS: tuple[Rule, ...] = (
    token(
        "aws",
        r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}" + END,
        "AKIA ASIA ABIA ACCA",
        f"AKIA{upper(16)}",
        "AKIA in a sentence",
        f"AKIA{upper(30)}",
    ),
    token("google-api", r"AIza[\w-]{35}" + END, "AIza", f"AIza{mixed(35)}", "AIza is its prefix"),
    token(
        "google-oauth",
        r"(?:ya29\.[\w-]{20,500}|GOCSPX-[\w-]{20,60}|1//0[\w-]{30,200})",
        "ya29. GOCSPX- 1//0",
        f"ya29.{mixed(60)}",
        "ya29.short",
        "1//0",
    ),
    token(
        "digitalocean",
        r"do[opr]_v1_[0-9a-f]{64}" + END,
        "dop_v1_ doo_v1_ dor_v1_",
        f"dop_v1_{hexed(64)}",
        "dop_v1_token",
        f"dop_v1_{hexed(20)}",
    ),
    token("databricks", r"dapi[0-9a-f]{32}(?:-\d)?" + END, "dapi", f"dapi{hexed(32)}", "dapi_call"),
    token(
        "heroku", r"HRKU-[\w-]{30,120}", "HRKU-", f"HRKU-{mixed(36)}", "HRKU-123", "the HRKU- form"
    ),
    token("flyio", r"(?:fo1_|fm2_)[\w+/=-]{40,2000}", "fo1_ fm2_", f"fo1_{mixed(43)}", "fo1_x"),
    token("netlify", r"nfp_[A-Za-z0-9]{36,80}", "nfp_", f"nfp_{mixed(40)}", "nfp_files"),
    token("alibaba", r"LTAI[A-Za-z0-9]{16,24}" + END, "LTAI", f"LTAI{mixed(20)}", "LTAI2"),
    token("pulumi", r"pul-[0-9a-f]{40}" + END, "pul-", f"pul-{hexed(40)}", "pul-aaa"),
    token(
        "terraform",
        r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80}",
        ".atlasv1.",
        f"{mixed(14)}.atlasv1.{mixed(67)}",
        "x.atlasv1.y",
        back=14,
    ),
    token("vault", r"hv[sbr]\.[\w-]{24,400}", "hvs. hvb. hvr.", f"hvs.{mixed(90)}", "hvs.policy"),
    token(
        "tailscale",
        r"tskey-[a-z]{3,12}-[\w-]{16,100}",
        "tskey-",
        f"tskey-auth-{mixed(17)}-{mixed(32)}",
        "tskey-auth-x",
    ),
    token(
        "supabase", r"sb(?:p|_secret)_[\w-]{30,60}", "sbp_ sb_secret_", f"sbp_{hexed(40)}", "sbp_1"
    ),
    token(
        "planetscale",
        r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}",
        "pscale_",
        f"pscale_tkn_{mixed(43)}",
        "pscale_tkn_x",
    ),
    token(
        "doppler",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,100}",
        "dp.",
        f"dp.pt.{mixed(43)}",
        "dp.pt",
    ),
)
CODE_HOSTS: tuple[Rule, ...] = (
    token(
        "github",
        r"gh[pousr]_[A-Za-z0-9]{36,255}",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        f"ghp_{mixed(36)}",
        "ghp_token",
        "ghost_writer",
    ),
    token(
        "github-fine",
        r"github_pat_\w{40,255}",
        "github_pat_",
        f"github_pat_{mixed(22)}_{mixed(59)}",
        "github_pat_of_mine",
    ),
    token(
        "gitlab",
        r"gl(?:pat|ptt|dt|rt|cbt|ft|soat|imt|agent|oas|ffct|wt)-[\w-]{20,300}(?:\.[\w.-]{2,40})?",
        "glpat- glptt- gldt- glrt- glcbt- glft- glsoat- glimt- glagent- gloas- glffct- glwt-",
        f"glpat-{mixed(20)}",
        "glpat-short",
    ),
    token("bitbucket", r"ATBB[A-Za-z0-9]{24,60}", "ATBB", f"ATBB{mixed(32)}", "ATBB"),
    token(
        "atlassian", r"ATATT3[\w=-]{50,300}", "ATATT3", f"ATATT3{mixed(186)}", "ATATT3 is a prefix"
    ),
    token("npm", r"npm_[A-Za-z0-9]{36}" + END, "npm_", f"npm_{mixed(36)}", "npm_config_registry"),
    token("pypi", r"pypi-AgE[\w-]{50,1000}", "pypi-AgE", f"pypi-AgE{mixed(150)}", "pypi-server"),
    token(
        "rubygems",
        r"rubygems_[0-9a-f]{48}" + END,
        "rubygems_",
        f"rubygems_{hexed(48)}",
        "rubygems_api",
    ),
    token("crates", r"cio[A-Za-z0-9]{32}" + END, "cio", f"cio{mixed(32)}", "ciobanu"),
    token("docker", r"dckr_[a-z]{3}_[\w-]{20,60}", "dckr_", f"dckr_pat_{mixed(27)}", "dckr_pat_"),
    token("sourcegraph", r"sgp_[\w]{40,100}", "sgp_", f"sgp_{hexed(40)}", "sgp_name"),
    token(
        "buildkite",
        r"bk(?:ua|at|ct)_[0-9a-f]{40}" + END,
        "bkua_ bkat_ bkct_",
        f"bkua_{hexed(40)}",
        "bkua_",
    ),
    token(
        "circleci",
        r"CCI(?:PAT|PRJ)_[\w]{30,100}",
        "CCIPAT_ CCIPRJ_",
        f"CCIPAT_{mixed(62)}",
        "CCIPAT_",
    ),
    token("artifactory", r"AKCp[A-Za-z0-9]{60,80}", "AKCp", f"AKCp{mixed(69)}", "AKCp8"),
)
MODELS: tuple[Rule, ...] = (
    token("anthropic", r"sk-ant-[\w-]{20,200}", "sk-ant-", f"sk-ant-api03-{mixed(93)}", "sk-ant-x"),
    token(
        "openai",
        r"sk-(?:proj-|svcacct-|admin-|or-v1-|None-)?(?=[\w-]{0,60}\d)[A-Za-z0-9][\w-]{19,250}",
        "sk-",
        f"sk-proj-{mixed(48)}",
        "sk-learn",
        "task-management-of-everything-at-once",
        "sk-spinner-and-sk-fading-circle-dot",
    ),
    token(
        "huggingface",
        r"(?:hf|api_org)_[A-Za-z]{0,40}[A-Za-z0-9]{30,40}" + END,
        "hf_ api_org_",
        f"hf_{mixed(34)}",
        "hf_hub_download",
    ),
    token("groq", r"gsk_[A-Za-z0-9]{40,80}", "gsk_", f"gsk_{mixed(52)}", "gsk_renderer_new"),
    token("xai", r"xai-[A-Za-z0-9]{60,100}", "xai-", f"xai-{mixed(80)}", "xai-grok"),
    token("perplexity", r"pplx-[A-Za-z0-9]{40,60}", "pplx-", f"pplx-{mixed(48)}", "pplx-7b-online"),
    token("replicate", r"r8_[A-Za-z0-9]{37}" + END, "r8_", f"r8_{mixed(37)}", "r8_g8_b8"),
)
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
# Their characters are more than letters, digits, `_` and `-`.
BROKEN: tuple[Rule, ...] = (
    token(
        "azure-client",
        r"[\w~.-]{3}[78]Q~[\w~.-]{31,34}",
        "8Q~ 7Q~",
        f"{mixed(3)}8Q~{mixed(34)}",
        "8Q~ alone",
        back=3,
    ),
    token(
        "password-hash",
        r"\$(?:2[aby]|5|6|y|gy|7|argon2(?:id|i|d)|apr1|1)\$[\w./,=$+-]{20,300}",
        "$2 $5$ $6$ $y$ $gy$ $7$ $argon2 $apr1$ $1$",
        f"$2b$12${mixed(53)}",
        "costs $5$ or $6$",
    ),
)
# Each has a run of at least RUN such characters; only around those is looked for them.
RUN = 20
TOKENS = (*CLOUDS, *CODE_HOSTS, *MODELS, *SERVICES, *WITHOUT_PREFIX)
