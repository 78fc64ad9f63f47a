// Replaces malloc and counts bytes; see peak_memory.py. Measures one busy thread.

#include <cerrno>
#include <cstddef>

#include <malloc.h>

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

static long long current = 0, peak = 0;

static void* count_allocated(void* memory) {
  const long long now =
      __atomic_add_fetch(&current, malloc_usable_size(memory), __ATOMIC_RELAXED);
  if (now > peak) peak = now;
  return memory;
}

static void count_freed(void* memory) {
  __atomic_sub_fetch(&current, malloc_usable_size(memory), __ATOMIC_RELAXED);
}

void* malloc(std::size_t size) { return count_allocated(__libc_malloc(size)); }

void* calloc(std::size_t count, std::size_t size) {
  return count_allocated(__libc_calloc(count, size));
}

// Both blocks exist while one is copied to the other.
void* realloc(void* old, std::size_t size) {
  const std::size_t before = malloc_usable_size(old);
  void* memory = __libc_realloc(old, size);
  if (memory == nullptr) return nullptr;
  count_allocated(memory);
  __atomic_sub_fetch(&current, before, __ATOMIC_RELAXED);
  return memory;
}

void* memalign(std::size_t alignment, std::size_t size) {
  return count_allocated(__libc_memalign(alignment, size));
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

void free(void* memory) {
  count_freed(memory);
  __libc_free(memory);
}

void peak_memory_reset() { peak = current = 0; }
long long peak_memory_bytes() { return peak; }

}  // extern "C"
