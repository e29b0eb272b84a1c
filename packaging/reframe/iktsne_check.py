# A ReFrame test of an installed iktsne: glyphs are embedded on several numbers of ranks, each time the map has the bits
# of one rank, and the seconds are reported.
#     reframe -c packaging/reframe/iktsne_check.py -r -S modules=iktsne        -S points=100000 for more than a look
import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class IktsneCheck(rfm.RunOnlyRegressionTest):
    descr = 't-SNE with the Isolation kernel: the same bits on any ranks'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    maintainers = ['iktsne']
    tags = {'iktsne', 'production'}
    points = variable(int, value=2000)
    ranks = parameter([1, 2, 4])
    num_cpus_per_task = 1
    executable = 'iktsne'

    @run_before('run')
    def prepare(self):
        self.num_tasks = self.ranks
        self.env_vars['OMP_NUM_THREADS'] = self.num_cpus_per_task
        self.prerun_cmds = [f'iktsne generate glyphs rows.h5 --points {self.points} --seed 1 --overwrite --quiet']
        self.executable_opts = ['embed', 'rows.h5', 'output.file=ranks.h5', 'output.overwrite=yes', '--quiet']
        self.postrun_cmds = ['iktsne info ranks.h5',
                             'iktsne embed rows.h5 output.file=alone.h5 output.overwrite=yes output.measures=none --quiet']

    @sanity_function
    def has_same_bits(self):
        hashes = sn.extractall(r'^embedding hash +([0-9a-f]{16})$', self.stdout, 1)
        return sn.all([sn.assert_eq(sn.len(hashes), 2), sn.assert_eq(hashes[0], hashes[1])])

    @performance_function('s')
    def seconds(self):
        return sn.extractsingle(r'seconds_total +([0-9.]+)', self.stdout, 1, float)
