/* The library that has the engine, libpm2_mpi.so, lies where this one lies. It is loaded by the first call that needs
 * it: until then the process has no other threads, and may fork. */

typedef int enter_function(struct pm2_call *, struct pm2_shared *);
typedef void room_function(void);

static enter_function *loaded;
static room_function *make_room;

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

/* folder is where this library lies, kept from when it was loaded: a name that a program gives to dlopen may mean
 * another place later. */
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
	/* The threads of the engine take no signals that are the program's: they have what is blocked here. */
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

/* The thread's calls in Go run on a stack of Go's, where the program's handlers for signals run, too, unless they
 * have one of their own (SA_ONSTACK): there is room for them. */
static __thread int roomy __attribute__((tls_model("initial-exec")));

static __attribute__((noinline)) void first_of_thread(void)
{
	pthread_once(&once, load);
	if (__atomic_load_n(&loaded, __ATOMIC_ACQUIRE) != refuse)
		make_room();
	roomy = 1;
}

static inline int enter(struct pm2_call *c, struct pm2_shared *s)
{
	if (__builtin_expect(!roomy, 0))
		first_of_thread();
	return __atomic_load_n(&loaded, __ATOMIC_RELAXED)(c, s);
}
