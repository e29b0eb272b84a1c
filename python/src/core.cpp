// The extension module iktsne._core: the C library (include/iktsne) for numpy arrays.
//
// What Python's users meet is in python/iktsne; here are one function for each function of the
// library, on arrays whose types were brought into order. Arrays are not copied. One call of the
// library runs at a time; others of Python's threads wait for it. The GIL is released while the
// library works, and taken for a moment, at most every 50 ms, to ask Python for signals: an
// interrupt, and any exception that a callback raises, stops the library at its next iteration, is
// kept, and comes back beside the map so far ("error"), or is raised where there is no map yet.
// Threads that are in the library when Python ends (daemons) stand still from then on: `Outside`.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <iktsne/iktsne.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Settings = std::vector<std::pair<std::string, std::string>>;

nb::object stopped_type; // iktsne.Stopped

[[noreturn]] void raise(ikt_status status, const std::string &message) {
    switch (status) {
    case IKT_ERR_USAGE:
    case IKT_ERR_DATA:
        throw nb::value_error(message.c_str());
    case IKT_ERR_FILE:
        PyErr_SetString(PyExc_OSError, message.c_str());
        throw nb::python_error();
    case IKT_ERR_RESOURCE:
        PyErr_SetString(PyExc_MemoryError, message.c_str());
        throw nb::python_error();
    case IKT_STOPPED:
        PyErr_SetString(stopped_type.ptr(), message.c_str());
        throw nb::python_error();
    default:
        PyErr_SetString(PyExc_RuntimeError, message.c_str());
        throw nb::python_error();
    }
}

// --- the end of Python
// ----------------------------------------------------------------------------

// A call of the library, without the GIL. A thread that asks for the GIL once Python has ended is
// taken off its stack by pthread_exit, which functions of C++ and a library at work do not survive.
// So at the exit of Python (wait_for_calls, by atexit) those who will ask for it are waited for,
// and each of them, which has it then for the last time, stands still until the process is gone.
class Outside {
  public:
    Outside() {
        enter();
        thread = PyEval_SaveThread();
    }
    ~Outside() {
        PyEval_RestoreThread(thread);
        leave();
    }
    Outside(const Outside &) = delete;
    Outside &operator=(const Outside &) = delete;

    // Around what calls Python from within; all of these hold the GIL, which guards the two below.
    static void leave() {
        calls--;
        check();
    }
    static void enter() {
        check();
        calls++;
    }
    static void check() {
        if (!is_over || ends_here()) return;
        PyEval_SaveThread();
        stand_still();
    }
    static void wait_for_calls() {
        ending = std::this_thread::get_id();
        is_over = true;
        nb::set_leak_warnings(false); // threads that are left hold references: no leaks of ours
        while (calls > 0) {
            {
                nb::gil_scoped_release release;
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
            if (PyErr_CheckSignals() != 0) std::_Exit(128 + SIGINT); // a stage that cannot pause
        }
    }
    // The thread that ends Python goes on: what it calls at the exit may call the library.
    static bool ends_here() {
        return is_over && std::this_thread::get_id() == ending;
    }
    // In the child of a fork none of the threads goes on.
    static void forget_calls() {
        calls = 0;
    }
    [[noreturn]] static void stand_still() {
        for (;;)
            pause();
    }

  private:
    static inline int64_t calls = 0; // threads that will ask for the GIL
    static inline bool is_over = false;
    static inline std::thread::id ending;
    PyThreadState *thread;
};

// --- the context
// ----------------------------------------------------------------------------------

// A context of the library, which all calls for a communicator share.
class Shared {
  public:
    // comm: address of an MPI_Comm (mpi4py's MPI._addressof), 0: this process alone.
    explicit Shared(std::uintptr_t comm) : process(getpid()) {
        const char *why = nullptr;
        const ikt_status st = comm
                                  ? ikt_context_create(*reinterpret_cast<MPI_Comm *>(comm), 0, &ctx)
                                  : ikt_context_create_single(0, &ctx, &why);
        if (st != IKT_OK) raise(st, why ? why : "there is not enough memory for a context");
    }
    ~Shared() {
        int is_over = 0;
        MPI_Finalized(&is_over);
        if (!is_over && process == getpid()) ikt_context_destroy(&ctx);
    }
    Shared(const Shared &) = delete;
    Shared &operator=(const Shared &) = delete;

    ikt_context *get() const {
        int is_over = 0;
        MPI_Finalized(&is_over);
        if (is_over)
            raise(IKT_ERR_USAGE, "MPI was ended in this process: iktsne cannot be used any more");
        if (process != getpid())
            raise(IKT_ERR_USAGE,
                  "this process was forked from one that uses iktsne, and neither MPI nor "
                  "OpenMP's threads survive that: start processes with the method 'spawn'");
        return ctx;
    }

  private:
    ikt_context *ctx = nullptr;
    pid_t process;
};

// What Python holds: a shared context, with the threads and the level of the log of its own calls.
class Context {
  public:
    explicit Context(std::uintptr_t comm) : shared(std::make_shared<Shared>(comm)) {
    }

    Context with(int n_threads, int log_level) const {
        Outside::check(); // before folders of temporary files are made that nobody would take away
        Context other = *this;
        other.threads = n_threads;
        other.level = static_cast<ikt_log_level>(log_level);
        return other;
    }
    ikt_context *get() const {
        return shared->get();
    }
    int rank() const {
        return ikt_rank(get());
    }
    int size() const {
        Outside::check();
        return ikt_size(get());
    }

    // Before each call: another one may have set them since.
    void set_up() const {
        ikt_context_set_threads(get(), threads);
        ikt_context_set_log(get(), level);
    }
    void check(ikt_status st) const {
        if (st != IKT_OK) raise(st, ikt_message(get()));
    }

  private:
    std::shared_ptr<Shared> shared;
    int threads = 0;
    ikt_log_level level = IKT_LOG_WARN;
};

// The right to call the library, from the first of its functions until the last message is read:
// HDF5 and MPI need not be safe for threads, and a context holds one message. Whoever waits for it
// can be interrupted. A callback, whose thread has it already, is refused: the library is not
// re-entrant.
class Turn {
  public:
    explicit Turn(const Context &context) {
        if (holder == std::this_thread::get_id())
            raise(IKT_ERR_INTERNAL,
                  "a callback cannot call iktsne, which is at work for it: keep a copy "
                  "of the embedding, and measure or draw it afterwards");
        context.get(); // in a forked process nobody would give the turn back
        while (!take()) {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (Outside::ends_here())
                raise(IKT_ERR_INTERNAL, "Python ends while another thread is in iktsne");
        }
        holder = std::this_thread::get_id();
        try {
            context.set_up();
        } catch (...) {
            end();
            throw;
        }
    }
    ~Turn() {
        end();
    }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

  private:
    static inline std::timed_mutex one_call;
    static inline std::atomic<std::thread::id> holder;

    static bool take() {
        if (one_call.try_lock()) return true;
        const Outside outside;
        return one_call.try_lock_for(std::chrono::milliseconds(100));
    }
    static void end() {
        holder = std::thread::id();
        one_call.unlock();
    }
};

struct DestroyParameters {
    void operator()(ikt_parameters *p) const {
        ikt_parameters_destroy(&p);
    }
};
struct DestroyData {
    void operator()(ikt_data *d) const {
        ikt_data_destroy(&d);
    }
};
struct DestroyEmbedding {
    void operator()(ikt_embedding *e) const {
        ikt_embedding_destroy(&e);
    }
};
using Parameters = std::unique_ptr<ikt_parameters, DestroyParameters>;
using Data = std::unique_ptr<ikt_data, DestroyData>;
using Embedding = std::unique_ptr<ikt_embedding, DestroyEmbedding>;

Parameters make_parameters(const Context &context, const Settings &settings) {
    ikt_parameters *p = nullptr;
    context.check(ikt_parameters_create(context.get(), &p));
    Parameters parameters(p);
    for (const auto &[key, value] : settings)
        context.check(ikt_parameters_set(p, key.c_str(), value.c_str()));
    return parameters;
}

// --- arrays
// ---------------------------------------------------------------------------------------

ikt_type type_of(const Array &array, const char *what) {
    if (array.dtype() == nb::dtype<uint8_t>()) return IKT_TYPE_U8;
    if (array.dtype() == nb::dtype<float>()) return IKT_TYPE_F32;
    if (array.dtype() == nb::dtype<double>()) return IKT_TYPE_F64;
    raise(IKT_ERR_USAGE, std::string(what) + " has to be of uint8, float32 or float64");
}

ikt_index index_of(const Array &array) {
    if (array.dtype() == nb::dtype<int32_t>()) return IKT_INDEX_32;
    if (array.dtype() == nb::dtype<int64_t>()) return IKT_INDEX_64;
    raise(IKT_ERR_USAGE, "the indices of sparse rows have to be of int32 or int64");
}

void need(bool good, const char *sentence) {
    if (!good) raise(IKT_ERR_USAGE, sentence);
}

// What Python hands over: {"rows": array}, {"sparse": (indptr, indices, data, columns)} or the same
// as "graph", with "labels" and "start". The arrays live as long as this.
struct Given {
    std::vector<Array> held;
    Data data;

    const Array &hold(nb::handle object) {
        held.push_back(nb::cast<Array>(object));
        return held.back();
    }
};

Given make_data(const Context &context, const nb::dict &given) {
    Given g;
    g.held.reserve(16);
    const int64_t count = nb::cast<int64_t>(given["count"]);
    ikt_data *data = nullptr;
    context.check(ikt_data_create(context.get(), count, &data));
    g.data.reset(data);
    if (given.contains("rows")) {
        const Array &rows = g.hold(given["rows"]);
        need(rows.ndim() == 2 && static_cast<int64_t>(rows.shape(0)) == count, "rows are a matrix");
        ikt_data_rows(data, rows.data(), static_cast<int64_t>(rows.shape(1)), type_of(rows, "X"));
    }
    for (const char *name : {"sparse", "graph"}) {
        if (!given.contains(name)) continue;
        nb::tuple parts = nb::cast<nb::tuple>(given[name]);
        const Array &start = g.hold(parts[0]);
        const Array &column = g.hold(parts[1]);
        const Array &value = g.hold(parts[2]);
        const ikt_index index = index_of(start);
        need(start.ndim() == 1 && column.ndim() == 1 && value.ndim() == 1 &&
                 static_cast<int64_t>(start.shape(0)) == count + 1,
             "sparse rows have an array of n + 1 starts, and arrays of columns and values");
        need(index_of(column) == index, "starts and columns of sparse rows are of one type");
        const int64_t end = index == IKT_INDEX_32
                                ? static_cast<const int32_t *>(start.data())[count]
                                : static_cast<const int64_t *>(start.data())[count];
        need(end <= static_cast<int64_t>(column.shape(0)) &&
                 end <= static_cast<int64_t>(value.shape(0)),
             "the starts of sparse rows lead beyond their columns and values");
        if (std::strcmp(name, "sparse") == 0)
            ikt_data_sparse(data, start.data(), column.data(), index, value.data(),
                            type_of(value, "X.data"), nb::cast<int64_t>(parts[3]));
        else
            ikt_data_graph(data, start.data(), column.data(), index, value.data(),
                           type_of(value, "the graph"));
    }
    if (given.contains("labels")) {
        const Array &labels = g.hold(given["labels"]);
        need(labels.ndim() == 1 && static_cast<int64_t>(labels.shape(0)) == count &&
                 labels.dtype() == nb::dtype<int64_t>(),
             "labels are an int64 for each row");
        if (count > 0) ikt_data_labels(data, static_cast<const int64_t *>(labels.data()));
    }
    if (given.contains("start")) {
        const Array &start = g.hold(given["start"]);
        need(start.ndim() == 2 && static_cast<int64_t>(start.shape(0)) == count,
             "init has a position for each row");
        ikt_data_start(data, start.data(), static_cast<int64_t>(start.shape(1)),
                       type_of(start, "init"));
    }
    return g;
}

// An array of Python's own with a copy of these numbers.
template <typename T> nb::object copy_of(const T *from, int64_t count, int64_t columns) {
    if (!from && count > 0) return nb::none();
    const size_t size = static_cast<size_t>(count * (columns > 0 ? columns : 1));
    T *to = new T[size > 0 ? size : 1];
    if (size > 0) std::memcpy(to, from, size * sizeof *to);
    nb::capsule owner(to, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    size_t shape[2] = {static_cast<size_t>(count), static_cast<size_t>(columns)};
    return nb::cast(nb::ndarray<nb::numpy, T>(to, columns > 0 ? 2u : 1u, shape, owner));
}

// --- who watches
// ----------------------------------------------------------------------------------

class Watcher {
  public:
    // progress(unit, done, total), report(iteration, value, positions) -> true to stop, log(level,
    // line); each may be None.
    Watcher(nb::object progress, nb::object report, int64_t every, nb::object log)
        : on_progress(std::move(progress)), on_report(std::move(report)), on_log(std::move(log)) {
        c.self = this;
        c.progress = [](void *self, const char *unit, int64_t done, int64_t total) {
            return static_cast<Watcher *>(self)->see_progress(unit, done, total);
        };
        if (!on_report.is_none() && every > 0) {
            c.every = every;
            c.report = [](void *self, int64_t iteration, double value, const float *positions) {
                return static_cast<Watcher *>(self)->see_report(iteration, value, positions);
            };
        }
        if (!on_log.is_none())
            c.log = [](void *self, ikt_log_level level, const char *line) {
                static_cast<Watcher *>(self)->see_log(level, line);
            };
    }
    Watcher(const Watcher &) = delete;
    Watcher &operator=(const Watcher &) = delete;

    ikt_watcher c{};
    int64_t count = 0, dimensions = 2; // of the positions that are reported
    nb::object error = nb::none();     // the exception that stopped the library

  private:
    using Clock = std::chrono::steady_clock;
    nb::object on_progress, on_report, on_log;
    Clock::time_point last{};

    // Calls Python, with the GIL; an exception is kept and asks for an end.
    template <typename Call> bool ask(Call call) {
        nb::gil_scoped_acquire gil;
        Outside::leave();
        bool wants_end = true;
        try {
            if (error.is_none()) {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                wants_end = call();
            }
        } catch (nb::python_error &e) {
            error = nb::borrow(e.value());
        } catch (const std::exception &e) { // no exception of C++ may cross the library
            error = nb::borrow(PyExc_RuntimeError)(e.what());
        } catch (...) { // pthread_exit: Python has ended while it was called
            Outside::stand_still();
        }
        Outside::enter();
        return wants_end;
    }
    bool see_progress(const char *unit, int64_t done, int64_t total) {
        const Clock::time_point now = Clock::now();
        const bool is_end = done >= total && std::strcmp(unit, "iterations") == 0;
        if (now - last < std::chrono::milliseconds(50) && !is_end) return false;
        last = now;
        return ask([&] {
            if (!on_progress.is_none()) on_progress(unit, done, total);
            return false;
        });
    }
    bool see_report(int64_t iteration, double value, const float *positions) {
        return ask([&] {
            nb::object answer = on_report(iteration, value, copy_of(positions, count, dimensions));
            const int is_true = PyObject_IsTrue(answer.ptr());
            if (is_true < 0) throw nb::python_error();
            return is_true == 1;
        });
    }
    void see_log(int level, const char *line) {
        ask([&] {
            on_log(level, line);
            return false;
        });
    }
};

// Runs a call of the library without the GIL.
template <typename Call> ikt_status without_gil(Call call) {
    const Outside outside;
    return call();
}

// The outcome where the call may have been stopped by an exception of Python's.
void check_watched(const Context &context, ikt_status st, const Watcher &watcher) {
    if (st == IKT_OK) return;
    if (!watcher.error.is_none()) {
        PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(watcher.error.ptr())),
                        watcher.error.ptr());
        throw nb::python_error();
    }
    context.check(st);
}

// --- what the module offers
// -----------------------------------------------------------------------

nb::list measures_of(const ikt_embedding *embedding) {
    nb::list list;
    for (int64_t i = 0; i < ikt_embedding_measures(embedding); i++) {
        const ikt_embedding_measure m = ikt_embedding_measure_at(embedding, i);
        list.append(nb::make_tuple(m.name, m.value, m.note));
    }
    return list;
}

nb::dict embed(const Context &context, const Settings &settings, const nb::dict &given,
               nb::object progress, nb::object report, int64_t every, nb::object log) {
    const Turn turn(context);
    const Parameters parameters = make_parameters(context, settings);
    const Given data = make_data(context, given);
    Watcher watcher(std::move(progress), std::move(report), every, std::move(log));
    char q[32] = "2";
    context.check(ikt_parameters_get(parameters.get(), "layout.dimensions", q, sizeof q));
    watcher.count = nb::cast<int64_t>(given["count"]);
    watcher.dimensions = std::atoi(q);
    ikt_embedding *e = nullptr;
    const ikt_status st = without_gil([&] {
        return ikt_embed(context.get(), parameters.get(), data.data.get(), &watcher.c, &e);
    });
    check_watched(context, st, watcher);
    const Embedding embedding(e);
    nb::dict out;
    out["positions"] =
        copy_of(ikt_embedding_positions(e), ikt_embedding_count(e), ikt_embedding_dimensions(e));
    out["objective"] = ikt_embedding_objective(e);
    out["iterations"] = ikt_embedding_iterations(e);
    out["zero_similarity"] = ikt_embedding_zero_similarity(e);
    out["stopped"] = ikt_embedding_is_stopped(e);
    out["hash"] = ikt_embedding_hash(e);
    out["configuration"] = ikt_embedding_yaml(e);
    out["measures"] = measures_of(e);
    out["error"] = watcher.error;
    return out;
}

nb::dict transform(const Context &context, const std::string &model, const nb::dict &given,
                   int64_t neighbours, int64_t iterations, nb::object progress, nb::object log) {
    const Turn turn(context);
    const Given data = make_data(context, given);
    Watcher watcher(std::move(progress), nb::none(), 0, std::move(log));
    ikt_embedding *e = nullptr;
    const ikt_status st = without_gil([&] {
        return ikt_transform(context.get(), model.c_str(), data.data.get(), neighbours, iterations,
                             &watcher.c, &e);
    });
    check_watched(context, st, watcher);
    const Embedding embedding(e);
    const int64_t count = ikt_embedding_count(e);
    nb::dict out;
    out["positions"] = copy_of(ikt_embedding_positions(e), count, ikt_embedding_dimensions(e));
    out["divergences"] = copy_of(ikt_embedding_divergences(e), count, 0);
    out["similarities"] = copy_of(ikt_embedding_similarities(e), count, 0);
    out["nearest"] = copy_of(ikt_embedding_nearest(e), count, 0);
    out["distances"] = copy_of(ikt_embedding_row_distances(e), count, 0);
    out["is_far"] = copy_of(ikt_embedding_far(e), count, 0);
    out["error"] = watcher.error;
    return out;
}

// An embedding of positions that Python holds, [count, dimensions] float32.
Embedding embedding_of(const Context &context, Given &data, int64_t count,
                       const nb::handle &positions) {
    const Array &y = data.hold(positions);
    need(y.ndim() == 2 && y.dtype() == nb::dtype<float>(), "positions are a matrix of float32");
    need(static_cast<int64_t>(y.shape(0)) == count, "there is a position for each row");
    ikt_embedding *e = nullptr;
    const ikt_status st = without_gil([&] {
        return ikt_embedding_from_positions(context.get(), data.data.get(),
                                            static_cast<const float *>(y.data()),
                                            static_cast<int>(y.shape(1)), &e);
    });
    context.check(st);
    return Embedding(e);
}

nb::list evaluate(const Context &context, const Settings &settings, const nb::dict &given,
                  nb::handle positions, const std::string &names, int64_t k, int64_t trust_k,
                  int64_t exact_limit, int64_t sample, uint64_t seed) {
    const Turn turn(context);
    const Parameters parameters = make_parameters(context, settings);
    Given data = make_data(context, given);
    const Embedding embedding =
        embedding_of(context, data, nb::cast<int64_t>(given["count"]), positions);
    ikt_measuring how = ikt_measuring_defaults();
    how.names = names.c_str();
    how.k = k;
    how.trust_k = trust_k;
    how.exact_limit = exact_limit;
    how.sample = sample;
    how.seed = seed;
    const ikt_status st = without_gil([&] {
        return ikt_embedding_evaluate(embedding.get(), parameters.get(), data.data.get(), &how);
    });
    context.check(st);
    return measures_of(embedding.get());
}

// columns: (name, int64 classes or None, float64 numbers or None, list of texts or None, names of
// the classes or None, list of colours 0xRRGGBB of the classes or None, whether it is shown on
// hover only).
void view(const Context &context, const nb::dict &given, nb::handle positions,
          const std::string &path, const std::string &title, const nb::list &columns) {
    const Turn turn(context);
    Given data = make_data(context, given);
    const Embedding embedding =
        embedding_of(context, data, nb::cast<int64_t>(given["count"]), positions);
    const size_t n = nb::len(columns), count = nb::cast<size_t>(given["count"]);
    const auto is_column = [count](const Array &a) { return a.ndim() == 1 && a.shape(0) == count; };
    data.held.reserve(data.held.size() + n + 1);
    std::vector<std::string> texts; // what is pointed to below must stay where it is
    std::vector<std::vector<std::string>> lists;
    std::vector<std::vector<const char *>> pointers;
    std::vector<std::vector<int32_t>> colours;
    texts.reserve(2 * n);
    lists.reserve(n);
    pointers.reserve(n);
    colours.reserve(n);
    std::vector<ikt_view_column> list;
    for (nb::handle item : columns) {
        nb::tuple column = nb::cast<nb::tuple>(item);
        ikt_view_column c{};
        texts.push_back(nb::cast<std::string>(column[0]));
        c.name = texts.back().c_str();
        if (!column[1].is_none()) {
            const Array &classes = data.hold(column[1]);
            need(classes.dtype() == nb::dtype<int64_t>() && is_column(classes),
                 "classes are an int64 for each row");
            c.classes = static_cast<const int64_t *>(classes.data());
        }
        if (!column[2].is_none()) {
            const Array &numbers = data.hold(column[2]);
            need(numbers.dtype() == nb::dtype<double>() && is_column(numbers),
                 "numbers are a float64 for each row");
            c.numbers = static_cast<const double *>(numbers.data());
        }
        if (!column[3].is_none()) {
            lists.push_back(nb::cast<std::vector<std::string>>(column[3]));
            need(lists.back().size() == count, "a column has a text for each row");
            pointers.emplace_back();
            for (const std::string &text : lists.back())
                pointers.back().push_back(text.c_str());
            c.texts = pointers.back().data();
        }
        if (!column[4].is_none()) {
            texts.push_back(nb::cast<std::string>(column[4]));
            c.names = texts.back().c_str();
        }
        if (!column[5].is_none()) {
            colours.push_back(nb::cast<std::vector<int32_t>>(column[5]));
            c.colours = colours.back().data();
            c.n_colours = static_cast<int64_t>(colours.back().size());
        }
        c.is_hover = nb::cast<bool>(column[6]);
        list.push_back(c);
    }
    const ikt_status st = without_gil([&] {
        return ikt_embedding_view(embedding.get(), path.c_str(), true, title.c_str(), list.data(),
                                  static_cast<int>(list.size()));
    });
    context.check(st);
}

nb::list settings_table() {
    static const char *const types[] = {"int", "real", "bool", "text", "choice"};
    nb::list list;
    ikt_setting s;
    for (int64_t i = 0; ikt_setting_at(i, &s); i++) {
        nb::dict d;
        d["key"] = std::string(s.section) + "." + s.name;
        d["type"] = types[s.type];
        d["default"] = s.fallback;
        d["takes_auto"] = s.takes_auto;
        d["low"] = s.low;
        d["high"] = s.high;
        d["choices"] = s.choices ? nb::cast(std::string(s.choices)) : nb::none();
        d["unit"] = s.unit;
        d["help"] = s.help;
        list.append(d);
    }
    return list;
}

std::optional<std::string> hint(const std::string &name) {
    const char *sentence = ikt_setting_hint(name.c_str());
    return sentence ? std::optional<std::string>(sentence) : std::nullopt;
}

// The MPI that the library was linked with; before MPI as well.
std::string mpi_library() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    return MPI_Get_library_version(text, &length) == MPI_SUCCESS ? text : "";
}

// --- rows that were embedded, known again
// ---------------------------------------------------------

// The finaliser of MurmurHash3, which is public domain.
uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

struct RowHash {
    uint64_t part[2] = {0, 0};
    void add(uint64_t column, double value) {
        if (value == 0) return; // a sparse row is the dense one
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        for (uint64_t p = 0; p < 2; p++)
            part[p] += mix(mix(bits + 0x9e3779b97f4a7c15ULL * (p + 1)) ^
                           (column * 2 + 1) * 0xd6e8feb86659fd93ULL);
    }
};

double number_at(const void *values, ikt_type type, int64_t i) {
    return type == IKT_TYPE_U8    ? static_cast<const uint8_t *>(values)[i]
           : type == IKT_TYPE_F32 ? static_cast<double>(static_cast<const float *>(values)[i])
                                  : static_cast<const double *>(values)[i];
}

// 128 bits for each row, which depend on its numbers only: not on their type, nor on their form.
nb::object row_hashes(const nb::dict &given) {
    const int64_t count = nb::cast<int64_t>(given["count"]);
    std::vector<uint64_t> hash(static_cast<size_t>(2 * count) + 1);
    if (given.contains("rows")) {
        const Array rows = nb::cast<Array>(given["rows"]);
        const ikt_type type = type_of(rows, "X");
        const int64_t d = static_cast<int64_t>(rows.shape(1));
        const void *values = rows.data();
        const Outside outside;
        for (int64_t i = 0; i < count; i++) {
            RowHash h;
            for (int64_t c = 0; c < d; c++)
                h.add(static_cast<uint64_t>(c), number_at(values, type, i * d + c));
            std::memcpy(&hash[static_cast<size_t>(2 * i)], h.part, sizeof h.part);
        }
    } else {
        nb::tuple parts = nb::cast<nb::tuple>(given["sparse"]);
        const Array start = nb::cast<Array>(parts[0]), column = nb::cast<Array>(parts[1]),
                    value = nb::cast<Array>(parts[2]);
        const ikt_type type = type_of(value, "X.data");
        const bool wide = index_of(start) == IKT_INDEX_64;
        const void *s = start.data(), *c = column.data(), *v = value.data();
        const auto at = [wide](const void *a, int64_t i) {
            return wide ? static_cast<const int64_t *>(a)[i]
                        : static_cast<int64_t>(static_cast<const int32_t *>(a)[i]);
        };
        const Outside outside;
        for (int64_t i = 0; i < count; i++) {
            RowHash h;
            for (int64_t e = at(s, i); e < at(s, i + 1); e++)
                h.add(static_cast<uint64_t>(at(c, e)), number_at(v, type, e));
            std::memcpy(&hash[static_cast<size_t>(2 * i)], h.part, sizeof h.part);
        }
    }
    return copy_of(hash.data(), count, 2);
}

} // namespace

NB_MODULE(_core, m) {
    m.doc() = "The C library iktsne on numpy arrays; use the package iktsne";
    stopped_type = nb::steal(PyErr_NewExceptionWithDoc(
        "iktsne.Stopped",
        "The run was stopped before there was a map: by a callback, or at run.max_time.",
        PyExc_RuntimeError, nullptr));
    m.attr("Stopped") = stopped_type;
    // What is registered first is called last: finalizers, which take the folders of temporary
    // files away that calls write to, after the end of these calls.
    nb::module_::import_("weakref").attr("finalize")(m, nb::cpp_function([] {}));
    // Freed with the module: not at the end of the process, when Python is gone.
    nb::object atexit = nb::module_::import_("atexit");
    atexit.attr("register")(nb::cpp_function([] {
        Outside::wait_for_calls();
        stopped_type.reset();
    }));
    pthread_atfork(nullptr, nullptr, Outside::forget_calls);
    nb::class_<Context>(m, "Context")
        .def(nb::init<std::uintptr_t>(), "comm"_a = 0)
        .def("with_options", &Context::with, "threads"_a, "level"_a)
        .def_prop_ro("rank", &Context::rank)
        .def_prop_ro("size", &Context::size);
    m.def("embed", &embed, "context"_a, "settings"_a, "given"_a, "progress"_a.none(),
          "report"_a.none(), "every"_a, "log"_a.none());
    m.def("transform", &transform, "context"_a, "model"_a, "given"_a, "neighbours"_a,
          "iterations"_a, "progress"_a.none(), "log"_a.none());
    m.def("evaluate", &evaluate, "context"_a, "settings"_a, "given"_a, "positions"_a, "names"_a,
          "k"_a, "trust_k"_a, "exact_limit"_a, "sample"_a, "seed"_a);
    m.def("view", &view, "context"_a, "given"_a, "positions"_a, "path"_a, "title"_a, "columns"_a);
    m.def("settings", &settings_table);
    m.def("hint", &hint, "name"_a);
    m.def("row_hashes", &row_hashes, "given"_a);
    m.def("mpi_library", &mpi_library);
    m.attr("__version__") = ikt_version();
}
