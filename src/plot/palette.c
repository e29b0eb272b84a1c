/* Colours of classes and of numbers.
 *
 * The sets of 10 and 24 were found by a search over the sRGB cube (lightness 32 to 74, chroma 32
 * to 82: visible on white, not glaring) that maximises the least CIE-Lab distance of all pairs as
 * seen with normal vision (weight 0.55), protanopia and deuteranopia.
 * The colours of numbers follow a path from blue (lightness 18) over teal to yellow (88) in equal
 * CIE-Lab steps, with linear interpolation between 17 anchors. */
#include "plot/palette.h"

#include <math.h>

static const ikt_rgb okabe_ito[8] = {{0x00, 0x72, 0xb2}, {0xe6, 0x9f, 0x00}, {0x00, 0x9e, 0x73},
                                     {0xd5, 0x5e, 0x00}, {0x56, 0xb4, 0xe9}, {0xcc, 0x79, 0xa7},
                                     {0x00, 0x00, 0x00}, {0xf0, 0xe4, 0x42}};

static const ikt_rgb ten[10] = {{0x5a, 0x87, 0xff}, {0xa5, 0x5a, 0x00}, {0x1e, 0x87, 0x69},
                                {0x96, 0x0f, 0xa5}, {0x96, 0xc3, 0x00}, {0xa5, 0x00, 0x2d},
                                {0x1e, 0xc3, 0xff}, {0x69, 0x3c, 0x69}, {0xff, 0x96, 0xb4},
                                {0xc3, 0xb4, 0x78}};

static const ikt_rgb twenty_four[IKT_PALETTE_DISTINCT] = {
    {0x2d, 0x87, 0xb4}, {0xd2, 0xb4, 0x00}, {0xa5, 0x00, 0x0f}, {0x5a, 0x2d, 0xb4},
    {0x87, 0xc3, 0x87}, {0x69, 0x3c, 0x69}, {0xf0, 0xa5, 0x5a}, {0x4b, 0xc3, 0xc3},
    {0x87, 0x2d, 0x3c}, {0x5a, 0x5a, 0xb4}, {0xe1, 0x1e, 0x69}, {0xb4, 0x78, 0xff},
    {0x96, 0xb4, 0xff}, {0xf0, 0x78, 0xa5}, {0x87, 0x0f, 0x87}, {0x00, 0x5a, 0x0f},
    {0xa5, 0x96, 0x5a}, {0x3c, 0x96, 0x1e}, {0xf0, 0x5a, 0x2d}, {0x00, 0x87, 0x69},
    {0xe1, 0x69, 0xd2}, {0x96, 0x5a, 0x3c}, {0x00, 0x69, 0xf0}, {0xe1, 0x0f, 0x96}};

static const ikt_rgb anchors[17] = {{0x2d, 0x1e, 0x6b}, {0x00, 0x30, 0x7e}, {0x00, 0x39, 0x79},
                                    {0x00, 0x44, 0x79}, {0x00, 0x51, 0x7b}, {0x00, 0x61, 0x82},
                                    {0x00, 0x75, 0x8a}, {0x01, 0x87, 0x8f}, {0x00, 0x96, 0x91},
                                    {0x00, 0xa2, 0x8e}, {0x00, 0xad, 0x89}, {0x2b, 0xb6, 0x80},
                                    {0x61, 0xc0, 0x78}, {0x89, 0xc9, 0x71}, {0xae, 0xd0, 0x6f},
                                    {0xd2, 0xd7, 0x71}, {0xf4, 0xdd, 0x78}};

static const ikt_rgb white = {255, 255, 255}, black_ink = {0, 0, 0};

ikt_theme ikt_theme_get(bool black) {
    if (black)
        return (ikt_theme){
            {0, 0, 0}, {235, 235, 235}, {120, 120, 120}, {86, 180, 233}, {150, 150, 150}};
    return (ikt_theme){
        {255, 255, 255}, {25, 25, 25}, {150, 150, 150}, {0, 72, 130}, {165, 165, 165}};
}

static uint8_t mix_channel(uint8_t under, uint8_t over, double opacity) {
    return (uint8_t)lround(under + (over - under) * opacity);
}

ikt_rgb ikt_rgb_mix(ikt_rgb under, ikt_rgb over, double opacity) {
    return (ikt_rgb){mix_channel(under.r, over.r, opacity), mix_channel(under.g, over.g, opacity),
                     mix_channel(under.b, over.b, opacity)};
}

/* Class 24 and on: the cycle darker, then lighter, then all of it again. The two mixtures are those
 * that keep the 72 colours furthest apart. */
static ikt_rgb cycled(int64_t index) {
    ikt_rgb base = twenty_four[index % IKT_PALETTE_DISTINCT];
    int64_t round = index / IKT_PALETTE_DISTINCT % 3;
    return round == 0   ? base
           : round == 1 ? ikt_rgb_mix(base, black_ink, 0.25)
                        : ikt_rgb_mix(base, white, 0.575);
}

ikt_rgb ikt_palette_class(int64_t index, int64_t count, bool black) {
    if (count > 10) return cycled(index);
    /* The darkest of the ten would drown in black; lifting the 24 would merge some of them. */
    if (count > 8) return black ? ikt_rgb_mix(ten[index], white, 0.15) : ten[index];
    ikt_rgb colour = okabe_ito[index];
    bool unseen = black && colour.r + colour.g + colour.b == 0;
    return unseen ? (ikt_rgb){0xdd, 0xdd, 0xdd} : colour;
}

ikt_rgb ikt_palette_value(double position, bool black) {
    enum { PIECES = sizeof anchors / sizeof *anchors - 1 };
    double least = black ? 0.2 : 0;
    double at = (least + (1 - least) * fmin(fmax(position, 0), 1)) * PIECES;
    int piece = (int)at < PIECES ? (int)at : PIECES - 1;
    return ikt_rgb_mix(anchors[piece], anchors[piece + 1], at - piece);
}
