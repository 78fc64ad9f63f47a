# Sourced by scripts that run others as steps: each step is timed, the others run even
# if one fails, and `end_steps` lists the failures. A step that was not run to its end
# has failed. WAYBILL_SECONDS=N: a step that has not ended after N seconds is stopped,
# and has failed.

steps="$PWD/build/steps"
mkdir -p "$steps"
rm -f "$steps/times.txt"
failed=()
TIMEFORMAT='%0R s, %0U s + %0S s of processors'

# step <script> <argument>...
step() {
  local name="${*#.ci/}" status=0 limit=(env) measured
  measured="$steps/${name// /_}.time"
  if [ -n "${WAYBILL_SECONDS:-}" ]; then
    # At least one second: 0 would be no limit. SIGABRT lets pytest print where each
    # thread stands.
    limit=(timeout -s ABRT -k 10
      $((SECONDS < WAYBILL_SECONDS ? WAYBILL_SECONDS - SECONDS : 1)))
  fi
  { time "${limit[@]}" "$@" 2>&3; } 3>&2 2>"$measured" || status=$?
  [ "$status" != 124 ] || name="$name (no time left)"
  [ "$status" = 0 ] || failed+=("$name")
  echo "$name: $(cat "$measured")" | tee -a "$steps/times.txt"
}

# start <step>...: runs steps one after another, in the background.
start() {
  {
    failed=()
    for script in "$@"; do
      step $script
    done >"$steps/started.log" 2>&1
    [ ${#failed[@]} = 0 ] || printf '%s\n' "${failed[@]}"
  } >"$steps/started.failed" &
}

# Waits for the steps that `start` runs, and prints their output.
finish() {
  wait
  cat "$steps/started.log"
  mapfile -t -O ${#failed[@]} failed <"$steps/started.failed"
}

# Prints the times, what was skipped, and what failed; ends the script.
end_steps() {
  say "times"
  cat "$steps/times.txt"
  show_skipped
  if [ ${#failed[@]} != 0 ]; then
    printf 'FAILED: %s\n' "${failed[@]}" >&2
    exit 1
  fi
  say "all passed"
}
