//go:build ofi

#define _GNU_SOURCE
#include "fabric.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

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

int pm2_ofi_offers(const char *provider, struct fi_info **all) {
	struct handlers before;
	struct fi_info *h = fi_allocinfo();
	if (!h)
		return -FI_ENOMEM;
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
	// Memory that Go's runtime gives back is not seen by libfabric's monitors: it must keep no registrations.
	setenv("FI_MR_CACHE_MONITOR", "disabled", 0);
	// What is under way ends with an address that is taken back.
	setenv("FI_AV_REMOVE_CLEANUP", "1", 1);
	remember(&before);
	int r = fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, h, all);
	restore(&before);
	fi_freeinfo(h);
	return r;
}

struct fi_info *pm2_ofi_writes(const struct fi_info *offer) {
	struct handlers before;
	struct fi_info *h = fi_dupinfo(offer), *all = NULL;
	if (!h)
		return NULL;
	h->caps |= FI_WRITE | FI_REMOTE_WRITE;
	h->tx_attr->caps = h->rx_attr->caps = 0; // those of the endpoint
	h->tx_attr->op_flags |= FI_DELIVERY_COMPLETE;
	remember(&before);
	int r = fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, h, &all);
	restore(&before);
	fi_freeinfo(h);
	if (r != 0)
		return NULL;
	h = fi_dupinfo(all);
	fi_freeinfo(all);
	if (h)
		h->tx_attr->op_flags = offer->tx_attr->op_flags; // packets do not wait for that
	return h;
}

static int bind_mr(struct pm2_ofi *e, struct fid_mr *mr) {
	if (!(e->info->domain_attr->mr_mode & FI_MR_ENDPOINT))
		return 0;
	int r = fi_mr_bind(mr, &e->ep->fid, 0);
	return r ? r : fi_mr_enable(mr);
}

#define TRY(name, value) \
	if ((*call = name, r = (value)) != 0) \
	goto failed

struct pm2_ofi *pm2_ofi_open(struct fi_info *i, const char **call, int *error) {
	struct handlers before;
	struct fi_cq_attr cq = {.size = 2 * (PM2_OFI_SLOTS + PM2_OFI_BUFFERS) + 1024, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
	struct fi_av_attr av = {.type = FI_AV_UNSPEC};
	int r = 0;
	struct pm2_ofi *e = calloc(1, sizeof *e);
	*call = "calloc", *error = -FI_ENOMEM;
	if (!e) {
		fi_freeinfo(i);
		return NULL;
	}
	remember(&before);
	e->info = i;
	e->slot_size = PM2_OFI_SLOT_SIZE;
	// A packet of shm that is longer than what the provider copies at once waits for its receiver, in one queue for all
	// receivers: one that has died would hold it up.
	if (strncmp(i->fabric_attr->prov_name, "shm", 3) == 0 && e->slot_size > i->tx_attr->inject_size)
		e->slot_size = i->tx_attr->inject_size;
	TRY("fi_fabric", fi_fabric(i->fabric_attr, &e->fabric, NULL));
	TRY("fi_domain", fi_domain(e->fabric, i, &e->domain, NULL));
	TRY("fi_av_open", fi_av_open(e->domain, &av, &e->av, NULL));
	if (fi_cq_open(e->domain, &cq, &e->cq, NULL) != 0) {
		cq.wait_obj = FI_WAIT_NONE;
		TRY("fi_cq_open", fi_cq_open(e->domain, &cq, &e->cq, NULL));
	}
	e->waits = &e->cq->fid;
	if (cq.wait_obj == FI_WAIT_NONE || fi_control(&e->cq->fid, FI_GETWAIT, &e->fd) != 0)
		e->fd = -1;
	TRY("fi_endpoint", fi_endpoint(e->domain, i, &e->ep, NULL));
	TRY("fi_ep_bind", fi_ep_bind(e->ep, &e->av->fid, 0));
	TRY("fi_ep_bind", fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV));
	TRY("fi_enable", fi_enable(e->ep));
	// After fi_enable, which makes what shm's option belongs to.
	TRY("fi_setopt", fi_setopt(&e->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &e->slot_size, sizeof e->slot_size));
	e->name_size = sizeof e->name;
	TRY("fi_getname", fi_getname(&e->ep->fid, e->name, &e->name_size));
	size_t size = PM2_OFI_SLOTS * e->slot_size + PM2_OFI_BUFFERS * (size_t)PM2_OFI_BUFFER_SIZE;
	TRY("calloc", (e->memory = calloc(1, size)) ? 0 : -FI_ENOMEM);
	if (i->domain_attr->mr_mode & FI_MR_LOCAL) {
		TRY("fi_mr_reg", fi_mr_reg(e->domain, e->memory, size, FI_SEND | FI_RECV, 0, 0, 0, &e->mr, NULL));
		TRY("fi_mr_bind", bind_mr(e, e->mr));
		e->desc = fi_mr_desc(e->mr);
	}
	for (uint32_t k = 0; k < PM2_OFI_SLOTS + PM2_OFI_BUFFERS; k++)
		e->ops[k].id = k;
	for (uint32_t k = 0; k < PM2_OFI_BUFFERS; k++)
		TRY("fi_recvmsg", pm2_ofi_post(e, k));
failed:
	restore(&before);
	if (r == 0)
		return e;
	*error = r;
	pm2_ofi_close(e);
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
	fi_freeinfo(e->info);
	free(e->memory);
	free(e);
}

int pm2_ofi_post(struct pm2_ofi *e, uint32_t k) {
	struct iovec v = {e->memory + PM2_OFI_SLOTS * e->slot_size + k * (size_t)PM2_OFI_BUFFER_SIZE, PM2_OFI_BUFFER_SIZE};
	struct fi_msg m = {.msg_iov = &v, .desc = &e->desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &e->ops[PM2_OFI_SLOTS + k].context};
	return (int)fi_recvmsg(e->ep, &m, FI_MULTI_RECV);
}

int pm2_ofi_register(struct pm2_ofi *e, uintptr_t at, size_t size, uint64_t access, uint64_t *key, struct fid_mr **mr) {
	int r = fi_mr_reg(e->domain, (void *)at, size, access, 0, *key, 0, mr, NULL);
	if (r == 0 && (r = bind_mr(e, *mr)) != 0)
		fi_close(&(*mr)->fid);
	if (r != 0)
		*mr = NULL;
	else
		*key = fi_mr_key(*mr);
	return r;
}

int pm2_ofi_move(struct pm2_ofi *e, struct pm2_ofi_op *o, int put, uintptr_t at, size_t size, struct fid_mr *mr, uint64_t peer, uint64_t there, uint64_t key) {
	void *desc = mr ? fi_mr_desc(mr) : NULL;
	struct iovec v = {(void *)at, size};
	struct fi_rma_iov far = {there, size, key};
	struct fi_msg_rma m = {.msg_iov = &v, .desc = &desc, .iov_count = 1, .addr = peer, .rma_iov = &far, .rma_iov_count = 1, .context = &o->context};
	return (int)(put ? fi_writemsg(e->ep, &m, FI_DELIVERY_COMPLETE) : fi_readmsg(e->ep, &m, 0));
}
