/* libpm2_mpi.so, the library that has the engine, lies in the folder of this one. The first call that crosses
 * loads it: until then the process has no threads of Go's, and may fork. */

typedef int enter_function(struct pm2_call *, struct pm2_shared *);
typedef void room_function(void);

static enter_function *loaded; /* pm2_enter of Go; NULL: not loaded; refuse in a child. Written once by load, read by all threads */
static room_function *make_room; /* pm2_make_room of Go; written before loaded */

static __attribute__((noreturn)) void cannot_load(const char *why)
{
	fprintf(stderr, "libmpi_abi: cannot load libpm2_mpi.so, which is to lie beside libmpi_abi.so.1: %s\n", why ? why : "it is another version");
	exit(1);
}

/* refuse takes the place of pm2_enter in a process that was forked after the library was loaded: such a child has
 * none of the engine's threads. */
static int refuse(struct pm2_call *c, struct pm2_shared *s)
{
	(void)c, (void)s;
	fprintf(stderr, "libmpi_abi: a process that was forked after MPI_Init, or another call that needs the engine, cannot call MPI: it may call exec, or fork earlier\n");
	_exit(1);
}

/* in_child runs in a forked child. From then on C moves no messages there, and each call that crosses ends the
 * child. */
static void in_child(void)
{
	int i;
	__atomic_store_n(&loaded, refuse, __ATOMIC_RELAXED);
	shared.world.ways = NULL;
	for (i = 0; i < PM2_COMMS; i++)
		shared.comms[i].ways = NULL;
	for (i = 0; i < PM2_SLIPS; i++)
		shared.slips[i] = NULL;
}

/* folder is the folder of this library, with a slash at its end; empty: not known. It is determined when the library is
 * loaded, because a relative name that was given to dlopen may mean another place later. */
static char folder[PATH_MAX];

static __attribute__((constructor)) void find_folder(void)
{
	Dl_info self;
	char *slash;
	if (dladdr((void *)&shared, &self) == 0 || self.dli_fname == NULL || realpath(self.dli_fname, folder) == NULL) {
		*folder = 0;
		return;
	}
	slash = strrchr(folder, '/');
	slash[1] = 0;
}

static void load(void)
{
	char path[PATH_MAX];
	void *library;
	sigset_t all, own;
	if (*folder == 0)
		cannot_load("libmpi_abi does not know where it lies itself");
	if (snprintf(path, sizeof path, "%slibpm2_mpi.so", folder) >= (int)sizeof path)
		cannot_load("its path is too long");
	/* All signals are blocked while the engine starts its threads. These inherit that, so they get no signal of
	 * the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &own);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	pthread_sigmask(SIG_SETMASK, &own, NULL);
	if (library == NULL)
		cannot_load(dlerror());
	pthread_atfork(NULL, NULL, in_child);
	make_room = (room_function *)dlsym(library, "pm2_make_room");
	__atomic_store_n(&loaded, (enter_function *)dlsym(library, "pm2_enter"), __ATOMIC_RELEASE);
	if (loaded == NULL || make_room == NULL)
		cannot_load(dlerror());
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* has_room: the stack on which this thread's calls run in Go has room for the program's signal handlers, which run
 * there, too, unless they have a stack of their own (SA_ONSTACK). */
static __thread int has_room __attribute__((tls_model("initial-exec")));

/* first_of_thread is called before the first crossing of each thread. */
static __attribute__((noinline)) void first_of_thread(void)
{
	pthread_once(&once, load);
	if (__atomic_load_n(&loaded, __ATOMIC_ACQUIRE) != refuse)
		make_room();
	has_room = 1;
}

/* enter calls Go, and returns the error code. */
static inline int enter(struct pm2_call *c, struct pm2_shared *s)
{
	if (__builtin_expect(!has_room, 0))
		first_of_thread();
	return __atomic_load_n(&loaded, __ATOMIC_RELAXED)(c, s);
}
