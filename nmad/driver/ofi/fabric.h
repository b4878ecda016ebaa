// What the driver asks of libfabric that Go cannot: macros, chains of calls of which each may fail, and calls that get the address of
// memory of Go as a number. The other calls are made by Go itself (fabric_unsafe_linux.go).
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

enum {
	PM2_OFI_SLOTS = 128,             // for packets on their way out
	PM2_OFI_SLOT_SIZE = 16 << 10,    // bytes, as many as the providers for sockets copy at once
	PM2_OFI_BUFFERS = 8,             // for packets that come; each takes several
	PM2_OFI_BUFFER_SIZE = 512 << 10, // bytes
	PM2_OFI_BATCH = 32,              // completions that one poll reads
};

// An operation of the provider's: that of a slot has the slot's number, that of a buffer PM2_OFI_SLOTS more, a remote read a higher one.
struct pm2_ofi_op {
	struct fi_context2 context; // first, for the provider gives its address back
	uint64_t id;
};

// An endpoint with all that belongs to it.
struct pm2_ofi {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid *waits; // cq, as fi_trywait wants it
	struct fid_ep *ep;
	struct fid_mr *mr; // of memory, if the provider wants that; else NULL
	void *desc;        // of mr
	int fd;            // of cq; -1: it has none
	char name[256];    // address
	size_t name_size;
	size_t slot_size;                           // PM2_OFI_SLOT_SIZE, or less
	uint8_t *memory;                            // slots, then buffers
	struct fi_cq_data_entry events[PM2_OFI_BATCH]; // of the last poll
	struct pm2_ofi_op ops[PM2_OFI_SLOTS + PM2_OFI_BUFFERS];
};

// pm2_ofi_offers lists what a provider offers, or all of them ("").
int pm2_ofi_offers(const char *provider, struct fi_info **all);

// pm2_ofi_open opens an endpoint as an offer says, whose owner it becomes. NULL: *call has failed, of libfabric, with the negative *error.
struct pm2_ofi *pm2_ofi_open(struct fi_info *offer, const char **call, int *error);
void pm2_ofi_close(struct pm2_ofi *e);

// Those below give a negative error of libfabric's where they fail.

int pm2_ofi_post(struct pm2_ofi *e, uint32_t buffer);

// pm2_ofi_register has the provider know memory, which is to be read by a peer, or, without remote, read into; by that key, or another one.
int pm2_ofi_register(struct pm2_ofi *e, uintptr_t at, size_t size, int remote, uint64_t *key, struct fid_mr **mr);
int pm2_ofi_read(struct pm2_ofi *e, struct pm2_ofi_op *o, uintptr_t at, size_t size, struct fid_mr *mr, uint64_t from, uint64_t there, uint64_t key);
