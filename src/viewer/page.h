/* The viewer's page, as the build put it together from page.html, page.css and the scripts
 * (cmake/IktPage.cmake): what stands before the title, from there to the data, and behind them. */
#ifndef IKT_VIEWER_PAGE_H
#define IKT_VIEWER_PAGE_H

#include <stddef.h>

enum { IKT_PAGE_PARTS = 3 };

typedef struct {
    const unsigned char *text; /* [length] UTF-8, without a terminating zero */
    size_t length;
} ikt_page_part;

extern const ikt_page_part ikt_page_parts[IKT_PAGE_PARTS];

#endif
