# The MCP server, for a plugin, which does not know its interpreter: the one that ran last, else the checkout's
# own (the same rule as in hook/capture.sh). Standard output is the protocol's alone.
case ${AFORESAID_HOME-} in
  /*) state=$AFORESAID_HOME ;;
  *)
    case ${XDG_STATE_HOME-} in
      /*) state=$XDG_STATE_HOME/aforesaid ;;
      *)
        [ -n "${HOME-}" ] || eval "HOME=~$(id -un)"
        state=$HOME/.local/state/aforesaid
        ;;
    esac
    ;;
esac
{ read -r python <"$state/python"; } 2>/dev/null || python=
[ -x "$python" ] || python=${0%/*}/../../../.venv/bin/python
if [ ! -x "$python" ]; then
  echo "aforesaid is not set up: its Python is missing. Run make setup in its checkout, or install it again and run aforesaid install." >&2
  exit 1
fi
exec "$python" -I -m aforesaid.mcp.server --plugin
