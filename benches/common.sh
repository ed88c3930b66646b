# What the scripts in this folder share: options, and times of commands. To be sourced, from the folder
# above.

# Prints the comment at the head of the script, and ends it.
usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# Sets variables to the values of options: `read_options n:runs t:file -- "$@"`. The options end at
# $OPTIND afterwards.
read_options() {
    local -A variable=()
    local letters= option
    while [[ $1 != -- ]]; do
        variable[${1%%:*}]=${1#*:}
        letters+=${1%%:*}:
        shift
    done
    shift
    OPTIND=1
    while getopts "$letters" option; do
        [[ ${variable[$option]:-} ]] || usage
        printf -v "${variable[$option]}" %s "$OPTARG"
    done
}

# CPU time of a command (user and system), in milliseconds.
cpu_ms() {
    local TIMEFORMAT='%3U %3S' user system
    read -r user system < <({ time "$@" >/dev/null 2>&1; } 2>&1)
    echo $((10#${user/./} + 10#${system/./}))
}

least() { printf '%s\n' "$@" | sort -n | head -n 1; }
