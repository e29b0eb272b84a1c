#!/bin/bash
# Scaling: the same run on 1, 2, 4, ... ranks of a job, or on those of ranks=; with rows=N each rank has N rows of
# a file that holds as many (weak scaling). A table, and times, bytes and messages in strong-RANKS.json or weak-RANKS.json.
#   flux batch jobs/scaling.flux config/mnist-10k.yaml
#   flux batch jobs/scaling.flux ranks=1,4,8 rows=20000 config/mnist-10k.yaml input.file=large.h5
# IKT_RANKS_PER_NODE=2 chooses the ranks of a node.
#flux: --job-name=iktsne-scaling
#flux: -N 4
#flux: --exclusive
#flux: --time-limit=2h
#flux: --output=iktsne-scaling-{{id}}.log
# module load iktsne
for jobs in "${IKT_JOBS:-}" jobs "$(dirname "$(command -v iktsne)")/../share/iktsne/jobs"; do
    [ ! -r "$jobs/lib/job.sh" ] || break
done
# shellcheck source=jobs/lib/job.sh
. "$jobs/lib/job.sh" flux
job_scaling "$@"
