/* Letters of our own beyond ASCII. See letters.h.
 *
 * Method: most letters are others with a mark, or have the shape of others (the Greek and the
 * Cyrillic A are the Latin one; small Cyrillic letters are small capitals), so a list of pairs says
 * what each is made of, and only what is left has a path.
 * Advantage: three scripts in the same strokes as ASCII, on every machine. Disadvantage: two marks
 * on one letter, as Vietnamese has them, are left to the fonts of the system. */
#include "plot/letters.h"

#include <stdlib.h>
#include <string.h>

#include "base/encoding.h"

#define SMALL     (8.0 / 12) /* height of small capitals in that of capitals */
#define MARK_OVER 1.8        /* grid units between a letter and the mark on it */

static const struct {
    const char *letter;
    ikt_glyph glyph;
} glyphs[] = {
    {"Æ", {12.5, "M12.5 0L6.5 0L6.5 12L12.2 12M6.5 6.3L11.6 6.3M6.5 12L0 0M2 3.8L6.5 3.8"}},
    {"æ",
     {11.6, "M0.5 6.7Q1.2 8.2 3.2 8.2Q5.8 8.2 5.8 5.2L5.8 2.8Q5.8 0 8.6 0Q10.6 0 11.3 1.7"
            "M5.8 4.4L11.6 4.4Q11.6 8.2 8.8 8.2Q5.8 8.2 5.8 4.8L3.2 4.6Q0 4.4 0 2.2Q0 0 2.5 0"
            "Q5 0 5.8 2.8"}},
    {"Œ", {13, "M13 0L4.6 0Q0 0 0 6Q0 12 4.6 12L12.8 12M7 0L7 12M7 6.3L12 6.3"}},
    {"œ",
     {12.2, "M6 4.4L12.2 4.4Q12.2 8.2 9.2 8.2Q6 8.2 6 4.1Q6 0 9 0Q11.2 0 12 1.7"
            "M6 4.1Q6 8.2 3 8.2Q0 8.2 0 4.1Q0 0 3 0Q6 0 6 4.1"}},
    {"Ø", {9.2, "M4.6 12Q9.2 12 9.2 6Q9.2 0 4.6 0Q0 0 0 6Q0 12 4.6 12M0.6 -0.8L8.6 12.8"}},
    {"ø", {7.2, "M3.6 8.2Q7.2 8.2 7.2 4.1Q7.2 0 3.6 0Q0 0 0 4.1Q0 8.2 3.6 8.2M0.4 -1L6.8 9.2"}},
    {"ß",
     {6.8, "M0 0L0 8.6Q0 12 3.2 12Q6.2 12 6.2 9.4Q6.2 7.6 4.2 6.9Q3 6.3 4.4 5.4Q6.8 4.4 6.8 2.4"
           "Q6.8 0 4 0Q2.8 0 2 0.6"}},
    {"Þ", {7.6, "M0 0L0 12M0 9.4L4 9.4Q7.6 9.4 7.6 6.3Q7.6 3.2 4 3.2L0 3.2"}},
    {"þ", {7, "M0 12L0 -3.8M0 4.1Q0 8.2 3.6 8.2Q7 8.2 7 4.1Q7 0 3.6 0Q0 0 0 4.1"}},
    {"Đ", {10, "M1.6 0L1.6 12L5 12Q10 12 10 6Q10 0 5 0L1.6 0M0 6L5 6"}},
    {"ð",
     {7, "M1.4 11.6Q7 10.4 7 4.1Q7 0 3.5 0Q0 0 0 3.8Q0 7.4 3.4 7.4Q6.4 7.4 6.8 5M2 8.9L6 11.8"}},
    {"Ł", {7.3, "M1 12L1 0L7.3 0M0 4.6L4.4 7.8"}},
    {"ł", {3.2, "M1.4 12L1.4 2.2Q1.4 0 3.2 0M0 4.8L3.2 7.6"}},
    {"đ", {8, "M7 12L7 0M7 4.1Q7 8.2 3.4 8.2Q0 8.2 0 4.1Q0 0 3.4 0Q7 0 7 4.1M4 10.2L8 10.2"}},
    {"Ħ", {9.6, "M0.8 0L0.8 12M8.8 0L8.8 12M0.8 5.6L8.8 5.6M0 8.8L9.6 8.8"}},
    {"ħ", {7.4, "M1 12L1 0M1 4.6Q1 8.2 4.4 8.2Q7.4 8.2 7.4 4.8L7.4 0M0 10.2L4 10.2"}},
    {"ı", {0, "M0 8L0 0"}},
    {"Ŋ", {8.4, "M0 0L0 12L8.4 0L8.4 12M8.4 0L8.4 -1.6Q8.4 -3.6 5.6 -3.4"}},
    {"ŋ", {6.4, "M0 8L0 0M0 4.6Q0 8.2 3.4 8.2Q6.4 8.2 6.4 4.8L6.4 -1.2Q6.4 -3.8 3.8 -3.6"}},
    {"¡", {0, "M0 -4L0 4M0 7.8L0 8"}},
    {"¿", {6, "M6 -1.4Q5.8 -4 3 -4Q0 -4 0 -1.2Q0 0.4 1.5 1.5Q3 2.6 3 4.4M3 7.8L3 8"}},
    {"«", {6, "M3 7.4L0 4.4L3 1.4M6 7.4L3 4.4L6 1.4"}},
    {"»", {6, "M0 7.4L3 4.4L0 1.4M3 7.4L6 4.4L3 1.4"}},
    {"–", {7, "M0 5L7 5"}},
    {"—", {12, "M0 5L12 5"}},
    {"−", {7.5, "M0 5L7.5 5"}},
    {"‘", {0.8, "M0.8 12Q0 11.2 0 9.8L0 9.4"}},
    {"’", {0.8, "M0.8 12L0.8 11.6Q0.8 10.2 0 9.4"}},
    {"“", {3.2, "M0.8 12Q0 11.2 0 9.8L0 9.4M3.2 12Q2.4 11.2 2.4 9.8L2.4 9.4"}},
    {"”", {3.2, "M0.8 12L0.8 11.6Q0.8 10.2 0 9.4M3.2 12L3.2 11.6Q3.2 10.2 2.4 9.4"}},
    {"…", {6, "M0 0L0 0.2M3 0L3 0.2M6 0L6 0.2"}},
    {"·", {0, "M0 5L0 5.2"}},
    {"°", {3.4, "M1.7 12Q3.4 12 3.4 10.3Q3.4 8.6 1.7 8.6Q0 8.6 0 10.3Q0 12 1.7 12"}},
    {"±", {7.5, "M0 6L7.5 6M3.75 9.75L3.75 2.25M0 0L7.5 0"}},
    {"×", {6, "M0 2L6 8M0 8L6 2"}},
    {"÷", {7.5, "M0 5L7.5 5M3.75 8.6L3.75 8.8M3.75 1.2L3.75 1.4"}},
    {"≤", {7, "M7 10L0 6.2L7 2.4M0 0L7 0"}},
    {"≥", {7, "M0 10L7 6.2L0 2.4M0 0L7 0"}},
    {"→", {9, "M0 5L9 5M6 8L9 5L6 2"}},
    {"²", {4.4, "M0.2 10.4Q0.2 12 2.2 12Q4.2 12 4.2 10.2Q4.2 9 0.1 5.6L4.4 5.6"}},
    {"³",
     {4.4, "M0.2 11Q0.8 12 2.1 12Q4.1 12 4.1 10.4Q4.1 9 2 9Q4.4 9 4.4 7.2Q4.4 5.6 2.1 5.6"
           "Q0.6 5.6 0 6.8"}},
    {"€",
     {9, "M9 10Q7.8 12 5.6 12Q1.4 12 1.4 6Q1.4 0 5.6 0Q7.8 0 9 2M0 7.2L6.4 7.2M0 4.8L6.4 4.8"}},
    /* Greek */
    {"Γ", {6.6, "M0 0L0 12L6.6 12"}},
    {"Δ", {9, "M0 0L4.5 12L9 0L0 0"}},
    {"Θ", {9.2, "M4.6 12Q9.2 12 9.2 6Q9.2 0 4.6 0Q0 0 0 6Q0 12 4.6 12M2.6 6L6.6 6"}},
    {"Λ", {8.8, "M0 0L4.4 12L8.8 0"}},
    {"Ξ", {7.6, "M0 12L7.6 12M1 6.2L6.6 6.2M0 0L7.6 0"}},
    {"Π", {8.4, "M0 0L0 12L8.4 12L8.4 0"}},
    {"Σ", {7.2, "M7.2 12L0 12L4.4 6.2L0 0L7.2 0"}},
    {"Φ", {9.4, "M4.7 12L4.7 0M4.7 9.8Q9.4 9.8 9.4 6Q9.4 2.2 4.7 2.2Q0 2.2 0 6Q0 9.8 4.7 9.8"}},
    {"Ψ", {9.2, "M4.6 12L4.6 0M0 12L0 8.2Q0 4 4.6 4Q9.2 4 9.2 8.2L9.2 12"}},
    {"Ω", {9.4, "M0 0L3.2 0Q0 3.2 0 7Q0 12 4.7 12Q9.4 12 9.4 7Q9.4 3.2 6.2 0L9.4 0"}},
    {"α", {7.2, "M7 8.2Q6 0 2.9 0Q0 0 0 4.1Q0 8.2 2.9 8.2Q5.6 8.2 7.2 0"}},
    {"β",
     {6.8, "M0 -3.8L0 8.6Q0 12 3.2 12Q6.2 12 6.2 9.4Q6.2 6.8 2.8 6.6Q6.8 6.4 6.8 3.2Q6.8 0 3.4 0"
           "Q1 0 0 1.8"}},
    {"γ", {7, "M0 7.8Q2.6 8.4 3.5 0L7 8M3.5 0L3.2 -3.8"}},
    {"δ",
     {7, "M6 11Q4.6 12.4 2.8 11.8Q0.8 10.8 3 8.6Q7 6.4 7 3.8Q7 0 3.5 0Q0 0 0 3.6Q0 7.2 3.8 7.6"}},
    {"ε",
     {5.8, "M5.6 6.6Q4.8 8.2 2.9 8.2Q0.4 8.2 0.4 6.2Q0.4 4.3 3.2 4.3Q0 4.3 0 2.2Q0 0 2.9 0"
           "Q5 0 5.8 1.7"}},
    {"ζ", {5.6, "M0.8 12L5.4 12Q0 6.6 0 2.8Q0 0.2 3.2 0.2Q5.6 0.2 5.6 -1.6Q5.6 -3.4 3.4 -3.6"}},
    {"η", {6.4, "M0 8L0 0M0 4.6Q0 8.2 3.4 8.2Q6.4 8.2 6.4 4.8L6.4 -3.8"}},
    {"θ", {6.6, "M3.3 12Q6.6 12 6.6 6Q6.6 0 3.3 0Q0 0 0 6Q0 12 3.3 12M0 6L6.6 6"}},
    {"ι", {1.6, "M0 8L0 2Q0 0 1.6 0.1"}},
    {"κ", {5.8, "M0 8L0 0M5.6 8L0 3.6M2.2 4.9L5.8 0"}},
    {"λ", {7, "M0.6 12Q2.2 12 2.8 10L7 0M3.6 7.4L0 0"}},
    {"μ", {6.2, "M0 8L0 -3.8M0 3.2Q0 0 3 0Q6.2 0 6.2 3.6M6.2 8L6.2 0"}},
    {"ξ",
     {5.8, "M0.8 12L5 12Q1 11.6 1 9.4Q1 7.2 4.4 7.2Q0 7.2 0 3.4Q0 0.4 3.2 0.2Q5.8 0 5.8 -1.6"
           "Q5.8 -3.4 3.6 -3.6"}},
    {"π", {7.6, "M0 8L7.6 8M1.8 8L1.8 0M5.8 8L5.8 1.8Q5.8 0 7.6 0.2"}},
    {"ρ", {7, "M0 -3.8L0 4.1Q0 8.2 3.5 8.2Q7 8.2 7 4.1Q7 0 3.5 0Q0 0 0 4.1"}},
    {"σ", {7.4, "M7.4 8L3.4 8Q0 8 0 4Q0 0 3.4 0Q6.8 0 6.8 4Q6.8 7 4.6 8"}},
    {"ς",
     {5.6, "M5.6 6.8Q5 8.2 3.2 8.2Q0 8.2 0 4.4Q0 1 3.2 0.6Q5.4 0.2 5.4 -1.4Q5.4 -3.2 3.4 -3.4"}},
    {"τ", {5.6, "M0 8L5.6 8M2.6 8L2.6 2Q2.6 0 4.8 0.1"}},
    {"υ", {6.4, "M0 8L0 3.4Q0 0 3.2 0Q6.4 0 6.4 4L6.4 8"}},
    {"φ", {8.4, "M4.2 12L4.2 -3.8M4.2 8.2Q8.4 8.2 8.4 4.1Q8.4 0 4.2 0Q0 0 0 4.1Q0 8.2 4.2 8.2"}},
    {"χ", {6.6, "M0 8Q1.4 8.4 2 7L4.6 -2.6Q5.2 -4 6.6 -3.6M6.2 8L0.2 -3.8"}},
    {"ψ", {8.4, "M4.2 12L4.2 -3.8M0 8L0 4Q0 0 4.2 0Q8.4 0 8.4 4L8.4 8"}},
    {"ω",
     {9.6, "M1.6 8Q0 6 0 3.6Q0 0 2.4 0Q4.8 0 4.8 3.4L4.8 5M4.8 3.4Q4.8 0 7.2 0Q9.6 0 9.6 3.6"
           "Q9.6 6 8 8"}},
    /* Cyrillic */
    {"Б", {7.6, "M6.8 12L0 12L0 0L4 0Q7.6 0 7.6 3.4Q7.6 6.8 4 6.8L0 6.8"}},
    {"Д", {10, "M0 -2.4L0 0L10 0L10 -2.4M8.4 0L8.4 12L3.2 12Q3.2 3.6 1.4 0"}},
    {"Ж", {12, "M6 12L6 0M0.4 12L4.4 6.2L0 0M4.4 6.2L7.6 6.2M11.6 12L7.6 6.2L12 0"}},
    {"З",
     {7.2, "M0.4 10Q1.4 12 3.6 12Q6.8 12 6.8 9.2Q6.8 6.4 3 6.4Q7.2 6.4 7.2 3.2Q7.2 0 3.6 0"
           "Q0.8 0 0 2.4"}},
    {"И", {8.4, "M0 12L0 0L8.4 12L8.4 0"}},
    {"Л", {8.6, "M0 0Q2 0.4 2.2 5L2.6 12L8.6 12L8.6 0"}},
    {"У", {8.2, "M0 12L4.2 4.6M8.2 12L4 2Q3.2 0 1 0"}},
    {"Ц", {9.6, "M0 12L0 0L9.6 0L9.6 -2.4M8.2 12L8.2 0"}},
    {"Ч", {7.6, "M0 12L0 8.4Q0 5.2 3.4 5.2Q6 5.2 7.6 6.6M7.6 12L7.6 0"}},
    {"Ш", {11.4, "M0 12L0 0L11.4 0L11.4 12M5.7 12L5.7 0"}},
    {"Щ", {12.8, "M0 12L0 0L12.8 0L12.8 -2.4M5.7 12L5.7 0M11.4 12L11.4 0"}},
    {"Ъ", {9.6, "M0 12L2.4 12L2.4 0L6 0Q9.6 0 9.6 3.4Q9.6 6.8 6 6.8L2.4 6.8"}},
    {"Ы", {10.4, "M0 12L0 0L3.4 0Q6.8 0 6.8 3.4Q6.8 6.8 3.4 6.8L0 6.8M10.4 12L10.4 0"}},
    {"Ь", {7.2, "M0 12L0 0L3.6 0Q7.2 0 7.2 3.4Q7.2 6.8 3.6 6.8L0 6.8"}},
    {"Э", {8.2, "M0.2 9.6Q1.2 12 3.8 12Q8.2 12 8.2 6Q8.2 0 3.8 0Q1 0 0 2.6M3 6.2L8.2 6.2"}},
    {"Ю", {12, "M0 12L0 0M0 6L4 6M8 12Q12 12 12 6Q12 0 8 0Q4 0 4 6Q4 12 8 12"}},
    {"Я", {7.6, "M7.6 0L7.6 12L3.6 12Q0 12 0 8.8Q0 5.6 3.6 5.6L7.6 5.6M3.4 5.6L0 0"}},
    {"Є", {8.2, "M8.2 9.6Q7.2 12 4.6 12Q0 12 0 6Q0 0 4.6 0Q7.2 0 8.2 2.6M0 6.2L5 6.2"}},
    {"Ґ", {6.6, "M0 0L0 12L6 12L6 14"}},
    {"б", {7, "M6.4 12Q5.6 10.8 3.6 10.6Q0 10.2 0 4.6Q0 0 3.5 0Q7 0 7 4Q7 8 3.6 8Q1 8 0.2 5"}},
};

/* What is made of another: each second letter of `pairs` of the one before it. */
typedef struct {
    uint32_t combining; /* the mark as a character of its own; 0: no mark */
    double scale;
    const char *mark; /* a path whose middle is 0, and whose lower end where it stands above */
    bool is_below;    /* the mark hangs on the baseline */
    const char *pairs;
} derivation;

static const derivation derivations[] = {
    {0, 1, "", false,
     "AΑBΒEΕZΖHΗIΙKΚMΜNΝOΟPΡTΤYΥXΧvνoο \u00a0μµĐÐAАBВEЕKКMМHНOОPР"
     "CСTТXХIІJЈSЅΓГΠПΦФaаeеoоpрcсyуxхiіjјsѕφф"},
    {0, SMALL, "", false,
     "ВвГгДдЖжЗзИиКкЛлМмНнПпТтЦцЧчШшЩщЪъЫыЬьЭэЮю"
     "ЯяЄєҐґ"},
    {0x300, 1, "M-1.6 2.4L0.6 0", false, "AÀEÈIÌNǸOÒUÙWẀYỲaàeèıìnǹoòuùwẁyỳ"},
    {0x301, 1, "M1.6 2.4L-0.6 0", false,
     "AÁCĆEÉIÍLĹNŃOÓRŔSŚUÚWẂYÝZŹaácćeéıílĺnńoórŕsśuúwẃyýzź"
     "ΑΆΕΈΗΉΙΊΟΌΥΎΩΏαάεέηήιίοόυύωώГЃгѓКЌкќ"},
    {0x302, 1, "M-2 0L0 2.4L2 0", false,
     "AÂCĈEÊGĜHĤIÎJĴOÔSŜUÛWŴYŶ"
     "aâcĉeêgĝhĥıîoôsŝuûwŵyŷ"},
    {0x303, 1, "M-2.4 0.3Q-1.8 1.9 -0.7 1.2Q0.7 0.1 1.4 0.5Q2.1 0.9 2.4 1.9", false,
     "AÃEẼIĨNÑOÕUŨVṼYỸaãeẽıĩnñoõuũvṽyỹ"},
    {0x304, 1, "M-2.2 1L2.2 1", false, "AĀEĒIĪOŌUŪaāeēıīoōuū"},
    {0x306, 1, "M-2.2 2.2Q-1.8 0 0 0Q1.8 0 2.2 2.2", false,
     "AĂEĔGĞIĬOŎUŬ"
     "aăeĕgğıĭoŏuŭИЙийУЎуў"},
    {0x307, 1, "M0 1L0 1.2", false, "CĊEĖGĠIİZŻcċeėgġzż"},
    {0x308, 1, "M-1.7 1L-1.7 1.2M1.7 1L1.7 1.2", false,
     "AÄEËIÏOÖUÜWẄYŸaäeëıïoöuüwẅyÿЕЁеёІЇıїΙΪΥΫιϊυϋ"},
    {0x30a, 1, "M0 2.8Q1.5 2.8 1.5 1.4Q1.5 0 0 0Q-1.5 0 -1.5 1.4Q-1.5 2.8 0 2.8", false,
     "AÅUŮaåuů"},
    {0x30b, 1, "M-0.4 2.4L-1.6 0M2.2 2.4L1 0", false, "OŐUŰoőuű"},
    {0x30c, 1, "M-2 2.4L0 0L2 2.4", false,
     "AǍCČDĎEĚGǦLĽNŇOǑRŘSŠTŤUǓZŽ"
     "aǎcčdďeěgǧlľnňoǒrřsštťuǔzž"},
    {0x326, 1, "M0.5 -1.8L-0.4 -3.8", true, "GĢKĶLĻNŅRŖSȘTȚgģkķlļnņrŗsștț"},
    {0x327, 1, "M0 0L0 -1.2Q1.7 -1.4 1.4 -2.6Q1 -3.9 -1.4 -3.4", true, "CÇSŞTŢcçsştţ"},
    {0x328, 1, "M2 0Q0.2 -1.6 0.9 -2.8Q1.5 -3.6 2.7 -3.2", true, "AĄEĘIĮUŲaąeęiįuų"},
};

enum { DERIVATIONS = sizeof derivations / sizeof *derivations };

/* How high the path reaches: its numbers come in pairs of x and y. */
static double top_of(const char *path) {
    double top = 0;
    for (int64_t numbers = 0; *path;) {
        char *end;
        const double value = strtod(path, &end);
        if (end == path) {
            path++;
            continue;
        }
        if (numbers++ % 2 == 1 && value > top) top = value;
        path = end;
    }
    return top;
}

static void put_mark(const derivation *by, ikt_letter *letter) {
    letter->mark = by->mark;
    letter->mark_x = letter->scale * letter->glyph.width / 2;
    letter->mark_y = by->is_below ? 0 : letter->scale * top_of(letter->glyph.path) + MARK_OVER;
}

/* What a character is made of, and how; 0: it is no other's. */
static uint32_t base_of(uint32_t point, const derivation **by) {
    for (int d = 0; d < DERIVATIONS; d++) {
        const char *at = derivations[d].pairs;
        for (uint32_t base; (base = ikt_utf8_next(&at)) != 0;) {
            if (ikt_utf8_next(&at) != point) continue;
            *by = &derivations[d];
            return base;
        }
    }
    return 0;
}

static bool find_glyph(uint32_t point, ikt_glyph *glyph) {
    const ikt_glyph *ascii = ikt_ascii_glyph(point);
    if (ascii) *glyph = *ascii;
    for (size_t g = 0; !ascii && g < sizeof glyphs / sizeof *glyphs; g++) {
        const char *at = glyphs[g].letter;
        if (ikt_utf8_next(&at) != point) continue;
        *glyph = glyphs[g].glyph;
        return true;
    }
    return ascii != NULL;
}

bool ikt_letter_find(uint32_t point, ikt_letter *letter) {
    const derivation *by = NULL;
    *letter = (ikt_letter){.scale = 1, .mark = ""};
    if (find_glyph(point, &letter->glyph)) return true;
    const uint32_t base = base_of(point, &by);
    if (base == 0 || !ikt_letter_find(base, letter)) return false;
    letter->scale *= by->scale;
    if (by->mark[0]) put_mark(by, letter);
    return true;
}

bool ikt_letter_combine(uint32_t point, ikt_letter *letter) {
    for (int d = 0; d < DERIVATIONS && !letter->mark[0]; d++) {
        if (derivations[d].combining != point || !point) continue;
        put_mark(&derivations[d], letter);
        return true;
    }
    return false;
}
