// What the driver has C do with libfabric: chains of calls of which each may fail, and calls that get the address of
// memory of Go as a number. Go makes the other calls itself (fabric_unsafe_linux.go).
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

// An operation of the provider's. The number of one that sends a slot is the slot's; of one that receives into a buffer
// PM2_OFI_SLOTS and the buffer's; that of a remote read or write is higher.
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

// pm2_ofi_writes returns what the provider of an offer offers with remote writes that are complete once the bytes are
// in the memory of the peer; NULL: it has no such writes.
struct fi_info *pm2_ofi_writes(const struct fi_info *offer);

// pm2_ofi_open opens an endpoint as an offer says, and frees the offer with it. NULL: the function *call of libfabric has
// failed with the negative *error.
struct pm2_ofi *pm2_ofi_open(struct fi_info *offer, const char **call, int *error);
void pm2_ofi_close(struct pm2_ofi *e);

// Those below give a negative error of libfabric's where they fail.

int pm2_ofi_post(struct pm2_ofi *e, uint32_t buffer);

// pm2_ofi_register has the provider know memory, for the accesses that are given. *key is the key that is wanted, and
// then the one that it has.
int pm2_ofi_register(struct pm2_ofi *e, uintptr_t at, size_t size, uint64_t access, uint64_t *key, struct fid_mr **mr);

// pm2_ofi_move begins a remote read, or with put a remote write. mr is that of the local memory, or NULL.
int pm2_ofi_move(struct pm2_ofi *e, struct pm2_ofi_op *o, int put, uintptr_t at, size_t size, struct fid_mr *mr, uint64_t peer, uint64_t there, uint64_t key);
