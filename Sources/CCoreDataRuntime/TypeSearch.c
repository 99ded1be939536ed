#include "CCoreDataRuntime.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The records of types that the compiler writes, as documented in Swift's docs/ABI/TypeMetadata.rst, and the function of
// the runtime that finds them in all images, which swift-testing uses as well.

typedef struct {
  uintptr_t start;
  size_t length;
} SectionRange;

typedef struct {
  uintptr_t version;
  const void *baseAddress;
  void *unused0;
  void *unused1;
  SectionRange protocols;
  SectionRange protocolConformances;
  SectionRange types;
} MetadataSections;

typedef struct {
  uint32_t flags;
  int32_t parent;
  int32_t name;
  int32_t accessFunction;
} TypeDescriptor;

typedef struct {
  const void *metadata;
  size_t state;
} MetadataResponse;

typedef __attribute__((swiftcall)) MetadataResponse (*MetadataAccess)(size_t request);

typedef struct {
  const char *name;
  bool (*body)(const void *, void *);
  void *context;
} Search;

enum { kindMask = 0x1f, genericFlag = 0x80, classKind = 16, enumKind = 18, indirectMask = 3 };

static const void *target(const int32_t *offset) { return *offset == 0 ? NULL : (const char *)offset + *offset; }

static const TypeDescriptor *descriptor(const int32_t *record) {
  int32_t offset = *record & ~indirectMask;
  const void *place = (const char *)record + offset;
  return (*record & indirectMask) == 1 ? *(const TypeDescriptor *const *)place : place;
}

static bool visit(const Search *search, const int32_t *record) {
  if ((*record & indirectMask) > 1) return true;
  const TypeDescriptor *type = descriptor(record);
  if (type == NULL) return true;
  uint32_t kind = type->flags & kindMask;
  if ((kind != classKind && kind != enumKind) || (type->flags & genericFlag)) return true;
  const char *name = target(&type->name);
  if (name == NULL || strcmp(name, search->name) != 0) return true;
  const void *access = target(&type->accessFunction);
  if (access == NULL) return true;
  return search->body(((MetadataAccess)access)(0).metadata, search->context);
}

#if defined(__linux__)
extern void swift_enumerateAllMetadataSections(bool (*body)(const MetadataSections *, void *), void *context);

static bool visitSections(const MetadataSections *sections, void *context) {
  const int32_t *record = (const int32_t *)sections->types.start;
  const int32_t *end = (const int32_t *)(sections->types.start + sections->types.length);
  for (; record < end; record++) {
    if (!visit(context, record)) return false;
  }
  return true;
}
#endif

void CoreDataEnumerateTypes(const char *name, bool (*body)(const void *, void *), void *context) {
  Search search = {name, body, context};
#if defined(__linux__)
  swift_enumerateAllMetadataSections(visitSections, &search);
#else
  (void)visit;
  (void)search;
#endif
}
