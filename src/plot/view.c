/* Which part of the plane is shown: the whole range, so that no point is left out. */
#include "plot/view.h"

#include "base/comm.h"

/* limits: least x, least y, minus largest x, minus largest y, so that one MIN serves all. */
static ikt_status local_limits(ikt_context *ctx, const ikt_rows *rows, const float *y,
                               double *limits) {
    for (int l = 0; l < 4; l++)
        limits[l] = INFINITY;
    for (int64_t i = 0; i < rows->count; i++) {
        double a = (double)y[2 * i], b = (double)y[2 * i + 1];
        if (!isfinite(a) || !isfinite(b))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "the embedding has a coordinate that is not finite in row %lld "
                            "(%g, %g), so it cannot be drawn; run it again with a smaller "
                            "learning rate",
                            (long long)(rows->first + i), a, b);
        limits[0] = fmin(limits[0], a);
        limits[1] = fmin(limits[1], b);
        limits[2] = fmin(limits[2], -a);
        limits[3] = fmin(limits[3], -b);
    }
    return IKT_OK;
}

ikt_status ikt_view_fit(ikt_context *ctx, const ikt_rows *rows, const float *y, int64_t side,
                        double margin, ikt_view *view) {
    double limits[4];
    IKT_TRY(ikt_agree(ctx, local_limits(ctx, rows, y, limits)));
    ikt_min_f64(ctx, limits, 4);
    double span = 0;
    *view = (ikt_view){0, 0, 0, side};
    if (rows->n > 0) {
        view->centre_x = 0.5 * (limits[0] - limits[2]);
        view->centre_y = 0.5 * (limits[1] - limits[3]);
        span = fmax(-limits[2] - limits[0], -limits[3] - limits[1]);
    }
    if (span <= 0) span = 2;
    view->scale = IKT_VIEW_PHASES * ((double)side - 2 * margin) / span;
    return IKT_OK;
}
