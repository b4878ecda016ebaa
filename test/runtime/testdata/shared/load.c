// Loads the library and calls it, from its first OS thread and from another one.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int (*exercise)(int);

static void *other(void *arg) { return (void *)(long)exercise(200); }

int main(int argc, char **argv) {
	void *lib = dlopen(argv[1], RTLD_NOW);
	if (!lib) {
		puts(dlerror());
		return 1;
	}
	exercise = (int (*)(int))dlsym(lib, "Exercise");
	if (!exercise || exercise(200)) {
		return 1;
	}
	pthread_t t;
	void *result = (void *)1;
	if (pthread_create(&t, NULL, other, NULL) || pthread_join(t, &result) || result) {
		return 1;
	}
	puts("done");
	return 0;
}
