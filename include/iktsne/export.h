/* Marks what the library offers: nothing else of it can be linked with. */
#ifndef IKTSNE_EXPORT_H
#define IKTSNE_EXPORT_H

#if defined(__GNUC__)
#define IKT_API __attribute__((visibility("default")))
#else
#define IKT_API
#endif

/* Around the declarations of a header, for C++. */
#ifdef __cplusplus
#define IKT_BEGIN_C extern "C" {
#define IKT_END_C   }
#else
#define IKT_BEGIN_C
#define IKT_END_C
#endif

#endif
