//go:build pmix && linux && cgo

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_dl.h"

enum { type_string = 3, type_uint32 = 14, scope_global = 3, wrong_type = -1 };

static struct {
	int (*init)(pm_proc *, void *, size_t);
	int (*get)(const pm_proc *, const char *, const void *, size_t, pm_value **);
	int (*put)(uint8_t, const char *, pm_value *);
	int (*commit)(void);
	int (*fence)(const pm_proc *, size_t, const void *, size_t);
	int (*abort)(int, const char *, pm_proc *, size_t);
	int (*finalize)(const void *, size_t);
	const char *(*error)(int);
} pmix;

const char *pm_load(const char *name) {
	void *lib = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	if (lib == NULL)
		return dlerror();
	struct { void **to; const char *name; } all[] = {
		{(void **)&pmix.init, "PMIx_Init"},     {(void **)&pmix.get, "PMIx_Get"},
		{(void **)&pmix.put, "PMIx_Put"},       {(void **)&pmix.commit, "PMIx_Commit"},
		{(void **)&pmix.fence, "PMIx_Fence"},   {(void **)&pmix.abort, "PMIx_Abort"},
		{(void **)&pmix.finalize, "PMIx_Finalize"}, {(void **)&pmix.error, "PMIx_Error_string"},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if ((*all[i].to = dlsym(lib, all[i].name)) == NULL)
			return dlerror();
	return NULL;
}

int pm_init(pm_proc *self) { return pmix.init(self, NULL, 0); }
int pm_fence(void) { return pmix.fence(NULL, 0, NULL, 0); }
int pm_abort(int status, const char *why) { return pmix.abort(status, why, NULL, 0); }
int pm_finalize(void) { return pmix.finalize(NULL, 0); }
const char *pm_error(int status) { return pmix.error(status); }

int pm_put(const char *key, char *text) {
	pm_value v;
	memset(&v, 0, sizeof v);
	v.type = type_string;
	v.data.string = text;
	int status = pmix.put(scope_global, key, &v);
	return status != 0 ? status : pmix.commit();
}

int pm_get_text(const pm_proc *of, const char *key, char **text) {
	pm_value *v = NULL;
	int status = pmix.get(of, key, NULL, 0, &v);
	if (status != 0 || v == NULL)
		return status != 0 ? status : wrong_type;
	if (v->type == type_string && v->data.string != NULL)
		*text = v->data.string;
	else
		status = wrong_type;
	free(v);
	return status;
}

int pm_get_number(const pm_proc *of, const char *key, uint32_t *number) {
	pm_value *v = NULL;
	int status = pmix.get(of, key, NULL, 0, &v);
	if (status != 0 || v == NULL)
		return status != 0 ? status : wrong_type;
	if (v->type == type_uint32)
		*number = v->data.number;
	else
		status = wrong_type;
	free(v);
	return status;
}
