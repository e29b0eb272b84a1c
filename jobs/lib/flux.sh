# shellcheck shell=bash disable=SC2034
# Flux, for job.sh. The script is the first program of an instance of Flux of its own, which holds the
# nodes of the job: `flux run` starts ranks in it.
default_launcher=flux
read -r flux_nodes flux_cores < <(flux resource info | sed 's/ Nodes*, / /; s/ Cores*.*//')
per_node=$(ranks_of_cores $((flux_cores / flux_nodes)))
threads=$((flux_cores / flux_nodes / per_node))
ranks=$((per_node * flux_nodes))
task=${IKT_TASK:-}

time_left() { flux job timeleft 2>/dev/null | awk '$1 < 1e8 { print int($1) }'; }

# The same job once more, with its script and its environment, where this one came from.
queue_again() {
    flux --parent job info --original "$FLUX_ENCLOSING_ID" jobspec | flux --parent job submit ||
        echo "iktsne job: the next job could not be submitted; the same command goes on later" >&2
    exit 75
}
