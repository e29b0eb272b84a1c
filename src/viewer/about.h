/* What the viewer's page knows of its data, as JSON. */
#ifndef IKT_VIEWER_ABOUT_H
#define IKT_VIEWER_ABOUT_H

#include "config/value.h"
#include "viewer/points.h"

/* LOCAL. Adds the object (docs/view.md names its members). It can stand in a <script> element:
 * what could end that, or begin another, is escaped; bytes that are no UTF-8 become U+FFFD. The
 * status of the text tells a failure. */
void ikt_viewer_about(const ikt_viewer_settings *settings, const ikt_viewer_points *points,
                      const ikt_pictures *pictures, ikt_text *out);

#endif
