/* Types of numbers that rows of data consist of. */
#ifndef IKTSNE_TYPE_H
#define IKTSNE_TYPE_H

typedef enum {
    IKT_TYPE_U8,  /* uint8_t */
    IKT_TYPE_F32, /* float */
    IKT_TYPE_F64  /* double */
} ikt_type;

#endif
