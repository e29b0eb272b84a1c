// The headers of iktsne in C++: the same calls, freed by unique_ptr.
//   mpirun -n 2 ./embed_points
#include <cstdio>
#include <memory>
#include <vector>

#include <iktsne/iktsne.h>

namespace {

struct free_context {
    void operator()(ikt_context *ctx) const { ikt_context_destroy(&ctx); }
};
struct free_parameters {
    void operator()(ikt_parameters *parameters) const { ikt_parameters_destroy(&parameters); }
};
struct free_map {
    void operator()(ikt_embedding *map) const { ikt_embedding_destroy(&map); }
};

// Rows on a circle, the same number on each rank.
ikt_status embed(ikt_context *ctx) {
    const int64_t count = 60, columns = 2;
    std::vector<double> rows;
    for (int64_t i = 0; i < count; i++) {
        const double t = static_cast<double>(ikt_rank(ctx) * count + i) / 100;
        rows.insert(rows.end(), {1 - t * t, 2 * t});
    }
    ikt_parameters *created = nullptr;
    if (ikt_status st = ikt_parameters_create(ctx, &created)) return st;
    std::unique_ptr<ikt_parameters, free_parameters> parameters(created);
    if (ikt_status st = ikt_parameters_set(parameters.get(), "layout.iterations", "100")) return st;
    ikt_embedding *made = nullptr;
    ikt_status st = ikt_embed_rows(ctx, parameters.get(), rows.data(), count, columns, IKT_TYPE_F64,
                                   nullptr, &made);
    std::unique_ptr<ikt_embedding, free_map> map(made);
    if (st == IKT_OK && ikt_rank(ctx) == 0)
        std::printf("%lld rows, hash %016llx\n", static_cast<long long>(ikt_embedding_rows(made)),
                    static_cast<unsigned long long>(ikt_embedding_hash(made)));
    return st;
}

} // namespace

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    ikt_status st;
    {
        ikt_context *created = nullptr;
        st = ikt_context_create(MPI_COMM_WORLD, 0, &created);
        std::unique_ptr<ikt_context, free_context> ctx(created);
        if (st == IKT_OK) ikt_context_set_log(ctx.get(), IKT_LOG_WARN);
        if (st == IKT_OK) st = embed(ctx.get());
        if (st != IKT_OK && created) std::fprintf(stderr, "%s\n", ikt_message(created));
    }
    MPI_Finalize();
    return static_cast<int>(st);
}
