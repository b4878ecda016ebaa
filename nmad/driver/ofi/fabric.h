// What the driver asks of libfabric: one call for each thing that it does often.
#include <stddef.h>
#include <stdint.h>

// What an event says.
enum {
	PM2_OFI_PACKET = 1, // at: where it lies, size: its bytes
	PM2_OFI_SPENT,      // id: a receive buffer that the provider is done with
	PM2_OFI_DONE,       // id: an operation is complete, size: bytes received
	PM2_OFI_FAILED,     // id: an operation has failed, size: the error; id PM2_OFI_NOTHING: it cannot be told which
	PM2_OFI_WRITTEN,    // id: what the writer has said, size: bytes written, if the provider tells
};

#define PM2_OFI_NOTHING UINT64_MAX
#define PM2_OFI_BATCH 32

struct pm2_ofi_event {
	uint64_t what, id, at, size;
};

struct pm2_ofi; // an endpoint with all that belongs to it

// A long transfer, in one direction of a link.
struct pm2_ofi_transfer;

struct pm2_ofi_shape {
	uint32_t slots, slot_size;     // for sending
	uint32_t buffers, buffer_size; // for receiving; each takes several packets
};

struct pm2_ofi_facts {
	char provider[128], domain[128];
	uint64_t inject;      // longest packet that is sent without a slot
	uint64_t most;        // longest transfer
	uint32_t writes;      // long transfers are remote writes; else messages
	uint32_t addresses;   // remote writes name addresses, not offsets
	uint32_t keys;        // the provider chooses keys itself
	uint32_t key_size;    // bytes
	uint32_t local;       // local buffers have to be registered, too
	uint32_t ordered;     // messages arrive in the order of their sending
	int32_t fd;           // of the completion queue; -1: it has none
	uint8_t name[256];    // address
	uint64_t name_size;
	uint8_t *memory;      // slots, then buffers
	struct pm2_ofi_event *events; // of the last poll, 2 * PM2_OFI_BATCH + 1
};

// pm2_ofi_open gives NULL where it fails: *call is the function of libfabric then, and *error its negative result.
struct pm2_ofi *pm2_ofi_open(const char *provider, const char *host, int family, int writes, const struct pm2_ofi_shape *s, struct pm2_ofi_facts *f, const char **call, int *error);
void pm2_ofi_close(struct pm2_ofi *e);

int pm2_ofi_insert(struct pm2_ofi *e, const void *name, uint64_t *to);
void pm2_ofi_remove(struct pm2_ofi *e, uint64_t to);

// All below give a negative error of libfabric's where they fail.
int pm2_ofi_poll(struct pm2_ofi *e); // how many events there are
int pm2_ofi_post(struct pm2_ofi *e, uint32_t buffer);
int pm2_ofi_send(struct pm2_ofi *e, uint32_t slot, size_t size, uint64_t to, int told); // 1: the slot is free again
int pm2_ofi_trywait(struct pm2_ofi *e);

struct pm2_ofi_transfer *pm2_ofi_transfer_new(uint64_t id);
void pm2_ofi_transfer_free(struct pm2_ofi_transfer *t);
// pm2_ofi_expect opens a window of memory: for a remote write with the key, or for a message with that tag.
int pm2_ofi_expect(struct pm2_ofi *e, struct pm2_ofi_transfer *t, uintptr_t at, size_t size, uint64_t from, uint64_t *key);
int pm2_ofi_transfer(struct pm2_ofi *e, struct pm2_ofi_transfer *t, uintptr_t at, size_t size, uint64_t to, uint64_t there, uint64_t key, uint64_t says);
void pm2_ofi_end(struct pm2_ofi_transfer *t); // closes what it has registered
int pm2_ofi_cancel(struct pm2_ofi *e, struct pm2_ofi_transfer *t);

const char *pm2_ofi_error(int error);
