// What the driver asks of libfabric: one call for each thing that it does often.
#include <stddef.h>
#include <stdint.h>

// What an event says.
enum {
	PM2_OFI_PACKET = 1, // at: where it lies, size: its bytes
	PM2_OFI_SPENT,      // id: a receive buffer that the provider is done with
	PM2_OFI_DONE,       // id: an operation is complete
	PM2_OFI_FAILED,     // id: an operation has failed, size: the error; id PM2_OFI_NOTHING: it cannot be told which
};

#define PM2_OFI_NOTHING UINT64_MAX
#define PM2_OFI_BATCH 32

struct pm2_ofi_event {
	uint64_t what, id, at, size;
};

struct pm2_ofi; // an endpoint with all that belongs to it

struct pm2_ofi_op; // a remote read
struct fid_mr;

struct pm2_ofi_shape {
	uint32_t slots, slot_size;     // for sending
	uint32_t buffers, buffer_size; // for receiving; each takes several packets
};

struct pm2_ofi_facts {
	char provider[128], domain[128];
	uint64_t inject;    // longest packet that is sent without a slot
	uint64_t most;      // longest remote read
	uint32_t slot_size; // that of the shape, or less
	uint32_t addresses; // remote reads name addresses, not offsets
	uint32_t key_size;  // bytes
	uint32_t local;     // local buffers have to be registered, too
	int32_t fd;         // of the completion queue; -1: it has none
	uint8_t name[256];    // address
	uint64_t name_size;
	uint8_t *memory;      // slots, then buffers
	struct pm2_ofi_event *events; // of the last poll, 2 * PM2_OFI_BATCH + 1
};

// shm is by which name the provider shm, if it is that, knows this process.
// pm2_ofi_open gives NULL where it fails: *call is the function of libfabric then, and *error its negative result.
struct pm2_ofi *pm2_ofi_open(const char *provider, const char *host, int family, const char *shm, const struct pm2_ofi_shape *s, struct pm2_ofi_facts *f, const char **call, int *error);
void pm2_ofi_close(struct pm2_ofi *e);

int pm2_ofi_insert(struct pm2_ofi *e, const void *name, uint64_t *to);
void pm2_ofi_remove(struct pm2_ofi *e, uint64_t to);

// All below give a negative error of libfabric's where they fail.
int pm2_ofi_poll(struct pm2_ofi *e); // how many events there are
int pm2_ofi_post(struct pm2_ofi *e, uint32_t buffer);
int pm2_ofi_send(struct pm2_ofi *e, uint32_t slot, size_t size, uint64_t to, int told); // 1: the slot is free again
int pm2_ofi_trywait(struct pm2_ofi *e);

struct pm2_ofi_op *pm2_ofi_op_new(uint64_t id);
// pm2_ofi_register has the provider know memory, which is to be read by a peer, or, without remote, read into; by that key, or another one.
int pm2_ofi_register(struct pm2_ofi *e, uintptr_t at, size_t size, int remote, uint64_t *key, struct fid_mr **mr);
void pm2_ofi_unregister(struct fid_mr *mr);
int pm2_ofi_read(struct pm2_ofi *e, struct pm2_ofi_op *o, uintptr_t at, size_t size, struct fid_mr *mr, uint64_t from, uint64_t there, uint64_t key);

const char *pm2_ofi_error(int error);
