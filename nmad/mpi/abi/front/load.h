/* The library that has the engine, libpm2_mpi.so, lies where this one lies. It is loaded by the first call that needs it: until then the process has no other threads, and may fork. */

typedef int enter_function(struct pm2_call *, struct pm2_shared *);

static enter_function *loaded;

static __attribute__((noreturn)) void cannot_load(const char *why)
{
	fprintf(stderr, "libmpi_abi: cannot load libpm2_mpi.so, which is to lie beside libmpi_abi.so.1: %s\n", why ? why : "it is another version");
	exit(1);
}

/* refuse is what calls come to in a process that was forked later: it has none of the threads of the engine. */
static int refuse(struct pm2_call *c, struct pm2_shared *s)
{
	(void)c, (void)s;
	fprintf(stderr, "libmpi_abi: a process that was forked after MPI_Init, or another call that needs the engine, cannot call MPI: it may call exec, or fork earlier\n");
	_exit(1);
}

/* in_child has all calls of a child refused, those too that do not cross. */
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

static void load(void)
{
	Dl_info self;
	char path[PATH_MAX];
	const char *slash;
	void *library;
	if (dladdr((void *)&shared, &self) == 0 || self.dli_fname == NULL)
		cannot_load("libmpi_abi does not know where it lies itself");
	slash = strrchr(self.dli_fname, '/');
	if (snprintf(path, sizeof path, "%.*slibpm2_mpi.so", slash ? (int)(slash - self.dli_fname) + 1 : 0, self.dli_fname) >= (int)sizeof path)
		cannot_load("its path is too long");
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (library == NULL)
		cannot_load(dlerror());
	pthread_atfork(NULL, NULL, in_child);
	__atomic_store_n(&loaded, (enter_function *)dlsym(library, "pm2_enter"), __ATOMIC_RELEASE);
	if (loaded == NULL)
		cannot_load(dlerror());
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static inline int enter(struct pm2_call *c, struct pm2_shared *s)
{
	enter_function *f = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);
	if (__builtin_expect(f == NULL, 0)) {
		pthread_once(&once, load);
		f = loaded;
	}
	return f(c, s);
}
