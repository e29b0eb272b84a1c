#!/bin/bash
# A run longer than a job may be. Before its time is up iktsne writes a checkpoint and exits with 75;
# the same job is then submitted once more, which goes on from there, until the run is complete.
#   flux batch jobs/requeue.flux config/mnist-10k.yaml
# "Stop for good": flux cancel JOB.
# IKT_RANKS_PER_NODE=2 chooses the ranks of a node.
#flux: --job-name=iktsne-long
#flux: -N 4
#flux: --exclusive
#flux: --time-limit=4h
#flux: --output=iktsne-long-{{id}}.log
# module load iktsne
for jobs in "${IKT_JOBS:-}" jobs "$(dirname "$(command -v iktsne)")/../share/iktsne/jobs"; do
    [ ! -r "$jobs/lib/job.sh" ] || break
done
# shellcheck source=jobs/lib/job.sh
. "$jobs/lib/job.sh" flux
job_chain embed "$@"
