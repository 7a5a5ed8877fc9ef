# Capture one hook event into the spool. Sourced by the hook line, which has set
#   $1 agent   $2 hook (context, new, file, compact, save, summary, end)   $3 this directory   $4 python, may be empty
#   $5 the directory and $6 the session that the agent names, may be empty
#
# The agent waits for this, so it starts two processes (cat, mv) and no more. It parses nothing,
# needs no worker and no database, and always exits 0: exit 2 would block the user's prompt. The
# worker restores the order of the files by their mtime.
[ -z "${AFORESAID_INSIDE-}" ] || exit 0 # the memory agent does not remember itself
umask 077
# A relative entry of PATH would let the repository bring its own cat and mv.
case :$PATH: in
  *:[!/]* | *::*)
    set -f
    IFS=: found=
    for entry in $PATH; do case $entry in /*) found=$found${found:+:}$entry ;; esac; done
    unset IFS
    set +f
    PATH=${found:-/usr/bin:/bin}
    ;;
esac
{
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
  # A plugin does not know its interpreter: the one that ran last, else the checkout's own.
  python=${4-}
  [ -n "$python" ] || read -r python <"$state/python" || python=$3/../../../.venv/bin/python
} 2>/dev/null
project=${5:-$PWD}

capture() { "$python" -I -S "$3/capture.py" "$1" "$2" "${5-}" "${6-}"; }

# The user wants nothing recorded here. Then only that is noted, for whoever reads transcripts later.
paused=
case ${AFORESAID_PAUSED:-0} in 0) [ ! -e "$project/.aforesaid/off" ] || paused=paused ;; *) paused=paused ;; esac
[ -z "$paused" ] || [ "$2" != file ] || exit 0

# A file is about to be read or changed: is anything known about it? Nothing is kept and nobody is started,
# as the capture that follows does both. The worker leaves a list of the files that are worth a question;
# where it leaves none, everything is.
if [ "$2" = file ]; then
  {
    list=$state/run/files/${6:-.}
    if [ ! -S "$state/run/worker.sock" ] || [ ! -x "$python" ]; then
      :
    elif [ ! -f "$list" ]; then
      capture "$@"
    elif [ -s "$list" ] && named=$(LC_ALL=C grep -F -f "$list"); then
      printf '%s\n' "$named" | capture "$@"
    fi
  } 2>/dev/null
  exit 0
fi

# Session start, prompt and compaction want an answer, and Python can ask the worker for it. Where it
# cannot run, nothing has read our input yet: keep the event at least.
case $2 in
  context | new | compact)
    if [ -x "$python" ]; then
      capture "$@" && exit 0
    elif [ "$2" = context ]; then
      echo '{"systemMessage":"aforesaid is not set up: its Python is missing. Run make setup in its checkout, or install it again and run aforesaid install. Until then events wait in its spool."}'
    fi
    ;;
esac

# A killed worker may stay a zombie for ever where process 1 does not reap, and kill -0 finds it.
alive() {
  read -r pid <"$1" && kill -0 "$pid" || return 1
  read -r pid </proc/"$pid"/stat || return 0
  case $pid in *') Z '*) return 1 ;; esac
}
write() { { printf 'aforesaid/1 %s %s %s\0\n' "$1" "${paused:-$2}" "$project" && body; } >"$file"; }
body() { if [ -z "$paused" ]; then cat; else LC_ALL=C grep -ao '"session_*[iI][dD]" *: *"[^"]*"' | { read -r id; printf '{%s}' "$id"; cat >/dev/null; }; fi; }
publish() { mv "$file" "$state/spool/new/${file##*/}"; }
{
  file=$state/spool/tmp/
  read -r name </proc/sys/kernel/random/uuid && file=$file$name ||
    file=$(mktemp "$file"XXXXXXXXXXXX || { mkdir -p "$file" && mktemp "$file"XXXXXXXXXXXX; })
  # A first failure is a missing spool: nothing was read, so the second try has it all. A file that
  # exists was cut off (a full disk) and must not look whole.
  { write "$@" || { [ ! -e "$file" ] && mkdir -p "$state/spool/tmp" "$state/spool/new" && write "$@"; }; } &&
    { publish || { mkdir -p "$state/spool/new" && publish; }; } ||
    {
      # Why? Only then is there time to ask, and only while the cut-off file still takes the room.
      case $(LC_ALL=C cp "$3/capture.sh" "$file.why" 2>&1) in *' space '* | *quota*) why=full ;; *) why=other ;; esac
      rm -f "$file" "$file.why"
      echo "$2 $(date +%s) $why" >>"$state/capture-failures"
    }

  # Without a worker, start one; whoever creates `starting` does it. read and kill are built in.
  if ! alive "$state/run/worker.pid" && [ -x "$python" ]; then
    [ -d "$state/run" ] || mkdir -p "$state/run"
    if [ ! -e "$state/run/starting" ] && (set -C && : >"$state/run/starting"); then
      "$python" -I -m aforesaid.worker.main </dev/null >/dev/null &
      echo $! >"$state/run/starting"
    elif [ -s "$state/run/starting" ] && ! alive "$state/run/starting"; then
      rm -f "$state/run/starting" # its holder died; the next capture starts the worker
    fi
  fi
} 2>/dev/null
exit 0
