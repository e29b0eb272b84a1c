#!/bin/bash
# An array of jobs over the values of one setting, such as psi or the seed: a job a value.
#   for task in 1 2 3; do
#       flux batch --env=IKT_TASK=$task jobs/array.flux isolation.psi=64,128,256 config/mnist-10k.yaml
#   done
# IKT_RANKS_PER_NODE=2 chooses the ranks of a node.
#flux: --job-name=iktsne-array
#flux: -N 1
#flux: --exclusive
#flux: --time-limit=1h
#flux: --output=iktsne-array-{{id}}.log
# module load iktsne
for jobs in "${IKT_JOBS:-}" jobs "$(dirname "$(command -v iktsne)")/../share/iktsne/jobs"; do
    [ ! -r "$jobs/lib/job.sh" ] || break
done
# shellcheck source=jobs/lib/job.sh
. "$jobs/lib/job.sh" flux
job_array "$@"
