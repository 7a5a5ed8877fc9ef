"""Tokens that say by themselves what they are: a prefix, an alphabet, a length."""

from recollect.privacy.rule import END, Rule, token
from recollect.privacy.samples import hexed, mixed, upper
from recollect.privacy.service_rules import SERVICES, WITHOUT_PREFIX

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
TOKENS = (*CLOUDS, *CODE_HOSTS, *MODELS, *SERVICES, *WITHOUT_PREFIX)
