#!/usr/bin/env bash
# A stand-in for PBS Professional and LSF in tests, under the names of their commands (links to this file):
# qsub, qstat, bsub, bjobs. It knows what the scripts of jobs/ use, as the vendors' manuals have it: what is
# read from a script, how a command line wins over that, the variables of a job, the file of nodes, what
# status commands print, a time limit that kills, and requeueing by exit code. Two pretended nodes, node1
# and node2. A job is a folder in $STANDIN: script, log, attributes, code when it has ended.
set -uo pipefail
me=$(basename "$0")

# The values of options "-X value" in the words behind, for letters $1 with a value and $2 without; what
# comes later does not win over what is there. The rest of the words: `rest`.
declare -A option
options() {
    local with=$1 without=$2 letter
    shift 2
    rest=()
    while [ $# -gt 0 ]; do
        letter=${1#-}
        if [[ "$1" == -? && "$with" == *"$letter"* ]] || [[ "$1" == -w[at] ]]; then
            if [ "$letter" = l ]; then # resources, one after the other
                [ -n "${option[l.${2%%=*}]:-}" ] || option[l.${2%%=*}]=${2#*=}
            else
                [ -n "${option[$letter]+set}" ] || option[$letter]=$2
            fi
            shift 2
        elif [[ "$1" == -? && "$without" == *"$letter"* ]]; then
            shift
        elif [[ "$1" == -* ]]; then
            echo "$me: unknown option $1" >&2
            exit 2
        else
            rest=("$@")
            return
        fi
    done
}

directives() { # PREFIX, of the script on standard input: words of its lines, one a line
    sed -n "s/^#$1 *//p" | xargs -n 1 printf '%s\n'
}

new_job() {
    local number
    for ((number = 1; ; number++)); do mkdir "$STANDIN/$number" 2>/dev/null && break; done
    echo "$number"
}

seconds_of() { awk -F: '{ s = 0; for (i = 1; i <= NF; i++) s = 60 * s + $i; print s }' <<<"$1"; }

# Runs the job in the background, in a process group of its own: start FOLDER LOG LIMIT ENVIRONMENT...
start() {
    local folder=$1 log=$2 limit=$3
    shift 3
    (
        date +%s >"$folder/begun"
        setsid env -i "$@" bash "$folder/script" >>"$log" 2>&1 &
        echo $! >"$folder/group"
        (
            sleep "$limit" || exit # the job has ended before
            kill -TERM -- -$(cat "$folder/group")
            sleep 3
            kill -KILL -- -$(cat "$folder/group")
        ) >/dev/null 2>&1 &
        killer=$!
        wait $(cat "$folder/group")
        code=$?
        pkill -P $killer 2>/dev/null
        kill $killer 2>/dev/null
        requeue=$(cat "$folder/requeue" 2>/dev/null)
        if [ -n "$requeue" ] && [ "$code" = "$requeue" ]; then
            echo "$code" >>"$folder/requeued"
            start "$folder" "$log" "$limit" "$@"
        else
            echo "$code" >"$folder/code"
        fi
    ) >/dev/null 2>&1 </dev/null &
}

# --- PBS Professional ---------------------------------------------------------------------------------

# chunks, ncpus, mpiprocs and ompthreads of "2:ncpus=1:mpiprocs=1:ompthreads=1"
of_select() { sed -n "s/.*:$1=\([0-9]*\).*/\1/p" <<<"$select"; }

# The words of -v: NAME, or NAME=VALUE where a value with commas stands in quotes.
variables() {
    local text=$1 name value
    while [ -n "$text" ]; do
        if [[ "$text" =~ ^([A-Za-z_]+)=\'([^\']*)\',?(.*)$ || "$text" =~ ^([A-Za-z_]+)=([^,]*),?(.*)$ ]]; then
            name=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]} text=${BASH_REMATCH[3]}
        else
            name=${text%%,*} value=${!name:-}
            [[ "$text" == *,* ]] && text=${text#*,} || text=
        fi
        printf '%s\0' "$name=$value"
    done
}

qsub() {
    local arguments="$*" number folder index first='' last='' words nodes=() node i j select
    options NlJvqPAoj '' "$@"
    [ ${#rest[@]} -eq 1 ] || { echo "usage: qsub [options] script" >&2; exit 2; }
    local script=${rest[0]}
    mapfile -t words < <(directives PBS <"$script")
    options NlJvqPAoj '' "${words[@]}"
    number=$(new_job)
    mapfile -d '' -t words < <(variables "${option[v]:-}")
    select=${option[l.select]}
    for ((i = 1; i <= ${select%%:*}; i++)); do
        for ((j = 0; j < $(of_select mpiprocs); j++)); do nodes+=("node$i"); done
    done
    [ -z "${option[J]:-}" ] || { first=${option[J]%-*} last=${option[J]#*-}; }
    for index in $([ -n "$first" ] && seq "$first" "$last" || echo -); do
        folder=$STANDIN/$number
        [ "$index" = - ] || folder+="[$index]"
        mkdir -p "$folder"
        cp "$script" "$folder/script"
        printf '%s\n' "${nodes[@]}" >"$folder/nodes"
        {
            echo "    Job_Name = ${option[N]}"
            echo "    queue = workq"
            echo "    project = _pbs_project_default"
            echo "    Resource_List.select = $select"
            echo "    Resource_List.place = ${option[l.place]}"
            echo "    Resource_List.walltime = ${option[l.walltime]}"
            echo "    Submit_arguments = $arguments"
            [ "$index" = - ] || echo "    array_indices_submitted = ${option[J]}"
        } >"$folder/attributes"
        [ "$index" = - ] || { mkdir -p "$STANDIN/$number[]" && cp "$folder/attributes" "$STANDIN/$number[]/"; }
        local environment=(HOME="$HOME" USER="$(id -un)" PATH=/usr/bin:/bin STANDIN="$STANDIN"
            PBS_JOBID="$(basename "$folder").standin" PBS_JOBNAME="${option[N]}" PBS_O_WORKDIR="$PWD"
            PBS_QUEUE=workq PBS_ENVIRONMENT=PBS_BATCH PBS_NODEFILE="$folder/nodes"
            NCPUS="$(of_select ncpus)" OMP_NUM_THREADS="$(of_select ompthreads)")
        [ "$index" = - ] || environment+=(PBS_ARRAY_INDEX="$index")
        local log=${option[N]}.o$number
        [ "$index" = - ] || log+=.$index
        start "$folder" "$PWD/$log" "$(seconds_of "${option[l.walltime]}")" "${environment[@]}" "${words[@]}"
    done
    echo "$number.standin"
}

qstat() { # -f -w JOB
    local id=${!#}
    cat "$STANDIN/${id%.standin}/attributes"
}

# --- LSF ----------------------------------------------------------------------------------------------

bsub() { # <SCRIPT
    local number folder index first=- last='' words text ptile i hosts=() name
    text=$(cat)
    options JnRWQoq xr "$@"
    [ ${#rest[@]} -eq 0 ] || { echo "bsub: arguments of scripts from standard input are not read" >&2; exit 2; }
    mapfile -t words < <(directives BSUB <<<"$text")
    options JnRWQoq xr "${words[@]}"
    number=$(new_job)
    ptile=$(sed -n 's/.*ptile=\([0-9]*\).*/\1/p' <<<"${option[R]}")
    for ((i = 1; i <= option[n] / ptile; i++)); do hosts+=("node$i" "$ptile"); done
    name=${option[J]%%\[*}
    [[ "${option[J]}" != *\[* ]] || { first=$(sed 's/.*\[\([0-9]*\)-.*/\1/' <<<"${option[J]}") last=$(sed 's/.*-\([0-9]*\)\].*/\1/' <<<"${option[J]}"); }
    for index in $([ -n "$last" ] && seq "$first" "$last" || echo 0); do
        folder=$STANDIN/$number
        [ "$index" = 0 ] || folder+="[$index]"
        mkdir -p "$folder"
        echo "$text" >"$folder/script"
        [ -z "${option[Q]:-}" ] || echo "${option[Q]}" >"$folder/requeue"
        echo "${option[W]}" >"$folder/limit"
        local environment=() log=${option[o]//%J/$number}
        mapfile -d '' -t environment < <(env -0) # LSF hands the environment on
        environment+=(LSB_JOBID="$number" LSB_JOBINDEX="$index" LSB_JOBNAME="$name" LSB_QUEUE=normal
            LSB_MCPU_HOSTS="${hosts[*]} ")
        [ "$index" = 0 ] || environment+=(LSB_JOBINDEX_END="$last")
        start "$folder" "$PWD/${log//%I/$index}" "$(($(seconds_of "${option[W]}") * 60))" "${environment[@]}"
    done
    echo "Job <$number> is submitted to default queue <normal>."
}

bjobs() { # -noheader -o time_left JOB
    local folder=$STANDIN/${!#} left
    left=$(($(seconds_of "$(cat "$folder/limit")") - ($(date +%s) - $(cat "$folder/begun")) / 60))
    echo "$((left / 60)):$((left % 60)) L"
}

"$me" "$@"
