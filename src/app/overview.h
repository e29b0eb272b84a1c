/* What is true of every verb: options, exit codes; and the program in a sentence. */
#ifndef IKT_APP_OVERVIEW_H
#define IKT_APP_OVERVIEW_H

extern const char ikt_program_summary[];

typedef struct {
    const char *name;     /* "threads"; NULL ends the table */
    const char *argument; /* "N" or "" */
    const char *choices;  /* "text|json" or "" */
    const char *help;
} ikt_program_option;

extern const ikt_program_option ikt_program_options[];

typedef struct {
    int code;
    const char *help; /* NULL ends the table */
} ikt_exit_code;

extern const ikt_exit_code ikt_exit_codes[];

#endif
