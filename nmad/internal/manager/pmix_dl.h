// What this package uses of PMIx, whose ABI is that of its standard from version 2 on: the library is loaded at run time, so its headers are
// not needed.
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
	char space[256];
	uint32_t rank;
} pm_proc;

typedef struct {
	uint16_t type;
	union {
		char *string;
		uint32_t number;
		char largest[64];
	} data;
} pm_value;

// pm_load loads the library of that name; NULL, or why not.
const char *pm_load(const char *name);

int pm_init(pm_proc *self);
int pm_put(const char *key, char *text); // and commits
int pm_fence(void);
int pm_abort(int status, const char *why);
int pm_finalize(void);

// pm_get_text returns a copy of a string, to be freed; pm_get_number a number. A status other than 0: there is none.
int pm_get_text(const pm_proc *of, const char *key, char **text);
int pm_get_number(const pm_proc *of, const char *key, uint32_t *number);
const char *pm_error(int status);
