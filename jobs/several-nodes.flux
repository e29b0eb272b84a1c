#!/bin/bash
# One run on several nodes, or on one: the same program, the same result, bit for bit.
#   flux batch -N 16 jobs/several-nodes.flux config/mnist-10k.yaml isolation.psi=4096
# IKT_RANKS_PER_NODE=2 chooses the ranks of a node.
#flux: --job-name=iktsne
#flux: -N 4
#flux: --exclusive
#flux: --time-limit=4h
#flux: --output=iktsne-{{id}}.log
# module load iktsne
for jobs in "${IKT_JOBS:-}" jobs "$(dirname "$(command -v iktsne)")/../share/iktsne/jobs"; do
    [ ! -r "$jobs/lib/job.sh" ] || break
done
# shellcheck source=jobs/lib/job.sh
. "$jobs/lib/job.sh" flux
job_embed "$@"
