//go:build ofi

#define _GNU_SOURCE
#include "fabric.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

// The provider keeps what it needs in the first field.
struct pm2_ofi_op {
	struct fi_context2 context;
	uint64_t id;
};

struct pm2_ofi {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	void *desc;
	struct pm2_ofi_shape shape;
	struct pm2_ofi_event events[2 * PM2_OFI_BATCH + 1];
	struct pm2_ofi_op *ops; // of slots, then of buffers
	uint8_t *memory;
	size_t size;
	uint64_t inject;
	uint8_t local, bound;
};

// Providers install handlers of signals, which Go's runtime needs for itself.
struct handlers {
	struct sigaction was[65];
};

static void remember(struct handlers *h) {
	for (int s = 1; s <= 64; s++)
		if (sigaction(s, NULL, &h->was[s]) != 0)
			h->was[s].sa_handler = SIG_ERR;
}

static void restore(const struct handlers *h) {
	struct sigaction now;
	for (int s = 1; s <= 64; s++)
		if (h->was[s].sa_handler != SIG_ERR && sigaction(s, NULL, &now) == 0 && now.sa_handler != h->was[s].sa_handler)
			sigaction(s, &h->was[s], NULL);
}

static struct fi_info *hints(const char *provider) {
	struct fi_info *h = fi_allocinfo();
	if (!h)
		return NULL;
	if (*provider)
		h->fabric_attr->prov_name = strdup(provider);
	h->ep_attr->type = FI_EP_RDM;
	h->caps = FI_MSG | FI_MULTI_RECV | FI_RMA | FI_READ | FI_REMOTE_READ;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
	return h;
}

// Providers that others are to be preferred to: shm reaches no other host, and the others are there for lack of better ones.
static int last_resort(const char *name) {
	static const char *names[] = {"shm", "udp", "sockets", "net"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return 2;
	return strncmp(name, "tcp", 3) == 0;
}

static int at_host(const struct fi_info *i, const char *host, int family) {
	unsigned char want[16];
	const struct sockaddr *a = i->src_addr;
	if (!a || !*host || (i->addr_format != FI_SOCKADDR && i->addr_format != FI_SOCKADDR_IN && i->addr_format != FI_SOCKADDR_IN6) || inet_pton(family, host, want) != 1 || a->sa_family != family)
		return 0;
	if (family == AF_INET)
		return memcmp(want, &((const struct sockaddr_in *)a)->sin_addr, 4) == 0;
	return memcmp(want, &((const struct sockaddr_in6 *)a)->sin6_addr, 16) == 0;
}

// best chooses among what a provider, or all of them, offer; the earlier is the better one, as libfabric says.
static struct fi_info *best(struct fi_info *all, const char *host, int family) {
	struct fi_info *b = NULL;
	int least = 0;
	for (struct fi_info *i = all; i; i = i->next) {
		int price = 4 * last_resort(i->fabric_attr->prov_name) + !at_host(i, host, family) * 2 + (i->tx_attr->inject_size == 0);
		if (!b || price < least)
			b = i, least = price;
	}
	return b;
}

// The longest packet that is worth a copy of the provider's.
#define MOST_INJECTED 4096

// at binds an endpoint of a provider of sockets to the host's address, of a port that the kernel chooses. The provider does not
// offer the address of an interface whose carrier is not up yet; bound to the loopback in its place it reaches no other host.
static void at(struct fi_info *i, const char *host) {
	struct sockaddr_in *a = i->src_addr;
	struct in_addr want;
	if (i->addr_format != FI_SOCKADDR_IN || !a)
		return;
	a->sin_port = 0;
	if (last_resort(i->fabric_attr->prov_name) && inet_pton(AF_INET, host, &want) == 1 && want.s_addr != INADDR_ANY)
		a->sin_addr = want;
}

// choose sets info.
static int choose(struct pm2_ofi *e, const char *provider, const char *host, int family) {
	struct fi_info *h = hints(provider), *all = NULL;
	if (!h)
		return -FI_ENOMEM;
	int r = fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, h, &all);
	fi_freeinfo(h);
	if (r)
		return r;
	e->info = fi_dupinfo(best(all, host, family));
	fi_freeinfo(all);
	return e->info ? 0 : -FI_ENOMEM;
}

static int bind_mr(struct pm2_ofi *e, struct fid_mr *mr) {
	if (!e->bound)
		return 0;
	int r = fi_mr_bind(mr, &e->ep->fid, 0);
	return r ? r : fi_mr_enable(mr);
}

#define TRY(name, value) \
	if ((*call = name, r = (value)) != 0) \
	goto failed

struct pm2_ofi *pm2_ofi_open(const char *provider, const char *host, int family, const char *shm, const struct pm2_ofi_shape *s, struct pm2_ofi_facts *f, const char **call, int *error) {
	struct handlers h;
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
	struct fi_av_attr av = {.type = FI_AV_UNSPEC};
	int r;
	struct pm2_ofi *e = calloc(1, sizeof *e);
	*call = "calloc", *error = -FI_ENOMEM;
	if (!e)
		return NULL;
	// Memory that Go's runtime gives back is not seen by libfabric's monitors: it must keep no registrations.
	setenv("FI_MR_CACHE_MONITOR", "disabled", 0);
	// What is under way ends with an address that is taken back.
	setenv("FI_AV_REMOVE_CLEANUP", "1", 1);
	remember(&h);
	e->shape = *s;
	s = &e->shape;
	TRY("fi_getinfo", choose(e, provider, host, family));
	struct fi_info *i = e->info;
	at(i, host);
	if (strncmp(i->fabric_attr->prov_name, "shm", 3) == 0) {
		free(i->src_addr);
		*call = "strdup", r = -FI_ENOMEM;
		if (!(i->src_addr = strdup(shm)))
			goto failed;
		i->src_addrlen = strlen(shm) + 1;
		// A longer packet waits for its receiver, in one queue for all of them: one that has died would hold it up.
		if (e->shape.slot_size > i->tx_attr->inject_size)
			e->shape.slot_size = i->tx_attr->inject_size;
	}
	e->inject = i->tx_attr->inject_size < MOST_INJECTED ? i->tx_attr->inject_size : MOST_INJECTED;
	e->local = (i->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
	e->bound = (i->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
	TRY("fi_fabric", fi_fabric(i->fabric_attr, &e->fabric, NULL));
	TRY("fi_domain", fi_domain(e->fabric, i, &e->domain, NULL));
	TRY("fi_av_open", fi_av_open(e->domain, &av, &e->av, NULL));
	cq.size = 2 * (s->slots + s->buffers) + 1024;
	if (fi_cq_open(e->domain, &cq, &e->cq, NULL) != 0) {
		cq.wait_obj = FI_WAIT_NONE;
		TRY("fi_cq_open", fi_cq_open(e->domain, &cq, &e->cq, NULL));
	}
	TRY("fi_endpoint", fi_endpoint(e->domain, i, &e->ep, NULL));
	TRY("fi_ep_bind", fi_ep_bind(e->ep, &e->av->fid, 0));
	TRY("fi_ep_bind", fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV));
	TRY("fi_enable", fi_enable(e->ep));
	size_t least = s->slot_size;
	// After fi_enable, which makes what shm's option belongs to.
	TRY("fi_setopt", fi_setopt(&e->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least));
	f->name_size = sizeof f->name;
	TRY("fi_getname", fi_getname(&e->ep->fid, f->name, &f->name_size));
	e->size = (size_t)s->slots * s->slot_size + (size_t)s->buffers * s->buffer_size;
	e->memory = mmap(NULL, e->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*call = "mmap", r = -FI_ENOMEM;
	if (e->memory == MAP_FAILED) {
		e->memory = NULL;
		goto failed;
	}
	if (e->local) {
		TRY("fi_mr_reg", fi_mr_reg(e->domain, e->memory, e->size, FI_SEND | FI_RECV, 0, 0, 0, &e->mr, NULL));
		TRY("fi_mr_bind", bind_mr(e, e->mr));
		e->desc = fi_mr_desc(e->mr);
	}
	*call = "calloc", r = -FI_ENOMEM;
	e->ops = calloc(s->slots + s->buffers, sizeof *e->ops);
	if (!e->ops)
		goto failed;
	for (uint32_t k = 0; k < s->slots + s->buffers; k++)
		e->ops[k].id = k;
	for (uint32_t k = 0; k < s->buffers; k++)
		TRY("fi_recvmsg", pm2_ofi_post(e, k));
	restore(&h);

	strncpy(f->provider, i->fabric_attr->prov_name, sizeof f->provider - 1);
	strncpy(f->domain, i->domain_attr->name ? i->domain_attr->name : "", sizeof f->domain - 1);
	f->inject = e->inject;
	f->most = i->ep_attr->max_msg_size;
	f->slot_size = s->slot_size;
	f->addresses = (i->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
	f->key_size = i->domain_attr->mr_key_size;
	f->local = e->local;
	f->fd = -1;
	if (cq.wait_obj == FI_WAIT_FD && fi_control(&e->cq->fid, FI_GETWAIT, &f->fd) != 0)
		f->fd = -1;
	f->memory = e->memory;
	f->events = e->events;
	return e;
failed:
	*error = r;
	pm2_ofi_close(e);
	restore(&h);
	return NULL;
}

void pm2_ofi_close(struct pm2_ofi *e) {
	if (e->ep)
		fi_close(&e->ep->fid);
	if (e->mr)
		fi_close(&e->mr->fid);
	if (e->cq)
		fi_close(&e->cq->fid);
	if (e->av)
		fi_close(&e->av->fid);
	if (e->domain)
		fi_close(&e->domain->fid);
	if (e->fabric)
		fi_close(&e->fabric->fid);
	if (e->info)
		fi_freeinfo(e->info);
	if (e->memory)
		munmap(e->memory, e->size);
	free(e->ops);
	free(e);
}

int pm2_ofi_insert(struct pm2_ofi *e, const void *name, uint64_t *to) {
	fi_addr_t a;
	int r = fi_av_insert(e->av, name, 1, &a, 0, NULL);
	*to = a;
	return r == 1 ? 0 : r < 0 ? r : -FI_EINVAL;
}

void pm2_ofi_remove(struct pm2_ofi *e, uint64_t to) {
	fi_addr_t a = to;
	fi_av_remove(e->av, &a, 1, 0);
}

static uint8_t *buffer(struct pm2_ofi *e, uint32_t k) {
	return e->memory + (size_t)e->shape.slots * e->shape.slot_size + (size_t)k * e->shape.buffer_size;
}

int pm2_ofi_post(struct pm2_ofi *e, uint32_t k) {
	struct iovec v = {buffer(e, k), e->shape.buffer_size};
	struct fi_msg m = {.msg_iov = &v, .desc = &e->desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &e->ops[e->shape.slots + k].context};
	return (int)fi_recvmsg(e->ep, &m, FI_MULTI_RECV);
}

int pm2_ofi_send(struct pm2_ofi *e, uint32_t slot, size_t size, uint64_t to, int told) {
	uint8_t *at = e->memory + (size_t)slot * e->shape.slot_size;
	if (size <= e->inject && !told) {
		int r = (int)fi_inject(e->ep, at, size, to);
		return r == 0 ? 1 : r;
	}
	return (int)fi_send(e->ep, at, size, e->desc, to, &e->ops[slot].context);
}

static int failed(struct pm2_ofi *e, int n) {
	struct fi_cq_err_entry c = {0};
	int r = (int)fi_cq_readerr(e->cq, &c, 0);
	if (r < 0)
		return r == -FI_EAGAIN ? n : r;
	e->events[n].what = PM2_OFI_FAILED;
	e->events[n].id = c.op_context ? ((struct pm2_ofi_op *)c.op_context)->id : PM2_OFI_NOTHING;
	e->events[n].size = c.err;
	return n + 1;
}

int pm2_ofi_poll(struct pm2_ofi *e) {
	struct fi_cq_data_entry c[PM2_OFI_BATCH];
	int n = 0, got = (int)fi_cq_read(e->cq, c, PM2_OFI_BATCH);
	if (got == -FI_EAGAIN)
		return 0;
	if (got == -FI_EAVAIL)
		return failed(e, 0);
	for (int k = 0; k < got; k++) {
		struct pm2_ofi_op *op = c[k].op_context;
		if (!op)
			continue;
		uint64_t id = op->id, k0 = id - e->shape.slots;
		if (k0 >= e->shape.buffers) {
			e->events[n++] = (struct pm2_ofi_event){PM2_OFI_DONE, id, 0, 0};
			continue;
		}
		if (c[k].len > 0)
			e->events[n++] = (struct pm2_ofi_event){PM2_OFI_PACKET, k0, (uint64_t)(uintptr_t)c[k].buf, c[k].len};
		if (c[k].flags & FI_MULTI_RECV)
			e->events[n++] = (struct pm2_ofi_event){PM2_OFI_SPENT, k0, 0, 0};
	}
	return got < 0 ? got : n;
}

int pm2_ofi_trywait(struct pm2_ofi *e) {
	struct fid *f = &e->cq->fid;
	return fi_trywait(e->fabric, &f, 1);
}

struct pm2_ofi_op *pm2_ofi_op_new(uint64_t id) {
	struct pm2_ofi_op *o = calloc(1, sizeof *o);
	if (o)
		o->id = id;
	return o;
}

int pm2_ofi_register(struct pm2_ofi *e, uintptr_t at, size_t size, int remote, uint64_t *key, struct fid_mr **mr) {
	int r = fi_mr_reg(e->domain, (void *)at, size, remote ? FI_REMOTE_READ : FI_READ, 0, *key, 0, mr, NULL);
	if (r == 0 && (r = bind_mr(e, *mr)) != 0)
		fi_close(&(*mr)->fid);
	if (r != 0)
		*mr = NULL;
	else
		*key = fi_mr_key(*mr);
	return r;
}

void pm2_ofi_unregister(struct fid_mr *mr) { fi_close(&mr->fid); }

int pm2_ofi_read(struct pm2_ofi *e, struct pm2_ofi_op *o, uintptr_t at, size_t size, struct fid_mr *mr, uint64_t from, uint64_t there, uint64_t key) {
	return (int)fi_read(e->ep, (void *)at, size, mr ? fi_mr_desc(mr) : NULL, from, there, key, &o->context);
}

const char *pm2_ofi_error(int error) { return fi_strerror(-error); }
