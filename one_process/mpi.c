/* The calls of MPI that this program and ScaLAPACK make, for a group of one process.
 *
 * A build without MPI (IKT_MPI=OFF, docs/install.md) has these in place of an MPI library. Types
 * and constants are MPICH's, of its header, so that a ScaLAPACK that was compiled for MPICH works
 * on them. What a rank sends to itself is copied as it is sent, since here every receive is posted
 * before; so all requests are complete, and all reductions are copies. Advantage: no launcher, no
 * daemon, no library to install. Disadvantage: nothing for more than one process, and of types that
 * are not contiguous no more than a broadcast, which moves nothing; any other call ends the process
 * with a sentence. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void needs_several(const char *what) {
    fprintf(stderr, "iktsne: error: %s in a build for one process\n", what);
    abort();
}

/* Our handles of types, above MPICH's: of those that are never looked into, and of so many bytes
 * more, up to 800 MB. */
enum { SCATTERED = 0x4fffffff, CONTIGUOUS = 0x50000000 };

/* Of basic types MPICH's handle holds the size. */
static size_t bytes_of(MPI_Datatype type, int count) {
    if (type == SCATTERED || type < 0) /* MPICH's pairs of numbers are negative */
        needs_several("a message of a type that is not contiguous");
    return (size_t)(type > CONTIGUOUS ? type - CONTIGUOUS : (type >> 8) & 0xff) * (size_t)count;
}

static int copy(const void *from, void *to, MPI_Datatype type, int count) {
    if (from != MPI_IN_PLACE && from != to && count > 0) memmove(to, from, bytes_of(type, count));
    return MPI_SUCCESS;
}

/* --- beginning and end ------------------------------------------------------------------------ */

static int has_begun, is_over;

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *level) {
    (void)argc, (void)argv, (void)wanted;
    *level = MPI_THREAD_MULTIPLE;
    has_begun = 1;
    return MPI_SUCCESS;
}

int MPI_Init(int *argc, char ***argv) {
    int level;
    return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &level);
}

int MPI_Initialized(int *flag) {
    *flag = has_begun;
    return MPI_SUCCESS;
}

int MPI_Finalize(void) {
    is_over = 1;
    return MPI_SUCCESS;
}

int MPI_Finalized(int *flag) {
    *flag = is_over;
    return MPI_SUCCESS;
}

int MPI_Query_thread(int *level) {
    *level = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

int MPI_Is_thread_main(int *flag) {
    *flag = 1;
    return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int code) {
    (void)comm;
    exit(code);
}

double MPI_Wtime(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int MPI_Get_library_version(char *version, int *length) {
    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "none, built for one process");
    return MPI_SUCCESS;
}

/* Codes of errors are those of the system. */
int MPI_Error_string(int code, char *text, int *length) {
    *length = snprintf(text, MPI_MAX_ERROR_STRING, "%s", strerror(code));
    return MPI_SUCCESS;
}

int MPI_Error_class(int code, int *class) {
    *class = code;
    return MPI_SUCCESS;
}

/* --- communicators, all of this process ------------------------------------------------------- */

int MPI_Comm_size(MPI_Comm comm, int *size) {
    (void)comm;
    *size = 1;
    return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank) {
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out) {
    *out = comm;
    return MPI_SUCCESS;
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *out) {
    (void)key;
    *out = colour == MPI_UNDEFINED ? MPI_COMM_NULL : comm;
    return MPI_SUCCESS;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out) {
    (void)type, (void)info;
    return MPI_Comm_split(comm, 0, key, out);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *out) {
    *out = group == MPI_GROUP_EMPTY ? MPI_COMM_NULL : comm;
    return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm *comm) {
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
    (void)comm, (void)handler;
    return MPI_SUCCESS;
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag) {
    static int most = INT_MAX;
    (void)comm;
    *flag = key == MPI_TAG_UB;
    if (*flag) *(int **)value = &most;
    return MPI_SUCCESS;
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group *group) {
    (void)comm;
    *group = MPI_GROUP_EMPTY + 1;
    return MPI_SUCCESS;
}

int MPI_Group_incl(MPI_Group group, int count, const int ranks[], MPI_Group *out) {
    (void)ranks;
    *out = count > 0 ? group : MPI_GROUP_EMPTY;
    return MPI_SUCCESS;
}

int MPI_Group_free(MPI_Group *group) {
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

/* --- collectives ------------------------------------------------------------------------------ */

int MPI_Barrier(MPI_Comm comm) {
    (void)comm;
    return MPI_SUCCESS;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
    (void)comm;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    (void)data, (void)count, (void)type, (void)root, (void)comm;
    return MPI_SUCCESS;
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    (void)op, (void)comm;
    return copy(send, recv, type, count);
}

int MPI_Iallreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    return MPI_Allreduce(send, recv, count, type, op, comm);
}

int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
    (void)root;
    return MPI_Allreduce(send, recv, count, type, op, comm);
}

int MPI_Reduce_scatter(const void *send, void *recv, const int counts[], MPI_Datatype type,
                       MPI_Op op, MPI_Comm comm) {
    return MPI_Allreduce(send, recv, counts[0], type, op, comm);
}

/* Of the first rank MPI leaves undefined what it receives. */
int MPI_Exscan(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm) {
    (void)send, (void)recv, (void)count, (void)type, (void)op, (void)comm;
    return MPI_SUCCESS;
}

int MPI_Allgather(const void *send, int count, MPI_Datatype type, void *recv, int recv_count,
                  MPI_Datatype recv_type, MPI_Comm comm) {
    (void)recv_count, (void)recv_type, (void)comm;
    return copy(send, recv, type, count);
}

int MPI_Allgatherv(const void *send, int count, MPI_Datatype type, void *recv, const int counts[],
                   const int places[], MPI_Datatype recv_type, MPI_Comm comm) {
    (void)counts, (void)comm;
    return copy(send, (char *)recv + bytes_of(recv_type, places[0]), type, count);
}

int MPI_Alltoall(const void *send, int count, MPI_Datatype type, void *recv, int recv_count,
                 MPI_Datatype recv_type, MPI_Comm comm) {
    return MPI_Allgather(send, count, type, recv, recv_count, recv_type, comm);
}

/* Users' operations have nothing to reduce. */
int MPI_Op_create(MPI_User_function *function, int commutes, MPI_Op *op) {
    (void)function, (void)commutes;
    *op = MPI_SUM;
    return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op *op) {
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

/* --- messages to itself ----------------------------------------------------------------------- */

static _Thread_local void *awaited; /* where the next message goes */

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    (void)type, (void)tag, (void)comm;
    if (from != MPI_PROC_NULL && count > 0) awaited = data;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    (void)tag, (void)comm;
    *request = MPI_REQUEST_NULL;
    return to == MPI_PROC_NULL ? MPI_SUCCESS : copy(data, awaited, type, count);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    (void)count, (void)requests, (void)statuses;
    return MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    *done = 1;
    return MPI_Waitall(count, requests, statuses);
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
    return MPI_Testall(1, request, done, status);
}

/* --- types ------------------------------------------------------------------------------------ */

int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype *out) {
    const size_t bytes = bytes_of(type, count);
    if (bytes > (size_t)(INT_MAX - CONTIGUOUS)) needs_several("a type of more than 800 MB");
    *out = CONTIGUOUS + (int)bytes;
    return MPI_SUCCESS;
}

int MPI_Type_match_size(int class, int size, MPI_Datatype *out) {
    (void)class;
    return MPI_Type_contiguous(size, MPI_BYTE, out);
}

static int scattered(MPI_Datatype *out) {
    *out = SCATTERED;
    return MPI_SUCCESS;
}

int MPI_Type_vector(int count, int length, int stride, MPI_Datatype type, MPI_Datatype *out) {
    (void)count, (void)length, (void)stride, (void)type;
    return scattered(out);
}

int MPI_Type_indexed(int count, const int lengths[], const int places[], MPI_Datatype type,
                     MPI_Datatype *out) {
    (void)count, (void)lengths, (void)places, (void)type;
    return scattered(out);
}

int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint places[],
                           const MPI_Datatype types[], MPI_Datatype *out) {
    (void)count, (void)lengths, (void)places, (void)types;
    return scattered(out);
}

int MPI_Type_commit(MPI_Datatype *type) {
    (void)type;
    return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype *type) {
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

/* --- files ------------------------------------------------------------------------------------ */

/* A handle is the number of the open file, plus one. */
static int number_of(MPI_File file) {
    return (int)(intptr_t)file - 1;
}

int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file) {
    (void)comm, (void)info;
    const int number = open(path, mode == MPI_MODE_WRONLY ? O_WRONLY : O_RDONLY);
    *file = number < 0 ? MPI_FILE_NULL : (MPI_File)((intptr_t)number + 1);
    return number < 0 ? errno : MPI_SUCCESS;
}

int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler handler) {
    (void)file, (void)handler;
    return MPI_SUCCESS;
}

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *data, int count, MPI_Datatype type,
                      MPI_Status *status) {
    const size_t bytes = bytes_of(type, count);
    size_t done = 0;
    while (done < bytes) {
        const ssize_t now =
            pwrite(number_of(file), (const char *)data + done, bytes - done, at + (off_t)done);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return errno;
        if (now == 0) break;
        done += (size_t)now;
    }
    status->count_lo = (int)done;
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count) {
    *count = status->count_lo / (int)bytes_of(type, 1);
    return MPI_SUCCESS;
}

int MPI_File_close(MPI_File *file) {
    const int code = close(number_of(*file));
    *file = MPI_FILE_NULL;
    return code == 0 ? MPI_SUCCESS : errno;
}

/* --- what ScaLAPACK is linked with and calls between processes only --------------------------- */

#define OF_SEVERAL(name, ...)                                                                      \
    int name(__VA_ARGS__) {                                                                        \
        needs_several("a call of " #name);                                                         \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
OF_SEVERAL(MPI_Send, const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
OF_SEVERAL(MPI_Rsend, const void *data, int count, MPI_Datatype type, int to, int tag,
           MPI_Comm comm)
OF_SEVERAL(MPI_Recv, void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
           MPI_Status *status)
OF_SEVERAL(MPI_Sendrecv, const void *out, int count, MPI_Datatype type, int to, int tag, void *in,
           int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
           MPI_Status *status)
OF_SEVERAL(MPI_Pack, const void *from, int count, MPI_Datatype type, void *to, int size, int *place,
           MPI_Comm comm)
OF_SEVERAL(MPI_Unpack, const void *from, int size, int *place, void *to, int count,
           MPI_Datatype type, MPI_Comm comm)
OF_SEVERAL(MPI_Pack_size, int count, MPI_Datatype type, MPI_Comm comm, int *size)
